//! The index of what this instance has read: it follows the page cache, and answers with pages that still stand there.
//!
//! [`Indexing::follow`] is a task of a server. It reads the rows of the cache in the order of their ids, a few hundred at
//! a time, and writes their pages into the index of [`page_index`] on a thread of the lowest priority, which works a tenth
//! of the time while the server reads pages, as long as it is less than a minute behind. What is never cached is never
//! indexed.
//!
//! [`Indexing::find`] asks the index, then the cache with one statement: a hit counts only if its copy still stands
//! there for the team that asks. An index that lags behind can therefore show neither a page of another team nor one
//! that has expired or was erased.
//!
//! Each server has an index of its own. It is opened when the first page or the first query comes, its writer is closed
//! after a minute without work, and one that is lost or damaged is built again from the cache.

/// Boxes the future of an async function, so that it is compiled once, in this crate.
pub(crate) use async_recursion::async_recursion as boxed;

mod desk;
mod error;
mod files;
mod find;
mod follow;
mod import;
mod keep;
mod open;
mod pace;
mod question;
mod read;
mod recent;
mod settings;
mod warc;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::Clock;
use cache::Cache;
use cpu::Cpu;
use page_index::PageIndex;
use parking_lot::Mutex;
use reader::Pool;
use tokio::sync::Notify;

pub use error::IndexingError;
pub use import::{ImportError, ImportedDocument};
pub use page_index::{Domains, Hit, IndexError, PageImage, PageKind, Query, Source, Stats, Window};
pub use question::Question;
pub use settings::IndexingSettings;
pub use warc::{WarcError, WebArchive};

/// Name of the work on the index where owners of work share what is scarce.
const OWNER: &str = "index";

/// Index of what was read. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Indexing(Arc<Inner>);

/// Parts of an [`Indexing`].
pub struct Parts {
    /// Page cache that it follows.
    pub cache: Cache,
    /// Threads for queries.
    pub cpu: Cpu,
    /// Clock of the server.
    pub clock: Arc<dyn Clock>,
    /// Readers of the texts of PDF and office files; without them these are found by their names alone.
    pub documents: Option<Arc<Pool>>,
    /// Folder that the index has for itself. It is created with the first page.
    pub folder: PathBuf,
    /// Settings of the operator.
    pub settings: IndexingSettings,
}

struct Inner {
    parts: Parts,
    index: tokio::sync::Mutex<Option<PageIndex>>,
    /// Copies that a query has found to be gone, to be removed from the index.
    gone: Mutex<BTreeSet<String>>,
    /// Signal that there are such copies.
    has_gone: Notify,
    /// Whether a damaged index was removed since the follower has last looked.
    is_lost: AtomicBool,
}

impl Indexing {
    /// Assembles the index. Nothing is opened yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(Inner {
            parts,
            index: tokio::sync::Mutex::default(),
            gone: Mutex::default(),
            has_gone: Notify::new(),
            is_lost: AtomicBool::new(false),
        }))
    }

    /// Whether pages are indexed and can be found.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.parts().settings.enabled && self.parts().cache.settings().enabled
    }

    fn parts(&self) -> &Parts {
        &self.0.parts
    }
}

impl fmt::Debug for Indexing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexing").field("folder", &self.parts().folder).finish_non_exhaustive()
    }
}

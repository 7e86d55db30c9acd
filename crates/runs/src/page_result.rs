//! Result of a page, from its job to the transaction that records it.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cache::PageToKeep;
use kernel::Refusal;
use parking_lot::Mutex;
use politeness::HostAnswer;
use scraping::scrape::Surcharge;
use store::runs::PageState;

use super::context::Context;
use super::document::Packed;

/// Findings of a [`Look`](super::Look) at a page, for [`PageRecord`](super::PageRecord).
pub type Found = Box<dyn Any + Send + Sync>;

/// Findings of a kind that stands on another one, with those of that other one.
pub struct Layers {
    /// Its own.
    pub upper: Found,
    /// Those of the other kind.
    pub lower: Option<Found>,
}

/// Data of a transaction for [`PageRun::committed`](super::PageRun::committed).
pub type Left = Box<dyn Any + Send + Sync>;

/// Result of a page job.
pub struct PageResult {
    /// Context of the run.
    pub context: Arc<Context>,
    /// Outcome.
    pub outcome: Outcome,
    /// Cost in credits.
    pub credits: i64,
    /// Part of the credits that is not covered by the run's reservation.
    pub surcharge: Option<Surcharge>,
    /// What the host has answered, for its rate limit; `None` when it was not asked.
    pub answer: Option<HostAnswer>,
    /// Copy of the page for the cache.
    pub copy: Option<PageToKeep>,
    /// Whether the page leaves the versions of its address alone.
    pub(super) is_uncompared: bool,
    /// Whether the last transaction that wrote the page has made it a document.
    pub(super) is_document: AtomicBool,
    /// Findings of the run's kind on the page.
    pub found: Option<Found>,
    /// Data of the last transaction that wrote the page, for the work after its commit.
    pub(super) left: Mutex<Option<Left>>,
}

/// Outcome of a page.
pub enum Outcome {
    /// Document, ready to be stored.
    Document(Box<Packed>),
    /// Page that could not be read.
    Failed {
        /// Error code.
        code: String,
        /// Message.
        error: String,
    },
    /// Not a page of this run: it may not be fetched, or leads elsewhere.
    Left {
        /// State of the page.
        state: PageState,
        /// Error code for the list of errors.
        code: &'static str,
        /// Message for the list of errors.
        message: &'static str,
    },
}

impl Outcome {
    /// Returns the outcome of a page that could not be read.
    pub fn failed(error: &dyn Refusal) -> Self {
        Self::Failed { code: error.code().as_str().to_owned(), error: error.to_string() }
    }
}

impl PageResult {
    /// Returns the result of a page that costs nothing.
    pub fn without(context: Arc<Context>, outcome: Outcome) -> Self {
        Self {
            context,
            outcome,
            credits: 0,
            surcharge: None,
            answer: None,
            copy: None,
            is_uncompared: false,
            is_document: AtomicBool::new(false),
            found: None,
            left: Mutex::default(),
        }
    }

    /// Returns what the run's kind has found on the page, or a kind that it stands on; `None` if it has not looked at it.
    pub fn found<T: 'static>(&self) -> Option<&T> {
        let found = self.found.as_deref()?;
        match found.downcast_ref::<Layers>() {
            Some(Layers { upper, lower }) => upper.downcast_ref().or_else(|| lower.as_deref()?.downcast_ref()),
            None => found.downcast_ref(),
        }
    }
}

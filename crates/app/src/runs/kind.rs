//! What tells one kind of run from another.

use std::fmt;

use queue::Queue;
use serde_json::Value;
use store::runs::Progress;
use wire::EventFamily;

use super::context::Terms;
use super::ended::Ended;
use super::secrets::Secrets;
use crate::{AppError, batch, crawl};

/// Reads a spec, with the secrets that were taken out of it.
pub(crate) type ReadTerms = fn(Value, Secrets) -> Result<Terms, AppError>;

/// A kind of run: crawls, batches.
pub struct Kind {
    /// How the database and the ledger call it. It does not change.
    pub(crate) name: &'static str,
    /// How people are told of it.
    pub(crate) noun: &'static str,
    /// Its events.
    pub(crate) events: EventFamily,
    /// Where the jobs of a run stand, by its id: queues and their lanes.
    pub(crate) lanes: fn(&str) -> Vec<(Queue, String)>,
    /// Whether one that has nothing left to do has done well; or why it has failed.
    pub(crate) verdict: fn(&Progress) -> Result<(), &'static str>,
    /// What its caller should know of the end, when the run has brought nothing or less than its caller expects.
    pub(crate) explain: fn(&Ended<'_>) -> Option<String>,
    /// How many items there are, as far as that is known.
    pub(crate) total: fn(&Progress) -> i64,
    /// How its pages are scraped; for kinds whose items are pages.
    pub(crate) pages: Option<ReadTerms>,
}

/// Every kind there is.
static KINDS: &[&Kind] = &[&crawl::KIND, &batch::KIND];

/// The kind that the database calls so.
pub(crate) fn kind_of(name: &str) -> Option<&'static Kind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kind").field(&self.name).finish()
    }
}

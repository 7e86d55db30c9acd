//! Definition of the kinds of run.

use std::fmt;

use queue::Queue;
use serde_json::Value;
use store::runs::Progress;
use wire::EventFamily;

use super::context::Terms;
use super::ended::Ended;
use super::secrets::Secrets;
use crate::{AppError, batch, crawl};

/// Parses a spec, with the secrets that were taken out of it.
pub(crate) type ReadTerms = fn(Value, Secrets) -> Result<Terms, AppError>;

/// Kind of run: crawls or batches.
pub struct Kind {
    /// Name in the database and the ledger; it must never change.
    pub(crate) name: &'static str,
    /// Noun for error messages.
    pub(crate) noun: &'static str,
    /// Family of webhook events.
    pub(crate) events: EventFamily,
    /// Queues and lanes of the jobs of a run, by its id.
    pub(crate) lanes: fn(&str) -> Vec<(Queue, String)>,
    /// Result of a run with no work left: success, or why it failed.
    pub(crate) verdict: fn(&Progress) -> Result<(), &'static str>,
    /// Explanation for the caller when the run has no results, or fewer than expected.
    pub(crate) explain: fn(&Ended<'_>) -> Option<String>,
    /// Total number of items, as far as known.
    pub(crate) total: fn(&Progress) -> i64,
    /// Parser of the scrape settings; for kinds whose items are pages.
    pub(crate) pages: Option<ReadTerms>,
}

/// All kinds of run.
static KINDS: &[&Kind] = &[&crawl::KIND, &batch::KIND];

/// Returns the kind with this database name.
pub(crate) fn kind_of(name: &str) -> Option<&'static Kind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kind").field(&self.name).finish()
    }
}

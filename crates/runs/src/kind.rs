//! Definition of the kinds of run.

use std::fmt;
use std::future::ready;
use std::pin::Pin;

use base::Timestamp;
use chrono::TimeDelta;
use queue::Queue;
use store::runs::{Progress, Run};
use store::{Conn, StoreError};
use wire::{ActivityEndpoint, EventFamily};

use super::ended::Ended;

/// Function that may add one more item to a run without work left, in the transaction that would end the run.
pub type Drained = for<'a> fn(&'a mut Conn, &'a mut Progress, Timestamp) -> Draining<'a>;

/// Function that is called when a run has ended, in the transaction that ends it, after its last row is written.
pub type Closed = for<'a> fn(&'a mut Conn, &'a Run, &'a Progress, Timestamp) -> Draining<'a>;

/// Future of a [`Drained`] or a [`Closed`].
pub type Draining<'a> = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>>;

/// Kind of run, such as crawls.
pub struct Kind {
    /// Name in the database and the ledger; it must never change.
    pub name: &'static str,
    /// Noun for error messages.
    pub noun: &'static str,
    /// Family of webhook events. A run emits those that the family has: of starting, of each page, of its end.
    pub events: &'static EventFamily,
    /// How a team's activity log names it; `None` when it is not listed.
    pub endpoint: Option<ActivityEndpoint>,
    /// Queues and lanes of the jobs of a run, by its id.
    pub lanes: fn(&str) -> Vec<(Queue, String)>,
    /// Result of a run with no work left: success, or why it failed.
    pub verdict: fn(&Progress) -> Result<(), &'static str>,
    /// Explanation for the caller when the run has no results, or fewer than expected.
    pub explain: fn(&Ended<'_>) -> Option<String>,
    /// Total number of items, as far as known.
    pub total: fn(&Progress) -> i64,
    /// Called before the run ends, when no work is left. [`nothing_more`] adds no item.
    pub drained: Drained,
    /// Called when the run has ended: [`nothing_then`] does nothing.
    pub closed: Closed,
    /// Time for which results are kept after the end.
    pub retention: TimeDelta,
    /// Whether the reservation of a run ends with it. Otherwise it also pays for other things.
    pub owns_reservation: bool,
}

/// Lets a run end with its last item.
pub fn nothing_more<'a>(_: &'a mut Conn, _: &'a mut Progress, _: Timestamp) -> Draining<'a> {
    Box::pin(ready(Ok(())))
}

/// Does nothing when a run has ended.
pub fn nothing_then<'a>(_: &'a mut Conn, _: &'a Run, _: &'a Progress, _: Timestamp) -> Draining<'a> {
    Box::pin(ready(Ok(())))
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kind").field(&self.name).finish()
    }
}

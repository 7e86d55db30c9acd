//! Who was found for a key a moment ago, so that not every call has to ask the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use moka::future::Cache;

use crate::auth::Caller;

/// How long a change that another process makes to a key or a team goes unnoticed here.
const MAX_AGE: TimeDelta = TimeDelta::seconds(1);
/// When memory is given back, whatever the clock of the service says.
const MAX_IDLE: Duration = Duration::from_secs(1);
const MAX_CALLERS: u64 = 10_000;

/// Callers that were found in the last second, by the hash of their key. Only those who may call are kept.
pub(crate) struct Callers {
    found: Cache<String, Arc<Found>>,
    /// Counts the changes that this process makes to keys and teams.
    changes: AtomicU64,
}

struct Found {
    caller: Caller,
    lookup: Snapshot,
}

/// The time at which the database was asked, and how many changes there had been.
pub(crate) struct Snapshot {
    at: Timestamp,
    changes: u64,
}

impl Default for Callers {
    fn default() -> Self {
        let found = Cache::builder().max_capacity(MAX_CALLERS).time_to_live(MAX_IDLE).build();
        Self { found, changes: AtomicU64::new(0) }
    }
}

impl Callers {
    /// The caller with this key, if it is known and nothing was changed here since.
    pub(crate) async fn get(&self, hash: &str, now: Timestamp) -> Option<Caller> {
        let found = self.found.get(hash).await?;
        let is_young = (TimeDelta::zero()..MAX_AGE).contains(&(now - found.lookup.at));
        let is_true = found.lookup.changes == self.changes.load(Ordering::Acquire);
        (is_young && is_true).then(|| found.caller.clone())
    }

    /// To be called before the database is asked: what it answers is of no use if something is changed meanwhile.
    pub(crate) fn begin(&self, now: Timestamp) -> Snapshot {
        Snapshot { at: now, changes: self.changes.load(Ordering::Acquire) }
    }

    pub(crate) async fn insert(&self, lookup: Snapshot, hash: String, caller: &Caller) {
        self.found.insert(hash, Arc::new(Found { caller: caller.clone(), lookup })).await;
    }

    /// To be called after a change to a key or a team was written: callers found before it are not returned any more.
    pub(crate) fn forget(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }
}

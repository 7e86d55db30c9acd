//! Short-lived cache of authenticated callers, which saves a query per call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use moka::future::Cache;

use crate::caller::Caller;

/// Maximum age of an entry: the time for which a change by another process may go unnoticed.
const MAX_AGE: TimeDelta = TimeDelta::seconds(1);
/// Time after which memory is freed, independent of the service's clock.
const MAX_IDLE: Duration = Duration::from_secs(1);
const MAX_CALLERS: u64 = 10_000;

/// Callers found in the last second, by the hash of their key. Only successful lookups are cached.
pub(crate) struct Callers {
    found: Cache<String, Arc<Found>>,
    /// Number of changes to keys and teams made by this process.
    changes: AtomicU64,
}

struct Found {
    caller: Caller,
    lookup: Snapshot,
}

/// Time of a lookup, and the number of changes before it.
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
    /// Returns the cached caller with this key hash, if the entry is fresh and this process has changed nothing since.
    pub(crate) async fn get(&self, hash: &str, now: Timestamp) -> Option<Caller> {
        let found = self.found.get(hash).await?;
        let is_young = (TimeDelta::zero()..MAX_AGE).contains(&(now - found.lookup.at));
        let is_true = found.lookup.changes == self.changes.load(Ordering::Acquire);
        (is_young && is_true).then(|| found.caller.clone())
    }

    /// Takes a snapshot before the database is queried: a change in between makes the result unusable.
    pub(crate) fn begin(&self, now: Timestamp) -> Snapshot {
        Snapshot { at: now, changes: self.changes.load(Ordering::Acquire) }
    }

    pub(crate) async fn insert(&self, lookup: Snapshot, hash: String, caller: &Caller) {
        self.found.insert(hash, Arc::new(Found { caller: caller.clone(), lookup })).await;
    }

    /// Invalidates all entries, after a change to a key or a team was written.
    pub(crate) fn forget(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }
}

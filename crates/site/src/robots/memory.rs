//! In-memory cache in which concurrent callers share one lookup.

use std::hash::Hash;

use base::Timestamp;
use moka::future::Cache;
use moka::policy::EvictionPolicy;

use crate::SiteError;

/// Overhead of every entry, in bytes.
const ENTRY_BYTES: usize = 512;

/// Cache of answers. The least recently used are evicted when the byte limit is exceeded.
pub(super) struct Memory<K, V>(Cache<K, Result<CachedValue<V>, SiteError>>);

/// Cached answer, success or failure.
#[derive(Debug, Clone)]
pub(super) struct CachedValue<V> {
    pub(super) value: V,
    pub(super) times: CacheTimes,
    /// Whether the answer is a failure of the site.
    pub(super) is_failure: bool,
    /// Size in memory in bytes, including the key.
    pub(super) bytes: usize,
}

/// Time of an answer, and its expiry.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CacheTimes {
    pub(super) since: Timestamp,
    pub(super) until: Timestamp,
}

/// Cached answers that a caller accepts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acceptance {
    pub(super) now: Timestamp,
    /// Start of the period from which failures are accepted; `None` accepts all.
    pub(super) failures_since: Option<Timestamp>,
}

impl<V> CachedValue<V> {
    pub(super) fn holds(&self, trust: Acceptance) -> bool {
        let is_trusted = !self.is_failure || trust.failures_since.is_none_or(|since| self.times.since >= since);
        self.times.until > trust.now && is_trusted
    }
}

impl<K, V> Memory<K, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub(super) fn new(max_bytes: u64) -> Self {
        let weight = |_: &K, answer: &Result<CachedValue<V>, SiteError>| {
            let bytes = ENTRY_BYTES + answer.as_ref().map_or(0, |answer| answer.bytes);
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder().max_capacity(max_bytes).weigher(weight);
        Self(cache.eviction_policy(EvictionPolicy::lru()).build())
    }

    /// Returns the cached answer if it is still valid.
    pub(super) async fn get(&self, key: &K, trust: Acceptance) -> Option<V> {
        let answer = self.0.get(key).await?.ok()?;
        answer.holds(trust).then_some(answer.value)
    }

    /// Returns the cached answer, or else the result of `learn`. Of all concurrent callers one runs `learn`, and the
    /// others share its answer.
    ///
    /// Must be called where the future is not dropped: a waiter then takes over, but moka makes waiters panic when that
    /// has happened two hundred times.
    pub(super) async fn get_or_learn<F>(
        &self,
        key: &K,
        trust: Acceptance,
        learn: impl Fn() -> F,
    ) -> Result<CachedValue<V>, SiteError>
    where
        F: Future<Output = Result<CachedValue<V>, SiteError>>,
    {
        let holds =
            |answer: &Result<CachedValue<V>, SiteError>| answer.as_ref().is_ok_and(|answer| answer.holds(trust));
        let mut learned = self.learn(key, learn(), holds).await;
        if !holds(&learned) {
            // The shared answer came from a caller who accepts older failures.
            learned = self.learn(key, learn(), holds).await;
        }
        learned
    }

    async fn learn(
        &self,
        key: &K,
        learn: impl Future<Output = Result<CachedValue<V>, SiteError>>,
        holds: impl Fn(&Result<CachedValue<V>, SiteError>) -> bool + Send + Sync,
    ) -> Result<CachedValue<V>, SiteError> {
        let entry = self.0.entry_by_ref(key).or_insert_with_if(learn, |answer| !holds(answer)).await;
        if entry.is_fresh() {
            // Evicts at once; otherwise a few large files above the limit would stay for a while.
            self.0.run_pending_tasks().await;
        }
        entry.into_value()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use chrono::{DateTime, TimeDelta};
    use futures_util::future::join_all;

    use super::*;

    const MAX_BYTES: usize = 100_000;
    const SINCE: Timestamp = DateTime::UNIX_EPOCH;
    const SECOND: TimeDelta = TimeDelta::seconds(1);

    fn answer(value: usize, bytes: usize, is_failure: bool) -> Result<CachedValue<usize>, SiteError> {
        let times = CacheTimes { since: SINCE, until: SINCE + TimeDelta::hours(1) };
        Ok(CachedValue { value, times, is_failure, bytes })
    }

    fn memory() -> Memory<usize, usize> {
        Memory::new(MAX_BYTES as u64)
    }

    async fn put(memory: &Memory<usize, usize>, key: usize, bytes: usize, is_failure: bool) {
        let trust = Acceptance { now: SINCE, failures_since: None };
        memory.get_or_learn(&key, trust, || async { answer(key, bytes, is_failure) }).await.unwrap();
    }

    #[tokio::test]
    async fn answers_end_and_the_least_used_go_first() {
        let memory = memory();
        let get = async |key, now| memory.get(&key, Acceptance { now, failures_since: None }).await;
        for key in 0..300 {
            put(&memory, key, 4000, false).await;
            assert_eq!(get(0, SINCE).await, Some(0), "used all the time");
            assert!(memory.0.weighted_size() <= MAX_BYTES as u64);
        }
        assert_eq!(get(299, SINCE).await, Some(299));
        assert_eq!(get(299, SINCE + TimeDelta::hours(1)).await, None, "it holds no longer");
        assert_eq!(get(1, SINCE).await, None, "it had to go");
    }

    #[tokio::test]
    async fn old_failures_are_no_answer_where_they_are_not_trusted() {
        let memory = memory();
        put(&memory, 1, 1, true).await;
        put(&memory, 2, 1, false).await;
        let get =
            async |key, failures_since| memory.get(&key, Acceptance { now: SINCE + SECOND, failures_since }).await;
        assert_eq!(get(1, None).await, Some(1));
        assert_eq!(get(1, Some(SINCE)).await, Some(1));
        assert_eq!(get(1, Some(SINCE + SECOND)).await, None);
        assert_eq!(get(2, Some(SINCE + SECOND)).await, Some(2), "it is an answer");
    }

    #[tokio::test]
    async fn one_learns_and_all_share() {
        let (memory, learned) = (memory(), AtomicUsize::new(0));
        let learn = || async {
            learned.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            answer(7, 1, false)
        };
        let trust = Acceptance { now: SINCE, failures_since: None };
        let found = join_all((0..50).map(|_| memory.get_or_learn(&1, trust, learn))).await;
        assert!(found.iter().all(|answer| answer.as_ref().unwrap().value == 7));
        assert_eq!(learned.into_inner(), 1);
    }

    #[tokio::test]
    async fn who_wants_a_fresh_failure_does_not_share_an_old_one() {
        let memory = Arc::new(memory());
        let failures_since = Some(SINCE + SECOND);
        let old = || async {
            tokio::task::yield_now().await;
            answer(1, 1, true)
        };
        let new = || async {
            let times = CacheTimes { since: SINCE + SECOND, until: SINCE + TimeDelta::hours(1) };
            Ok(CachedValue { times, ..answer(2, 1, true)? })
        };
        let trust = Acceptance { now: SINCE + SECOND, failures_since: None };
        let (patient, strict) = tokio::join!(
            memory.get_or_learn(&1, trust, old),
            memory.get_or_learn(&1, Acceptance { failures_since, ..trust }, new),
        );
        assert_eq!((patient.unwrap().value, strict.unwrap().value), (1, 2));
    }

    #[tokio::test]
    async fn what_broke_is_tried_again() {
        let memory = memory();
        let trust = Acceptance { now: SINCE, failures_since: None };
        let broken = memory.get_or_learn(&1, trust, || async { Err(SiteError::Panicked) }).await;
        assert_eq!(broken.unwrap_err(), SiteError::Panicked);
        put(&memory, 1, 1, false).await;
        assert_eq!(memory.get(&1, trust).await, Some(1));
    }
}

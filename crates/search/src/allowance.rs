//! Limits of requests to one engine: per second, per month, and the pauses that it asks for.

use std::sync::Arc;
use std::time::Duration;

use base::Timestamp;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::error::EngineError;
use crate::months::Months;
use crate::settings::Limit;

/// Longest wait for the limit per second. A query that would wait longer goes to the next engine.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Requests to one engine that may still be made.
pub(crate) struct Allowance {
    engine: &'static str,
    limit: Limit,
    months: Arc<dyn Months>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Earliest time of the next request.
    next: Option<Instant>,
    /// End of a pause that the engine has asked for.
    paused: Option<Instant>,
}

impl Allowance {
    pub(crate) fn new(engine: &'static str, limit: Limit, months: Arc<dyn Months>) -> Self {
        Self { engine, limit, months, state: Mutex::default() }
    }

    /// Counts one request, and waits until it may be made.
    ///
    /// # Errors
    /// [`EngineError::RateLimited`] if the wait would be too long, [`EngineError::MonthUsed`], and
    /// [`EngineError::Uncounted`]. Nothing is counted for the month then.
    pub(crate) async fn take(&self, now: Timestamp, deadline: Instant) -> Result<(), EngineError> {
        let start = self.reserve(Instant::now(), deadline)?;
        self.count(now).await?;
        tokio::time::sleep_until(start).await;
        Ok(())
    }

    /// Counts one request of this month.
    async fn count(&self, now: Timestamp) -> Result<(), EngineError> {
        let most = self.limit.per_month;
        if most == 0 {
            return Ok(());
        }
        match self.months.take(self.engine, &now.format("%Y-%m").to_string(), most).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(EngineError::MonthUsed { most }),
            Err(error) => {
                tracing::warn!(engine = self.engine, error, "could not count a request to a search engine");
                Err(EngineError::Uncounted)
            }
        }
    }

    /// Makes no requests for that long, since the engine asks for it.
    pub(crate) fn pause(&self, wait: Duration) {
        self.state.lock().paused = Some(Instant::now() + wait);
    }

    /// Reserves the turn of one request and returns its time.
    fn reserve(&self, at: Instant, deadline: Instant) -> Result<Instant, EngineError> {
        let mut state = self.state.lock();
        let paused = state.paused.map(|until| until.saturating_duration_since(at)).filter(|wait| !wait.is_zero());
        if paused.is_some() {
            return Err(EngineError::RateLimited { retry_after: paused });
        }
        let mut start = at;
        if self.limit.per_second > 0 {
            start = state.next.map_or(at, |next| next.max(at));
            let wait = start - at;
            if wait > MAX_WAIT || start >= deadline {
                return Err(EngineError::RateLimited { retry_after: Some(wait) });
            }
            state.next = Some(start + Duration::from_secs(1) / self.limit.per_second);
        }
        Ok(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::CountedHere;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn allowance(limit: Limit) -> Allowance {
        Allowance::new("brave", limit, Arc::new(CountedHere::default()))
    }

    #[test]
    fn requests_are_spread_over_the_second() {
        let allowance = allowance(Limit { per_second: 2, per_month: 0 });
        let at = Instant::now();
        let deadline = at + Duration::from_secs(60);
        let waits: Vec<_> =
            (0..5).map(|_| allowance.reserve(at, deadline).map(|start| (start - at).as_millis())).collect();
        assert_eq!(waits, [Ok(0), Ok(500), Ok(1000), Ok(1500), Ok(2000)]);
        let refused = allowance.reserve(at, deadline);
        assert_eq!(refused, Err(EngineError::RateLimited { retry_after: Some(Duration::from_millis(2500)) }));
        let later = at + Duration::from_secs(10);
        assert_eq!(allowance.reserve(later, deadline), Ok(later));
        let soon = later + Duration::from_millis(100);
        let refused = allowance.reserve(later, soon);
        assert!(matches!(refused, Err(EngineError::RateLimited { .. })), "{refused:?}");
    }

    #[tokio::test]
    async fn the_month_has_an_end() {
        let allowance = allowance(Limit { per_second: 0, per_month: 2 });
        let take = async |now: &str| allowance.take(time(now), Instant::now() + Duration::from_secs(1)).await;
        assert_eq!([take("2026-11-01T00:00:00Z").await, take("2026-11-30T23:59:59Z").await], [Ok(()), Ok(())]);
        assert_eq!(take("2026-11-30T23:59:59Z").await, Err(EngineError::MonthUsed { most: 2 }));
        assert_eq!(take("2026-12-01T00:00:00Z").await, Ok(()));
    }

    #[tokio::test]
    async fn a_request_that_cannot_be_counted_is_not_made() {
        let limit = Limit { per_second: 0, per_month: 2 };
        let allowance = Allowance::new("brave", limit, Arc::new(CountedHere::broken()));
        let taken = allowance.take(time("2026-11-01T00:00:00Z"), Instant::now() + Duration::from_secs(1)).await;
        assert_eq!(taken, Err(EngineError::Uncounted));
    }
}

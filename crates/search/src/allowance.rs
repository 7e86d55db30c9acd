//! Limits of requests to one engine: per second, per month, and the pauses that it asks for.

use std::time::Duration;

use base::Timestamp;
use chrono::Datelike;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::error::EngineError;
use crate::settings::Limit;

/// Longest wait for the limit per second. A query that would wait longer goes to the next engine.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Requests that may still be made.
pub(crate) struct Allowance {
    limit: Limit,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Earliest time of the next request.
    next: Option<Instant>,
    /// End of a pause that the engine has asked for.
    paused: Option<Instant>,
    month: (i32, u32),
    used: u32,
}

impl Allowance {
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, state: Mutex::default() }
    }

    /// Counts one request, and waits until it may be made.
    ///
    /// # Errors
    /// [`EngineError::MonthUsed`], and [`EngineError::RateLimited`] if the wait would be too long. Nothing is counted then.
    pub(crate) async fn take(&self, now: Timestamp, deadline: Instant) -> Result<(), EngineError> {
        let start = self.reserve(now, Instant::now(), deadline)?;
        tokio::time::sleep_until(start).await;
        Ok(())
    }

    /// Makes no requests for that long, since the engine asks for it.
    pub(crate) fn pause(&self, wait: Duration) {
        self.state.lock().paused = Some(Instant::now() + wait);
    }

    /// Counts one request and returns the time when it may be made.
    fn reserve(&self, now: Timestamp, at: Instant, deadline: Instant) -> Result<Instant, EngineError> {
        let mut state = self.state.lock();
        let paused = state.paused.map(|until| until.saturating_duration_since(at)).filter(|wait| !wait.is_zero());
        if paused.is_some() {
            return Err(EngineError::RateLimited { retry_after: paused });
        }
        let month = (now.year(), now.month());
        if state.month != month {
            (state.month, state.used) = (month, 0);
        }
        let most = self.limit.per_month;
        if most > 0 && state.used >= most {
            return Err(EngineError::MonthUsed { most });
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
        state.used = state.used.saturating_add(1);
        Ok(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn requests_are_spread_over_the_second() {
        let allowance = Allowance::new(Limit { per_second: 2, per_month: 0 });
        let (now, at) = (time("2026-11-26T00:00:00Z"), Instant::now());
        let deadline = at + Duration::from_secs(60);
        let waits: Vec<_> =
            (0..5).map(|_| allowance.reserve(now, at, deadline).map(|start| (start - at).as_millis())).collect();
        assert_eq!(waits, [Ok(0), Ok(500), Ok(1000), Ok(1500), Ok(2000)]);
        let refused = allowance.reserve(now, at, deadline);
        assert_eq!(refused, Err(EngineError::RateLimited { retry_after: Some(Duration::from_millis(2500)) }));
        let later = at + Duration::from_secs(10);
        assert_eq!(allowance.reserve(now, later, deadline), Ok(later));
        let soon = later + Duration::from_millis(100);
        let refused = allowance.reserve(now, later, soon);
        assert!(matches!(refused, Err(EngineError::RateLimited { .. })), "{refused:?}");
    }

    #[test]
    fn the_month_has_an_end() {
        let allowance = Allowance::new(Limit { per_second: 0, per_month: 2 });
        let at = Instant::now();
        let take = |now: &str| allowance.reserve(time(now), at, at + Duration::from_secs(1)).map(|_| ());
        assert_eq!([take("2026-11-01T00:00:00Z"), take("2026-11-30T23:59:59Z")], [Ok(()), Ok(())]);
        assert_eq!(take("2026-11-30T23:59:59Z"), Err(EngineError::MonthUsed { most: 2 }));
        assert_eq!(take("2026-12-01T00:00:00Z"), Ok(()));
    }
}

//! The circuit breaker of an endpoint: after failures in a row no calls are made for a while, then one tries.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Number of failures in a row that open the breaker.
const FAILURES: u32 = 5;
/// Pause after these failures; it doubles with each failed try.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A circuit breaker.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
}

impl Breaker {
    /// Returns whether a call may be made now. After a pause one call may, and the others wait for its result.
    pub(crate) fn admits(&self, now: Instant) -> bool {
        let mut state = self.0.lock();
        match state.open_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                state.open_until = Some(now + state.pause());
                true
            }
        }
    }

    /// Records a call that the endpoint has answered, with success or a refusal.
    pub(crate) fn succeed(&self) {
        *self.0.lock() = State::default();
    }

    /// Records a call that failed for a reason of the endpoint. Returns whether the breaker has opened by it.
    pub(crate) fn fail(&self, now: Instant) -> bool {
        let mut state = self.0.lock();
        state.failures = state.failures.saturating_add(1);
        if state.failures < FAILURES {
            return false;
        }
        let opens = state.open_until.is_none();
        state.open_until = Some(now + state.pause());
        opens
    }
}

impl State {
    fn pause(&self) -> Duration {
        FIRST_PAUSE.saturating_mul(1 << (self.failures - FAILURES.min(self.failures)).min(8)).min(LONGEST_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_open_it_and_one_success_closes_it() {
        let breaker = Breaker::default();
        let now = Instant::now();
        for _ in 1..FAILURES {
            assert!(!breaker.fail(now));
        }
        breaker.succeed();
        for number in 1..=FAILURES {
            assert!(breaker.admits(now));
            assert_eq!(breaker.fail(now), number == FAILURES);
        }
        assert!(!breaker.admits(now + Duration::from_secs(4)));
        let later = now + Duration::from_secs(5);
        // One call tries, the others are refused until it has ended.
        assert!(breaker.admits(later) && !breaker.admits(later));
        assert!(!breaker.fail(later));
        assert!(!breaker.admits(later + Duration::from_secs(9)) && breaker.admits(later + Duration::from_secs(10)));
        breaker.succeed();
        assert!(breaker.admits(later) && breaker.admits(later));
    }
}

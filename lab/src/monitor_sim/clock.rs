//! A virtual clock that several processes share: it stands still until a moment, and runs faster than the real one from
//! then on.

use std::time::Duration;

use base::{Clock, SystemClock, Timestamp};

/// Virtual clock. Processes with the same values see the same time.
#[derive(Debug, Clone, Copy)]
pub(super) struct VirtualClock {
    /// Virtual time at `at` and before.
    pub(super) begin: Timestamp,
    /// Real time from which it runs.
    pub(super) at: Timestamp,
    /// Virtual seconds in a real one.
    pub(super) speed: i32,
}

impl VirtualClock {
    /// Creates a clock that stands still.
    pub(super) fn still(begin: Timestamp) -> Self {
        Self { begin, at: Timestamp::MAX_UTC, speed: 1 }
    }

    /// Returns the real time until a virtual one; zero if it has passed.
    pub(super) fn until(&self, time: Timestamp) -> Duration {
        let real = self.at + (time - self.begin) / self.speed;
        (real - SystemClock.now()).to_std().unwrap_or_default()
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let real = SystemClock.now();
        if real <= self.at { self.begin } else { self.begin + (real - self.at) * self.speed }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn runs_from_its_moment_on() {
        let begin: Timestamp = "2026-03-02T00:00:00Z".parse().unwrap();
        assert_eq!(VirtualClock::still(begin).now(), begin);
        let clock = VirtualClock { begin, at: SystemClock.now() - TimeDelta::seconds(10), speed: 60 };
        let passed = clock.now() - begin;
        assert!(passed >= TimeDelta::minutes(10) && passed < TimeDelta::minutes(11), "{passed}");
        assert_eq!(clock.until(begin), Duration::ZERO);
        let rest = clock.until(begin + TimeDelta::minutes(20));
        assert!(rest > Duration::from_secs(9) && rest <= Duration::from_secs(10), "{rest:?}");
    }
}

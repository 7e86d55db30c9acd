//! A manual clock.

use std::sync::Arc;
use std::time::Duration;

use base::{Clock, Timestamp};
use chrono::TimeDelta;
use parking_lot::Mutex;

/// A [`Clock`] that stands still until a test moves it. Clones share the same time.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<Mutex<Timestamp>>);

impl ManualClock {
    /// Creates a clock at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(start)))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        *self.0.lock() += TimeDelta::from_std(by).unwrap_or(TimeDelta::MAX);
    }

    /// Sets the time, also backwards.
    pub fn set(&self, to: Timestamp) {
        *self.0.lock() = to;
    }
}

impl Default for ManualClock {
    /// Creates a clock at 2026-01-01T00:00:00Z.
    fn default() -> Self {
        Self::new(Timestamp::from_timestamp(1_767_225_600, 0).unwrap_or_default())
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_only_when_told() {
        let clock = ManualClock::default();
        assert_eq!(clock.now().to_rfc3339(), "2026-01-01T00:00:00+00:00");
        clock.clone().advance(Duration::from_secs(90));
        assert_eq!(clock.now().to_rfc3339(), "2026-01-01T00:01:30+00:00");
    }
}

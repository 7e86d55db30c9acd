//! Time as a parameter: no crate below the binaries reads the system clock directly.

use std::fmt;

use chrono::{DateTime, Utc};

/// A point in time in UTC. The database stores it without a time zone, JSON formats it by RFC 3339.
pub type Timestamp = DateTime<Utc>;

/// Source of the current time, injected so that tests can control it.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the system for the time")]
    fn now(&self) -> Timestamp {
        Utc::now()
    }
}

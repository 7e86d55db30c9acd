//! Time as a parameter: nothing below the binaries asks the operating system for it directly.

use std::fmt;

use chrono::{DateTime, Utc};

/// A moment in UTC. The database keeps it naive, the wire prints it as RFC 3339.
pub type Timestamp = DateTime<Utc>;

/// Where the current time comes from. Handed in, so that a test can turn the clock.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The current moment.
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

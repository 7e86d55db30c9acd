//! Schedules: the case files, a comparison with a walk over every minute, and properties.

#![expect(clippy::unwrap_used, reason = "a test stops when it cannot go on")]

mod cases;
mod judge;
mod oracle;
mod properties;
mod walk;

//! When the checks of a monitor are due: cron and text schedules in time zones, and whether a due check may start. No I/O,
//! no clock.
//!
//! ```
//! use monitor_scheduler::{Schedule, next_run, parse_text};
//!
//! let schedule = Schedule::cron("30 2 * * *", "America/New_York")?;
//! // On 8 March 2026 the clocks go from 02:00 to 03:00: the check of 02:30 is due at 03:00.
//! let after = "2026-03-08T00:00:00Z".parse()?;
//! assert_eq!(next_run(&schedule, after), Some("2026-03-08T07:00:00Z".parse()?));
//!
//! // Where a text leaves the minute open, the id of the monitor chooses it.
//! assert_eq!(parse_text("hourly", "922e3334-f16d-427c-a258-5f88562b48e9")?, "56 * * * *");
//! assert_eq!(parse_text("weekdays at 5:30 PM", "")?, "30 17 * * 1-5");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cron
//!
//! Five fields as in Vixie's cron: minute, hour, day of the month, month, day of the week; lists, ranges, steps, names of
//! three letters, 0 and 7 for Sunday, and `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly`,
//! `@annually`. When neither field of days begins with `*`, a day that matches one of them is enough; otherwise both
//! must match. What programs read in different ways is refused, such as `5/15`.
//!
//! # Changes of the clock
//!
//! A schedule whose minute and hour do not begin with `*` names fixed times: one that the clock skips runs at the first
//! instant after the gap (several at once run once, and none after a gap of over three hours), and one that comes twice
//! runs the first time. Every other schedule follows the clock on the wall: it runs whenever that clock shows a time that
//! matches, in both passes of an hour that comes twice.

mod days;
mod error;
mod expression;
mod schedule;
mod start;
mod text;
mod zone;

pub use days::MIN_DISTANCE;
pub use error::Invalid;
pub use schedule::{Schedule, next_run};
pub use start::{Grant, NoCredits, Situation, Start, Trigger, WITHDRAWALS_TO_PAUSE, may_start};
pub use text::parse_text;

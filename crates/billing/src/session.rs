//! Price of browser sessions: per second, rounded up to whole credits at the end.
//!
//! Source of the rates: docs/API.md, "Credits".

use std::time::Duration;

/// Price of one minute of a session, in credits.
pub const SESSION_MINUTE: i64 = 2;
/// Price of one minute of a session that ran a prompt, in credits.
pub const PROMPTED_SESSION_MINUTE: i64 = 7;

/// Whether a session ran a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionKind {
    /// The session only ran code.
    Plain,
    /// The session ran at least one prompt.
    Prompted,
}

/// Returns the price of a session, in credits. Charged from start to end, idle time included; a started second counts
/// as a whole one.
///
/// ```
/// use std::time::Duration;
/// use billing::{SessionKind, session};
///
/// assert_eq!(session(Duration::from_secs(30), SessionKind::Plain), 1);
/// assert_eq!(session(Duration::from_millis(30_001), SessionKind::Plain), 2);
/// assert_eq!(session(Duration::from_secs(60), SessionKind::Prompted), 7);
/// ```
#[must_use]
pub fn session(lived: Duration, kind: SessionKind) -> i64 {
    let seconds = lived.as_secs().saturating_add(u64::from(lived.subsec_nanos() > 0));
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    let minute = match kind {
        SessionKind::Plain => SESSION_MINUTE,
        SessionKind::Prompted => PROMPTED_SESSION_MINUTE,
    };
    // Rounds the partial minute up to a whole credit. Splitting off whole minutes lets the product saturate, not overflow.
    let (whole, rest) = (seconds / 60, seconds % 60);
    whole.saturating_mul(minute).saturating_add((rest * minute + 59) / 60)
}

/// Returns the surcharge for prompts in a session of this length, in credits. Reserved and booked separately, at the
/// first prompt.
#[must_use]
pub fn prompt_extra(lived: Duration) -> i64 {
    session(lived, SessionKind::Prompted) - session(lived, SessionKind::Plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_cost_by_the_second() {
        let check = |ms: u64, plain: i64, prompted: i64| {
            let lived = Duration::from_millis(ms);
            assert_eq!(session(lived, SessionKind::Plain), plain, "{ms}");
            assert_eq!(session(lived, SessionKind::Prompted), prompted, "{ms}");
            assert_eq!(plain + prompt_extra(lived), prompted, "{ms}");
        };
        check(0, 0, 0);
        check(1, 1, 1);
        check(8_000, 1, 1);
        check(9_000, 1, 2);
        check(60_000, 2, 7);
        check(60_001, 3, 8);
        check(300_000, 10, 35);
        check(3_600_000, 120, 420);
        check(u64::MAX, 614_891_469_123_652, 2_152_120_141_932_782);
    }
}

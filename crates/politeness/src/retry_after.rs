//! The `Retry-After` header (RFC 9110 section 10.2.3).

use std::time::Duration;

use base::Timestamp;
use chrono::{NaiveDateTime, TimeDelta};

/// Longest wait that is honoured.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

/// Parses the wait that a header value requests, at most [`MAX_RETRY_AFTER`]: seconds, or a date in any of the three HTTP
/// formats. A date in the past means no wait. `None` for anything else.
#[must_use]
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    let wait = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // On overflow the wait is longer than the maximum anyway.
        Duration::from_secs(value.parse().unwrap_or(u64::MAX))
    } else {
        (date(value)? - now).max(TimeDelta::zero()).to_std().ok()?
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

fn date(value: &str) -> Option<Timestamp> {
    // The weekday is ignored: some servers send a wrong one.
    let (_, day) = value.split_once([',', ' '])?;
    let day = day.trim();
    let zoned = day.strip_suffix("GMT").or_else(|| day.strip_suffix("UTC")).unwrap_or(day).trim_end();
    ["%d %b %Y %H:%M:%S", "%d-%b-%y %H:%M:%S", "%b %e %H:%M:%S %Y"]
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(zoned, form).ok())
        .map(|time| time.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;

    fn check(value: &str, expect: Option<u64>) {
        let now = DateTime::parse_from_rfc3339("1994-11-06T08:49:00Z").unwrap().to_utc();
        assert_eq!(retry_after(value, now), expect.map(Duration::from_secs), "{value}");
    }

    #[test]
    fn seconds_and_dates() {
        check("0", Some(0));
        check(" 12 ", Some(12));
        check("86400", Some(300));
        check("99999999999999999999999", Some(300));
        check("Sun, 06 Nov 1994 08:49:37 GMT", Some(37));
        check("Sunday, 06-Nov-94 08:49:37 GMT", Some(37));
        check("Sun Nov  6 08:49:37 1994", Some(37));
        check("Mon, 06 Nov 1994 08:49:37 GMT", Some(37));
        check("Sun, 06 Nov 1994 08:00:00 GMT", Some(0));
        check("Fri, 06 Nov 2043 08:49:37 GMT", Some(300));
        for nothing in ["", "soon", "-1", "1.5", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            check(nothing, None);
        }
    }
}

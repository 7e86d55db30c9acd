//! Dates of results, as engines write them.

use base::Timestamp;
use chrono::{DateTime, Months, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, TimeDelta};

/// Maximum length of a date, in bytes.
const MAX_BYTES: usize = 64;

/// Date of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct When {
    /// RFC 3339, or the text as given.
    pub(crate) text: String,
    /// The time, if the text tells it.
    pub(crate) time: Option<Timestamp>,
}

/// Reads a date: ISO 8601 with or without a time and zone, RFC 2822, `Nov 20, 2026`, `20 Nov 2026`, or an age such as
/// `3 hours ago`. Dates of the future are as given, without a time.
pub(crate) fn when(text: &str, now: Timestamp) -> Option<When> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_BYTES || text.chars().any(char::is_control) {
        return None;
    }
    let time = parse(text, now).filter(|time| *time <= now + TimeDelta::days(1));
    let written = time.map(|time| time.to_rfc3339_opts(SecondsFormat::Secs, true));
    Some(When { text: written.unwrap_or_else(|| text.to_owned()), time })
}

fn parse(text: &str, now: Timestamp) -> Option<Timestamp> {
    let zoned = DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_rfc2822(text))
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%z"))
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z"));
    if let Ok(time) = zoned {
        return Some(time.to_utc());
    }
    let local = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M"];
    if let Some(time) = local.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok()) {
        return Some(time.and_utc());
    }
    let dates = ["%Y-%m-%d", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%m/%d/%Y", "%Y%m%d"];
    let date = dates.iter().find_map(|form| NaiveDate::parse_from_str(text, form).ok());
    date.map(|date| date.and_time(NaiveTime::MIN).and_utc()).or_else(|| age(text, now))
}

/// Reads an age: `5 minutes ago`, `an hour ago`, `yesterday`.
fn age(text: &str, now: Timestamp) -> Option<Timestamp> {
    let lower = text.to_ascii_lowercase();
    if lower == "yesterday" {
        return Some(now - TimeDelta::days(1));
    }
    let mut words = lower.strip_suffix("ago")?.split_whitespace();
    let count = match words.next()? {
        "a" | "an" | "one" => 1,
        number => number.parse::<u32>().ok().filter(|count| *count <= 10_000)?,
    };
    let unit = words.next()?;
    if words.next().is_some() {
        return None;
    }
    let unit = unit.trim_end_matches('s');
    let many = i64::from(count);
    match unit {
        "second" | "sec" => Some(now - TimeDelta::seconds(many)),
        "minute" | "min" => Some(now - TimeDelta::minutes(many)),
        "hour" | "hr" => Some(now - TimeDelta::hours(many)),
        "day" => Some(now - TimeDelta::days(many)),
        "week" => Some(now - TimeDelta::weeks(many)),
        "month" => now.checked_sub_months(Months::new(count)),
        "year" => now.checked_sub_months(Months::new(count.saturating_mul(12))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_engines() {
        let now = "2026-11-26T12:00:00Z".parse().unwrap();
        let check = |text: &str, expect: &str| {
            let found = when(text, now).unwrap();
            assert_eq!(found.text, expect, "{text}");
            assert!(found.time.is_some(), "{text}");
        };
        check("2026-11-11T00:00:00", "2026-11-11T00:00:00Z");
        check("2026-11-11T08:00:00.123+02:00", "2026-11-11T06:00:00Z");
        check("2026-11-11 08:00:00+0200", "2026-11-11T06:00:00Z");
        check("2026-11-11", "2026-11-11T00:00:00Z");
        check("Tue, 11 Nov 2025 08:00:00 GMT", "2025-11-11T08:00:00Z");
        check("Nov 20, 2026", "2026-11-20T00:00:00Z");
        check("20 November 2026", "2026-11-20T00:00:00Z");
        check("3 hours ago", "2026-11-26T09:00:00Z");
        check("An hour ago", "2026-11-26T11:00:00Z");
        check("2 weeks ago", "2026-11-12T12:00:00Z");
        check("1 month ago", "2026-10-26T12:00:00Z");
        check("yesterday", "2026-11-25T12:00:00Z");
        for given in ["vor 3 Stunden", "20 days", "2027-11-11", "99999 days ago"] {
            assert_eq!(when(given, now), Some(When { text: given.to_owned(), time: None }));
        }
        for nothing in ["", "  ", "a\nb", &"x".repeat(65)] {
            assert_eq!(when(nothing, now), None);
        }
    }
}

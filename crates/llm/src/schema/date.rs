//! Dates that models write in the form of the page.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime};

/// Forms of a date whose order of day and month is plain.
const FORMS: &[&str] = &[
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%d %B %Y",
    "%d %b %Y",
    "%d. %B %Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%B %d %Y",
    "%A, %d %B %Y",
    "%A, %B %d, %Y",
    "%a, %d %b %Y",
    "%Y年%m月%d日",
    "%Y%m%d",
];

/// Returns a date as the format `date` wants it; `None` when it is none, or day and month can be confused.
pub(super) fn date(text: &str) -> Option<String> {
    let text = text.trim();
    Some(read(text).or_else(|| slashed(text)).or_else(|| of_time(text))?.to_string())
}

fn read(text: &str) -> Option<NaiveDate> {
    let read = FORMS.iter().find_map(|form| NaiveDate::parse_from_str(text, form).ok());
    read.filter(is_recent)
}

/// Returns whether a year was written in full: `25/11/20` is no date of the year 25.
fn is_recent(date: &NaiveDate) -> bool {
    date.year() >= 1000
}

/// Reads a date with slashes if it is valid in one order only.
fn slashed(text: &str) -> Option<NaiveDate> {
    let read = |form| NaiveDate::parse_from_str(text, form).ok().filter(is_recent);
    match (read("%d/%m/%Y"), read("%m/%d/%Y")) {
        (Some(one), Some(other)) if one != other => None,
        (one, other) => one.or(other),
    }
}

/// Reads the date of a date with a time.
fn of_time(text: &str) -> Option<NaiveDate> {
    let (date, time) = text.split_once(['T', ' '])?;
    let is_time = time.contains(':') && time.starts_with(|first: char| first.is_ascii_digit());
    NaiveDate::parse_from_str(date, "%Y-%m-%d").ok().filter(|_| is_time)
}

/// Returns a time as the format `date-time` wants it; `None` when it is none, or has no offset, which would be invented.
pub(super) fn date_time(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text
        .strip_suffix(" UTC")
        .or_else(|| text.strip_suffix(" GMT"))
        .map_or_else(|| text.to_owned(), |local| format!("{local}Z"));
    let zoned = ["%Y-%m-%d %H:%M:%S%#z", "%Y-%m-%dT%H:%M%#z", "%Y-%m-%d %H:%M%#z", "%Y-%m-%dT%H:%M:%S%#z"];
    let time = DateTime::parse_from_rfc2822(&text).ok();
    let time = time.or_else(|| zoned.iter().find_map(|form| DateTime::parse_from_str(&text, form).ok()));
    let time = time.or_else(|| {
        let local = text.strip_suffix('Z')?;
        let forms = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"];
        forms
            .iter()
            .find_map(|form| NaiveDateTime::parse_from_str(local, form).ok())
            .map(|time| time.and_utc().fixed_offset())
    });
    Some(time?.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
}

/// Returns whether a text has the format `date` or `date-time` already.
pub(super) fn is_valid(text: &str, format: &str) -> bool {
    match format {
        "date" => text.len() == 10 && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok(),
        _ => DateTime::parse_from_rfc3339(text).is_ok() && text.contains(['T', 't']),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_pages_become_dates_of_schemas() {
        for text in [
            "2026-11-03",
            "3 November 2026",
            "3 Nov 2026",
            "November 3, 2026",
            "Tuesday, 3 November 2026",
            "03.11.2026",
            "2026/11/03",
            "2026年11月3日",
            "2026-11-03T19:30:00Z",
            "2026-11-03 19:30",
        ] {
            assert_eq!(date(text).as_deref(), Some("2026-11-03"), "{text}");
        }
        assert_eq!(date("25/11/2026").as_deref(), Some("2026-11-25"));
        assert_eq!(date("11/11/2026").as_deref(), Some("2026-11-11"));
        for text in ["03/11/2026", "25/11/20", "soon", "November 2026", "2026-13-01", "3", ""] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn times_need_an_offset() {
        for text in
            ["2026-11-03 19:30:00Z", "2026-11-03T19:30Z", "2026-11-03 19:30 UTC", "Tue, 03 Nov 2026 19:30:00 +0000"]
        {
            assert_eq!(date_time(text).as_deref(), Some("2026-11-03T19:30:00Z"), "{text}");
        }
        assert_eq!(date_time("2026-11-03 19:30:00+01:00").as_deref(), Some("2026-11-03T19:30:00+01:00"));
        assert_eq!(date_time("2026-11-03 19:30"), None);
    }
}

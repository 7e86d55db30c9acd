//! `tbs`: the age of results, in the notation of Google.

use std::fmt;

use chrono::{Datelike, NaiveDate};
use serde::{Serialize, Serializer};

use crate::words::words;

/// Maximum number of units in `qdr`.
const MAX_UNITS: u32 = 999;
/// Maximum length of `tbs`, in characters.
const MAX_TBS_CHARS: usize = 100;

words! {
    /// Unit of an age.
    pub enum AgeUnit {
        /// Hours.
        Hour = "h",
        /// Days.
        Day = "d",
        /// Weeks.
        Week = "w",
        /// Months.
        Month = "m",
        /// Years.
        Year = "y",
    }
}

/// Publication time that results must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Published {
    /// Within the last units: `qdr:d3` are three days.
    Within {
        /// Number of units, from 1.
        count: u32,
        /// The unit.
        unit: AgeUnit,
    },
    /// Between two dates, both inclusive; at least one is given.
    Between {
        /// First date.
        from: Option<NaiveDate>,
        /// Last date.
        to: Option<NaiveDate>,
    },
}

/// Value of `tbs`.
///
/// ```
/// use wire::{AgeUnit, Published, TimeFilter};
///
/// let filter = TimeFilter::parse("qdr:w2,sbd:1")?;
/// assert_eq!(filter.published, Some(Published::Within { count: 2, unit: AgeUnit::Week }));
/// assert!(filter.newest_first);
/// assert_eq!(filter.to_string(), "qdr:w2,sbd:1");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TimeFilter {
    /// Publication time, if results must have one.
    pub published: Option<Published>,
    /// Whether the newest results come first.
    pub newest_first: bool,
}

impl TimeFilter {
    /// Parses a value of `tbs`. An empty text is no filter.
    ///
    /// # Errors
    /// The reason, worded to follow the name of the field.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut found = Parts::default();
        if text.len() > MAX_TBS_CHARS {
            return Err(expected());
        }
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            found.add(part)?;
        }
        found.finish()
    }

    /// Whether every result passes, in any order.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Parts of a value.
#[derive(Default)]
struct Parts {
    within: Option<Published>,
    has_dates: bool,
    from: Option<NaiveDate>,
    to: Option<NaiveDate>,
    newest_first: bool,
}

impl Parts {
    fn add(&mut self, part: &str) -> Result<(), String> {
        let (name, value) = part.split_once(':').ok_or_else(expected)?;
        match (name, value) {
            ("qdr", value) => self.within = Some(within(value)?),
            ("cdr", "1") => self.has_dates = true,
            ("cd_min", value) => self.from = Some(date(value)?),
            ("cd_max", value) => self.to = Some(date(value)?),
            ("sbd", "0" | "1") => self.newest_first = value == "1",
            _ => return Err(expected()),
        }
        Ok(())
    }

    fn finish(self) -> Result<TimeFilter, String> {
        let Self { within, has_dates, from, to, newest_first } = self;
        let has_bounds = from.is_some() || to.is_some();
        if has_dates != has_bounds || (has_bounds && within.is_some()) {
            return Err(expected());
        }
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            return Err("must not have a `cd_min` after its `cd_max`".to_owned());
        }
        let between = has_bounds.then_some(Published::Between { from, to });
        Ok(TimeFilter { published: within.or(between), newest_first })
    }
}

fn expected() -> String {
    "must be `qdr:` with `h`, `d`, `w`, `m` or `y` and an optional number from 1 to 999, or \
    `cdr:1,cd_min:M/D/YYYY,cd_max:M/D/YYYY`, or `sbd:1`"
        .to_owned()
}

fn within(value: &str) -> Result<Published, String> {
    let unit = AgeUnit::ALL.iter().find(|unit| value.starts_with(unit.as_str())).ok_or_else(expected)?;
    let count = match &value[1..] {
        "" => 1,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().map_err(|_| expected())?,
        _ => return Err(expected()),
    };
    if (1..=MAX_UNITS).contains(&count) { Ok(Published::Within { count, unit: *unit }) } else { Err(expected()) }
}

/// Reads a date, month first as Google writes it, or year first.
fn date(value: &str) -> Result<NaiveDate, String> {
    let parsed = NaiveDate::parse_from_str(value, "%m/%d/%Y").or_else(|_| NaiveDate::parse_from_str(value, "%Y-%m-%d"));
    parsed.ok().filter(|date| (1900..=9999).contains(&date.year())).ok_or_else(expected)
}

impl fmt::Display for TimeFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        match self.published {
            Some(Published::Within { count: 1, unit }) => parts.push(format!("qdr:{}", unit.as_str())),
            Some(Published::Within { count, unit }) => parts.push(format!("qdr:{}{count}", unit.as_str())),
            Some(Published::Between { from, to }) => {
                let date = |name, date: NaiveDate| format!("{name}:{}/{}/{}", date.month(), date.day(), date.year());
                parts.push("cdr:1".to_owned());
                parts.extend(from.map(|from| date("cd_min", from)));
                parts.extend(to.map(|to| date("cd_max", to)));
            }
            None => {}
        }
        parts.extend(self.newest_first.then(|| "sbd:1".to_owned()));
        f.write_str(&parts.join(","))
    }
}

impl Serialize for TimeFilter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_written() {
        for (text, written) in [
            ("", ""),
            ("qdr:h", "qdr:h"),
            ("qdr:d1", "qdr:d"),
            ("qdr:y10", "qdr:y10"),
            ("sbd:1, qdr:w", "qdr:w,sbd:1"),
            ("sbd:0", ""),
            ("cdr:1,cd_min:1/31/2026,cd_max:02/01/2026", "cdr:1,cd_min:1/31/2026,cd_max:2/1/2026"),
            ("cdr:1,cd_max:2026-02-01,sbd:1", "cdr:1,cd_max:2/1/2026,sbd:1"),
        ] {
            let filter = TimeFilter::parse(text).unwrap();
            assert_eq!(filter.to_string(), written, "{text}");
            assert_eq!(TimeFilter::parse(written).unwrap(), filter, "{text}");
            assert_eq!(filter.is_empty(), written.is_empty(), "{text}");
        }
    }

    #[test]
    fn other_values_are_refused() {
        for text in [
            "qdr",
            "qdr:",
            "qdr:x",
            "qdr:d0",
            "qdr:d1000",
            "qdr:d+1",
            "qdr:dü",
            "week",
            "cdr:1",
            "cd_min:1/1/2026",
            "cdr:1,cd_min:31/1/2026",
            "cdr:1,cd_min:1/1/2026,qdr:d",
            "cdr:1,cd_min:2/1/2026,cd_max:1/1/2026",
            "sbd:2",
            &"qdr:d,".repeat(50),
        ] {
            assert!(TimeFilter::parse(text).unwrap_err().starts_with("must "), "{text}");
        }
    }
}

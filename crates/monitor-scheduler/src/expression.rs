//! Cron expressions: from the text of a user to the days and times that match.

mod field;

use field::{DAY, Field, HOUR, MINUTE, MONTH, WEEKDAY};

use crate::Invalid;

/// Longest expression in bytes; one that lists every minute, hour and day has a third of that.
const MAX_LENGTH: usize = 1000;

/// Names for common expressions.
const WORDS: [(&str, &str); 7] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
];

/// A parsed expression. Its fields are sets: bit `n` is the value `n`, and Sunday is 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cron {
    pub(crate) minutes: u64,
    pub(crate) hours: u64,
    pub(crate) days: u64,
    pub(crate) months: u64,
    pub(crate) weekdays: u64,
    /// Whether a day that matches one of `days` and `weekdays` is enough.
    pub(crate) either: bool,
    /// Whether neither minute nor hour begins with `*`.
    pub(crate) is_fixed: bool,
    /// The expression in digits with single blanks; parsing it gives the same.
    pub(crate) text: String,
}

impl Cron {
    pub(crate) fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() > MAX_LENGTH {
            return Err(Invalid::Cron(format!("a cron expression may have {MAX_LENGTH} bytes")));
        }
        let words: Vec<&str> = text.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
        match *words.as_slice() {
            [word] if word.starts_with('@') => {
                let known = WORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
                let (_, meaning) = known.ok_or_else(|| {
                    let names = WORDS.map(|(name, _)| name).join(", ");
                    Invalid::Cron(format!("a schedule in one word is one of {names}"))
                })?;
                Self::parse(meaning)
            }
            [minute, hour, day, month, weekday] => Self::of([
                MINUTE.parse(minute)?,
                HOUR.parse(hour)?,
                DAY.parse(day)?,
                MONTH.parse(month)?,
                WEEKDAY.parse(weekday)?,
            ]),
            _ => Err(Invalid::Cron(format!(
                "a cron expression has five fields (minute, hour, day of the month, month, day of the week), this one has {}",
                words.len()
            ))),
        }
    }

    fn of(fields: [Field; 5]) -> Result<Self, Invalid> {
        let text = fields.each_ref().map(|field| field.text.as_str()).join(" ");
        let [minute, hour, day, month, weekday] = fields;
        Ok(Self {
            minutes: minute.values,
            hours: hour.values,
            days: day.values,
            months: month.values,
            weekdays: weekday.values,
            either: !day.has_star && !weekday.has_star,
            is_fixed: !minute.has_star && !hour.has_star,
            text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(cron: &str) -> String {
        Cron::parse(cron).unwrap().text
    }

    #[test]
    fn the_normal_form_has_digits_and_single_blanks() {
        for (cron, normal) in [
            ("  0   9 * *\t1 ", "0 9 * * 1"),
            ("05 09 * * 1", "5 9 * * 1"),
            ("0 9 * JAN,jul Mon-fri", "0 9 * 1,7 1-5"),
            ("0 9 * * 5-7", "0 9 * * 0,5,6"),
            ("0 9 * * 7", "0 9 * * 0"),
            ("0 0 * * 0,7", "0 0 * * 0"),
            ("*/15 0-12/03 */2 2-4 */2", "*/15 0-12/3 */2 2-4 */2"),
            ("@WEEKLY", "0 0 * * 0"),
            ("@annually", "0 0 1 1 *"),
        ] {
            assert_eq!(text(cron), normal, "{cron}");
            assert_eq!(text(normal), normal);
            let parsed = Cron::parse(cron).unwrap();
            assert_eq!(Cron::parse(normal).unwrap(), parsed, "{cron}");
        }
    }

    #[test]
    fn what_is_unclear_is_refused_with_a_reason() {
        for (cron, reason) in [
            ("", "has 0"),
            ("* * * *", "has 4"),
            ("0 0 * * * 2027", "has 6"),
            ("@reboot", "@hourly, @daily"),
            ("@daily @daily", "has 2"),
            ("5/15 * * * *", "5-59/15"),
            ("*/0 * * * *", "step"),
            ("*/ * * * *", "step"),
            ("60 * * * *", "0 to 59"),
            ("0 24 * * *", "0 to 23"),
            ("0 0 0 * *", "1 to 31"),
            ("0 0 * 13 *", "1 to 12"),
            ("0 0 * * 8", "0 to 7"),
            ("0 0 * * Thurs", "\"Thurs\""),
            ("0 0 * * ?", "\"?\""),
            ("0 0 L * *", "\"L\""),
            ("0 0 * * MON#1", "MON#1"),
            ("0, * * * *", "\"\""),
            ("5-1 * * * *", "5-1"),
            ("0 0 * * FRI-SUN", "FRI,SAT,SUN"),
            ("-1 * * * *", "\"\""),
            ("1-2-3 * * * *", "2-3"),
            ("0 0 * * mon/2", "1-6/2"),
            ("*-5 * * * *", "\"*\""),
            ("+5 * * * *", "\"+5\""),
            ("\n0 9 * * *", "\\n"),
            ("0 9 * * *\0", "\\0"),
            ("0\u{a0}9 * * *", "has 4"),
            ("３ 9 * * *", "３"),
        ] {
            let error = Cron::parse(cron).unwrap_err().to_string();
            assert!(error.contains(reason), "{cron}: {error}");
        }
        assert!(Cron::parse(&"0,".repeat(600)).is_err());
    }

    #[test]
    fn days_are_joined_by_or_unless_one_begins_with_a_star() {
        for (cron, either) in
            [("0 0 1 * 1", true), ("0 0 */2 * 1", false), ("0 0 1 * *", false), ("0 0 1,*/9 * 1,*", true)]
        {
            assert_eq!(Cron::parse(cron).unwrap().either, either, "{cron}");
        }
    }

    #[test]
    fn times_are_fixed_unless_minute_or_hour_begins_with_a_star() {
        for (cron, fixed) in [("0 1 * * *", true), ("*/9 1 * * *", false), ("0 * * * *", false), ("0 0-23 * * *", true)] {
            assert_eq!(Cron::parse(cron).unwrap().is_fixed, fixed, "{cron}");
        }
    }
}

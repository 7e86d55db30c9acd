//! One field of a cron expression.

use crate::Invalid;

const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// Second number of Sunday.
const SUNDAY_AGAIN: u32 = 7;

pub(super) const MINUTE: Kind = Kind { name: "minute", min: 0, max: 59, names: &[] };
pub(super) const HOUR: Kind = Kind { name: "hour", min: 0, max: 23, names: &[] };
pub(super) const DAY: Kind = Kind { name: "day of the month", min: 1, max: 31, names: &[] };
pub(super) const MONTH: Kind = Kind { name: "month", min: 1, max: 12, names: &MONTHS };
pub(super) const WEEKDAY: Kind = Kind { name: "day of the week", min: 0, max: SUNDAY_AGAIN, names: &WEEKDAYS };

/// Content that a field may have.
pub(super) struct Kind {
    name: &'static str,
    min: u32,
    max: u32,
    /// Names of the values from `min` on.
    names: &'static [&'static str],
}

/// A parsed field.
pub(super) struct Field {
    /// Set of values: bit `n` is the value `n`.
    pub(super) values: u64,
    /// Whether the field begins with `*`.
    pub(super) has_star: bool,
    /// The field in digits.
    pub(super) text: String,
}

/// One item of the list in a field, with its bounds included.
struct Item {
    is_star: bool,
    from: u32,
    to: u32,
    step: u32,
}

impl Kind {
    /// Parses a field: items between commas, each `*`, a value or a range; the first and the last with an optional step.
    pub(super) fn parse(&self, word: &str) -> Result<Field, Invalid> {
        let mut values = 0;
        let mut texts: Vec<String> = Vec::new();
        for text in word.split(',') {
            let item = self.item(text).map_err(|reason| self.fault(word, &reason))?;
            values |= self.values(&item);
            for text in self.spell(&item) {
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        Ok(Field { values, has_star: word.starts_with('*'), text: texts.join(",") })
    }

    fn item(&self, text: &str) -> Result<Item, String> {
        let (range, step) = match text.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (text, None),
        };
        let (is_star, from, to) = match range.split_once('-') {
            Some((from, to)) => (false, self.value(from)?, self.value(to)?),
            None if range == "*" => (true, self.min, self.max),
            None => {
                let value = self.value(range)?;
                (false, value, value)
            }
        };
        if from > to {
            let hint = if self.is_weekday() { ", list its days such as FRI,SAT,SUN" } else { "" };
            return Err(format!("the range {range} ends before it begins{hint}"));
        }
        let step = match step {
            None => 1,
            Some(step) if is_star || range.contains('-') => {
                number(step).filter(|step| *step > 0).ok_or("a step is a number from 1 on")?
            }
            Some(step) => {
                let max = if self.is_weekday() { SUNDAY_AGAIN - 1 } else { self.max };
                return Err(format!("a step follows * or a range, such as {from}-{max}/{step}"));
            }
        };
        Ok(Item { is_star, from, to, step })
    }

    fn value(&self, text: &str) -> Result<u32, String> {
        let name = self.names.iter().zip(self.min..).find(|(name, _)| name.eq_ignore_ascii_case(text));
        let value = name.map(|(_, value)| value).or_else(|| number(text));
        value.filter(|value| (self.min..=self.max).contains(value)).ok_or_else(|| {
            let names = match self.names {
                [first, .., last] => format!(" or {first} to {last}"),
                _ => String::new(),
            };
            format!("{text:?} is not a value from {} to {}{names}", self.min, self.max)
        })
    }

    /// Returns the values of an item, with the second Sunday moved onto the first.
    fn values(&self, item: &Item) -> u64 {
        let values = (item.from..=item.to).step_by(item.step as usize).fold(0, |values, value| values | 1 << value);
        if self.is_weekday() { values & 0x7f | values >> SUNDAY_AGAIN } else { values }
    }

    /// Spells an item in digits. A range that reaches the second Sunday becomes a list of days.
    fn spell(&self, item: &Item) -> Vec<String> {
        if self.is_weekday() && !item.is_star && item.to == SUNDAY_AGAIN {
            let values = self.values(item);
            return (0..SUNDAY_AGAIN).filter(|day| values >> day & 1 == 1).map(|day| day.to_string()).collect();
        }
        let range = match item.is_star {
            true => "*".to_owned(),
            false if item.from == item.to => return vec![item.from.to_string()],
            false => format!("{}-{}", item.from, item.to),
        };
        vec![if item.step == 1 { range } else { format!("{range}/{}", item.step) }]
    }

    fn is_weekday(&self) -> bool {
        self.max == SUNDAY_AGAIN
    }

    fn fault(&self, word: &str, reason: &str) -> Invalid {
        Invalid::Cron(format!("{} {word:?}: {reason}", self.name))
    }
}

/// Reads a number of at most four ASCII digits.
fn number(text: &str) -> Option<u32> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

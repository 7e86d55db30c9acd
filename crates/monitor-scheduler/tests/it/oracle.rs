//! Runs of a schedule found by walking over every minute, with nothing in common with the crate but the offsets of zones.

use chrono::{DateTime, Datelike, NaiveDateTime, TimeDelta, TimeZone, Timelike, Utc};
use chrono_tz::Tz;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const MINUTE: TimeDelta = TimeDelta::minutes(1);

/// Whether a field of digits matches a value; `min` is the first value of the field.
pub(crate) fn matches(field: &str, value: u32, min: u32) -> bool {
    field.split(',').any(|item| {
        let (range, step) = item.split_once('/').map_or((item, 1), |(range, step)| (range, step.parse().unwrap()));
        if range == "*" {
            return (value - min).is_multiple_of(step);
        }
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to): (u32, u32) = (from.parse().unwrap(), to.parse().unwrap());
        (from..=to).contains(&value) && (value - from).is_multiple_of(step)
    })
}

fn digits(field: &str, names: &[&str], min: usize) -> String {
    let lower = field.to_lowercase();
    names.iter().enumerate().fold(lower, |field, (number, name)| field.replace(name, &(number + min).to_string()))
}

/// An expression, matched against the clock on the wall field by field.
pub(crate) struct Expression {
    fields: [String; 5],
}

impl Expression {
    /// Takes five words.
    pub(crate) fn new(cron: &str) -> Self {
        let words: Vec<&str> = cron.split_whitespace().collect();
        let fields = [
            words[0].to_owned(),
            words[1].to_owned(),
            words[2].to_owned(),
            digits(words[3], &MONTHS, 1),
            digits(words[4], &WEEKDAYS, 0),
        ];
        Self { fields }
    }

    /// Whether the clock shows a time of the expression.
    pub(crate) fn shows(&self, wall: NaiveDateTime) -> bool {
        let [minute, hour, day, month, weekday] = &self.fields;
        if !matches(minute, wall.minute(), 0) || !matches(hour, wall.hour(), 0) || !matches(month, wall.month(), 1) {
            return false;
        }
        let of_week = wall.weekday().num_days_from_sunday();
        let has_weekday = matches(weekday, of_week, 0) || of_week == 0 && matches(weekday, 7, 0);
        let has_day = matches(day, wall.day(), 1);
        match day.starts_with('*') || weekday.starts_with('*') {
            true => has_day && has_weekday,
            false => has_day || has_weekday,
        }
    }

    fn is_fixed(&self) -> bool {
        !self.fields[0].starts_with('*') && !self.fields[1].starts_with('*')
    }

    /// Returns the runs after `from`, up to and including `to`, both at whole minutes.
    pub(crate) fn runs(&self, zone: Tz, from: DateTime<Utc>, to: DateTime<Utc>) -> Vec<DateTime<Utc>> {
        let mut runs = Vec::new();
        let wall = |at: DateTime<Utc>| zone.from_utc_datetime(&at.naive_utc()).naive_local();
        // The latest time that the clock has shown, so that an hour that comes again is known.
        let mut at = from - TimeDelta::days(1);
        let mut latest = wall(at);
        let mut before = latest;
        while at < to {
            at += MINUTE;
            let now = wall(at);
            let skipped = now - before - MINUTE;
            let is_due = if self.is_fixed() {
                let is_made_up = skipped > TimeDelta::zero()
                    && skipped <= TimeDelta::hours(3)
                    && (1..=skipped.num_minutes()).any(|minute| self.shows(before + MINUTE * minute as i32));
                is_made_up || now > latest && self.shows(now)
            } else {
                self.shows(now)
            };
            if is_due && at > from {
                runs.push(at);
            }
            latest = latest.max(now);
            before = now;
        }
        runs
    }
}

/// Returns the instants from 2025 to 2028 at which the clock of a zone changes.
pub(crate) fn changes(zone: Tz) -> Vec<DateTime<Utc>> {
    let start = Utc.with_ymd_and_hms(2025, 1, 1, 0, 0, 0).unwrap();
    let offset = |at: DateTime<Utc>| zone.from_utc_datetime(&at.naive_utc()).naive_local() - at.naive_utc();
    let mut changes = Vec::new();
    let mut before = start;
    while before.year() < 2029 {
        let next = before + TimeDelta::hours(6);
        if offset(next) != offset(before) {
            let mut at = before;
            while offset(at) == offset(before) {
                at += MINUTE;
            }
            changes.push(at);
        }
        before = next;
    }
    changes
}

/// Makes schedules that are the same in every run.
pub(crate) struct Random(u64);

impl Random {
    /// Starts a sequence.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        // Knuth's MMIX generator.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(end)) as u32
    }

    /// Returns one of the items.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }

    /// Returns an expression that often has a run on the day of `near`.
    pub(crate) fn expression(&mut self, near: NaiveDateTime) -> String {
        let day = near.day();
        let minute = match self.below(7) {
            0 => format!("*/{}", 5 + self.below(40)),
            1 => format!("{}-59/{}", self.below(20), 5 + self.below(30)),
            2 => format!("{},{}", self.below(25), 30 + self.below(30)),
            3 => format!("{},*/30", self.pick(&[0, 5, 15, 20, 25, 30])),
            _ => self.below(60).to_string(),
        };
        let hour = match self.below(8) {
            0 | 1 => "*".to_owned(),
            2 => format!("*/{}", 1 + self.below(12)),
            3 => format!("{}-{}", self.below(4), 4 + self.below(20)),
            4 => format!("{},{}", self.below(4), self.pick(&[0, 1, 2, 3, 4, 12, 23])),
            5 => self.pick(&[22, 23, 0]).to_string(),
            _ => self.below(5).to_string(),
        };
        let days = match self.below(8) {
            0 => day.to_string(),
            1 => format!("{day},{}", 1 + self.below(31)),
            2 => self.pick(&["*/2", "*/3", "1-15", "L-1", "31", "28-31/2"]).replace("L-1", "29"),
            _ => "*".to_owned(),
        };
        let month = match self.below(6) {
            0 => format!("{},{}", near.month(), 1 + self.below(12)),
            1 => MONTHS[near.month0() as usize].to_uppercase(),
            _ => "*".to_owned(),
        };
        let weekday = match self.below(8) {
            0 => near.weekday().num_days_from_sunday().to_string(),
            1 => self.pick(&["5-7", "sat,SUN", "0", "7", "*/2", "1-5", "6,7", "0-7", "mon-fri/2"]).to_owned(),
            _ => "*".to_owned(),
        };
        format!("{minute} {hour} {days} {month} {weekday}")
    }
}

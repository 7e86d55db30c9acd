//! Times of the clock on the wall that match a cron expression, without a zone: as if all clocks showed UTC.

use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use cron::Schedule;

use crate::Invalid;
use crate::expression::Cron;

/// Smallest distance between two runs in minutes, on the clock on the wall.
pub const MIN_DISTANCE: u32 = 5;

const NAMES: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const EVERY_HOUR: u64 = (1 << 24) - 1;
const EVERY_MINUTE: u64 = (1 << 60) - 1;
const EVERY_DAY: u64 = (1 << 32) - 2;
const EVERY_MONTH: u64 = (1 << 13) - 2;
const EVERY_WEEKDAY: u64 = (1 << 7) - 1;
const MINUTES_PER_DAY: u32 = 24 * 60;

/// Days and times of a cron expression.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    cron: Cron,
    /// Two when a day that matches one of two fields is enough: then a time of either is one.
    schedules: Vec<Schedule>,
}

impl Times {
    /// Checks that there is such a time.
    pub(crate) fn new(cron: Cron) -> Result<Self, Invalid> {
        let schedules = match cron.either {
            true => vec![schedule(&cron, cron.days, EVERY_WEEKDAY)?, schedule(&cron, EVERY_DAY, cron.weekdays)?],
            false => vec![schedule(&cron, cron.days, cron.weekdays)?],
        };
        let times = Self { cron, schedules };
        if times.after(start_of_cycle().and_time(NaiveTime::MIN)).is_none() {
            return Err(Invalid::Never(times.cron.text));
        }
        Ok(times)
    }

    pub(crate) fn cron(&self) -> &Cron {
        &self.cron
    }

    /// Returns the first time after `wall`, or `None` after 2100.
    pub(crate) fn after(&self, wall: NaiveDateTime) -> Option<NaiveDateTime> {
        let wall = wall.and_utc();
        let firsts = self.schedules.iter().filter_map(|schedule| schedule.after(&wall).next());
        firsts.min().map(|first| first.naive_utc())
    }

    /// Counts the times after `from`, up to and including `to`.
    pub(crate) fn count(&self, from: NaiveDateTime, to: NaiveDateTime) -> u32 {
        let days = from.date().iter_days().take_while(|day| *day <= to.date());
        let counts = days.filter(|day| self.has_day(*day)).map(|day| {
            let until = match day == to.date() {
                true => self.count_until(to.time()),
                false => self.cron.hours.count_ones() * self.cron.minutes.count_ones(),
            };
            let before = if day == from.date() { self.count_until(from.time()) } else { 0 };
            until - before
        });
        counts.sum()
    }

    /// Counts the times of a day up to and including `time`.
    fn count_until(&self, time: NaiveTime) -> u32 {
        let Cron { hours, minutes, .. } = self.cron;
        let before = (hours & below(time.hour())).count_ones() * minutes.count_ones();
        match has(hours, time.hour()) {
            true => before + (minutes & below(time.minute() + 1)).count_ones(),
            false => before,
        }
    }

    fn has_day(&self, day: NaiveDate) -> bool {
        let Cron { days, months, weekdays, either, .. } = self.cron;
        let (date, weekday) = (has(days, day.day()), has(weekdays, day.weekday().num_days_from_sunday()));
        has(months, day.month()) && if either { date || weekday } else { date && weekday }
    }

    /// Checks that no time is too close to the one before, midnight included.
    pub(crate) fn check_distance(&self) -> Result<(), Invalid> {
        let minutes_of_day: Vec<u32> = values(self.cron.hours)
            .flat_map(|hour| values(self.cron.minutes).map(move |minute| hour * 60 + minute))
            .collect();
        for pair in minutes_of_day.windows(2) {
            if let [first, second] = *pair {
                check(first, second, second - first)?;
            }
        }
        let (Some(&first), Some(&last)) = (minutes_of_day.first(), minutes_of_day.last()) else { return Ok(()) };
        let over_night = first + MINUTES_PER_DAY - last;
        if over_night < MIN_DISTANCE && self.has_two_days_in_a_row() {
            check(last, first, over_night)?;
        }
        Ok(())
    }

    /// Looks at 28 years, after which dates and days of the week repeat.
    fn has_two_days_in_a_row(&self) -> bool {
        let mut days = start_of_cycle().iter_days().take(28 * 366).map(|day| self.has_day(day));
        let mut yesterday = false;
        days.any(|today| std::mem::replace(&mut yesterday, today) && today)
    }
}

fn start_of_cycle() -> NaiveDate {
    NaiveDate::from_ymd_opt(2000, 1, 1).unwrap_or_default()
}

fn check(first: u32, second: u32, minutes: u32) -> Result<(), Invalid> {
    let clock = |minute: u32| format!("{:02}:{:02}", minute / 60, minute % 60);
    match minutes < MIN_DISTANCE {
        true => Err(Invalid::TooClose { first: clock(first), second: clock(second), minutes }),
        false => Ok(()),
    }
}

/// Returns a schedule at the times of `cron` on days that match both sets.
fn schedule(cron: &Cron, days: u64, weekdays: u64) -> Result<Schedule, Invalid> {
    let names = match weekdays == EVERY_WEEKDAY {
        true => "*".to_owned(),
        false => values(weekdays).filter_map(|day| NAMES.get(day as usize).copied()).collect::<Vec<_>>().join(","),
    };
    let expression = format!(
        "0 {} {} {} {} {names}",
        list(cron.minutes, EVERY_MINUTE),
        list(cron.hours, EVERY_HOUR),
        list(days, EVERY_DAY),
        list(cron.months, EVERY_MONTH)
    );
    expression.parse().map_err(|_| Invalid::Cron(format!("{} cannot be read", cron.text)))
}

fn list(set: u64, every: u64) -> String {
    match set == every {
        true => "*".to_owned(),
        false => values(set).map(|value| value.to_string()).collect::<Vec<_>>().join(","),
    }
}

fn values(set: u64) -> impl Iterator<Item = u32> + Clone {
    (0..u64::BITS).filter(move |value| has(set, *value))
}

fn has(set: u64, value: u32) -> bool {
    set >> value & 1 == 1
}

/// Returns the set of all values below `end`.
fn below(end: u32) -> u64 {
    (1 << end) - 1
}

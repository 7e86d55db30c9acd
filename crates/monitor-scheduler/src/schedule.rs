//! A schedule: the times of a cron expression in a time zone.

use base::Timestamp;
use chrono::{NaiveDateTime, SubsecRound, TimeDelta};

use crate::days::Times;
use crate::expression::Cron;
use crate::zone::{Shown, Zone};
use crate::{Invalid, parse_text};

/// Largest gap of the clock whose times run after it. Larger ones are whole days that a country leaves out.
const MAX_GAP: TimeDelta = TimeDelta::hours(3);

/// Least span that [`Schedule::last_run`] looks back: 29 February falls on a Sunday every 28 years.
const LOOK_BACK: TimeDelta = TimeDelta::days(28 * 366);

const SECOND: TimeDelta = TimeDelta::seconds(1);

/// When the checks of a monitor are due.
///
/// It always fires.
#[derive(Debug, Clone)]
pub struct Schedule {
    times: Times,
    zone: Zone,
}

impl Schedule {
    /// Reads a cron expression, in an IANA time zone.
    ///
    /// # Errors
    /// The expression or the zone cannot be read, it never fires, or two runs are too close.
    pub fn cron(cron: &str, zone: &str) -> Result<Self, Invalid> {
        let schedule = Self::at_any_distance(cron, zone)?;
        schedule.times.check_distance()?;
        Ok(schedule)
    }

    /// Reads a cron expression whose runs may be closer than [`MIN_DISTANCE`](crate::MIN_DISTANCE), in an IANA time zone.
    ///
    /// # Errors
    /// The expression or the zone cannot be read, or it never fires.
    pub fn at_any_distance(cron: &str, zone: &str) -> Result<Self, Invalid> {
        let zone = Zone::named(zone)?;
        Ok(Self { times: Times::new(Cron::parse(cron)?)?, zone })
    }

    /// Reads a text such as `daily at 9:00`, in an IANA time zone; the monitor's id chooses what the text leaves open.
    ///
    /// # Errors
    /// The text is none of the forms, or the zone is unknown.
    pub fn text(text: &str, monitor_id: &str, zone: &str) -> Result<Self, Invalid> {
        Self::cron(&parse_text(text, monitor_id)?, zone)
    }

    /// Returns the cron expression in digits with single blanks, 0 to 6 for the days of the week.
    ///
    /// [`Schedule::cron`] of it in the same zone gives the same schedule.
    #[must_use]
    pub fn expression(&self) -> &str {
        &self.times.cron().text
    }

    /// Returns the name of the time zone.
    #[must_use]
    pub fn zone(&self) -> &'static str {
        self.zone.name()
    }

    /// Returns the first run strictly after `after`, or `None` after 2100.
    #[must_use]
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let after = after.trunc_subsecs(0);
        match self.times.cron().is_fixed {
            true => self.next_fixed(after),
            false => self.next_shown(after),
        }
    }

    /// Returns the last run at or before `now`: the one that is due when runs were missed. `None` when there is none in the
    /// 28 years before.
    #[must_use]
    pub fn last_run(&self, now: Timestamp) -> Option<Timestamp> {
        let past_run_after = |after| self.next(after).filter(|run| *run <= now);
        let mut step = TimeDelta::hours(1);
        let mut last = loop {
            match past_run_after(now - step) {
                Some(run) => break run,
                None if step > LOOK_BACK => return None,
                None => step = step * 2,
            }
        };
        // `last` is a run, and there is none after `end`.
        let mut end = now;
        while end > last {
            let middle = last + (end - last) / 2;
            match past_run_after(middle) {
                Some(run) => last = run,
                None => end = middle.trunc_subsecs(0),
            }
        }
        Some(last)
    }

    /// Counts the runs after `from`, up to and including `to`, in about a microsecond per day.
    #[must_use]
    pub fn count(&self, from: Timestamp, to: Timestamp) -> u64 {
        let mut count = 0;
        let mut from = from.trunc_subsecs(0);
        while from < to {
            let end = (from + TimeDelta::days(1)).min(to);
            count += match self.zone.is_steady(from, end) {
                true => u64::from(self.times.count(self.zone.wall(from), self.zone.wall(end))),
                false => self.count_each(from, end),
            };
            from = end;
        }
        count
    }

    fn count_each(&self, from: Timestamp, to: Timestamp) -> u64 {
        let runs = std::iter::successors(self.next(from), |run| self.next(*run));
        runs.take_while(|run| *run <= to).count() as u64
    }

    /// Next run of fixed times: each is one instant, and the instants are in the order of the times.
    fn next_fixed(&self, after: Timestamp) -> Option<Timestamp> {
        self.first(self.zone.wall(after), after, |shown| match shown {
            Shown::Once(run) | Shown::Twice(run, _) => [Some(run), None],
            Shown::Skipped { end, by } => [(by <= MAX_GAP).then_some(end), None],
        })
    }

    /// Next run of a schedule that follows the clock on the wall.
    fn next_shown(&self, after: Timestamp) -> Option<Timestamp> {
        let every = |shown| match shown {
            Shown::Once(run) => [Some(run), None],
            Shown::Twice(first, second) => [Some(first), Some(second)],
            Shown::Skipped { .. } => [None, None],
        };
        let wall = self.zone.wall(after);
        let Some(back) = self.zone.set_back_after(after) else { return self.first(wall, after, every) };
        // Times that have passed come again when the clock is set back, before those that have not.
        let offset = wall - after.naive_utc();
        match self.times.after(wall).map(|next| (next - offset).and_utc()) {
            Some(run) if run < back => Some(run),
            _ => self.first(self.zone.wall(back) - SECOND, back - SECOND, every),
        }
    }

    /// Walks over the times after `wall` to the first instant after `after`.
    fn first(
        &self,
        mut wall: NaiveDateTime,
        after: Timestamp,
        instants: impl Fn(Shown) -> [Option<Timestamp>; 2],
    ) -> Option<Timestamp> {
        loop {
            wall = self.times.after(wall)?;
            let runs = instants(self.zone.shown(wall));
            if let Some(run) = runs.into_iter().flatten().find(|run| *run > after) {
                return Some(run);
            }
        }
    }
}

/// Returns the first run of a schedule strictly after `after`, or `None` after 2100.
#[must_use]
pub fn next_run(schedule: &Schedule, after: Timestamp) -> Option<Timestamp> {
    schedule.next(after)
}

//! Time zones: from instants to the clock on the wall, and back.

use base::Timestamp;
use chrono::{NaiveDateTime, Offset, TimeDelta, TimeZone};
use chrono_tz::Tz;

use crate::Invalid;

/// A day is longer than every change of a clock, and no zone changes its clock twice within two of them.
const DAY: TimeDelta = TimeDelta::days(1);

/// A time zone of the IANA database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Zone(Tz);

/// Instants at which the clock on the wall shows a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Once, as on most days.
    Once(Timestamp),
    /// Twice: the clock is set back in between.
    Twice(Timestamp, Timestamp),
    /// Not at all: the clock skips that time.
    Skipped {
        /// The first instant after the gap.
        end: Timestamp,
        /// Span that the clock is set forward.
        by: TimeDelta,
    },
}

impl Zone {
    /// Finds a zone by its exact name, or by a link to it.
    pub(crate) fn named(name: &str) -> Result<Self, Invalid> {
        name.parse().map(Self).map_err(|_| Invalid::Zone)
    }

    pub(crate) fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns what the clock on the wall shows.
    pub(crate) fn wall(self, at: Timestamp) -> NaiveDateTime {
        at.naive_utc() + self.offset(at)
    }

    /// Whether the clock runs without a change between the two instants and in the day before the first.
    pub(crate) fn is_steady(self, from: Timestamp, to: Timestamp) -> bool {
        let offset = self.offset(from);
        offset == self.offset(to) && offset == self.offset(from - DAY)
    }

    /// Returns when the clock is set back within a day after `after`.
    pub(crate) fn set_back_after(self, after: Timestamp) -> Option<Timestamp> {
        let end = after + DAY;
        (self.offset(end) < self.offset(after)).then(|| self.change_between(after, end))
    }

    /// Finds the instants at which the wall shows `wall`.
    pub(crate) fn shown(self, wall: NaiveDateTime) -> Shown {
        // No offset is as large as a day: one of these is before a change of the clock near `wall`, the other after it.
        let (before, after) = ((wall - DAY).and_utc(), (wall + DAY).and_utc());
        let (early, late) = (self.offset(before), self.offset(after));
        let (first, second) = ((wall - early).and_utc(), (wall - late).and_utc());
        if early == late {
            return Shown::Once(first);
        }
        match (self.offset(first) == early, self.offset(second) == late) {
            (true, true) => Shown::Twice(first, second),
            (true, false) => Shown::Once(first),
            (false, true) => Shown::Once(second),
            (false, false) => Shown::Skipped { end: self.change_between(before, after), by: late - early },
        }
    }

    /// Finds the change of the clock between two instants with different offsets, to the second.
    fn change_between(self, from: Timestamp, to: Timestamp) -> Timestamp {
        let offset = self.offset(from);
        let (mut from, mut to) = (from.timestamp(), to.timestamp());
        while to - from > 1 {
            let middle = from + (to - from) / 2;
            match self.offset(second(middle)) == offset {
                true => from = middle,
                false => to = middle,
            }
        }
        second(to)
    }

    fn offset(self, at: Timestamp) -> TimeDelta {
        TimeDelta::seconds(self.0.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc().into())
    }
}

fn second(timestamp: i64) -> Timestamp {
    Timestamp::from_timestamp(timestamp, 0).unwrap_or_default()
}

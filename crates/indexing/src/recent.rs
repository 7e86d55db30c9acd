//! The place of a follower in the order of ids, and the copies near it that it has seen.
//!
//! An id is made before its row is committed, so a row can appear before the place. Therefore the follower looks back
//! over the ids of the last minute, and knows which of them it has seen.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

/// Time between the making of an id and its commit that is allowed for.
const LATE: Duration = Duration::from_secs(60);
/// Interval between two looks back while rows keep coming.
const EVERY: Duration = Duration::from_secs(5);
/// Most seen ids that are kept. Beyond it the oldest are forgotten, and read again.
const MAX_SEEN: usize = 200_000;
/// Bits of an id behind its time.
const BITS_BEHIND_TIME: u32 = 80;
/// End of a mark whose place needs no look back.
const SETTLED: &str = " settled";

/// Place of a follower.
#[derive(Debug)]
pub(crate) struct Recent {
    /// Id up to which rows were taken; empty at the beginning.
    place: String,
    seen: BTreeSet<u128>,
    /// Last move of the place; `None` if no row can be late.
    moved: Option<Instant>,
    looked: Option<Instant>,
}

impl Recent {
    /// Creates the place that a mark has.
    pub(crate) fn at(mark: &str) -> Self {
        let settled = mark.strip_suffix(SETTLED);
        let moved = if settled.is_some() { None } else { Some(Instant::now()) };
        Self { place: settled.unwrap_or(mark).to_owned(), seen: BTreeSet::new(), moved, looked: None }
    }

    /// Returns the mark of the place for a later start.
    pub(crate) fn mark(&self) -> String {
        let settled = if self.may_be_late() { "" } else { SETTLED };
        format!("{}{settled}", self.place)
    }

    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Notes that a copy was taken. The place moves forward only.
    pub(crate) fn take(&mut self, id: &str) {
        if id > self.place.as_str() {
            id.clone_into(&mut self.place);
            self.moved = Some(Instant::now());
        }
        self.seen.extend(number(id));
    }

    /// Forgets the copies that no look back reaches any more.
    pub(crate) fn prune(&mut self) {
        if let Some(first) = number(&self.first()) {
            self.seen = self.seen.split_off(&first);
        }
        while self.seen.len() > MAX_SEEN {
            self.seen.pop_first();
        }
    }

    /// Whether rows before the place may have appeared since the last look back.
    fn may_be_late(&self) -> bool {
        self.moved.is_some_and(|moved| self.looked.is_none_or(|looked| looked < moved + LATE))
    }

    /// Whether to look back now. `is_busy` says that more rows wait after the place.
    pub(crate) fn is_due(&self, is_busy: bool) -> bool {
        let is_recent = self.looked.is_some_and(|looked| looked.elapsed() < EVERY);
        self.may_be_late() && !(is_busy && is_recent)
    }

    /// Notes a look back; returns whether it is the first.
    pub(crate) fn look(&mut self) -> bool {
        self.looked.replace(Instant::now()).is_none()
    }

    /// Returns the smallest id of the minute before the place.
    pub(crate) fn first(&self) -> String {
        let late = LATE.as_millis() << BITS_BEHIND_TIME;
        number(&self.place).map_or_else(String::new, |place| {
            let time = place >> BITS_BEHIND_TIME << BITS_BEHIND_TIME;
            Uuid::from_u128(time.saturating_sub(late)).to_string()
        })
    }

    /// Returns those of these ids that were not seen.
    pub(crate) fn unseen(&self, ids: Vec<String>) -> Vec<String> {
        ids.into_iter().filter(|id| number(id).is_none_or(|number| !self.seen.contains(&number))).collect()
    }
}

fn number(id: &str) -> Option<u128> {
    Uuid::parse_str(id).ok().map(|id| id.as_u128())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An id of this millisecond.
    fn id(ms: u128, tail: u128) -> String {
        Uuid::from_u128((ms << BITS_BEHIND_TIME) | (7 << 76) | tail).to_string()
    }

    #[test]
    fn rows_that_come_late_are_told_from_those_that_were_seen() {
        let mut recent = Recent::at("");
        assert_eq!((recent.first().as_str(), recent.place()), ("", ""));
        for id in [id(100_000, 1), id(100_005, 1), id(100_003, 1)] {
            recent.take(&id);
        }
        assert_eq!(recent.place(), id(100_005, 1));
        let first = recent.first();
        assert!(id(40_005, 0) >= first && id(40_004, 9) < first, "{first}");
        let ids = vec![id(100_000, 1), id(100_002, 2), id(100_005, 1)];
        assert_eq!(recent.unseen(ids), [id(100_002, 2)]);
        recent.take(&id(300_000, 1));
        recent.prune();
        assert_eq!(recent.seen.len(), 1);
    }

    #[test]
    fn the_look_back_ends_when_no_row_can_be_late() {
        let mut recent = Recent::at(&id(1, 1));
        assert!(recent.is_due(true) && recent.look());
        assert!(recent.is_due(false) && !recent.is_due(true));
        assert_eq!(recent.mark(), id(1, 1));
        recent.looked = recent.moved.map(|moved| moved + LATE);
        assert!(!recent.is_due(false) && !recent.look());
        recent.looked = recent.moved.map(|moved| moved + LATE);
        assert_eq!(recent.mark(), id(1, 1) + SETTLED);
        let again = Recent::at(&recent.mark());
        assert!(!again.is_due(false) && again.place() == id(1, 1) && again.mark() == recent.mark());
        recent.take(&id(2, 1));
        recent.look();
        assert!(recent.is_due(false));
        assert_eq!(recent.mark(), id(2, 1));
    }
}

//! Connections that are lost while the database goes on. No outage tells of them in the log, so they get lines of their own.

use std::fmt::Display;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// An outage that begins with lost connections is known to be one within this time.
const SURE: Duration = Duration::from_secs(3);
/// The shortest time between two lines of the log.
const PAUSE: Duration = Duration::from_secs(60);

/// The connections that were lost and not told of yet.
#[derive(Debug, Default)]
pub(crate) struct Losses(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// When the first of them was lost.
    since: Option<Instant>,
    connections: u64,
    /// Why the last of them was lost.
    cause: String,
    /// When the last line was written.
    told: Option<Instant>,
}

/// What a line of the log says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) connections: u64,
    pub(crate) cause: String,
}

impl Losses {
    /// A statement has lost its connection.
    pub(crate) fn add(&self, cause: impl Display, now: Instant) {
        let mut known = self.0.lock();
        known.since.get_or_insert(now);
        known.connections += 1;
        known.cause = cause.to_string();
    }

    /// The database is away, which explains them.
    pub(crate) fn explained(&self) {
        let mut known = self.0.lock();
        *known = Known { told: known.told, ..Known::default() };
    }

    /// What is to be told when the database answers: nothing until it is sure that they are no outage.
    pub(crate) fn due(&self, now: Instant) -> Option<Lost> {
        let mut known = self.0.lock();
        let is_sure = known.since.is_some_and(|since| now - since >= SURE);
        let is_due = is_sure && known.told.is_none_or(|told| now - told >= PAUSE);
        if !is_due {
            return None;
        }
        let Known { connections, cause, .. } = std::mem::take(&mut *known);
        known.told = Some(now);
        Some(Lost { connections, cause })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_told_once_it_is_sure_that_they_are_no_outage() {
        let (losses, begin) = (Losses::default(), Instant::now());
        let second = |number| begin + Duration::from_secs(number);
        assert_eq!(losses.due(second(0)), None);
        losses.add("reset", second(1));
        losses.add("reset again", second(2));
        assert_eq!(losses.due(second(3)), None);
        assert_eq!(losses.due(second(5)), Some(Lost { connections: 2, cause: "reset again".to_owned() }));
        assert_eq!(losses.due(second(6)), None, "told");
        losses.add("reset", second(10));
        assert_eq!(losses.due(second(30)), None, "one line a minute");
        assert_eq!(losses.due(second(70)), Some(Lost { connections: 1, cause: "reset".to_owned() }));
        losses.add("reset", second(200));
        losses.explained();
        assert_eq!(losses.due(second(300)), None, "the outage was told");
    }
}

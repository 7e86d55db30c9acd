//! Connections that are lost while the database stays available. They are not part of an outage, so they are logged
//! here.

use std::fmt::Display;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Time after which an outage that begins with lost connections has been recognised as one.
const SURE: Duration = Duration::from_secs(3);
/// Shortest time between two log lines.
const PAUSE: Duration = Duration::from_secs(60);

/// Lost connections that are not logged yet.
#[derive(Debug, Default)]
pub(crate) struct Losses(Mutex<LossState>);

#[derive(Debug, Default)]
struct LossState {
    /// Time of the first loss.
    since: Option<Instant>,
    connections: u64,
    /// Error of the last loss.
    cause: String,
    /// Time of the last log line.
    told: Option<Instant>,
}

/// Content of a log line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) connections: u64,
    pub(crate) cause: String,
}

impl Losses {
    /// Notes a lost connection.
    pub(crate) fn add(&self, cause: impl Display, now: Instant) {
        let mut known = self.0.lock();
        known.since.get_or_insert(now);
        known.connections += 1;
        known.cause = cause.to_string();
    }

    /// Discards the losses: the database is away, which explains them.
    pub(crate) fn explained(&self) {
        let mut known = self.0.lock();
        *known = LossState { told: known.told, ..LossState::default() };
    }

    /// Returns what to log when the database answers; `None` until it is certain that the losses are no outage.
    pub(crate) fn due(&self, now: Instant) -> Option<Lost> {
        let mut known = self.0.lock();
        let is_sure = known.since.is_some_and(|since| now - since >= SURE);
        let is_due = is_sure && known.told.is_none_or(|told| now - told >= PAUSE);
        if !is_due {
            return None;
        }
        let LossState { connections, cause, .. } = std::mem::take(&mut *known);
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

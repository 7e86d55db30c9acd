//! Pauses of the follower while the server reads pages.

use std::thread::sleep;
use std::time::{Duration, Instant};

use base::{Clock, Timestamp};
use chrono::TimeDelta;
use cpu::Cpu;

/// Pause in relation to the work before it: the follower works a tenth of the time.
const PAUSE: u32 = 9;
/// Longest pause.
const LONGEST: Duration = Duration::from_millis(500);

/// Age of a copy from which on it is not held back: a server that always reads pages is followed within this time, as far
/// as a thread of the lowest priority can.
fn max_age() -> TimeDelta {
    TimeDelta::seconds(60)
}

/// Pace of the work on some copies. The lowest priority alone is not enough: on a machine with few cores, work beside
/// the scrapes takes caches and memory bandwidth from them.
pub(crate) struct Pace {
    cpu: Cpu,
    /// Time at which the work on the copies began.
    started: Timestamp,
    /// [`Cpu::trips`] at the end of the last pause: each page that the server reads is one.
    trips: u64,
    worked_since: Instant,
}

impl Pace {
    /// Begins to work.
    pub(crate) fn start(cpu: &Cpu, clock: &dyn Clock) -> Self {
        Self { cpu: cpu.clone(), started: clock.now(), trips: cpu.trips(), worked_since: Instant::now() }
    }

    /// Pauses after a copy, if the server has read pages since the last pause and the copy is young.
    pub(crate) fn pause(&mut self, fetched_at: Timestamp) {
        if self.is_due(fetched_at) {
            sleep((self.worked_since.elapsed() * PAUSE).min(LONGEST));
            (self.trips, self.worked_since) = (self.cpu.trips(), Instant::now());
        }
    }

    fn is_due(&self, fetched_at: Timestamp) -> bool {
        self.cpu.trips() != self.trips && self.started - fetched_at < max_age()
    }
}

#[cfg(test)]
mod tests {
    use base::Owner;
    use testkit::ManualClock;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test]
    async fn only_young_copies_wait_while_the_server_reads_pages() {
        let (cpu, clock) = (Cpu::new(1), ManualClock::default());
        let mut pace = Pace::start(&cpu, &clock);
        let (young, old) = (clock.now() - TimeDelta::seconds(5), clock.now() - TimeDelta::seconds(90));
        assert!(!pace.is_due(young), "nothing was read");
        let soon = Instant::now() + Duration::from_secs(60);
        cpu.run(&Owner::of_team("team"), soon, |_| ()).await.unwrap();
        assert!(pace.is_due(young) && !pace.is_due(old));
        pace.pause(young);
        assert!(!pace.is_due(young), "nothing was read since the pause");
    }
}

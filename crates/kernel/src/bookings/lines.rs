//! Queues for bookings, with group commit: bookings that arrive while a transaction is written go into the next one,
//! and under load each transaction waits a little for more. Each caller waits until its own booking is written.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use store::{Store, StoreError};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout_at};

use super::{Change, Written, write_group};
use crate::{Active, App, Slot};

/// Maximum number of changes in one transaction.
const MAX_GROUP: usize = 64;
/// Number of concurrent transactions on databases that allow several. Changes of one team go to the same queue, because
/// their transactions would only block each other.
const PARALLEL_LINES: usize = 4;
/// Minimum time between the starts of two transactions, unless all requests of a team are already waiting: one
/// transaction costs nearly the same for several changes as for one.
const GATHER: Duration = Duration::from_millis(3);

/// Queues for changes. Their length is bounded by the number of requests in progress, which has limits of its own.
pub(crate) struct Bookings {
    lines: Vec<Arc<Line>>,
    /// Whether a transaction may contain several teams. With several concurrent transactions that could deadlock on the
    /// teams' accounts.
    mixes_teams: bool,
    /// Requests in progress that will have something to write.
    at_work: Active,
    gather: Duration,
}

#[derive(Default)]
struct Line {
    state: Mutex<LineState>,
    /// Signalled when all requests of a team are waiting.
    complete: Notify,
}

#[derive(Default)]
struct LineState {
    waiting: Vec<Waiting>,
    is_served: bool,
    /// Start of the last transaction.
    begun: Option<Instant>,
}

/// Queued change, with the channel for its result.
pub(super) struct Waiting {
    pub(super) change: Change,
    written: oneshot::Sender<Written>,
}

/// Task that writes a queue. If it is dropped early, as by a panic, the waiters get an error.
struct Service {
    line: Arc<Line>,
    mixes_teams: bool,
    at_work: Active,
    gather: Duration,
    is_over: bool,
}

impl Bookings {
    pub(crate) fn new(store: &Store) -> Self {
        let (lines, mixes_teams) = if store.parallel_writers() { (PARALLEL_LINES, false) } else { (1, true) };
        let lines = (0..lines).map(|_| Arc::default()).collect();
        Self { lines, mixes_teams, at_work: Active::default(), gather: GATHER }
    }

    /// Counts a request of a team that will have something to write, as long as its slot is held.
    pub(crate) fn begin(&self, team: &str) -> Slot {
        self.at_work.add(team)
    }

    /// Writes a change atomically. Dropping the future early does not cancel the write.
    ///
    /// # Errors
    /// Errors of [`ledger::reserve`], [`ledger::settle`] and [`ledger::charge`]; then nothing is written.
    pub(crate) async fn write(&self, app: &App, change: Change) -> Written {
        let (written, answer) = oneshot::channel();
        let line = self.line_of(change.team());
        // One lock for both: otherwise the service could end in between, and the change would never be written.
        let (was_served, is_complete) = {
            let mut state = line.state.lock();
            let team = change.team().to_owned();
            state.waiting.push(Waiting { change, written });
            (mem::replace(&mut state.is_served, true), state.is_complete(&team, &self.at_work))
        };
        if is_complete {
            line.complete.notify_waiters();
        }
        if !was_served {
            let (mixes_teams, at_work) = (self.mixes_teams, self.at_work.clone());
            let service = Service { line: Arc::clone(line), mixes_teams, at_work, gather: self.gather, is_over: false };
            app.tracker().spawn_on(service.run(app.clone()), &app.store().writing_runtime());
        }
        answer.await.unwrap_or_else(|_| Err(StoreError::Inconsistent("the booking was lost".to_owned())))
    }

    fn line_of(&self, team: &str) -> &Arc<Line> {
        // No random seed, so that a team always gets the same queue.
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(team);
        let lines = self.lines.len() as u64;
        &self.lines[usize::try_from(hash % lines).unwrap_or(0)]
    }
}

impl LineState {
    /// Whether all requests of a team are waiting in this queue, so that gathering longer would only delay it.
    fn is_complete(&self, team: &str, at_work: &Active) -> bool {
        let of_team = || self.waiting.iter().filter(|waiting| waiting.change.team() == team).count();
        self.waiting.len() >= MAX_GROUP || of_team() >= at_work.count(team) as usize
    }

    /// Whether that is so for any team that waits.
    fn has_complete_team(&self, at_work: &Active) -> bool {
        self.waiting.iter().any(|waiting| self.is_complete(waiting.change.team(), at_work))
    }
}

impl Service {
    async fn run(mut self, app: App) {
        loop {
            self.gather().await;
            let Some(group) = self.next() else { return };
            write_group(&app, group).await;
        }
    }

    /// Waits for more changes if the last transaction began just now.
    async fn gather(&self) {
        let mut complete = pin!(self.line.complete.notified());
        // Registered before the state is read, so that no notification is missed.
        complete.as_mut().enable();
        let until = {
            let state = self.line.state.lock();
            let until = state.begun.map(|begun| begun + self.gather).filter(|until| *until > Instant::now());
            until.filter(|_| !state.waiting.is_empty() && !state.has_complete_team(&self.at_work))
        };
        if let Some(until) = until {
            // On timeout, write what is there.
            let _ = timeout_at(until, complete).await;
        }
    }

    /// Takes the next group of waiting changes; `None` when there are none, which ends the service.
    fn next(&mut self) -> Option<Vec<Waiting>> {
        let mut state = self.line.state.lock();
        if state.waiting.is_empty() {
            (state.is_served, self.is_over) = (false, true);
            return None;
        }
        state.begun = Some(Instant::now());
        let first = state.waiting[0].change.team().to_owned();
        let mut left = MAX_GROUP;
        let belongs = |waiting: &mut Waiting| {
            let belongs = left > 0 && (self.mixes_teams || waiting.change.team() == first);
            left -= usize::from(belongs);
            belongs
        };
        Some(state.waiting.extract_if(.., belongs).collect())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !self.is_over {
            *self.line.state.lock() = LineState::default();
        }
    }
}

impl Waiting {
    pub(super) fn tell(self, written: Written) {
        // The caller may have gone away; the change stays written.
        let _ = self.written.send(written);
    }
}

#[cfg(test)]
mod tests {
    use base::Timestamp;
    use store::ledger;

    use super::super::Source;
    use super::*;
    use crate::tests::app;

    fn charge(team: &str, number: usize) -> Change {
        let source = Source::Unlimited { key: format!("scrape:{number}"), team: team.to_owned(), api_key: None };
        Change::Settle { source, credits: 1, record: None, page: None }
    }

    /// A transaction waits until all requests of a team have arrived, and no longer.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn those_that_come_together_are_written_together() {
        let (app, caller, _folder) = app().await;
        let bookings = Bookings { gather: Duration::from_secs(60), ..Bookings::new(app.store()) };
        let team = &caller.team.id;
        // The first change is written without waiting.
        bookings.write(&app, charge(team, 0)).await.unwrap();
        let at_work: Vec<Slot> = (0..3).map(|_| bookings.begin(team)).collect();
        let late = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            bookings.write(&app, charge(team, 3)).await
        };
        let begun = Instant::now();
        let (one, other, last) =
            tokio::join!(bookings.write(&app, charge(team, 1)), bookings.write(&app, charge(team, 2)), late);
        (one.and(other).and(last)).unwrap();
        assert!(begun.elapsed() < bookings.gather);
        // The other requests of the server do not delay a team that has only this one.
        drop(at_work);
        let at_work = [bookings.begin("other"), bookings.begin("other")];
        bookings.write(&app, charge(team, 4)).await.unwrap();
        drop(at_work);
        assert!(begun.elapsed() < bookings.gather);
        let written = ledger::history(&mut app.conn().await.unwrap(), team, Some("scrape:"), 5).await.unwrap();
        let times: Vec<Timestamp> = written.iter().map(|booked| booked.at).collect();
        assert_eq!(times.len(), 5);
        assert!(times[0] < times[1] && times[3] < times[4], "{times:?}");
        assert_eq!(times[1..4], [times[1]; 3]);
        app.drain().await;
    }
}

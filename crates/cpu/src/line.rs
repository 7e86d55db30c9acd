//! A fair queue for a limited number of slots: teams take turns, and within a team its runs, so that heavy users do not
//! starve others.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use base::Owner;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::turns::Turns;

/// A fair queue for a limited number of slots. Clones share it.
#[derive(Clone)]
pub struct Line(Arc<Mutex<State>>);

struct State {
    places: usize,
    free: usize,
    max_waiting: usize,
    waiting: usize,
    /// Waiting teams, the next one first.
    order: VecDeque<Arc<str>>,
    teams: HashMap<Arc<str>, Turns<Waiter>>,
    last_number: u64,
}

struct Waiter {
    number: u64,
    place: oneshot::Sender<Place>,
}

/// A slot, released when dropped.
pub struct Place(Arc<Mutex<State>>);

/// Load of the slots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Number of slots.
    pub places: usize,
    /// Number of slots in use.
    pub taken: usize,
    /// Number of waiters.
    pub waiting: usize,
}

/// Reason for not getting a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPlace {
    /// The queue is full.
    Full,
    /// The deadline passed.
    Late,
}

impl Line {
    /// Creates a queue for `places` slots with at most `max_waiting` waiters.
    #[must_use]
    pub fn new(places: usize, max_waiting: usize) -> Self {
        let state = State {
            places,
            free: places,
            max_waiting,
            waiting: 0,
            order: VecDeque::new(),
            teams: HashMap::new(),
            last_number: 0,
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Returns the number of waiters.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.lock().waiting
    }

    /// Returns the load of the slots.
    #[must_use]
    pub fn load(&self) -> Load {
        let state = self.0.lock();
        Load { places: state.places, taken: state.places.saturating_sub(state.free), waiting: state.waiting }
    }

    /// Returns whether a slot is free.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.0.lock().free > 0
    }

    /// Waits for a slot: round robin among teams, then among the runs of a team, and first come, first served within a run.
    ///
    /// # Errors
    /// [`NoPlace`]; see its variants.
    pub async fn enter(&self, owner: &Owner, deadline: Instant) -> Result<Place, NoPlace> {
        timeout_at(deadline, self.wait(owner)).await.unwrap_or(Err(NoPlace::Late))
    }

    /// Waits for a slot like [`Line::enter`], without a deadline.
    ///
    /// # Errors
    /// [`NoPlace::Full`].
    pub async fn wait(&self, owner: &Owner) -> Result<Place, NoPlace> {
        let (number, place) = {
            let mut state = self.0.lock();
            // There are no free slots while anyone waits, so this does not overtake waiters.
            if state.free > 0 {
                state.free -= 1;
                return Ok(Place(Arc::clone(&self.0)));
            }
            if state.waiting >= state.max_waiting && !state.make_room(owner) {
                return Err(NoPlace::Full);
            }
            state.join(owner)
        };
        // Removes the waiter from the queue also when this future is dropped.
        let leave = Leave { line: self, owner, number };
        let got = place.await;
        drop(leave);
        // A waiter's channel is closed without a slot only when it was evicted.
        got.map_err(|_| NoPlace::Full)
    }
}

impl State {
    fn join(&mut self, owner: &Owner) -> (u64, oneshot::Receiver<Place>) {
        let (place, receiver) = oneshot::channel();
        self.last_number += 1;
        let number = self.last_number;
        let team = self.teams.entry(Arc::clone(&owner.team)).or_default();
        if team.is_empty() {
            self.order.push_back(Arc::clone(&owner.team));
        }
        team.push(&owner.run, Waiter { number, place });
        self.waiting += 1;
        (number, receiver)
    }

    /// Evicts a waiter from a full queue: one of the team with most waiters, if it has at least two more than the owner's
    /// team; otherwise one of the owner's team, by the same rule among its runs. The victim is the last of the run with
    /// most waiters. Without this, one owner could fill the queue and lock the others out.
    fn make_room(&mut self, owner: &Owner) -> bool {
        let own = self.teams.get(&owner.team).map_or(0, Turns::len);
        let longest = self.teams.values_mut().max_by_key(|team| team.len()).filter(|team| team.len() > own + 1);
        let sent_away = match longest {
            Some(team) => team.pop_longest(),
            None => self.teams.get_mut(&owner.team).and_then(|team| team.pop_longer(&owner.run)),
        };
        self.waiting -= usize::from(sent_away.is_some());
        sent_away.is_some()
    }

    /// Removes and returns the next waiter, from the team whose turn it is.
    fn next(&mut self) -> Option<Waiter> {
        let name = self.order.pop_front()?;
        let team = self.teams.get_mut(&name)?;
        let waiter = team.pop();
        if team.is_empty() {
            self.teams.remove(&name);
        } else {
            self.order.push_back(name);
        }
        self.waiting -= usize::from(waiter.is_some());
        waiter
    }

    fn leave(&mut self, owner: &Owner, number: u64) {
        let Some(team) = self.teams.get_mut(&owner.team) else { return };
        let before = team.len();
        team.retain(&owner.run, |waiter| waiter.number != number);
        self.waiting -= before - team.len();
        if team.is_empty() {
            self.teams.remove(&owner.team);
            self.order.retain(|turn| *turn != owner.team);
        }
    }
}

struct Leave<'a> {
    line: &'a Line,
    owner: &'a Owner,
    number: u64,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.line.0.lock().leave(self.owner, self.number);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.lock();
            let next = state.next();
            state.free += usize::from(next.is_none());
            next
        };
        // Sent outside the lock: if the waiter has given up, its slot is dropped here, which takes the lock again.
        if let Some(waiter) = next {
            let _ = waiter.place.send(Self(Arc::clone(&self.0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Parses `team` or `team/run`.
    fn owner(text: &str) -> Owner {
        text.split_once('/').map_or_else(|| Owner::of_team(text), |(team, run)| Owner::new(team, run))
    }

    fn far() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    /// Lets all ready tasks run.
    async fn settle() {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn owners_take_turns() {
        let line = Line::new(1, 100);
        let order = served(&line, &["crawl", "crawl", "crawl", "one", "crawl", "two"]).await;
        assert_eq!(order, ["crawl", "one", "two", "crawl", "crawl", "crawl"]);
    }

    #[tokio::test]
    async fn teams_take_turns_whatever_runs_they_have() {
        let line = Line::new(1, 100);
        let waiting = ["many/1", "many/1", "many/1", "many/2", "many/3", "one/1", "two/1", "one/1", "one/2"];
        let order = ["many/1", "one/1", "two/1", "many/2", "one/2", "many/3", "one/1", "many/1", "many/1"];
        assert_eq!(served(&line, &waiting).await, order);
    }

    /// Returns the order in which waiters, queued in the given order, get their slots.
    async fn served(line: &Line, waiting: &[&'static str]) -> Vec<&'static str> {
        let first = line.enter(&owner("first"), far()).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        for &name in waiting {
            let (line, order) = (line.clone(), Arc::clone(&order));
            tokio::spawn(async move {
                let place = line.enter(&owner(name), far()).await.unwrap();
                order.lock().push(name);
                drop(place);
            });
            settle().await;
        }
        assert_eq!(line.load(), Load { places: 1, taken: 1, waiting: waiting.len() });
        drop(first);
        settle().await;
        let state = line.0.lock();
        assert_eq!((state.waiting, state.free), (0, 1));
        assert!(state.teams.is_empty() && state.order.is_empty());
        std::mem::take(&mut *order.lock())
    }

    #[tokio::test]
    async fn the_line_is_bounded_and_can_be_left() {
        let line = Line::new(1, 2);
        let place = line.enter(&owner("a"), far()).await.unwrap();
        let soon = Instant::now() + Duration::from_millis(20);
        let (one, two) = (line.clone(), line.clone());
        let late = tokio::spawn(async move { one.enter(&owner("a"), soon).await.err() });
        let gone = tokio::spawn(async move { two.enter(&owner("b"), far()).await.err() });
        settle().await;
        assert_eq!(line.enter(&owner("c"), far()).await.err(), Some(NoPlace::Full));
        assert_eq!(late.await.unwrap(), Some(NoPlace::Late));
        gone.abort();
        assert!(gone.await.is_err());
        assert_eq!(line.waiting(), 0);
        drop(place);
        assert!(line.enter(&owner("c"), far()).await.is_ok());
    }

    #[tokio::test]
    async fn who_fills_the_line_does_not_keep_others_out() {
        // In the end each team has one.
        let ends = admitted(3, &["crawl", "crawl", "crawl", "one", "two", "three"]).await;
        assert_eq!(ends, [true, false, false, true, true, false]);
    }

    #[tokio::test]
    async fn the_run_with_most_gives_way_in_the_team_with_most() {
        let full = ["many/1", "many/2", "many/2", "many/2", "few/1", "few/1"];
        // A team loses waiters as long as it has two more than the other.
        assert_eq!(
            admitted(6, &[&full[..], &["new/1", "new/2", "new/3"]].concat()).await,
            [true, true, false, false, true, true, true, true, false]
        );
        // The same rule holds among the runs of a team.
        assert_eq!(
            admitted(6, &[&full[..], &["many/3", "many/3"]].concat()).await,
            [true, true, true, false, true, true, true, false]
        );
    }

    /// Returns the waiters that remain when they arrive in this order at a queue with this limit.
    async fn admitted(max_waiting: usize, all: &[&'static str]) -> Vec<bool> {
        let line = Line::new(1, max_waiting);
        let first = line.enter(&owner("first"), far()).await.unwrap();
        let mut waiters = Vec::new();
        for &name in all {
            let line = line.clone();
            waiters.push(tokio::spawn(async move { line.enter(&owner(name), far()).await.map(drop) }));
            settle().await;
        }
        assert_eq!(line.waiting(), max_waiting);
        drop(first);
        let mut ends = Vec::new();
        for waiter in waiters {
            ends.push(waiter.await.unwrap());
        }
        assert!(ends.iter().all(|end| matches!(end, Ok(()) | Err(NoPlace::Full))));
        let state = line.0.lock();
        assert_eq!((state.waiting, state.free, state.teams.len()), (0, 1, 0));
        ends.iter().map(Result::is_ok).collect()
    }

    #[tokio::test]
    async fn a_place_for_somebody_who_left_is_not_lost() {
        let line = Line::new(1, 8);
        for _ in 0..200 {
            let place = line.enter(&owner("a"), far()).await.unwrap();
            let other = line.clone();
            let waiter = tokio::spawn(async move { other.enter(&owner("b"), far()).await.is_ok() });
            settle().await;
            drop(place);
            waiter.abort();
            let _ = waiter.await;
            assert_eq!((line.waiting(), line.0.lock().free), (0, 1));
        }
    }
}

//! The line of those who wait for a place: owners take turns, so that one who asks for much does not keep the others out.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Hands out a bounded number of places. Clones share them.
#[derive(Clone)]
pub struct Line(Arc<Mutex<State>>);

struct State {
    places: usize,
    free: usize,
    max_waiting: usize,
    waiting: usize,
    /// Owners who wait, the next one first; each has a queue of its own.
    turns: VecDeque<Arc<str>>,
    queues: HashMap<Arc<str>, VecDeque<Waiter>>,
    last_number: u64,
}

struct Waiter {
    number: u64,
    place: oneshot::Sender<Place>,
}

/// A place, given back when dropped.
pub struct Place(Arc<Mutex<State>>);

/// How busy the places are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Places that there are.
    pub places: usize,
    /// Places that are taken.
    pub taken: usize,
    /// How many wait for one.
    pub waiting: usize,
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPlace {
    /// As many wait as may.
    Full,
    /// The deadline passed.
    Late,
}

impl Line {
    /// A line for so many places, in which at most `max_waiting` wait.
    #[must_use]
    pub fn new(places: usize, max_waiting: usize) -> Self {
        let (turns, queues) = (VecDeque::new(), HashMap::new());
        Self(Arc::new(Mutex::new(State {
            places,
            free: places,
            max_waiting,
            waiting: 0,
            turns,
            queues,
            last_number: 0,
        })))
    }

    /// How many wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.lock().waiting
    }

    /// How many places are taken, and how many wait for one.
    #[must_use]
    pub fn load(&self) -> Load {
        let state = self.0.lock();
        Load { places: state.places, taken: state.places.saturating_sub(state.free), waiting: state.waiting }
    }

    /// Whether nobody would have to wait for a place.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.0.lock().free > 0
    }

    /// Waits for a place, first come, first served among those of one owner, in turn among the owners.
    ///
    /// # Errors
    /// See [`NoPlace`].
    pub async fn enter(&self, owner: &str, deadline: Instant) -> Result<Place, NoPlace> {
        let (number, place) = {
            let mut state = self.0.lock();
            // Nobody is free while somebody waits.
            if state.free > 0 {
                state.free -= 1;
                return Ok(Place(Arc::clone(&self.0)));
            }
            if state.waiting >= state.max_waiting && !state.make_room(owner) {
                return Err(NoPlace::Full);
            }
            state.join(owner)
        };
        // Leaves the line also when nobody waits for this future any more.
        let leave = Leave { line: self, owner, number };
        let got = tokio::time::timeout_at(deadline, place).await;
        drop(leave);
        // A waiter is dropped without a place only to make room.
        got.map_err(|_| NoPlace::Late)?.map_err(|_| NoPlace::Full)
    }
}

impl State {
    fn join(&mut self, owner: &str) -> (u64, oneshot::Receiver<Place>) {
        let (sender, receiver) = oneshot::channel();
        self.last_number += 1;
        let (number, owner) = (self.last_number, Arc::<str>::from(owner));
        let queue = self.queues.entry(Arc::clone(&owner)).or_default();
        if queue.is_empty() {
            self.turns.push_back(owner);
        }
        queue.push_back(Waiter { number, place: sender });
        self.waiting += 1;
        (number, receiver)
    }

    /// In a full line, sends the last of the owner away who has most in it, if that is at least two more than `owner` has:
    /// one who fills the line does not keep the others out of it.
    fn make_room(&mut self, owner: &str) -> bool {
        let own = self.queues.get(owner).map_or(0, VecDeque::len);
        let Some(longest) = self.queues.values_mut().max_by_key(|queue| queue.len()) else { return false };
        let is_unfair = longest.len() > own + 1;
        if is_unfair {
            longest.pop_back();
            self.waiting -= 1;
        }
        is_unfair
    }

    /// Takes the next waiter: the first of the owner whose turn it is.
    fn next(&mut self) -> Option<Waiter> {
        let owner = self.turns.pop_front()?;
        let queue = self.queues.get_mut(&owner)?;
        let waiter = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&owner);
        } else {
            self.turns.push_back(owner);
        }
        self.waiting -= usize::from(waiter.is_some());
        waiter
    }

    fn leave(&mut self, owner: &str, number: u64) {
        let Some(queue) = self.queues.get_mut(owner) else { return };
        let before = queue.len();
        queue.retain(|waiter| waiter.number != number);
        self.waiting -= before - queue.len();
        if queue.is_empty() {
            self.queues.remove(owner);
            self.turns.retain(|turn| turn.as_ref() != owner);
        }
    }
}

struct Leave<'a> {
    line: &'a Line,
    owner: &'a str,
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
        // Outside of the lock: whoever went away in this moment drops the place, which comes back here.
        if let Some(waiter) = next {
            let _ = waiter.place.send(Self(Arc::clone(&self.0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn far() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    /// Lets all tasks that can go on do so.
    async fn settle() {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn owners_take_turns() {
        let line = Line::new(1, 100);
        let first = line.enter("crawl", far()).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        for owner in ["crawl", "crawl", "crawl", "one", "crawl", "two"] {
            let (line, order) = (line.clone(), Arc::clone(&order));
            tokio::spawn(async move {
                let place = line.enter(owner, far()).await.unwrap();
                order.lock().push(owner);
                drop(place);
            });
            settle().await;
        }
        assert_eq!(line.load(), Load { places: 1, taken: 1, waiting: 6 });
        drop(first);
        settle().await;
        assert_eq!(*order.lock(), ["crawl", "one", "two", "crawl", "crawl", "crawl"]);
        assert_eq!((line.waiting(), line.0.lock().free), (0, 1));
        assert!(line.0.lock().queues.is_empty() && line.0.lock().turns.is_empty());
    }

    #[tokio::test]
    async fn the_line_is_bounded_and_can_be_left() {
        let line = Line::new(1, 2);
        let place = line.enter("a", far()).await.unwrap();
        let soon = Instant::now() + Duration::from_millis(20);
        let (one, two) = (line.clone(), line.clone());
        let late = tokio::spawn(async move { one.enter("a", soon).await.err() });
        let gone = tokio::spawn(async move { two.enter("b", far()).await.err() });
        settle().await;
        assert_eq!(line.enter("c", far()).await.err(), Some(NoPlace::Full));
        assert_eq!(late.await.unwrap(), Some(NoPlace::Late));
        gone.abort();
        assert!(gone.await.is_err());
        assert_eq!(line.waiting(), 0);
        drop(place);
        assert!(line.enter("c", far()).await.is_ok());
    }

    #[tokio::test]
    async fn who_fills_the_line_does_not_keep_others_out() {
        let line = Line::new(1, 3);
        let first = line.enter("crawl", far()).await.unwrap();
        let mut waiters = Vec::new();
        for owner in ["crawl", "crawl", "crawl", "one", "two"] {
            let line = line.clone();
            waiters.push(tokio::spawn(async move { line.enter(owner, far()).await.map(drop) }));
            settle().await;
        }
        assert_eq!(line.waiting(), 3);
        // Now each has one.
        assert_eq!(line.enter("three", far()).await.err(), Some(NoPlace::Full));
        drop(first);
        let mut ends = Vec::new();
        for waiter in waiters {
            ends.push(waiter.await.unwrap());
        }
        assert_eq!(ends, [Ok(()), Err(NoPlace::Full), Err(NoPlace::Full), Ok(()), Ok(())]);
        let state = line.0.lock();
        assert_eq!((state.waiting, state.free, state.queues.len()), (0, 1, 0));
    }

    #[tokio::test]
    async fn a_place_for_somebody_who_left_is_not_lost() {
        let line = Line::new(1, 8);
        for _ in 0..200 {
            let place = line.enter("a", far()).await.unwrap();
            let other = line.clone();
            let waiter = tokio::spawn(async move { other.enter("b", far()).await.is_ok() });
            settle().await;
            drop(place);
            waiter.abort();
            let _ = waiter.await;
            assert_eq!((line.waiting(), line.0.lock().free), (0, 1));
        }
    }
}

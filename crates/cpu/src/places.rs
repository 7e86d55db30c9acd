//! Who holds a place and who is next.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use crate::line::Load;

/// All places, free and held.
pub(super) struct Places {
    /// Most of each kind that one owner holds.
    share: usize,
    state: Mutex<State>,
}

struct State {
    /// How many were ever given out.
    taken: u64,
    /// Free places of each kind.
    quick: usize,
    slow: usize,
    owners: HashMap<Arc<str>, Owner>,
    /// Owners with a queue, the one whose turn it is first.
    turns: VecDeque<Arc<str>>,
}

/// What an owner holds and who waits for it. Owners without either are forgotten.
#[derive(Default)]
struct Owner {
    quick: usize,
    slow: usize,
    queue: VecDeque<oneshot::Sender<Place>>,
}

/// A place; dropping it frees it.
pub(super) struct Place {
    places: Arc<Places>,
    owner: Arc<str>,
    is_slow: Mutex<bool>,
}

impl Places {
    pub(super) fn new(share: usize) -> Self {
        let all = share.saturating_add(1);
        let state = State { taken: 0, quick: all, slow: all, owners: HashMap::new(), turns: VecDeque::new() };
        Self { share, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(super) fn taken(&self) -> u64 {
        self.state().taken
    }

    pub(super) fn load(&self) -> Load {
        let state = self.state();
        let places = self.share.saturating_add(1);
        let waiting =
            state.turns.iter().filter_map(|owner| state.owners.get(owner)).map(|owner| owner.queue.len()).sum();
        Load { places, taken: places.saturating_sub(state.quick), waiting }
    }

    /// A place at once, if there is one and nobody of the same owner waits for it.
    pub(super) fn take(self: &Arc<Self>, owner: &str) -> Option<Place> {
        let mut state = self.state();
        if state.quick == 0 || state.owners.get(owner).is_some_and(|o| o.quick >= self.share || !o.queue.is_empty()) {
            return None;
        }
        let owner = state.owners.get_key_value(owner).map_or_else(|| owner.into(), |(owner, _)| Arc::clone(owner));
        Some(self.grant(&mut state, owner))
    }

    /// A place when it is this one's turn.
    pub(super) async fn wait(self: &Arc<Self>, owner: &str) -> Place {
        loop {
            let (give, got) = oneshot::channel();
            let granted = {
                let mut state = self.state();
                let owner: Arc<str> = owner.into();
                let queue = &mut state.owners.entry(Arc::clone(&owner)).or_default().queue;
                queue.push_back(give);
                if queue.len() == 1 {
                    state.turns.push_back(owner);
                }
                self.next(&mut state)
            };
            hand_out(granted);
            if let Ok(place) = got.await {
                return place;
            }
        }
    }

    fn grant(self: &Arc<Self>, state: &mut State, owner: Arc<str>) -> Place {
        (state.quick, state.taken) = (state.quick - 1, state.taken + 1);
        state.owners.entry(Arc::clone(&owner)).or_default().quick += 1;
        Place { places: Arc::clone(self), owner, is_slow: Mutex::new(false) }
    }

    /// Gives free places to those who wait, owner by owner. They are to be handed out when the lock is released: a place
    /// that nobody takes comes back by the same lock.
    fn next(self: &Arc<Self>, state: &mut State) -> Vec<(oneshot::Sender<Place>, Place)> {
        let mut granted = Vec::new();
        let mut passed_over = 0;
        while passed_over < state.turns.len() {
            let Some(name) = state.turns.pop_front() else { break };
            let Some(owner) = state.owners.get_mut(&name) else { continue };
            while owner.queue.front().is_some_and(oneshot::Sender::is_closed) {
                owner.queue.pop_front();
            }
            let has_room = state.quick > 0 && owner.quick < self.share;
            let next = if has_room { owner.queue.pop_front() } else { None };
            let (goes_on, is_idle) = (!owner.queue.is_empty(), owner.is_idle());
            if let Some(next) = next {
                granted.push((next, self.grant(state, Arc::clone(&name))));
                passed_over = 0;
            } else {
                passed_over += 1;
                if is_idle {
                    state.owners.remove(&name);
                }
            }
            if goes_on {
                state.turns.push_back(name);
            }
        }
        granted
    }
}

/// Those who gave up meanwhile drop the place again.
fn hand_out(granted: Vec<(oneshot::Sender<Place>, Place)>) {
    for (next, place) in granted {
        drop(next.send(place));
    }
}

impl Owner {
    fn is_idle(&self) -> bool {
        self.quick == 0 && self.slow == 0 && self.queue.is_empty()
    }
}

impl Place {
    fn slow(&self) -> MutexGuard<'_, bool> {
        self.is_slow.lock()
    }

    pub(super) fn is_slow(&self) -> bool {
        *self.slow()
    }

    /// Leaves the place to the next in line and takes one for slow work, if the owner may have another of these.
    pub(super) fn slow_down(&self) {
        let granted = {
            let (mut is_slow, mut state) = (self.slow(), self.places.state());
            let state = &mut *state;
            let Some(owner) = state.owners.get_mut(&self.owner) else { return };
            if *is_slow || state.slow == 0 || owner.slow >= self.places.share {
                return;
            }
            *is_slow = true;
            (state.slow, owner.slow) = (state.slow - 1, owner.slow + 1);
            (state.quick, owner.quick) = (state.quick + 1, owner.quick - 1);
            self.places.next(state)
        };
        hand_out(granted);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let granted = {
            let (is_slow, mut state) = (*self.slow(), self.places.state());
            let state = &mut *state;
            if let Some(owner) = state.owners.get_mut(&self.owner) {
                match is_slow {
                    true => (state.slow, owner.slow) = (state.slow + 1, owner.slow - 1),
                    false => (state.quick, owner.quick) = (state.quick + 1, owner.quick - 1),
                }
                if owner.is_idle() {
                    state.owners.remove(&self.owner);
                }
            }
            self.places.next(state)
        };
        hand_out(granted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(share: usize) -> Arc<Places> {
        Arc::new(Places::new(share))
    }

    fn free(places: &Places) -> (usize, usize) {
        let state = places.state();
        (state.quick, state.slow)
    }

    fn is_idle(places: &Places) -> bool {
        let state = places.state();
        state.owners.is_empty() && state.turns.is_empty()
    }

    #[test]
    fn one_owner_never_has_all_places() {
        let all = places(2);
        let held: Vec<_> = (0..5).filter_map(|_| all.take("a")).collect();
        assert_eq!(held.len(), 2);
        let other = all.take("b").unwrap();
        assert!(all.take("b").is_none() && all.take("c").is_none());
        drop(held);
        assert!(all.take("c").is_some());
        drop(other);
        assert!(is_idle(&all));
        assert_eq!(free(&all), (3, 3));
    }

    #[test]
    fn slow_work_makes_room() {
        let all = places(1);
        let first = all.take("a").unwrap();
        assert!(all.take("a").is_none());
        first.slow_down();
        first.slow_down();
        let second = all.take("a").unwrap();
        // The share of slow places is taken.
        second.slow_down();
        assert!(first.is_slow() && !second.is_slow() && all.take("a").is_none());
        drop(first);
        second.slow_down();
        assert!(second.is_slow());
        drop(second);
        assert!(is_idle(&all));
        assert_eq!(free(&all), (2, 2));
    }

    #[tokio::test]
    async fn owners_take_turns() {
        let all = places(1);
        let held = (all.take("x").unwrap(), all.take("y").unwrap());
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut waiting = Vec::new();
        for name in ["a1", "a2", "a3", "b1", "c1"] {
            let (all, order) = (Arc::clone(&all), Arc::clone(&order));
            waiting.push(tokio::spawn(async move {
                let place = all.wait(&name[..1]).await;
                order.lock().push(name);
                tokio::task::yield_now().await;
                drop(place);
            }));
            tokio::task::yield_now().await;
        }
        drop(held.0);
        for one in waiting {
            one.await.unwrap();
        }
        assert_eq!(*order.lock(), ["a1", "b1", "c1", "a2", "a3"]);
        drop(held.1);
        assert!(is_idle(&all));
    }

    #[tokio::test]
    async fn who_gives_up_is_passed_over() {
        let all = places(1);
        let held = all.take("a").unwrap();
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(all.wait("a"))).collect();
        for one in &mut waiting {
            assert!(futures_util::poll!(one).is_pending());
        }
        let last = waiting.pop().unwrap();
        drop(waiting);
        drop(held);
        let place = last.await;
        assert!(all.take("a").is_none());
        drop(place);
        assert!(is_idle(&all));
        assert!(all.take("a").is_some());
    }
}

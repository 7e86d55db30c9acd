//! Slots for CPU-bound work, their holders and waiters.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use base::Owner;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use crate::line::Load;
use crate::turns::Turns;

/// All slots, free and in use.
pub(super) struct TeamSlots {
    /// Maximum number of slots of each kind that one team holds.
    share: usize,
    state: Mutex<State>,
}

struct State {
    /// Number of slots ever granted.
    taken: u64,
    /// Free slots of each kind.
    quick: usize,
    slow: usize,
    teams: HashMap<Arc<str>, Team>,
    /// Waiting teams, the next one first.
    turns: VecDeque<Arc<str>>,
}

/// Slots and waiters of a team, with a queue for each run. Teams with neither are removed.
#[derive(Default)]
struct Team {
    quick: usize,
    slow: usize,
    waiting: Turns<oneshot::Sender<TeamSlot>>,
}

/// A slot, released when dropped.
pub(super) struct TeamSlot {
    slots: Arc<TeamSlots>,
    team: Arc<str>,
    is_slow: Mutex<bool>,
}

impl TeamSlots {
    pub(super) fn new(share: usize) -> Self {
        let all = share.saturating_add(1);
        let state = State { taken: 0, quick: all, slow: all, teams: HashMap::new(), turns: VecDeque::new() };
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
        let waiting = state.teams.values().map(|team| team.waiting.len()).sum();
        Load { places, taken: places.saturating_sub(state.quick), waiting }
    }

    /// Returns a free slot, unless the team is at its limit or has waiters.
    pub(super) fn take(self: &Arc<Self>, owner: &Owner) -> Option<TeamSlot> {
        let mut state = self.state();
        let has_turn = |team: &Team| team.quick < self.share && team.waiting.is_empty();
        let is_free = state.quick > 0 && state.teams.get(&owner.team).is_none_or(has_turn);
        is_free.then(|| self.grant(&mut state, Arc::clone(&owner.team)))
    }

    /// Waits for a slot.
    pub(super) async fn wait(self: &Arc<Self>, owner: &Owner) -> TeamSlot {
        loop {
            let (give, got) = oneshot::channel();
            let granted = {
                let mut state = self.state();
                let waiting = &mut state.teams.entry(Arc::clone(&owner.team)).or_default().waiting;
                let is_first = waiting.is_empty();
                waiting.push(&owner.run, give);
                if is_first {
                    state.turns.push_back(Arc::clone(&owner.team));
                }
                self.next(&mut state)
            };
            hand_out(granted);
            if let Ok(slot) = got.await {
                return slot;
            }
        }
    }

    fn grant(self: &Arc<Self>, state: &mut State, team: Arc<str>) -> TeamSlot {
        (state.quick, state.taken) = (state.quick - 1, state.taken + 1);
        state.teams.entry(Arc::clone(&team)).or_default().quick += 1;
        TeamSlot { slots: Arc::clone(self), team, is_slow: Mutex::new(false) }
    }

    /// Grants free slots to waiters, team by team. The caller must hand them out after releasing the lock: a slot whose
    /// waiter is gone is dropped, which takes the same lock.
    fn next(self: &Arc<Self>, state: &mut State) -> Vec<(oneshot::Sender<TeamSlot>, TeamSlot)> {
        let mut granted = Vec::new();
        let mut passed_over = 0;
        while passed_over < state.turns.len() {
            let Some(name) = state.turns.pop_front() else { break };
            let Some(team) = state.teams.get_mut(&name) else { continue };
            team.waiting.skip(oneshot::Sender::is_closed);
            let has_room = state.quick > 0 && team.quick < self.share;
            let next = if has_room { team.waiting.pop() } else { None };
            let (goes_on, is_idle) = (!team.waiting.is_empty(), team.is_idle());
            if let Some(next) = next {
                granted.push((next, self.grant(state, Arc::clone(&name))));
                passed_over = 0;
            } else {
                passed_over += 1;
                if is_idle {
                    state.teams.remove(&name);
                }
            }
            if goes_on {
                state.turns.push_back(name);
            }
        }
        granted
    }
}

/// Hands granted slots to their waiters. If a waiter has given up, its slot is dropped and granted again.
fn hand_out(granted: Vec<(oneshot::Sender<TeamSlot>, TeamSlot)>) {
    for (next, slot) in granted {
        drop(next.send(slot));
    }
}

impl Team {
    fn is_idle(&self) -> bool {
        self.quick == 0 && self.slow == 0 && self.waiting.is_empty()
    }
}

impl TeamSlot {
    fn slow(&self) -> MutexGuard<'_, bool> {
        self.is_slow.lock()
    }

    pub(super) fn is_slow(&self) -> bool {
        *self.slow()
    }

    /// Moves to a slow slot, if there is one for the team, and frees the quick slot for the next waiter.
    pub(super) fn slow_down(&self) {
        let granted = {
            let (mut is_slow, mut state) = (self.slow(), self.slots.state());
            let state = &mut *state;
            let Some(team) = state.teams.get_mut(&self.team) else { return };
            if *is_slow || state.slow == 0 || team.slow >= self.slots.share {
                return;
            }
            *is_slow = true;
            (state.slow, team.slow) = (state.slow - 1, team.slow + 1);
            (state.quick, team.quick) = (state.quick + 1, team.quick - 1);
            self.slots.next(state)
        };
        hand_out(granted);
    }
}

impl Drop for TeamSlot {
    fn drop(&mut self) {
        let granted = {
            let (is_slow, mut state) = (*self.slow(), self.slots.state());
            let state = &mut *state;
            if let Some(team) = state.teams.get_mut(&self.team) {
                match is_slow {
                    true => (state.slow, team.slow) = (state.slow + 1, team.slow - 1),
                    false => (state.quick, team.quick) = (state.quick + 1, team.quick - 1),
                }
                if team.is_idle() {
                    state.teams.remove(&self.team);
                }
            }
            self.slots.next(state)
        };
        hand_out(granted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(team: &str) -> Owner {
        Owner::of_team(team)
    }

    fn slots(share: usize) -> Arc<TeamSlots> {
        Arc::new(TeamSlots::new(share))
    }

    fn free(slots: &TeamSlots) -> (usize, usize) {
        let state = slots.state();
        (state.quick, state.slow)
    }

    fn is_idle(slots: &TeamSlots) -> bool {
        let state = slots.state();
        state.teams.is_empty() && state.turns.is_empty()
    }

    #[test]
    fn one_team_never_has_all_slots() {
        let all = slots(2);
        let held: Vec<_> = (0..5).filter_map(|_| all.take(&owner("a"))).collect();
        assert_eq!(held.len(), 2);
        let other = all.take(&owner("b")).unwrap();
        assert!(all.take(&owner("b")).is_none() && all.take(&owner("c")).is_none());
        drop(held);
        assert!(all.take(&owner("c")).is_some());
        drop(other);
        assert!(is_idle(&all));
        assert_eq!(free(&all), (3, 3));
    }

    #[test]
    fn slow_work_makes_room() {
        let all = slots(1);
        let first = all.take(&owner("a")).unwrap();
        assert!(all.take(&owner("a")).is_none());
        first.slow_down();
        first.slow_down();
        let second = all.take(&owner("a")).unwrap();
        // The team's share of slow slots is used up.
        second.slow_down();
        assert!(first.is_slow() && !second.is_slow() && all.take(&owner("a")).is_none());
        drop(first);
        second.slow_down();
        assert!(second.is_slow());
        drop(second);
        assert!(is_idle(&all));
        assert_eq!(free(&all), (2, 2));
    }

    #[tokio::test]
    async fn teams_take_turns_and_in_each_its_runs() {
        let all = slots(1);
        let held = (all.take(&owner("x")).unwrap(), all.take(&owner("y")).unwrap());
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut waiting = Vec::new();
        // Team, run, number.
        for name in ["ar1", "ar2", "ar3", "as1", "br1", "cr1"] {
            let (all, order) = (Arc::clone(&all), Arc::clone(&order));
            waiting.push(tokio::spawn(async move {
                let slot = all.wait(&Owner::new(&name[..1], &name[1..2])).await;
                order.lock().push(name);
                tokio::task::yield_now().await;
                drop(slot);
            }));
            tokio::task::yield_now().await;
        }
        drop(held.0);
        for one in waiting {
            one.await.unwrap();
        }
        assert_eq!(*order.lock(), ["ar1", "br1", "cr1", "as1", "ar2", "ar3"]);
        drop(held.1);
        assert!(is_idle(&all));
    }

    #[tokio::test]
    async fn who_gives_up_is_passed_over() {
        let all = slots(1);
        let held = all.take(&owner("a")).unwrap();
        let same = owner("a");
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(all.wait(&same))).collect();
        for one in &mut waiting {
            assert!(futures_util::poll!(one).is_pending());
        }
        let last = waiting.pop().unwrap();
        drop(waiting);
        drop(held);
        let slot = last.await;
        assert!(all.take(&owner("a")).is_none());
        drop(slot);
        assert!(is_idle(&all));
        assert!(all.take(&owner("a")).is_some());
    }
}

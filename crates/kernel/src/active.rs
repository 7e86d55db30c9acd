//! Counters of requests in flight in this process, by team.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use parking_lot::Mutex;

/// Counters by team id. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Active(Arc<Mutex<HashMap<String, u32>>>);

/// Slot of one request in flight; dropping it frees the slot.
#[derive(Debug)]
pub struct Slot {
    active: Active,
    team: String,
}

impl Active {
    /// Takes a slot, or `None` when the team already has `limit` in flight.
    #[must_use]
    pub fn enter(&self, team: &str, limit: u32) -> Option<Slot> {
        let mut counts = self.0.lock();
        let count = counts.entry(team.to_owned()).or_insert(0);
        if *count >= limit {
            return None;
        }
        // From here on dropping the slot frees it, however the request ends.
        *count += 1;
        Some(Slot { active: self.clone(), team: team.to_owned() })
    }

    /// Takes a slot, however many the team has in flight.
    pub(crate) fn add(&self, team: &str) -> Slot {
        *self.0.lock().entry(team.to_owned()).or_insert(0) += 1;
        Slot { active: self.clone(), team: team.to_owned() }
    }

    /// Returns the number of requests of a team in flight.
    #[must_use]
    pub fn count(&self, team: &str) -> u32 {
        self.0.lock().get(team).copied().unwrap_or(0)
    }

    /// Returns the number of requests of all teams in flight.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.0.lock().values().sum()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut counts = self.active.0.lock();
        // Remove idle teams, or every team ever seen would stay in the map.
        if let Entry::Occupied(mut entry) = counts.entry(std::mem::take(&mut self.team)) {
            *entry.get_mut() = entry.get().saturating_sub(1);
            if *entry.get() == 0 {
                entry.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_counted_and_given_back() {
        let active = Active::default();
        let first = active.enter("a", 2).unwrap();
        let second = active.enter("a", 2).unwrap();
        assert!(active.enter("a", 2).is_none());
        assert!(active.enter("b", 0).is_none());
        let other = active.enter("b", 1).unwrap();
        assert_eq!((active.count("a"), active.count("b"), active.total()), (2, 1, 3));
        drop((first, active.add("a")));
        assert_eq!(active.count("a"), 1);
        let beyond = active.add("a");
        assert!(active.count("a") == 2 && active.enter("a", 2).is_none());
        drop((second, other, beyond));
        assert_eq!(active.total(), 0);
        assert!(active.0.lock().is_empty());
    }
}

//! The rules that this process remembers, and whose turn it is to ask a site.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use base::Timestamp;

use super::{Site, SiteRules};

/// Bytes of robots.txt files behind all that is remembered; rules take a few times as much.
const MOST_BYTES: usize = 8 << 20;
/// What every entry counts besides its file.
const ENTRY_BYTES: usize = 1024;
/// From so many on, the turns of sites that nobody asks about any more are cleared away.
const MANY_FLIGHTS: usize = 256;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    entries: Mutex<Entries>,
    flights: Mutex<HashMap<Site, Weak<tokio::sync::Mutex<()>>>>,
}

#[derive(Debug, Default)]
struct Entries {
    by_site: HashMap<(Site, String), Entry>,
    bytes: usize,
    /// Counts every look, so that the least recently used entry can be told.
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    rules: Arc<SiteRules>,
    until: Timestamp,
    bytes: usize,
    used: u64,
}

impl Memory {
    /// What is remembered and still holds.
    pub(super) fn get(&self, site: &Site, agent: &str, now: Timestamp) -> Option<Arc<SiteRules>> {
        let mut entries = lock(&self.entries);
        entries.clock += 1;
        let clock = entries.clock;
        let entry = entries.by_site.get_mut(&(site.clone(), agent.to_owned()))?;
        entry.used = clock;
        (entry.until > now).then(|| Arc::clone(&entry.rules))
    }

    /// Remembers rules `until` then, made of a file of that many bytes; forgets what was not used for longest when
    /// there is too much.
    pub(super) fn put(
        &self,
        site: &Site,
        agent: &str,
        rules: Arc<SiteRules>,
        (until, size): (Timestamp, usize),
    ) -> Arc<SiteRules> {
        let bytes = size + site.origin.len() + agent.len() + ENTRY_BYTES;
        let mut entries = lock(&self.entries);
        entries.clock += 1;
        let entry = Entry { rules: Arc::clone(&rules), until, bytes, used: entries.clock };
        entries.bytes += bytes;
        if let Some(old) = entries.by_site.insert((site.clone(), agent.to_owned()), entry) {
            entries.bytes -= old.bytes;
        }
        while entries.bytes > MOST_BYTES {
            entries.forget_one();
        }
        rules
    }

    /// The turn at a site: who holds its lock asks the site, the others wait.
    pub(super) fn flight(&self, site: &Site) -> Arc<tokio::sync::Mutex<()>> {
        let mut flights = lock(&self.flights);
        if flights.len() >= MANY_FLIGHTS {
            flights.retain(|_, flight| flight.strong_count() > 0);
        }
        if let Some(flight) = flights.get(site).and_then(Weak::upgrade) {
            return flight;
        }
        let flight = Arc::default();
        flights.insert(site.clone(), Arc::downgrade(&flight));
        flight
    }
}

impl Entries {
    fn forget_one(&mut self) {
        let oldest = self.by_site.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone());
        match oldest.and_then(|key| self.by_site.remove(&key)) {
            Some(entry) => self.bytes -= entry.bytes,
            None => self.bytes = 0,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};

    use super::*;

    fn site(number: usize) -> Site {
        Site { origin: format!("https://{number}.test"), verified: true }
    }

    #[test]
    fn entries_end_and_the_least_used_go_first() {
        let memory = Memory::default();
        let start = DateTime::UNIX_EPOCH;
        let until = start + TimeDelta::hours(1);
        let size = 500 * 1024;
        for number in 0..16 {
            memory.put(&site(number), "A", Arc::default(), (until, size));
            assert!(memory.get(&site(0), "A", start).is_some(), "used all the time");
        }
        assert!(memory.get(&site(15), "B", start).is_none() && memory.get(&site(15), "A", until).is_none());
        memory.put(&site(16), "A", Arc::default(), (until, size));
        assert!(memory.get(&site(0), "A", start).is_some() && memory.get(&site(1), "A", start).is_none());
        memory.put(&site(16), "A", Arc::default(), (until, 0));
        let entries = lock(&memory.entries);
        assert_eq!(entries.bytes, entries.by_site.values().map(|entry| entry.bytes).sum::<usize>());
    }

    #[test]
    fn a_site_has_one_turn() {
        let memory = Memory::default();
        let first = memory.flight(&site(1));
        assert!(Arc::ptr_eq(&first, &memory.flight(&site(1))) && !Arc::ptr_eq(&first, &memory.flight(&site(2))));
        for number in 0..1000 {
            drop(memory.flight(&site(number)));
        }
        assert!(lock(&memory.flights).len() <= MANY_FLIGHTS);
        assert!(Arc::ptr_eq(&first, &memory.flight(&site(1))));
    }
}

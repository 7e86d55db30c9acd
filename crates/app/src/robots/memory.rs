//! The rules that this process remembers, and whose turn it is to ask a site.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use base::Timestamp;

use super::{Site, SiteRules, is_outdated};

/// Bytes of all rules that are remembered.
const MAX_BYTES: usize = 32 << 20;
/// What every entry counts besides its rules.
const ENTRY_BYTES: usize = 512;
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
    times: Times,
    bytes: usize,
    used: u64,
}

/// When an answer was given, and until when it holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) since: Timestamp,
    pub(super) until: Timestamp,
}

impl Memory {
    /// What is remembered and still holds, but for failures from before `trusted`.
    pub(super) fn get(
        &self,
        site: &Site,
        agent: &str,
        (now, trusted): (Timestamp, Option<Timestamp>),
    ) -> Option<Arc<SiteRules>> {
        let mut entries = lock(&self.entries);
        entries.clock += 1;
        let clock = entries.clock;
        let entry = entries.by_site.get_mut(&(site.clone(), agent.to_owned()))?;
        entry.used = clock;
        let holds = entry.times.until > now && !is_outdated(&entry.rules, entry.times.since, trusted);
        holds.then(|| Arc::clone(&entry.rules))
    }

    /// Remembers rules; forgets what was not used for longest when there is too much.
    pub(super) fn put(&self, site: &Site, agent: &str, rules: Arc<SiteRules>, times: Times) -> Arc<SiteRules> {
        let bytes = rules.size() + site.origin.len() + agent.len() + ENTRY_BYTES;
        let mut entries = lock(&self.entries);
        entries.clock += 1;
        let entry = Entry { rules: Arc::clone(&rules), times, bytes, used: entries.clock };
        entries.bytes += bytes;
        if let Some(old) = entries.by_site.insert((site.clone(), agent.to_owned()), entry) {
            entries.bytes -= old.bytes;
        }
        while entries.bytes > MAX_BYTES {
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

    /// Rules of a file of 500 KiB, which take several times as much.
    fn large() -> Arc<SiteRules> {
        let file = format!("User-agent: *\n{}", "Disallow: /ab\n".repeat(36_000));
        let rules = crawl_frontier::Robots::parse(file.as_bytes()).rules("A");
        Arc::new(SiteRules { rules, ..SiteRules::default() })
    }

    #[test]
    fn entries_end_and_the_least_used_go_first() {
        let memory = Memory::default();
        let start = DateTime::UNIX_EPOCH;
        let times = Times { since: start, until: start + TimeDelta::hours(1) };
        let large = large();
        assert!((2 << 20..4 << 20).contains(&large.size()), "{}", large.size());
        let get = |number, agent, at| memory.get(&site(number), agent, (at, None));
        for number in 0..30 {
            memory.put(&site(number), "A", Arc::clone(&large), times);
            assert!(get(0, "A", start).is_some(), "used all the time");
            assert!(lock(&memory.entries).bytes <= MAX_BYTES);
        }
        assert!(get(29, "A", start).is_some() && get(29, "A", times.until).is_none());
        assert!(get(29, "B", start).is_none() && get(1, "A", start).is_none());
        memory.put(&site(29), "A", Arc::default(), times);
        let entries = lock(&memory.entries);
        assert_eq!(entries.bytes, entries.by_site.values().map(|entry| entry.bytes).sum::<usize>());
    }

    #[test]
    fn old_failures_are_no_answer_where_they_are_not_trusted() {
        let memory = Memory::default();
        let (robots, _) = crawl_frontier::judge(crawl_frontier::RobotsAnswer::Failed);
        let failed = Arc::new(SiteRules { rules: robots.rules("A"), ..SiteRules::default() });
        let since = DateTime::UNIX_EPOCH;
        let times = Times { since, until: since + TimeDelta::minutes(5) };
        memory.put(&site(1), "A", failed, times);
        memory.put(&site(2), "A", Arc::default(), times);
        let second = TimeDelta::seconds(1);
        let get = |number, trusted| memory.get(&site(number), "A", (since + second, trusted)).is_some();
        assert!(get(1, None) && get(1, Some(since)) && !get(1, Some(since + second)));
        assert!(get(2, Some(since + second)), "it is an answer");
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

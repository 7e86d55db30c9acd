//! In-memory cache of the addresses that a run already has. Most links of a crawl lead to known pages, and a hit here
//! saves a query. A miss proves nothing: another process may have added the address.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Mutex, RwLock};
use url::{Origin, Url};

/// Maximum number of keys of all runs together, about 40 MB.
const MAX_KEYS: usize = 1_000_000;

/// Maximum number of sites per run that are remembered as listed in a sitemap.
pub(super) const MAX_LISTED: usize = 16;

/// Page key, as in [`store::runs::NewPage::key`].
type Key = [u8; 16];

/// Page keys of one run, all of them committed: keys that a transaction adds enter after its commit.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Keys with their depth: the number of hops from the start.
    keys: RwLock<HashMap<Key, i32>>,
    /// Whether the run accepted no further pages at the last check.
    is_full: AtomicBool,
    /// Sites whose pages are listed in sitemaps.
    listed: Mutex<Vec<Origin>>,
    /// Number of keys of all runs.
    all: Arc<AtomicUsize>,
}

impl Known {
    /// Creates an empty cache that counts its keys in `all`.
    pub(super) fn counted_in(all: &Arc<AtomicUsize>) -> Arc<Self> {
        let (keys, is_full, listed) = (RwLock::default(), AtomicBool::default(), Mutex::default());
        Arc::new(Self { keys, is_full, listed, all: Arc::clone(all) })
    }

    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        self.depth(key).is_some()
    }

    /// Returns the depth at which a page was found; by now there may be a shorter path.
    pub(crate) fn depth(&self, key: &[u8]) -> Option<i32> {
        self.keys.read().get(&Key::try_from(key).ok()?).copied()
    }

    /// Whether the run accepted no further pages at the last check.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    pub(crate) fn set_full(&self, is_full: bool) {
        self.is_full.store(is_full, Ordering::Relaxed);
    }

    /// Remembers the sites whose pages a sitemap lists.
    pub(crate) fn note_listed(&self, pages: impl Iterator<Item = Url>) {
        let mut listed = self.listed.lock();
        for origin in pages.map(|page| page.origin()) {
            if listed.len() < MAX_LISTED && !listed.contains(&origin) {
                listed.push(origin);
            }
        }
    }

    /// Whether a sitemap is known to list pages of the site of `url`.
    pub(crate) fn has_listed(&self, url: &Url) -> bool {
        self.listed.lock().contains(&url.origin())
    }

    /// Removes all keys, to free memory after the end of the run.
    pub(crate) fn clear(&self) {
        let gone = std::mem::take(&mut *self.keys.write());
        self.all.fetch_sub(gone.len(), Ordering::Relaxed);
    }

    /// Adds committed keys. When the memory limit is reached, further keys are looked up in the database.
    pub(super) fn learn(&self, learnt: Vec<(Vec<u8>, i32)>) {
        let mut keys = self.keys.write();
        let learnt = learnt.into_iter().filter_map(|(key, depth)| Some((Key::try_from(key).ok()?, depth)));
        for (key, depth) in learnt {
            if let Some(known) = keys.get_mut(&key) {
                *known = depth.min(*known);
            } else if self.all.load(Ordering::Relaxed) < MAX_KEYS {
                keys.insert(key, depth);
                self.all.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        self.all.fetch_sub(self.keys.get_mut().len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(numbers: std::ops::Range<u8>) -> Vec<(Vec<u8>, i32)> {
        numbers.map(|number| (vec![number; 16], 1)).collect()
    }

    #[test]
    fn keys_are_known_once_they_are_learnt_and_counted_while_they_are_kept() {
        let all = Arc::default();
        let (one, other) = (Known::counted_in(&all), Known::counted_in(&all));
        assert!(!one.contains(&[1; 16]));
        one.learn(keys(0..5));
        one.learn(keys(3..8));
        other.learn(keys(0..5));
        assert!(one.contains(&[7; 16]) && !other.contains(&[7; 16]) && !one.contains(&[7; 15]));
        assert_eq!(all.load(Ordering::Relaxed), 13);
        drop(one);
        assert_eq!(all.load(Ordering::Relaxed), 5);
        other.clear();
        assert_eq!((all.load(Ordering::Relaxed), other.contains(&[1; 16])), (0, false));
    }

    #[test]
    fn memory_is_bounded() {
        let all = Arc::new(AtomicUsize::new(MAX_KEYS - 2));
        let known = Known::counted_in(&all);
        known.learn(keys(0..5));
        assert_eq!((0..5).filter(|number| known.contains(&[*number; 16])).count(), 2);
    }
}

//! Addresses that a run is certain to know, kept in memory: most links of a crawl lead to pages that it knows, and these need
//! not be asked of the database. An address that is not here may be known all the same, to another process above all.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Mutex, RwLock};
use url::{Origin, Url};

/// Keys of all runs together, about 40 MB.
const MAX_KEYS: usize = 1_000_000;

/// Sites whose listed pages are noted, of each run.
pub(crate) const MAX_LISTED: usize = 16;

/// See [`store::runs::NewPage::key`].
type Key = [u8; 16];

/// The keys of one run. They are written down: what a transaction adds comes in here after its commit.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// With how many hops from the start each was found.
    keys: RwLock<HashMap<Key, i32>>,
    /// Whether the run took on no further pages when it was last asked.
    is_full: AtomicBool,
    /// The sites that sitemaps have listed pages of.
    listed: Mutex<Vec<Origin>>,
    /// Those of all runs.
    all: Arc<AtomicUsize>,
}

/// Keys that a transaction wrote or read, for [`Known`] when it is committed.
#[derive(Debug, Default)]
pub(crate) struct Learnt(Mutex<Vec<(Vec<u8>, i32)>>);

impl Known {
    /// Counts its keys in `all`.
    pub(super) fn counted_in(all: &Arc<AtomicUsize>) -> Arc<Self> {
        let (keys, is_full, listed) = (RwLock::default(), AtomicBool::default(), Mutex::default());
        Arc::new(Self { keys, is_full, listed, all: Arc::clone(all) })
    }

    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        self.depth(key).is_some()
    }

    /// With how many hops from the start a page was found; there may be a shorter way by now.
    pub(crate) fn depth(&self, key: &[u8]) -> Option<i32> {
        self.keys.read().get(&Key::try_from(key).ok()?).copied()
    }

    /// Whether further pages would not be taken on, as far as is known.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    pub(crate) fn set_full(&self, is_full: bool) {
        self.is_full.store(is_full, Ordering::Relaxed);
    }

    /// Notes of which sites a sitemap lists pages.
    pub(crate) fn note_listed(&self, pages: impl Iterator<Item = Url>) {
        let mut listed = self.listed.lock();
        for origin in pages.map(|page| page.origin()) {
            if listed.len() < MAX_LISTED && !listed.contains(&origin) {
                listed.push(origin);
            }
        }
    }

    /// Whether a sitemap is certain to have listed pages of the site of `url`.
    pub(crate) fn has_listed(&self, url: &Url) -> bool {
        self.listed.lock().contains(&url.origin())
    }

    /// Forgets all keys: the run has ended, and others want the memory.
    pub(crate) fn clear(&self) {
        let gone = std::mem::take(&mut *self.keys.write());
        self.all.fetch_sub(gone.len(), Ordering::Relaxed);
    }

    /// Takes over what was learnt. Where memory is used up, the database goes on being asked.
    pub(crate) fn learn(&self, learnt: &Learnt) {
        let learnt = std::mem::take(&mut *learnt.0.lock());
        let mut keys = self.keys.write();
        let learnt = learnt.iter().filter_map(|(key, depth)| Some((Key::try_from(key.as_slice()).ok()?, *depth)));
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

impl Learnt {
    /// In place of what an earlier try has left.
    pub(crate) fn set(&self, keys: Vec<(Vec<u8>, i32)>) {
        *self.0.lock() = keys;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(numbers: std::ops::Range<u8>) -> Learnt {
        let learnt = Learnt::default();
        learnt.set(numbers.map(|number| (vec![number; 16], 1)).collect());
        learnt
    }

    #[test]
    fn keys_are_known_once_they_are_learnt_and_counted_while_they_are_kept() {
        let all = Arc::default();
        let (one, other) = (Known::counted_in(&all), Known::counted_in(&all));
        assert!(!one.contains(&[1; 16]));
        one.learn(&learnt(0..5));
        one.learn(&learnt(3..8));
        other.learn(&learnt(0..5));
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
        known.learn(&learnt(0..5));
        assert_eq!((0..5).filter(|number| known.contains(&[*number; 16])).count(), 2);
    }
}

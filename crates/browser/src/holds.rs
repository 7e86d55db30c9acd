//! Pages that are held open after their visits, for clients that resume them. They are evicted as soon as a visit waits
//! for their slot.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::held::Held;

/// Held pages by name, oldest first. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Holds(Arc<Mutex<VecDeque<(String, Held)>>>);

impl Holds {
    pub(crate) fn put(&self, name: &str, held: Held) {
        let mut all = self.0.lock();
        all.retain(|(_, held)| !held.is_gone());
        all.push_back((name.to_owned(), held));
    }

    /// Removes and returns the page with this name, if it is still open.
    pub(crate) fn take(&self, name: &str) -> Option<Held> {
        let mut all = self.0.lock();
        let at = all.iter().position(|(known, _)| known == name)?;
        all.remove(at).map(|(_, held)| held).filter(|held| !held.is_gone())
    }

    /// Evicts the oldest page, if there is one.
    pub(crate) fn give_up_one(&self) {
        let mut all = self.0.lock();
        all.retain(|(_, held)| !held.is_gone());
        // Dropped after the lock is released: closing a page is work.
        let oldest = all.pop_front();
        drop(all);
        drop(oldest);
    }
}

//! Pages that are held open after their visits, for clients that come back to them. They have places only for as long as
//! nobody waits for one.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::held::Held;

/// The pages by name, the oldest first. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Holds(Arc<Mutex<VecDeque<(String, Held)>>>);

impl Holds {
    pub(crate) fn put(&self, name: &str, held: Held) {
        let mut all = self.0.lock();
        all.retain(|(_, held)| !held.is_gone());
        all.push_back((name.to_owned(), held));
    }

    /// The page of this name, if it is still there.
    pub(crate) fn take(&self, name: &str) -> Option<Held> {
        let mut all = self.0.lock();
        let at = all.iter().position(|(known, _)| known == name)?;
        all.remove(at).map(|(_, held)| held).filter(|held| !held.is_gone())
    }

    /// Gives up the oldest page, if there is one.
    pub(crate) fn give_up_one(&self) {
        let mut all = self.0.lock();
        all.retain(|(_, held)| !held.is_gone());
        // Dropped when the lock is free again.
        let oldest = all.pop_front();
        drop(all);
        drop(oldest);
    }
}

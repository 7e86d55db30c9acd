//! A limited number of places, of which each owner may have a part.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places.
#[derive(Debug)]
pub(crate) struct Shares {
    all: Arc<Semaphore>,
    of_one: usize,
    each: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// One place, free again when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    _all: Option<OwnedSemaphorePermit>,
    _own: Option<OwnedSemaphorePermit>,
}

impl Shares {
    /// `all` places, of which one owner may have `of_one`.
    pub(crate) fn new(all: usize, of_one: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), of_one, each: Mutex::default() }
    }

    /// Waits for a place, however long it takes.
    pub(crate) async fn wait(&self, owner: &str) -> Share {
        // The owner's own places first: whoever waits for those holds nothing that others wait for. Nobody closes them.
        let own = self.of(owner).acquire_owned().await.ok();
        Share { _own: own, _all: self.all.clone().acquire_owned().await.ok() }
    }

    /// A place, when one is free.
    pub(crate) fn get(&self, owner: &str) -> Option<Share> {
        let own = self.of(owner).try_acquire_owned().ok()?;
        let all = self.all.clone().try_acquire_owned().ok()?;
        Some(Share { _own: Some(own), _all: Some(all) })
    }

    fn of(&self, owner: &str) -> Arc<Semaphore> {
        let mut each = self.each.lock();
        if let Some(known) = each.get(owner).and_then(Weak::upgrade) {
            return known;
        }
        // Not more than those who hold or wait for a place, so few.
        each.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.of_one));
        each.insert(owner.to_owned(), Arc::downgrade(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_has_all() {
        let shares = Shares::new(3, 2);
        let first = (shares.wait("one").await, shares.get("one").unwrap());
        assert!(shares.get("one").is_none());
        let second = shares.get("two").unwrap();
        assert!(shares.get("two").is_none(), "three in all");
        drop(first.0);
        assert!(shares.get("two").is_some());
        drop((first.1, second));
        drop(shares.get("three"));
        assert_eq!(shares.each.lock().len(), 1, "who has none is forgotten");
    }
}

//! A semaphore with a limit in total and a limit per owner.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A semaphore with a limit per owner.
#[derive(Debug)]
pub(crate) struct Shares {
    all: Arc<Semaphore>,
    of_one: usize,
    each: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// One permit, released when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    _all: Option<OwnedSemaphorePermit>,
    _own: Option<OwnedSemaphorePermit>,
}

impl Shares {
    /// Creates `all` permits, of which one owner may hold `of_one`.
    pub(crate) fn new(all: usize, of_one: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), of_one, each: Mutex::default() }
    }

    /// Waits for a permit without a timeout.
    pub(crate) async fn wait(&self, owner: &str) -> Share {
        // The owner's limit first: an owner that waits for it then holds no permit that others wait for. The semaphores are
        // never closed, so `acquire_owned` cannot fail.
        let own = self.semaphore(owner).acquire_owned().await.ok();
        Share { _own: own, _all: self.all.clone().acquire_owned().await.ok() }
    }

    /// Returns a permit if one is free.
    pub(crate) fn get(&self, owner: &str) -> Option<Share> {
        let own = self.semaphore(owner).try_acquire_owned().ok()?;
        let all = self.all.clone().try_acquire_owned().ok()?;
        Some(Share { _own: Some(own), _all: Some(all) })
    }

    fn semaphore(&self, owner: &str) -> Arc<Semaphore> {
        let mut each = self.each.lock();
        if let Some(known) = each.get(owner).and_then(Weak::upgrade) {
            return known;
        }
        // The map has at most as many entries as there are holders and waiters, so this scan is short.
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

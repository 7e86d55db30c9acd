//! API keys with an open session or socket, both of which end when the key is revoked.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// API keys in use by sessions and sockets.
#[derive(Default)]
pub(crate) struct HeldKeys(Mutex<Held>);

#[derive(Default)]
struct Held {
    keys: HashMap<String, Weak<CancellationToken>>,
    /// Whether the polling task runs.
    looked_after: bool,
}

/// Handle of a session or socket, which learns when its key is revoked.
#[derive(Debug, Default)]
pub struct KeyHold(Option<Arc<CancellationToken>>);

impl KeyHold {
    /// Waits until the key is revoked; forever for work without a key.
    pub async fn revoked(&self) {
        match &self.0 {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

impl HeldKeys {
    /// Returns a handle for work that outlives the call with this key.
    pub(crate) fn hold(&self, key: &str) -> KeyHold {
        let mut held = self.0.lock();
        let known = held.keys.get(key).and_then(Weak::upgrade);
        let token = known.unwrap_or_else(|| {
            let token = Arc::default();
            held.keys.insert(key.to_owned(), Arc::downgrade(&token));
            token
        });
        KeyHold(Some(token))
    }

    /// Marks the keys as polled. Returns whether they were before, so that one task polls.
    pub(crate) fn set_looked_after(&self) -> bool {
        std::mem::replace(&mut self.0.lock().looked_after, true)
    }

    /// Ends all sessions and sockets of a key.
    pub(crate) fn end(&self, key: &str) {
        let token = self.0.lock().keys.get(key).and_then(Weak::upgrade);
        if let Some(token) = token {
            token.cancel();
        }
    }

    /// Returns the keys in use that are not revoked; `None` when no key is in use, which ends the polling.
    pub(crate) fn keys(&self) -> Option<Vec<String>> {
        let mut held = self.0.lock();
        held.keys.retain(|_, token| token.strong_count() > 0);
        held.looked_after = !held.keys.is_empty();
        let lives = |token: &Weak<CancellationToken>| token.upgrade().is_some_and(|token| !token.is_cancelled());
        let keys = held.keys.iter().filter(|(_, token)| lives(token)).map(|(key, _)| key.clone()).collect();
        held.looked_after.then_some(keys)
    }
}

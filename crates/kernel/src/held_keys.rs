//! API keys with an open session or socket, both of which end when the key is revoked: at once if this process revokes
//! it, otherwise when the database is polled, once a second.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use store::keys as rows;
use tokio_util::sync::CancellationToken;

use crate::app::Core;
use crate::{App, AppError};

/// Polling interval.
const LOOK: Duration = Duration::from_secs(1);
/// Maximum number of keys in one query.
const BATCH: usize = 500;

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

impl App {
    /// Returns a handle for work that outlives the call with this key. A key that was already revoked is noticed within
    /// a second.
    #[must_use]
    pub fn hold_key(&self, key: Option<&str>) -> KeyHold {
        let Some(key) = key else { return KeyHold::default() };
        let mut held = self.held_keys().0.lock();
        let known = held.keys.get(key).and_then(Weak::upgrade);
        let token = known.unwrap_or_else(|| {
            let token = Arc::default();
            held.keys.insert(key.to_owned(), Arc::downgrade(&token));
            token
        });
        if !std::mem::replace(&mut held.looked_after, true) {
            tokio::spawn(look_after(self.downgrade()));
        }
        KeyHold(Some(token))
    }
}

impl HeldKeys {
    /// Ends all sessions and sockets of a key.
    pub(crate) fn end(&self, key: &str) {
        let token = self.0.lock().keys.get(key).and_then(Weak::upgrade);
        if let Some(token) = token {
            token.cancel();
        }
    }

    /// Returns the keys in use that are not revoked; `None` when no key is in use, which ends the polling.
    fn keys(&self) -> Option<Vec<String>> {
        let mut held = self.0.lock();
        held.keys.retain(|_, token| token.strong_count() > 0);
        held.looked_after = !held.keys.is_empty();
        let lives = |token: &Weak<CancellationToken>| token.upgrade().is_some_and(|token| !token.is_cancelled());
        let keys = held.keys.iter().filter(|(_, token)| lives(token)).map(|(key, _)| key.clone()).collect();
        held.looked_after.then_some(keys)
    }
}

/// Polls for revoked keys as long as one is in use.
async fn look_after(app: Weak<Core>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(app) = App::upgrade(&app) else { return };
        let Some(keys) = app.held_keys().keys() else { return };
        for keys in keys.chunks(BATCH) {
            match revoked(&app, keys).await {
                Ok(revoked) => revoked.iter().for_each(|key| app.held_keys().end(key)),
                // The next poll may succeed.
                Err(error) => tracing::debug!(?error, "could not look for revoked keys; trying again in a second"),
            }
        }
    }
}

async fn revoked(app: &App, keys: &[String]) -> Result<Vec<String>, AppError> {
    Ok(rows::revoked(&mut app.conn().await?, keys).await?)
}

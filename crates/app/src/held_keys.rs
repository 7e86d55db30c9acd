//! API keys with a session or a socket that is still open: both end when their key is revoked. A key that this process
//! revokes ends them at once; for keys that another process has revoked, the database is asked once a second.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use store::keys as rows;
use tokio_util::sync::CancellationToken;

use crate::service::Inner;
use crate::{App, AppError};

/// Pause between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// Keys that one query asks for.
const BATCH: usize = 500;

/// The keys that something runs for.
#[derive(Default)]
pub(crate) struct HeldKeys(Mutex<Held>);

#[derive(Default)]
struct Held {
    keys: HashMap<String, Weak<CancellationToken>>,
    /// Whether somebody looks for keys that were revoked elsewhere.
    looked_after: bool,
}

/// Held by what runs for a key, and told when that is revoked.
#[derive(Debug, Default)]
pub struct KeyHold(Option<Arc<CancellationToken>>);

impl KeyHold {
    /// Returns when the key is revoked; never for what runs without a key.
    pub async fn revoked(&self) {
        match &self.0 {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

impl App {
    /// To be held by whatever outlives the call with this key. A key that was revoked before counts as well, after a second.
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
    /// Ends what runs for a key.
    pub(crate) fn end(&self, key: &str) {
        let token = self.0.lock().keys.get(key).and_then(Weak::upgrade);
        if let Some(token) = token {
            token.cancel();
        }
    }

    /// The keys that are held and not ended yet; `None` when none is held any more, and nobody looks from then on.
    fn keys(&self) -> Option<Vec<String>> {
        let mut held = self.0.lock();
        held.keys.retain(|_, token| token.strong_count() > 0);
        held.looked_after = !held.keys.is_empty();
        let lives = |token: &Weak<CancellationToken>| token.upgrade().is_some_and(|token| !token.is_cancelled());
        let keys = held.keys.iter().filter(|(_, token)| lives(token)).map(|(key, _)| key.clone()).collect();
        held.looked_after.then_some(keys)
    }
}

/// Looks for revoked keys as long as one is held.
async fn look_after(app: Weak<Inner>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(app) = App::upgrade(&app) else { return };
        let Some(keys) = app.held_keys().keys() else { return };
        for keys in keys.chunks(BATCH) {
            match revoked(&app, keys).await {
                Ok(revoked) => revoked.iter().for_each(|key| app.held_keys().end(key)),
                // The next look may succeed.
                Err(error) => tracing::debug!(?error, "revoked keys not looked for"),
            }
        }
    }
}

async fn revoked(app: &App, keys: &[String]) -> Result<Vec<String>, AppError> {
    Ok(rows::revoked(&mut app.conn().await?, keys).await?)
}

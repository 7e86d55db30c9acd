//! Revoked API keys end the sessions and sockets that hold them: at once if this process revokes the key, otherwise when
//! the database is polled, once a second.

use std::sync::Weak;
use std::time::Duration;

use store::keys as rows;

use crate::app::Core;
use crate::held_keys::KeyHold;
use crate::{App, AppError};

/// Polling interval.
const LOOK: Duration = Duration::from_secs(1);
/// Maximum number of keys in one query.
const BATCH: usize = 500;

impl App {
    /// Returns a handle for work that outlives the call with this key. A key that was already revoked is noticed within
    /// a second.
    #[must_use]
    pub fn hold_key(&self, key: Option<&str>) -> KeyHold {
        let Some(key) = key else { return KeyHold::default() };
        let hold = self.held_keys().hold(key);
        // After the hold: a task that is about to end would otherwise miss the key.
        if !self.held_keys().set_looked_after() {
            tokio::spawn(look_after(self.downgrade()));
        }
        hold
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

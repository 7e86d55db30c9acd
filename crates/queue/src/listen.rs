//! Waking the workers of this process when another process has added jobs, by PostgreSQL's NOTIFY.

use std::time::Duration;

use store::jobs::CHANNEL;
use store::listen::Listener;
use tokio::time::sleep;

use crate::shared::Core;

/// Pause before a lost LISTEN connection is opened again.
const REOPEN: Duration = Duration::from_secs(1);

/// Wakes queues on notifications of other processes, for as long as it is polled. Returns at once on SQLite.
pub(crate) async fn listen(core: &Core) {
    loop {
        match Listener::open(&core.store, &[CHANNEL]).await {
            Ok(None) => return,
            Ok(Some(mut listener)) => {
                // Jobs may have been added while no connection listened.
                core.wake_all();
                let error = loop {
                    match listener.next().await {
                        Ok(notice) => core.waker.wake_named(&notice.payload),
                        Err(error) => break error,
                    }
                };
                // Not logged during an outage of the database, which has its own log lines.
                if core.store.ping().await.is_ok() {
                    tracing::warn!(%error, "lost the LISTEN connection; new jobs of other processes are found by polling meanwhile");
                }
            }
            Err(error) if core.store.trouble().is_some() => tracing::debug!(%error, "cannot LISTEN for new jobs"),
            Err(error) => {
                tracing::warn!(%error, "cannot LISTEN for new jobs; those of other processes are found by polling meanwhile")
            }
        }
        sleep(REOPEN).await;
    }
}

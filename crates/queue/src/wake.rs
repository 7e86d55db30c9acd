//! Waking workers: at once within the process, by PostgreSQL's NOTIFY between processes, else by polling.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use store::jobs::{CHANNEL, Queue};
use store::listen::Listener;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::worker::Core;

/// Pause before a lost LISTEN connection is opened again.
const REOPEN: Duration = Duration::from_secs(1);

/// Wakes the workers of this process. Cheap to clone; clones share their state.
#[derive(Debug, Clone, Default)]
pub struct Waker(Arc<Mutex<HashMap<String, Arc<Notify>>>>);

impl Waker {
    /// Wakes the workers of a queue. Must be called after the commit of the transaction that added the jobs.
    pub fn wake(&self, queue: Queue) {
        self.wake_named(queue.name);
    }

    pub(crate) fn wake_named(&self, queue: &str) {
        self.signal(queue).notify_one();
    }

    pub(crate) async fn woken(&self, queue: Queue) {
        self.signal(queue.name).notified().await;
    }

    fn signal(&self, queue: &str) -> Arc<Notify> {
        let mut all = self.0.lock();
        match all.get(queue) {
            Some(notify) => Arc::clone(notify),
            None => Arc::clone(all.entry(queue.to_owned()).or_default()),
        }
    }
}

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

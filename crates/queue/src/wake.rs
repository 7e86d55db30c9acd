//! Waking the workers: within the process at once, between processes by PostgreSQL's notices, and else by polling.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use store::jobs::{CHANNEL, Queue};
use store::listen::Listener;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::worker::Core;

/// Pause before a lost connection for notices is opened again.
const REOPEN: Duration = Duration::from_secs(1);

/// Tells the workers of this process that there is something to do. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub struct Waker(Arc<Mutex<HashMap<String, Arc<Notify>>>>);

impl Waker {
    /// Call it after the transaction that added the jobs.
    pub fn wake(&self, queue: Queue) {
        self.wake_named(queue.name);
    }

    pub(crate) fn wake_named(&self, queue: &str) {
        self.of(queue).notify_one();
    }

    pub(crate) async fn woken(&self, queue: Queue) {
        self.of(queue.name).notified().await;
    }

    fn of(&self, queue: &str) -> Arc<Notify> {
        let mut all = self.0.lock();
        match all.get(queue) {
            Some(notify) => Arc::clone(notify),
            None => Arc::clone(all.entry(queue.to_owned()).or_default()),
        }
    }
}

/// Hears what other processes have added, for as long as it is polled. Ends at once where there are no notices.
pub(crate) async fn listen(core: &Core) {
    loop {
        match Listener::open(&core.store, &[CHANNEL]).await {
            Ok(None) => return,
            Ok(Some(mut listener)) => {
                // What was added while nobody listened.
                core.wake_all();
                let error = loop {
                    match listener.next().await {
                        Ok(notice) => core.waker.wake_named(&notice.payload),
                        Err(error) => break error,
                    }
                };
                // With the database this connection is gone too.
                if core.store.ping().await.is_ok() {
                    tracing::warn!(%error, "connection for notices of new jobs lost, they are found by polling meanwhile");
                }
            }
            Err(error) if core.store.trouble().is_some() => tracing::debug!(%error, "cannot listen for new jobs"),
            Err(error) => tracing::warn!(%error, "cannot listen for new jobs, they are found by polling meanwhile"),
        }
        sleep(REOPEN).await;
    }
}

//! Waking the workers: within the process at once, between processes by PostgreSQL's notices, and else by looking.

use std::sync::Arc;
use std::time::Duration;

use store::Store;
use store::jobs::{CHANNEL, Queue};
use store::notices::Listener;
use tokio::sync::Notify;
use tokio::time::sleep;

/// Pause before a lost connection for notices is opened again.
const REOPEN: Duration = Duration::from_secs(1);

/// Tells the workers of this process that there is something to do. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub struct Waker(Arc<[Notify; 2]>);

impl Waker {
    /// Call it after the transaction that added the jobs.
    pub fn wake(&self, queue: Queue) {
        self.of(queue).notify_one();
    }

    pub(crate) async fn woken(&self, queue: Queue) {
        self.of(queue).notified().await;
    }

    fn of(&self, queue: Queue) -> &Notify {
        match queue {
            Queue::Pages => &self.0[0],
            Queue::Hooks => &self.0[1],
        }
    }
}

/// Hears what other processes have added, for as long as it is polled. Ends at once where there are no notices.
pub(crate) async fn listen(store: &Store, waker: &Waker) {
    loop {
        match Listener::open(store, &[CHANNEL]).await {
            Ok(None) => return,
            Ok(Some(mut listener)) => {
                // What was added while nobody listened.
                Queue::ALL.into_iter().for_each(|queue| waker.wake(queue));
                let error = loop {
                    match listener.next().await {
                        Ok(notice) => Queue::from_name(&notice.payload).into_iter().for_each(|queue| waker.wake(queue)),
                        Err(error) => break error,
                    }
                };
                tracing::warn!(%error, "notices of new jobs lost, they are found by looking meanwhile");
            }
            Err(error) => tracing::warn!(%error, "cannot listen for new jobs, they are found by looking meanwhile"),
        }
        sleep(REOPEN).await;
    }
}

//! Waking the workers of this process.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use store::jobs::Queue;
use tokio::sync::Notify;

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

//! Who waits for news of a job: watchers in this process are woken when its state is written by this process. Others look
//! once a second.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

/// Jobs that somebody watches, by id. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub struct Changes(Arc<Mutex<HashMap<String, watch::Sender<()>>>>);

impl Changes {
    /// A receiver that is told of every change to the job from now on; several changes may come as one.
    #[must_use]
    pub fn watch(&self, job: &str) -> watch::Receiver<()> {
        let mut all = self.0.lock();
        // Nobody listens to these any more.
        all.retain(|_, sender| sender.receiver_count() > 0);
        all.entry(job.to_owned()).or_insert_with(|| watch::channel(()).0).subscribe()
    }

    pub(crate) fn notify(&self, job: &str) {
        if let Some(sender) = self.0.lock().get(job) {
            sender.send_replace(());
        }
    }
}

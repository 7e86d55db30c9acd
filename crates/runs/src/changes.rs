//! Notification of job changes: watchers in this process are woken when this process writes a job's state. Changes by
//! other processes are found by polling once a second.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::sync::watch;

/// Watched jobs by id.
#[derive(Debug, Default)]
pub(crate) struct Changes(Mutex<HashMap<String, watch::Sender<()>>>);

impl Changes {
    /// Returns a receiver that is notified of every further change to the job; several changes may be merged.
    pub(crate) fn watch(&self, job: &str) -> watch::Receiver<()> {
        let mut all = self.0.lock();
        // Drop channels without receivers.
        all.retain(|_, sender| sender.receiver_count() > 0);
        all.entry(job.to_owned()).or_insert_with(|| watch::channel(()).0).subscribe()
    }

    pub(crate) fn notify(&self, job: &str) {
        if let Some(sender) = self.0.lock().get(job) {
            sender.send_replace(());
        }
    }
}

//! A body that lies among the blobs before it is certain that its document is kept.
//!
//! It is written before the transaction that keeps the document. Whatever ends in between (a page that is another spelling
//! of a known one, a cancelled job, a lost lease, a commit that fails), the body goes with this value. Only where nobody can
//! know whether the transaction was committed, and when the process is killed, it stays, and the sweep of
//! [`orphans`](crate::orphans) finds it.

use std::sync::atomic::{AtomicBool, Ordering};

use base::new_id;
use blobs::BlobError;
use bytes::Bytes;
use tokio::runtime::Handle;

use crate::{App, AppError};

/// Under which the bodies of documents lie among the blobs.
pub(crate) const FOLDER: &str = "documents";

/// See the module.
pub(crate) struct Deposit {
    app: App,
    key: String,
    /// A transaction wanted to keep it: from then on, only what follows a commit may remove it.
    offered: AtomicBool,
    /// What the last transaction wanted.
    keep: AtomicBool,
    /// That transaction was committed.
    is_settled: AtomicBool,
}

impl Deposit {
    /// Writes it under a key that no other attempt uses, so that whoever loses the page can remove it.
    pub(crate) async fn put(app: &App, body: Vec<u8>) -> Result<Self, AppError> {
        let flag = || AtomicBool::new(false);
        let key = format!("{FOLDER}/{}", new_id());
        let deposit = Self { app: app.clone(), key, offered: flag(), keep: flag(), is_settled: flag() };
        app.blobs.put(&deposit.key, Bytes::from(body)).await.map_err(AppError::internal)?;
        Ok(deposit)
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// A transaction looks at its page, and does not keep it unless it says so.
    pub(crate) fn look(&self) {
        self.keep.store(false, Ordering::Relaxed);
    }

    /// The transaction keeps it.
    pub(crate) fn keep(&self) {
        self.offered.store(true, Ordering::Relaxed);
        self.keep.store(true, Ordering::Relaxed);
    }

    /// The transaction was committed.
    pub(crate) fn settle(&self) {
        self.is_settled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Deposit {
    fn drop(&mut self) {
        let [offered, keep, is_settled] =
            [&self.offered, &self.keep, &self.is_settled].map(|flag| flag.load(Ordering::Relaxed));
        let stays = if is_settled { keep } else { offered };
        if stays {
            return;
        }
        // Outside a runtime, as at the very end of a process, the sweep finds it.
        let Ok(runtime) = Handle::try_current() else { return };
        let (app, key) = (self.app.clone(), std::mem::take(&mut self.key));
        let remove = async move {
            if let Err(error) = app.blobs.delete(&key).await
                && !matches!(error, BlobError::Away(_))
            {
                tracing::warn!(%error, "unused document body not removed, upkeep removes it later");
            }
        };
        self.app.tracker.spawn_on(remove, &runtime);
    }
}

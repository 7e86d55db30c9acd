//! Body of a document, stored as a blob before the transaction that keeps the document.
//!
//! Dropping a [`Deposit`] removes the blob when the document is not kept: the page is a duplicate, the job was
//! cancelled, its lease expired, or the commit failed. If the outcome of the commit is unknown, or the process is
//! killed, the blob stays and the sweep in [`orphans`](crate::orphans) removes it.

use std::sync::atomic::{AtomicBool, Ordering};

use base::new_id;
use blobs::BlobError;
use bytes::Bytes;
use kernel::{App, AppError};
use tokio::runtime::Handle;

/// Blob folder for document bodies.
pub(crate) const FOLDER: &str = "documents";

/// Blob that is removed on drop unless a transaction kept it.
pub(crate) struct Deposit {
    app: App,
    key: String,
    /// Whether a transaction wanted to keep the blob: after that, only the outcome of a commit may remove it.
    offered: AtomicBool,
    /// Whether the last transaction keeps the blob.
    keep: AtomicBool,
    /// Whether that transaction was committed.
    is_settled: AtomicBool,
}

impl Deposit {
    /// Writes the body under a key that no other attempt uses, so that an attempt that loses the page can remove it.
    pub(crate) async fn put(app: &App, body: Vec<u8>) -> Result<Self, AppError> {
        let flag = || AtomicBool::new(false);
        let key = format!("{FOLDER}/{}", new_id());
        let deposit = Self { app: app.clone(), key, offered: flag(), keep: flag(), is_settled: flag() };
        app.blobs().put(&deposit.key, Bytes::from(body)).await.map_err(AppError::internal)?;
        Ok(deposit)
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Records that a transaction examines the page; it does not keep the blob unless [`Self::keep`] follows.
    pub(crate) fn look(&self) {
        self.keep.store(false, Ordering::Relaxed);
    }

    /// Records that the transaction keeps the blob.
    pub(crate) fn keep(&self) {
        self.offered.store(true, Ordering::Relaxed);
        self.keep.store(true, Ordering::Relaxed);
    }

    /// Records that the transaction was committed.
    pub(crate) fn settle(&self) {
        self.is_settled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Deposit {
    fn drop(&mut self) {
        let [offered, keep, is_settled] =
            [&self.offered, &self.keep, &self.is_settled].map(|flag| flag.load(Ordering::Relaxed));
        // A failed or unknown commit leaves `is_settled` unset: then a blob that was ever offered has to stay.
        let stays = if is_settled { keep } else { offered };
        if stays {
            return;
        }
        // Without a runtime, as at process exit, the blob stays until the sweep removes it.
        let Ok(runtime) = Handle::try_current() else { return };
        let (app, key) = (self.app.clone(), std::mem::take(&mut self.key));
        let remove = async move {
            if let Err(error) = app.blobs().delete(&key).await
                && !matches!(error, BlobError::Away(_))
            {
                tracing::warn!(%error, "could not remove an unused document body; upkeep removes it later");
            }
        };
        self.app.tracker().spawn_on(remove, &runtime);
    }
}

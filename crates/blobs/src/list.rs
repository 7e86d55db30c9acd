//! Listing of blobs.

use std::collections::BinaryHeap;
use std::time::SystemTime;

use futures_util::TryStreamExt;
use object_store::ObjectStore;
use object_store::path::Path;

use crate::{BlobError, Blobs, failed};

/// Listed blob.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedBlob {
    /// Key of the blob.
    pub key: String,
    /// Time of the last write, by the clock of the store.
    pub written_at: SystemTime,
    /// Size, in bytes.
    pub bytes: u64,
}

impl Blobs {
    /// Returns the first `limit` blobs in `folder` (a key without its last segment) in the order of their keys,
    /// starting after the key `after`. A local folder is scanned as a whole each time; an S3 store is asked only for
    /// the wanted part.
    ///
    /// # Errors
    /// Those of [`Blobs::put`].
    pub async fn list(&self, folder: &str, after: Option<&str>, limit: usize) -> Result<Vec<ListedBlob>, BlobError> {
        let prefix = self.path(folder)?;
        let offset = after.map(|key| self.path(key)).transpose()?.unwrap_or_else(|| Path::from(""));
        let refused = |source| failed("list", folder, source);
        let mut stream = self.store.list_with_offset(Some(&prefix), &offset);
        // Unordered stores must be scanned to the end: a max-heap keeps the `limit` smallest keys.
        let mut first: BinaryHeap<ListedBlob> = BinaryHeap::with_capacity(limit.min(1000));
        while let Some(meta) = self.request(stream.try_next()).await?.map_err(refused)? {
            let Some(key) = self.key_of(&meta.location) else { continue };
            first.push(ListedBlob { key, written_at: meta.last_modified.into(), bytes: meta.size });
            if first.len() > limit {
                first.pop();
                if self.is_ordered {
                    break;
                }
            }
        }
        Ok(first.into_sorted_vec())
    }

    fn key_of(&self, location: &Path) -> Option<String> {
        let whole = location.as_ref();
        if self.prefix.is_root() {
            return Some(whole.to_owned());
        }
        whole.strip_prefix(self.prefix.as_ref())?.strip_prefix('/').map(str::to_owned)
    }
}

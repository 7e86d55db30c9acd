//! Streaming reads of a part of a blob.

use std::ops::Range;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use object_store::{GetOptions, ObjectStore};

use crate::{BlobError, Blobs, failed};

/// Stream of the bytes of a blob, which is never in memory as a whole.
pub type Pieces = BoxStream<'static, Result<Bytes, BlobError>>;

impl Blobs {
    /// Returns the bytes under `key` from `range.start` up to `range.end`, which must not exceed the size of the blob;
    /// `None` if the blob does not exist.
    ///
    /// # Errors
    /// Those of [`Blobs::put`]; the stream can fail too.
    pub async fn read(&self, key: &str, range: Range<u64>) -> Result<Option<Pieces>, BlobError> {
        if range.is_empty() {
            // Stores reject an empty range.
            return Ok(self.exists(key).await?.then(|| stream::empty().boxed()));
        }
        let options = GetOptions { range: Some(range.into()), ..GetOptions::default() };
        let path = self.path(key)?;
        match self.request(self.store.get_opts(&path, options)).await? {
            Ok(found) => {
                let key = key.to_owned();
                Ok(Some(found.into_stream().map_err(move |source| failed("read", &key, source)).boxed()))
            }
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(failed("read", key, source)),
        }
    }
}

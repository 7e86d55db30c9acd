//! Reading a part of a blob, piece by piece.

use std::ops::Range;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use object_store::{GetOptions, ObjectStore};

use crate::{BlobError, Blobs, failed};

/// The bytes of a blob as they come, so that it is never in memory as a whole.
pub type Pieces = BoxStream<'static, Result<Bytes, BlobError>>;

impl Blobs {
    /// The bytes under `key` from `range.start` up to `range.end`, which must not lie behind the end of the blob; `None` when
    /// there is nothing under the key.
    ///
    /// # Errors
    /// As [`Blobs::put`]; the pieces can fail too.
    pub async fn read(&self, key: &str, range: Range<u64>) -> Result<Option<Pieces>, BlobError> {
        if range.is_empty() {
            // Stores refuse a range without bytes.
            return Ok(self.exists(key).await?.then(|| stream::empty().boxed()));
        }
        let options = GetOptions { range: Some(range.into()), ..GetOptions::default() };
        let path = self.path(key)?;
        match self.ask(self.store.get_opts(&path, options)).await? {
            Ok(found) => {
                let key = key.to_owned();
                Ok(Some(found.into_stream().map_err(move |source| failed("read", &key, source)).boxed()))
            }
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(failed("read", key, source)),
        }
    }
}

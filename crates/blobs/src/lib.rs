//! Blob store: bytes by key, in a local directory or an S3-compatible store, and content-addressed bodies.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use blobs::Blobs;
//! use blobs::content::{self, Hashed};
//!
//! let folder = tempfile::tempdir()?;
//! let blobs = Blobs::open(&format!("file://{}", folder.path().display()))?;
//! let digest = Hashed::of("<h1>Hello</h1>".into()).await.put(&blobs).await?;
//! assert_eq!(content::get(&blobs, &digest, 1024).await?.as_deref(), Some(&b"<h1>Hello</h1>"[..]));
//! # Ok(())
//! # })
//! # }
//! ```

mod compress;
mod condition;
pub mod content;
mod key;
mod list;
mod open;
mod presigned;
mod read;

use bytes::Bytes;
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{DynObjectStore, ObjectStoreExt};
use std::sync::Arc;

use condition::Condition;

pub use compress::compress;
pub use content::Digest;
pub use list::ListedBlob;
pub use open::S3;
pub use read::Pieces;

/// Blob store. Cheap to clone; all clones share one store.
#[derive(Debug, Clone)]
pub struct Blobs {
    store: Arc<DynObjectStore>,
    /// Signer of presigned URLs, if the store has one.
    signer: Option<Arc<dyn Signer>>,
    prefix: Path,
    /// Whether the store lists keys in order.
    is_ordered: bool,
    condition: Arc<Condition>,
}

/// Error of the blob store.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// Invalid address of the store.
    #[error("cannot use {url} as a blob store: {reason}")]
    Address {
        /// Address as given.
        url: String,
        /// Reason.
        reason: String,
    },
    /// Invalid key: a forbidden character, length or segment.
    #[error("blob key {0:?} is not allowed")]
    Key(String),
    /// The blob exceeds the byte limit of the caller.
    #[error("blob {key} is larger than {limit} bytes")]
    TooLarge {
        /// Key of the blob.
        key: String,
        /// Byte limit.
        limit: usize,
    },
    /// Invalid content digest; valid ones have 64 hexadecimal digits in lower case.
    #[error("{0:?} is not a content digest")]
    Digest(String),
    /// The request to the store failed.
    #[error("cannot {action} blob {key}")]
    Store {
        /// Action: `read`, `write`, `find`, `list`, `sign the address of` or `delete`.
        action: &'static str,
        /// Key of the blob.
        key: String,
        /// Error of the store.
        source: object_store::Error,
    },
    /// The store as a whole is unreachable or refuses all requests; the outage is logged once for all callers.
    #[error("the file store is unavailable: {0}")]
    Away(String),
    /// The store is full.
    #[error("the file store is full: {0}")]
    Full(String),
    /// Compression or decompression failed.
    #[error("cannot {action} blob {key}")]
    Codec {
        /// Action: `compress` or `decompress`.
        action: &'static str,
        /// Key of the blob.
        key: String,
        /// Error of the codec.
        source: std::io::Error,
    },
}

impl Blobs {
    /// Stores `body` under `key`, replacing an existing blob. Readers see the old bytes or the new ones, never a
    /// mixture.
    ///
    /// Keys have 1 to 512 characters: segments of letters, digits, `.`, `_` and `-`, joined by `/`, except `.` and
    /// `..`.
    ///
    /// # Errors
    /// [`BlobError::Key`] for an invalid key, [`BlobError::Away`] and [`BlobError::Full`] when the store cannot be
    /// used, [`BlobError::Store`] when this request fails.
    pub async fn put(&self, key: &str, body: Bytes) -> Result<(), BlobError> {
        let path = self.path(key)?;
        self.request(self.store.put(&path, body.into())).await?.map_err(|source| failed("write", key, source))?;
        Ok(())
    }

    /// Returns the bytes under `key`, or `None` if there are none.
    ///
    /// # Errors
    /// Those of [`Blobs::put`].
    pub async fn get(&self, key: &str) -> Result<Option<Bytes>, BlobError> {
        self.get_up_to(key, usize::MAX).await
    }

    /// Returns the bytes under `key` like [`Blobs::get`], but reads no blob of more than `limit` bytes.
    ///
    /// # Errors
    /// Those of [`Blobs::put`], and [`BlobError::TooLarge`].
    pub async fn get_up_to(&self, key: &str, limit: usize) -> Result<Option<Bytes>, BlobError> {
        let path = self.path(key)?;
        let found = match self.request(self.store.get(&path)).await? {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(source) => return Err(failed("read", key, source)),
        };
        if found.meta.size > limit as u64 {
            return Err(BlobError::TooLarge { key: key.to_owned(), limit });
        }
        self.request(found.bytes()).await?.map(Some).map_err(|source| failed("read", key, source))
    }

    /// Whether a blob exists under `key`.
    ///
    /// # Errors
    /// Those of [`Blobs::put`].
    pub async fn exists(&self, key: &str) -> Result<bool, BlobError> {
        let path = self.path(key)?;
        match self.request(self.store.head(&path)).await? {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(source) => Err(failed("find", key, source)),
        }
    }

    /// Removes the blob under `key`; succeeds if there is none.
    ///
    /// # Errors
    /// Those of [`Blobs::put`].
    pub async fn delete(&self, key: &str) -> Result<(), BlobError> {
        let path = self.path(key)?;
        match self.request(self.store.delete(&path)).await? {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(failed("delete", key, source)),
        }
    }

    fn path(&self, key: &str) -> Result<Path, BlobError> {
        key::check(key)?;
        let whole = if self.prefix.is_root() { key.to_owned() } else { format!("{}/{key}", self.prefix) };
        Path::parse(whole).map_err(|_| BlobError::Key(key.to_owned()))
    }
}

fn failed(action: &'static str, key: &str, source: object_store::Error) -> BlobError {
    BlobError::Store { action, key: key.to_owned(), source }
}

//! Bytes by key, in a local directory or an S3-compatible store, and bodies by their own hash.
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

/// A place that keeps bytes under keys. Cheap to clone; all clones share one store.
#[derive(Debug, Clone)]
pub struct Blobs {
    store: Arc<DynObjectStore>,
    /// The same store, where it can sign addresses of its own.
    signer: Option<Arc<dyn Signer>>,
    prefix: Path,
    /// Whether the store lists in the order of the keys.
    is_ordered: bool,
    condition: Arc<Condition>,
}

/// Why bytes could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The address of the store cannot be used.
    #[error("cannot use {url} as a blob store: {reason}")]
    Address {
        /// The address as given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A key with a character, a length or a segment that is not allowed.
    #[error("blob key {0:?} is not allowed")]
    Key(String),
    /// What is kept under this key unpacks to more than the caller takes.
    #[error("blob {key} is larger than {limit} bytes")]
    TooLarge {
        /// The key.
        key: String,
        /// The most the caller takes, in bytes.
        limit: usize,
    },
    /// The text is not a content digest: 64 hexadecimal digits in lower case.
    #[error("{0:?} is not a content digest")]
    Digest(String),
    /// The store refused or could not be reached.
    #[error("cannot {action} blob {key}")]
    Store {
        /// `read`, `write`, `find`, `list`, `sign the address of` or `delete`.
        action: &'static str,
        /// The key.
        key: String,
        /// What the store said.
        source: object_store::Error,
    },
    /// The store as a whole cannot be reached, or refuses everything; the log tells of it once for all.
    #[error("the store of files is away: {0}")]
    Away(String),
    /// The store has no room.
    #[error("the store of files is full: {0}")]
    Full(String),
    /// Packing or unpacking failed.
    #[error("cannot {action} blob {key}")]
    Codec {
        /// `compress` or `decompress`.
        action: &'static str,
        /// The key.
        key: String,
        /// What the codec said.
        source: std::io::Error,
    },
}

impl Blobs {
    /// Keeps `body` under `key`, in place of what was there. A reader sees the old bytes or the new ones, never a part.
    ///
    /// Keys are 1 to 512 characters: segments of letters, digits, `.`, `_` and `-`, joined by `/`, none of them `.` or `..`.
    ///
    /// # Errors
    /// [`BlobError::Key`] for another key, [`BlobError::Away`] and [`BlobError::Full`] when nothing can be kept,
    /// [`BlobError::Store`] when the store fails at this.
    pub async fn put(&self, key: &str, body: Bytes) -> Result<(), BlobError> {
        let path = self.path(key)?;
        self.ask(self.store.put(&path, body.into())).await?.map_err(|source| failed("write", key, source))?;
        Ok(())
    }

    /// The bytes under `key`, or `None` when there are none.
    ///
    /// # Errors
    /// As [`Blobs::put`].
    pub async fn get(&self, key: &str) -> Result<Option<Bytes>, BlobError> {
        self.get_up_to(key, usize::MAX).await
    }

    /// As [`Blobs::get`], but nothing longer than `limit` bytes is read.
    ///
    /// # Errors
    /// Also [`BlobError::TooLarge`].
    pub async fn get_up_to(&self, key: &str, limit: usize) -> Result<Option<Bytes>, BlobError> {
        let path = self.path(key)?;
        let found = match self.ask(self.store.get(&path)).await? {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(source) => return Err(failed("read", key, source)),
        };
        if found.meta.size > limit as u64 {
            return Err(BlobError::TooLarge { key: key.to_owned(), limit });
        }
        self.ask(found.bytes()).await?.map(Some).map_err(|source| failed("read", key, source))
    }

    /// Whether there is something under `key`.
    ///
    /// # Errors
    /// As [`Blobs::put`].
    pub async fn exists(&self, key: &str) -> Result<bool, BlobError> {
        let path = self.path(key)?;
        match self.ask(self.store.head(&path)).await? {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(source) => Err(failed("find", key, source)),
        }
    }

    /// Removes what is under `key`; nothing there is no error.
    ///
    /// # Errors
    /// As [`Blobs::put`].
    pub async fn delete(&self, key: &str) -> Result<(), BlobError> {
        let path = self.path(key)?;
        match self.ask(self.store.delete(&path)).await? {
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

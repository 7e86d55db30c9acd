//! Files with an owner, an expiry and a signed URL: screenshots, PDFs, audio, exports, uploads.
//!
//! A row holds owner and expiry of a file; its content is a blob. Anybody who has the URL may read the file: it is
//! signed with a key that all servers of a database share, and expires with the file.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use std::time::Duration;
//! use base::Clock as _;
//! use files::{Files, NewFile, Settings};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().display();
//! # let store = store::Store::open(&format!("sqlite://{folder}/quarry.db"), store::Options::default()).await?;
//! # store.migrate().await?;
//! # let team = store::teams::Team::new("team-1", "Team", base::SystemClock.now());
//! # store::teams::create(&mut store.conn().await?, &team).await?;
//! # let blobs = blobs::Blobs::open(&format!("file://{folder}/blobs"))?;
//! let files = Files::new(store, blobs, Arc::new(base::SystemClock), Settings::default());
//! let new = NewFile {
//!     team: "team-1".to_owned(),
//!     owner: "a scrape".to_owned(),
//!     kind: "screenshot",
//!     name: "start page.png".to_owned(),
//!     content_type: "image/png".to_owned(),
//!     expires_at: base::SystemClock.now() + Duration::from_secs(3600),
//! };
//! let file = files.keep(new, b"\x89PNG".as_slice().into(), "https://quarry.example").await?;
//! assert!(file.url.starts_with("https://quarry.example/files/"));
//! assert!(file.url.contains("/start%20page.png?until="));
//! # Ok(())
//! # }
//! ```

mod content;
mod link;
mod settings;
mod upload;

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use base::{Clock, Secret, Timestamp, new_id};
use blobs::{BlobError, Blobs};
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use store::files::{self as rows, File as Row};
use store::{Conn, Store, StoreError};
use tokio::sync::OnceCell;
use url::{Position, Url};
use uuid::Uuid;

pub use blobs::Pieces;
pub use link::{Link, UploadLink};
pub use settings::Settings;
pub use upload::{Expected, Place, Sent, Slot, UPLOAD_LIFE};

use link::Key;

/// Rows that one transaction removes: few enough to keep other writers from waiting.
const BATCH: i64 = 500;
/// Longest validity of a presigned S3 URL. Clients follow it at once; media players request further ranges for a while.
const MAX_PRESIGNED: Duration = Duration::from_secs(60 * 60);

/// Stores, serves and receives files. Cheap to clone.
#[derive(Clone)]
pub struct Files(Arc<Inner>);

struct Inner {
    store: Store,
    blobs: Blobs,
    clock: Arc<dyn Clock>,
    settings: Settings,
    /// Signing key, read from the database on first use.
    key: OnceCell<Key>,
}

/// File to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Id of the team.
    pub team: String,
    /// Owner: the id of a run or a scrape. [`Files::erase`] removes all files of an owner.
    pub owner: String,
    /// Kind, one word such as `screenshot`.
    pub kind: &'static str,
    /// File name of the download. Unsafe characters become `_`.
    pub name: String,
    /// Content type. An invalid one becomes `application/octet-stream`.
    pub content_type: String,
    /// Time of expiry, after which the file is removed. Its URL expires at the full second before.
    pub expires_at: Timestamp,
}

/// Stored file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Signed URL, which works for anybody.
    pub url: String,
    /// Time of expiry.
    pub expires_at: Timestamp,
}

/// File that may be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Value of `Content-Type`.
    pub content_type: String,
    /// Value of `Content-Disposition` (RFC 6266): images are shown inline, everything else is downloaded.
    pub disposition: String,
    /// Size, in bytes.
    pub bytes: u64,
    /// Remaining validity of its URL.
    pub left: Duration,
    blob: String,
}

/// Result of looking up a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// The URL leads to this file.
    Found(File),
    /// The URL has a valid signature, but it has expired or the file was removed.
    Gone,
    /// The signature of the URL is invalid.
    Unknown,
}

/// Error of storing, reading or removing a file.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The file exceeds [`Settings::max_bytes`].
    #[error("the file is larger than {limit} bytes")]
    TooLarge {
        /// Byte limit.
        limit: u64,
    },
    /// The unread uploads of the team have reached a limit.
    #[error("{why}")]
    Unread {
        /// Exceeded limit, with the setting that raises it.
        why: String,
        /// Time until the oldest upload expires.
        wait: Duration,
    },
    /// The database failed.
    #[error("cannot read or write the records of files")]
    Store(#[from] StoreError),
    /// The blob store failed.
    #[error("cannot read or write the content of a file")]
    Blob(#[from] BlobError),
}

impl Files {
    /// Creates a file service; reads and writes nothing.
    #[must_use]
    pub fn new(store: Store, blobs: Blobs, clock: Arc<dyn Clock>, settings: Settings) -> Self {
        Self(Arc::new(Inner { store, blobs, clock, settings, key: OnceCell::new() }))
    }

    /// Stores a file. `address` is the address at which the client reached the service, as `https://host:port`: the URL
    /// begins with it, unless [`Settings::public_url`] is set.
    ///
    /// # Errors
    /// [`FilesError`]; a row without content may stay behind until the file expires.
    pub async fn keep(&self, new: NewFile, body: Bytes, address: &str) -> Result<Kept, FilesError> {
        let limit = self.0.settings.max_bytes;
        let bytes = i64::try_from(body.len()).unwrap_or(i64::MAX);
        if body.len() as u64 > limit {
            return Err(FilesError::TooLarge { limit });
        }
        let id = new_id();
        let row = self.row(id, new, bytes);
        let url = self.url(id, &row, address).await?;
        rows::insert(&mut self.conn().await?, &row).await?;
        self.0.blobs.put(&row.blob, body).await?;
        // The owner may have been erased meanwhile, and its row with it: then the content is removed here.
        if rows::find(&mut self.conn().await?, &row.id, self.0.clock.now()).await?.is_none() {
            self.0.blobs.delete(&row.blob).await?;
        }
        Ok(Kept { url, expires_at: row.expires_at })
    }

    /// Looks up a URL. One with an invalid signature costs no database access.
    ///
    /// # Errors
    /// [`FilesError::Store`].
    pub async fn find(&self, link: &Link<'_>) -> Result<Lookup, FilesError> {
        if !self.key().await?.verify(link) {
            return Ok(Lookup::Unknown);
        }
        let now = self.0.clock.now();
        if link.until <= now.timestamp() {
            return Ok(Lookup::Gone);
        }
        let row = rows::find(&mut self.conn().await?, &link.id.to_string(), now).await?;
        Ok(row.map_or(Lookup::Gone, |row| {
            Lookup::Found(File {
                disposition: content::disposition(&row.content_type, &row.name),
                content_type: row.content_type,
                bytes: u64::try_from(row.bytes).unwrap_or(0),
                left: (row.expires_at - now).to_std().unwrap_or_default(),
                blob: row.blob,
            })
        }))
    }

    /// Returns the bytes of a file in `range`, which must lie within it, as a stream; `None` if the content is gone.
    ///
    /// # Errors
    /// [`FilesError::Blob`]; the stream can fail too.
    pub async fn read(&self, file: &File, range: Range<u64>) -> Result<Option<Pieces>, FilesError> {
        let pieces = self.0.blobs.read(&file.blob, range).await?;
        // The response has begun by then: the client only sees that it ends too early.
        let told = |error: &BlobError| {
            tracing::warn!(error = error as &dyn Error, "reading a file failed midway; the response was cut off")
        };
        Ok(pieces.map(|pieces| pieces.inspect_err(told).boxed()))
    }

    /// Returns a presigned URL of the file in the blob store, with the same `Content-Type` and `Content-Disposition`;
    /// `None` if the store is a folder or [`Settings::redirect`] is off.
    ///
    /// # Errors
    /// [`FilesError::Blob`].
    pub async fn elsewhere(&self, file: &File) -> Result<Option<Url>, FilesError> {
        if !self.0.settings.redirect {
            return Ok(None);
        }
        let headers = [
            ("content-type", file.content_type.as_str()),
            ("content-disposition", file.disposition.as_str()),
            ("cache-control", "private"),
        ];
        let valid = file.left.clamp(Duration::from_secs(1), MAX_PRESIGNED);
        Ok(self.0.blobs.presigned(&file.blob, valid, &headers).await?)
    }

    /// Removes all files of an owner and returns their number. They are no longer served from the start; if removal
    /// fails, [`Files::sweep`] completes it.
    ///
    /// # Errors
    /// [`FilesError`].
    pub async fn erase(&self, team: &str, owner: &str) -> Result<usize, FilesError> {
        let ended = rows::end(&mut self.conn().await?, team, owner, self.0.clock.now()).await?;
        if ended > 0 {
            self.sweep().await?;
        }
        Ok(ended)
    }

    /// Removes all expired files and returns their number. Content is removed before its row, so that none is left
    /// without a row.
    ///
    /// # Errors
    /// [`FilesError`]. The next call continues.
    pub async fn sweep(&self) -> Result<usize, FilesError> {
        let mut sum = 0;
        loop {
            let over = rows::expired(&mut self.conn().await?, self.0.clock.now(), BATCH).await?;
            for file in &over {
                self.0.blobs.delete(&file.blob).await?;
            }
            let ids: Vec<String> = over.into_iter().map(|file| file.id).collect();
            rows::remove(&mut self.conn().await?, &ids).await?;
            sum += ids.len();
            if i64::try_from(ids.len()).unwrap_or(BATCH) < BATCH {
                return Ok(sum);
            }
        }
    }

    fn row(&self, id: Uuid, new: NewFile, bytes: i64) -> Row {
        Row {
            id: id.to_string(),
            team_id: new.team,
            owner: new.owner,
            kind: new.kind.to_owned(),
            blob: blob_key(id),
            content_type: content::content_type(&new.content_type),
            name: content::name(&new.name),
            bytes,
            created_at: self.0.clock.now(),
            expires_at: new.expires_at,
        }
    }

    async fn url(&self, id: Uuid, row: &Row, address: &str) -> Result<String, FilesError> {
        let path = self.key().await?.sign(id, &row.name, row.expires_at.timestamp());
        Ok(self.at(address, &path))
    }

    /// Rewrites the URL of a file for a client that uses `address`, whatever address it was created with. Returns other
    /// URLs unchanged.
    #[must_use]
    pub fn told_at(&self, url: &str, address: &str) -> String {
        let path = Url::parse(url).ok().filter(|url| url.path().starts_with("/files/"));
        match path {
            Some(path) if self.0.settings.public_url.is_none() => self.at(address, &path[Position::BeforePath..]),
            _ => url.to_owned(),
        }
    }

    /// Whether URLs begin with [`Settings::public_url`] and not with the address that a client uses.
    #[must_use]
    pub fn has_public_url(&self) -> bool {
        self.0.settings.public_url.is_some()
    }

    fn at(&self, address: &str, path: &str) -> String {
        let base = self.0.settings.public_url.as_ref().map_or(address, Url::as_str);
        format!("{}{path}", base.trim_end_matches('/'))
    }

    async fn key(&self) -> Result<&Key, FilesError> {
        let read = || async {
            let fresh = Secret::new(hex::encode(rand::random::<[u8; 32]>()));
            let key = rows::key(&mut self.conn().await?, &fresh, self.0.clock.now()).await?;
            Ok::<_, StoreError>(Key::new(&key))
        };
        Ok(self.0.key.get_or_try_init(read).await?)
    }

    async fn conn(&self) -> Result<Conn, StoreError> {
        self.0.store.conn().await
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

/// Returns the blob key of a file. The last byte of an id is random, which spreads files over 256 folders.
fn blob_key(id: Uuid) -> String {
    format!("files/{:02x}/{id}", id.as_bytes()[15])
}

//! Files with an owner, an end and a signed URL: screenshots, PDFs, audio, exports.
//!
//! A row says whose a file is and until when; its bytes are a blob. Whoever has the URL may read it: it is signed with a key
//! that all servers of a database share, and ends with the file.
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

/// Rows that one transaction removes: few enough that other writers do not wait for long.
const BATCH: i64 = 500;
/// How long an address in an S3 store holds, at most. A client follows it at once; players ask it for more for a while.
const MAX_PRESIGNED: Duration = Duration::from_secs(60 * 60);

/// Keeps files, hands them out and takes them. Cheap to clone.
#[derive(Clone)]
pub struct Files(Arc<Inner>);

struct Inner {
    store: Store,
    blobs: Blobs,
    clock: Arc<dyn Clock>,
    settings: Settings,
    /// Read from the database when it is first needed.
    key: OnceCell<Key>,
}

/// A file to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// The team's id.
    pub team: String,
    /// What the file goes with: the id of a run or a scrape. [`Files::erase`] removes all files of one together.
    pub owner: String,
    /// What it is, in one word such as `screenshot`.
    pub kind: &'static str,
    /// The name that it is saved under. Characters that are unsafe in names of files become `_`.
    pub name: String,
    /// Its content type. Anything that is not one becomes `application/octet-stream`.
    pub content_type: String,
    /// When its time is over: it is removed, and its URL has ended, at the full second before.
    pub expires_at: Timestamp,
}

/// A file that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Where anybody who knows the URL gets it.
    pub url: String,
    /// Until when.
    pub expires_at: Timestamp,
}

/// A file that may be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The value of `Content-Type`.
    pub content_type: String,
    /// The value of `Content-Disposition` (RFC 6266): a browser shows pictures, and saves everything else.
    pub disposition: String,
    /// Its size.
    pub bytes: u64,
    /// How long its URL still holds.
    pub left: Duration,
    blob: String,
}

/// What a URL leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// To this file.
    Found(File),
    /// The URL is one of ours, but its time is over or the file was removed.
    Gone,
    /// We have not signed this URL.
    Unknown,
}

/// Why a file could not be kept, read or removed.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// It is larger than [`Settings::max_bytes`].
    #[error("the file is larger than {limit} bytes")]
    TooLarge {
        /// The most that one may have.
        limit: u64,
    },
    /// The team has too much that was sent and not read yet.
    #[error("{why}")]
    Unread {
        /// What there is too much of, with the setting that bounds it.
        why: String,
        /// Until the oldest of it ends, if nobody reads anything before.
        wait: Duration,
    },
    /// The database failed.
    #[error("cannot look up files")]
    Store(#[from] StoreError),
    /// The blob store failed.
    #[error("cannot access the bytes of a file")]
    Blob(#[from] BlobError),
}

impl Files {
    /// Nothing is read or written yet.
    #[must_use]
    pub fn new(store: Store, blobs: Blobs, clock: Arc<dyn Clock>, settings: Settings) -> Self {
        Self(Arc::new(Inner { store, blobs, clock, settings, key: OnceCell::new() }))
    }

    /// Keeps a file. `address` is where the client has reached us, as `https://host:port`: its URL begins with that, unless
    /// [`Settings::public_url`] is set.
    ///
    /// # Errors
    /// [`FilesError`]; a row without bytes may stay behind, which goes at the end of the file.
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
        // Its owner may have been erased meanwhile; then nobody knows of these bytes.
        if rows::find(&mut self.conn().await?, &row.id, self.0.clock.now()).await?.is_none() {
            self.0.blobs.delete(&row.blob).await?;
        }
        Ok(Kept { url, expires_at: row.expires_at })
    }

    /// What a URL leads to. A URL that we have not signed costs nothing but the look at its signature.
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

    /// The bytes of a file in `range`, which must lie within it, as they come; `None` when they are gone.
    ///
    /// # Errors
    /// [`FilesError::Blob`]; the pieces can fail too.
    pub async fn read(&self, file: &File, range: Range<u64>) -> Result<Option<Pieces>, FilesError> {
        let pieces = self.0.blobs.read(&file.blob, range).await?;
        // By then the answer has begun: all that its client sees is that it ends too early.
        let told = |error: &BlobError| tracing::warn!(error = error as &dyn Error, "a file was cut off");
        Ok(pieces.map(|pieces| pieces.inspect_err(told).boxed()))
    }

    /// Where a client gets the file from the blob store itself, with the same `Content-Type` and `Content-Disposition`; `None`
    /// when it has to come from us: it is in a folder, or [`Settings::redirect`] is off.
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

    /// Removes all files of an owner; says how many. From the beginning on nobody gets one of them any more, and what is not
    /// done when it fails is done by [`Files::sweep`].
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

    /// Removes all files whose time is over; says how many. Bytes go before their row, so that none are left that no row knows.
    ///
    /// # Errors
    /// [`FilesError`]. What was not done is done the next time.
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

    /// The URL of a file as a client reaches it who has used `address`, whatever address it was made with. What is no URL of
    /// a file comes back as it is.
    #[must_use]
    pub fn told_at(&self, url: &str, address: &str) -> String {
        let path = Url::parse(url).ok().filter(|url| url.path().starts_with("/files/"));
        match path {
            Some(path) if self.0.settings.public_url.is_none() => self.at(address, &path[Position::BeforePath..]),
            _ => url.to_owned(),
        }
    }

    /// Whether URLs begin with what the settings say, and not with the address that a client has used.
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

/// The last byte of an id is random: it spreads the files over 256 folders.
fn blob_key(id: Uuid) -> String {
    format!("files/{:02x}/{id}", id.as_bytes()[15])
}

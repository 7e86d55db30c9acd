//! Whether the store as a whole can be used: noticed by those who use it, looked after until it can be again.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use outage::{Outage, disk};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::{BlobError, Blobs};

/// A store that has not answered after this time is asked whether it is there at all.
const SUSPICIOUS: Duration = Duration::from_millis(600);
/// How long it may take to answer that; with [`SUSPICIOUS`] less than two seconds.
const ANSWER: Duration = Duration::from_millis(1200);
/// Pause between two looks while it is away.
const PAUSE: Duration = Duration::from_secs(1);
/// How long an answer to [`Blobs::check`] is remembered.
const FRESH: Duration = Duration::from_secs(5);
/// What is written and removed to see whether a folder can be used; what is looked for in a bucket.
const PROBE: &str = "probe";

/// Where a store is, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Folder(PathBuf),
    Bucket { name: String, endpoint: String },
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Condition {
    place: Place,
    away: Outage,
    full: Outage,
    answered: Mutex<Option<Instant>>,
    /// Somebody looks whether it can be used again.
    is_watched: AtomicBool,
}

impl Condition {
    /// Of a store that can be used.
    pub(crate) fn new(place: Place) -> Arc<Self> {
        let (away, full) = (Outage::new("store of files"), Outage::new("disk of the store of files"));
        Arc::new(Self { place, away, full, answered: Mutex::default(), is_watched: AtomicBool::new(false) })
    }

    fn room(&self) -> Option<disk::Room> {
        match &self.place {
            Place::Folder(folder) => disk::room(folder),
            Place::Bucket { .. } => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "the folder {}", folder.display()),
            Self::Bucket { name, endpoint } => write!(f, "the bucket {name} at {endpoint}"),
        }
    }
}

impl Blobs {
    /// Where the store is, in words: the folder, or the bucket and its endpoint.
    #[must_use]
    pub fn place(&self) -> String {
        self.condition.place.to_string()
    }

    /// Whether the store has no room, as far as this process has noticed.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.condition.full.lasts()
    }

    /// Whether the store can be used: the folder can be written, the bucket can be listed. An answer holds for five seconds.
    ///
    /// # Errors
    /// [`BlobError::Away`] within two seconds.
    pub async fn check(&self) -> Result<(), BlobError> {
        let condition = &self.condition;
        if condition.away.lasts() {
            return Err(BlobError::Away(condition.away.cause()));
        }
        if condition.answered.lock().is_some_and(|at| at.elapsed() < FRESH) {
            return Ok(());
        }
        self.probe().await.map_err(|cause| self.went_away(&cause))
    }

    /// The same, asked anew and without a word in the log: for the start.
    ///
    /// # Errors
    /// [`BlobError::Away`].
    pub async fn look(&self) -> Result<(), BlobError> {
        self.probe().await.map_err(|cause| BlobError::Away(format!("{}: {cause}", self.condition.place)))
    }

    /// What is asked of the store, unless it is known to be away.
    ///
    /// # Errors
    /// [`BlobError::Away`] within two seconds of its absence, [`BlobError::Full`]. The inner error is about this one thing.
    pub(crate) async fn ask<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<Result<T, Error>, BlobError> {
        if self.condition.away.lasts() {
            return Err(BlobError::Away(self.condition.away.cause()));
        }
        let mut work = pin!(work);
        let done = tokio::select! {
            biased;
            done = work.as_mut() => done,
            cause = self.suspect() => return Err(self.went_away(&cause)),
        };
        match done {
            Err(error) if is_full(&error) => Err(self.filled(&error)),
            Err(error) if may_be_the_store(&error) => match self.probe().await {
                Ok(()) => Ok(Err(error)),
                Err(_) => Err(self.went_away(&root(&error))),
            },
            done => Ok(done),
        }
    }

    /// Ends, with the cause, when the store takes long and is not there either.
    async fn suspect(&self) -> String {
        sleep(SUSPICIOUS).await;
        match self.probe().await {
            Ok(()) => std::future::pending().await,
            Err(cause) => cause,
        }
    }

    /// Whether the store as a whole can be used; else why not.
    async fn probe(&self) -> Result<(), String> {
        let answer = match &self.condition.place {
            Place::Folder(_) => timeout(ANSWER, self.write_probe()).await,
            Place::Bucket { .. } => timeout(ANSWER, self.list_probe()).await,
        };
        match answer {
            Ok(Ok(())) => {
                *self.condition.answered.lock() = Some(Instant::now());
                Ok(())
            }
            // Whether there is room is another question.
            Ok(Err(error)) if is_full(&error) => Ok(()),
            Ok(Err(error)) => Err(root(&error)),
            Err(_) => Err(format!("no answer within {} ms", ANSWER.as_millis())),
        }
    }

    async fn write_probe(&self) -> Result<(), Error> {
        let name = self.prefix.clone().join(format!("{PROBE}-{}", base::new_id()));
        self.store.put(&name, Vec::<u8>::new().into()).await?;
        self.store.delete(&name).await
    }

    /// In its own part of the bucket: credentials may be good for nothing else of it.
    async fn list_probe(&self) -> Result<(), Error> {
        let folder = self.prefix.clone().join(PROBE);
        self.store.list(Some(&folder)).next().await.transpose().map(drop)
    }

    fn went_away(&self, cause: &str) -> BlobError {
        let cause = format!("{}: {cause}", self.condition.place);
        self.condition.away.failed(&cause);
        self.watch();
        BlobError::Away(cause)
    }

    fn filled(&self, error: &Error) -> BlobError {
        let cause = match self.condition.room() {
            Some(room) => format!("{}; {room}", root(error)),
            None => format!("{}: {}", self.condition.place, root(error)),
        };
        self.condition.full.failed(&cause);
        self.watch();
        BlobError::Full(cause)
    }

    /// Looks until the store can be used again, also when nobody asks for it.
    fn watch(&self) {
        if self.condition.is_watched.swap(true, Ordering::Relaxed) {
            return;
        }
        let blobs = self.clone();
        tokio::spawn(async move {
            let condition = Arc::clone(&blobs.condition);
            while condition.away.lasts() || condition.full.lasts() {
                sleep(PAUSE).await;
                if blobs.probe().await.is_ok() {
                    condition.away.works();
                    if condition.full.lasts() && blobs.has_room().await {
                        condition.full.works();
                    }
                }
            }
            condition.is_watched.store(false, Ordering::Relaxed);
            // What began in this very moment found somebody who looks.
            if condition.away.lasts() || condition.full.lasts() {
                blobs.watch();
            }
        });
    }

    async fn has_room(&self) -> bool {
        match self.condition.room() {
            Some(room) => !room.is_full(),
            None => timeout(ANSWER, self.write_probe()).await.is_ok_and(|done| done.is_ok()),
        }
    }
}

/// Whether it may say more of the store than of what was asked.
fn may_be_the_store(error: &Error) -> bool {
    use Error::{Generic, JoinError, PermissionDenied, Unauthenticated};
    matches!(error, Generic { .. } | JoinError { .. } | PermissionDenied { .. } | Unauthenticated { .. })
}

/// Whether it failed for want of room: on the disk, in the quota, or in what S3-compatible stores call so.
fn is_full(error: &Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = cause {
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        if matches!(kind, Some(StorageFull | QuotaExceeded | FileTooLarge)) {
            return true;
        }
        cause = error.source();
    }
    let text = error.to_string();
    ["507 Insufficient Storage", "StorageFull", "QuotaExceeded"].iter().any(|known| text.contains(known))
}

/// The innermost cause: what surrounds it repeats the key and the store.
fn root(error: &(dyn StdError + 'static)) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    let text = last.to_string();
    match text {
        text if text.contains("NoSuchBucket") => "there is no such bucket".to_owned(),
        text if text.contains("403 Forbidden") => format!("the credentials do not open it ({text})"),
        text => text,
    }
}

//! Health of the store as a whole: noticed by requests, and probed until it works again.

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

/// Time after which a store that has not answered a request is probed.
const SUSPICIOUS: Duration = Duration::from_millis(600);
/// Timeout of a probe; together with [`SUSPICIOUS`] less than two seconds.
const ANSWER: Duration = Duration::from_millis(1200);
/// Pause between two probes while the store is away.
const PAUSE: Duration = Duration::from_secs(1);
/// Time for which [`Blobs::check`] reuses a successful probe.
const FRESH: Duration = Duration::from_secs(5);
/// Name of the probe: a file that is written and removed in a folder, a prefix that is listed in a bucket.
const PROBE: &str = "probe";

/// Location of a store, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreLocation {
    Folder(PathBuf),
    Bucket { name: String, endpoint: String },
}

/// Health of a store.
#[derive(Debug)]
pub(crate) struct Condition {
    location: StoreLocation,
    away: Outage,
    full: Outage,
    answered: Mutex<Option<Instant>>,
    /// Whether a task probes until the store works again.
    is_watched: AtomicBool,
}

impl Condition {
    /// Creates the condition of a healthy store.
    pub(crate) fn new(location: StoreLocation) -> Arc<Self> {
        let (away, full) = (Outage::new("store of files"), Outage::new("disk of the store of files"));
        Arc::new(Self { location, away, full, answered: Mutex::default(), is_watched: AtomicBool::new(false) })
    }

    fn room(&self) -> Option<disk::Room> {
        match &self.location {
            StoreLocation::Folder(folder) => disk::room(folder),
            StoreLocation::Bucket { .. } => None,
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "the folder {}", folder.display()),
            Self::Bucket { name, endpoint } => write!(f, "the bucket {name} at {endpoint}"),
        }
    }
}

impl Blobs {
    /// Returns the location of the store: the folder, or the bucket and its endpoint.
    #[must_use]
    pub fn place(&self) -> String {
        self.condition.location.to_string()
    }

    /// Whether the store is full, as far as this process has noticed.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.condition.full.lasts()
    }

    /// Checks that the folder can be written or the bucket can be listed. A success is reused for five seconds.
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

    /// Probes the store now, without logging a failure, for the start.
    ///
    /// # Errors
    /// [`BlobError::Away`].
    pub async fn look(&self) -> Result<(), BlobError> {
        self.probe().await.map_err(|cause| BlobError::Away(format!("{}: {cause}", self.condition.location)))
    }

    /// Runs a request to the store, unless the store is known to be away.
    ///
    /// # Errors
    /// [`BlobError::Away`] within two seconds, [`BlobError::Full`]. The inner error is about this request only.
    pub(crate) async fn request<T>(
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

    /// Returns the cause once the store is slow and a probe fails; never returns if the probe succeeds.
    async fn suspect(&self) -> String {
        sleep(SUSPICIOUS).await;
        match self.probe().await {
            Ok(()) => std::future::pending().await,
            Err(cause) => cause,
        }
    }

    /// Probes the store; returns why it cannot be used.
    async fn probe(&self) -> Result<(), String> {
        let answer = match &self.condition.location {
            StoreLocation::Folder(_) => timeout(ANSWER, self.write_probe()).await,
            StoreLocation::Bucket { .. } => timeout(ANSWER, self.list_probe()).await,
        };
        match answer {
            Ok(Ok(())) => {
                *self.condition.answered.lock() = Some(Instant::now());
                Ok(())
            }
            // A full disk is a separate condition.
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

    /// Lists inside of the prefix, because the credentials may be limited to it.
    async fn list_probe(&self) -> Result<(), Error> {
        let folder = self.prefix.clone().join(PROBE);
        self.store.list(Some(&folder)).next().await.transpose().map(drop)
    }

    fn went_away(&self, cause: &str) -> BlobError {
        let cause = format!("{}: {cause}", self.condition.location);
        self.condition.away.failed(&cause);
        self.watch();
        BlobError::Away(cause)
    }

    fn filled(&self, error: &Error) -> BlobError {
        let cause = match self.condition.room() {
            Some(room) => format!("{}; {room}", root(error)),
            None => format!("{}: {}", self.condition.location, root(error)),
        };
        self.condition.full.failed(&cause);
        self.watch();
        BlobError::Full(cause)
    }

    /// Starts a task that probes until the store works again, even without requests.
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
            // An outage that began just before the flag was cleared has not started a task of its own.
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

/// Whether the error may be about the store and not about this request.
fn may_be_the_store(error: &Error) -> bool {
    use Error::{Generic, JoinError, PermissionDenied, Unauthenticated};
    matches!(error, Generic { .. } | JoinError { .. } | PermissionDenied { .. } | Unauthenticated { .. })
}

/// Whether the error means that the disk, the quota or the S3-compatible store is full.
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

/// Returns the innermost cause; the outer errors repeat the key and the store.
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

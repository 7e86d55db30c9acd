//! How the database is: what its connections notice, for everybody who wants one.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use diesel::connection::{Instrumentation, InstrumentationEvent, get_default_instrumentation};
use diesel::result::{DatabaseErrorKind as Kind, Error};
use diesel_async::pooled_connection::bb8::RunError;
use outage::{Outage, disk};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::error::{Result, StoreError};
use crate::trouble::{self, Trouble};

/// How long somebody waits for the return of a database that is away. Together with [`ANSWER`] less than two seconds.
const PATIENCE: Duration = Duration::from_millis(400);
/// How long the database may take to answer the shortest of all questions.
pub(crate) const ANSWER: Duration = Duration::from_millis(1400);
/// A connection that has answered so recently is not asked again.
const FRESH: Duration = Duration::from_millis(500);

/// See the module.
#[derive(Debug)]
pub(crate) struct Condition {
    /// Not there, or not to be written.
    away: Outage,
    /// No room for what is to be written.
    full: Outage,
    /// Of SQLite's file.
    folder: Option<PathBuf>,
    answered: Mutex<Option<Instant>>,
    /// While it is away, one at a time tries to connect.
    pub(crate) trying: tokio::sync::Mutex<()>,
}

impl Condition {
    /// Of a database that works; `file` is SQLite's.
    pub(crate) fn new(file: Option<&str>) -> Arc<Self> {
        let folder = file.map(|file| Path::new(file).parent().unwrap_or(Path::new(".")).to_owned());
        let (away, full) = (Outage::new("database"), Outage::new("disk of the database"));
        Arc::new(Self { away, full, folder, answered: Mutex::default(), trying: tokio::sync::Mutex::default() })
    }

    /// The trouble that lasts.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        match (self.away.lasts(), self.full.lasts()) {
            (true, _) => Some(Trouble::Away),
            (_, true) => Some(Trouble::Full),
            _ => None,
        }
    }

    /// Waits for the beginning of a trouble.
    pub(crate) async fn begun(&self) {
        tokio::select! {
            () = self.away.begun() => {}
            () = self.full.begun() => {}
        }
    }

    /// It is over.
    pub(crate) fn works(&self) {
        self.away.works();
        // What was written may have fitted into room that was there already.
        if self.full.lasts() && self.room().is_none_or(|room| !room.is_full()) {
            self.full.works();
        }
    }

    /// A server has answered, whatever it can write.
    pub(crate) fn answered(&self) {
        self.away.works();
        *self.answered.lock() = Some(Instant::now());
    }

    /// Whether the last answer is so young that another question is not worth its time.
    pub(crate) fn is_fresh(&self) -> bool {
        !self.away.lasts() && self.answered.lock().is_some_and(|at| at.elapsed() < FRESH)
    }

    /// It is away, with this cause, or has no room.
    pub(crate) fn went_away(&self, cause: impl Display) {
        match self.full_room() {
            Some(room) => self.full.failed(format!("{cause}; {room}")),
            None => self.away.failed(cause),
        }
    }

    /// Lets nobody to a database that is away, but waits a little for its return.
    ///
    /// # Errors
    /// [`StoreError::Pool`] with the cause.
    pub(crate) async fn admit(&self) -> Result<()> {
        if self.away.lasts() && timeout(PATIENCE, self.away.over()).await.is_err() {
            return Err(StoreError::Pool(self.away.cause()));
        }
        Ok(())
    }

    /// No connection came out of the pool.
    pub(crate) fn broken(&self, error: &RunError) -> StoreError {
        let cause = match error {
            RunError::TimedOut => "all connections stayed busy, or none could be made".to_owned(),
            RunError::User(error) => error.to_string(),
        };
        self.went_away(&cause);
        match self.full_room() {
            Some(room) => StoreError::Query(no_room(&room)),
            None => StoreError::Pool(cause),
        }
    }

    /// What a connection waits for is awaited as long as the database is not known to be away; then not much longer.
    ///
    /// # Errors
    /// [`StoreError::Pool`] with the cause.
    pub(crate) async fn unless_away<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        let away = async {
            sleep(PATIENCE).await;
            self.away.begun().await;
        };
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = away => Err(StoreError::Pool(self.away.cause())),
        }
    }

    fn note(&self, error: &Error) {
        match trouble::of(error) {
            Some(Trouble::Full) => self.filled(error),
            // SQLite cannot map a file that it cannot make longer, and says no more than this.
            Some(Trouble::Away) if self.full_room().is_some() => self.filled(error),
            // One connection is not all of them: the next one is asked before it is lent.
            Some(Trouble::Away) if trouble::is_lost(error) => *self.answered.lock() = None,
            Some(Trouble::Away) => self.away.failed(error),
            None => {}
        }
    }

    fn filled(&self, error: &Error) {
        match self.room() {
            Some(room) => self.full.failed(format!("{error}; {room}")),
            None => self.full.failed(error),
        }
    }

    /// Why a connection cannot be made. On a full disk SQLite cannot make its file of shared memory, which looks like any
    /// other failure.
    pub(crate) fn unopened(&self, error: &RunError) -> Error {
        match self.full_room() {
            Some(room) => no_room(&room),
            None => Error::DatabaseError(Kind::UnableToSendCommand, Box::new(error.to_string())),
        }
    }

    fn room(&self) -> Option<disk::Room> {
        disk::room(self.folder.as_deref()?)
    }

    /// The room of SQLite's disk, when it has none left.
    fn full_room(&self) -> Option<disk::Room> {
        self.room().filter(disk::Room::is_full)
    }
}

/// The error of a statement on a full disk, in the words of SQLite.
fn no_room(room: &disk::Room) -> Error {
    Error::DatabaseError(Kind::Unknown, Box::new(format!("{}; {room}", trouble::FULL[0])))
}

/// Hears the errors of all statements of a connection.
pub(crate) struct Observer {
    condition: Arc<Condition>,
    /// Who listens to every connection of the process.
    usual: Option<Box<dyn Instrumentation>>,
}

impl Observer {
    pub(crate) fn new(condition: &Arc<Condition>) -> Self {
        Self { condition: Arc::clone(condition), usual: get_default_instrumentation() }
    }
}

impl Instrumentation for Observer {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::FinishQuery { error: Some(error), .. } = &event {
            self.condition.note(error);
        }
        if let Some(usual) = &mut self.usual {
            usual.on_connection_event(event);
        }
    }
}

//! How the database is: what its connections notice, for everybody who wants one.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use diesel::connection::{Instrumentation, InstrumentationEvent, get_default_instrumentation};
use diesel::result::{DatabaseErrorKind as Kind, Error};
use diesel_async::pooled_connection::bb8::RunError;
use outage::{Outage, disk};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::error::{Result, StoreError};
use crate::losses::Losses;
use crate::trouble::{self, Trouble};

/// How long somebody waits for the return of a database that is away. Together with [`ANSWER`] less than two seconds.
const PATIENCE: Duration = Duration::from_millis(400);
/// How long the database may take to answer the shortest of all questions.
pub(crate) const ANSWER: Duration = Duration::from_millis(1400);
/// A connection that has answered so recently is not asked again.
const FRESH: Duration = Duration::from_millis(500);
/// A server that has answered so recently is there, however long its connections stay busy.
const THERE: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Debug)]
pub(crate) struct Condition {
    /// It does not answer, or cannot be written.
    away: Outage,
    /// No room for what is to be written.
    full: Outage,
    /// It lets nobody in besides those who are connected: for the log alone.
    crowded: Outage,
    /// It may answer, but what was to be written was refused: away until something could be written.
    unwritable: AtomicBool,
    /// Of SQLite's file.
    folder: Option<PathBuf>,
    answered: Mutex<Option<Instant>>,
    losses: Losses,
    /// While it lets nobody in, one at a time tries to connect.
    pub(crate) trying: tokio::sync::Mutex<()>,
}

impl Condition {
    /// Of a database that works; `file` is SQLite's.
    pub(crate) fn new(file: Option<&str>) -> Arc<Self> {
        let folder = file.map(|file| Path::new(file).parent().unwrap_or(Path::new(".")).to_owned());
        Arc::new(Self {
            away: Outage::new("database"),
            full: Outage::new("disk of the database"),
            crowded: Outage::new("free connection to the database"),
            unwritable: AtomicBool::new(false),
            folder,
            answered: Mutex::default(),
            losses: Losses::default(),
            trying: tokio::sync::Mutex::default(),
        })
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

    /// Something could be written.
    pub(crate) fn can_write(&self) {
        self.unwritable.store(false, Ordering::Relaxed);
        self.away.works();
        // What was written may have fitted into room that was there already.
        if self.full.lasts() && self.room().is_none_or(|room| !room.is_full()) {
            self.full.works();
        }
    }

    /// A server has answered. One that refused to write is away all the same, until something could be written.
    pub(crate) fn answered(&self) {
        let now = Instant::now();
        *self.answered.lock() = Some(now);
        if !self.unwritable.load(Ordering::Relaxed) {
            self.away.works();
        }
        if let Some(lost) = self.losses.due(now) {
            let (connections, cause) = (lost.connections, lost.cause);
            tracing::warn!(connections, cause, "connections to the database were lost, though it answers");
        }
    }

    /// A server has let us in.
    pub(crate) fn connected(&self) {
        self.crowded.works();
        self.answered();
    }

    /// A server has as many connections as it may have, and lets nobody else in: it is busy, not away.
    pub(crate) fn crowded(&self, cause: impl Display) {
        self.crowded.failed(cause);
        self.answered();
    }

    /// Whether nobody gets a new connection, as far as is known.
    pub(crate) fn refuses(&self) -> bool {
        self.away.lasts() || self.crowded.lasts()
    }

    /// Whether the last answer is so young that another question is not worth its time.
    pub(crate) fn is_fresh(&self) -> bool {
        !self.away.lasts() && self.has_answered_within(FRESH)
    }

    fn has_answered_within(&self, time: Duration) -> bool {
        self.answered.lock().is_some_and(|at| at.elapsed() < time)
    }

    /// It could not be reached, with this cause: it is away, or has no room.
    pub(crate) fn failed(&self, cause: impl Display) {
        match self.full_room() {
            Some(room) => self.full.failed(format!("{cause}; {room}")),
            None => self.note_away(cause),
        }
    }

    fn note_away(&self, cause: impl Display) {
        self.losses.explained();
        self.away.failed(cause);
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
        // Not every wait makes the pool ask for one more connection, so the last answer of a full server may be older.
        let is_there = self.crowded.lasts() || self.has_answered_within(THERE);
        let is_busy = matches!(error, RunError::TimedOut) && is_there;
        if !is_busy {
            self.failed(&cause);
        }
        match self.full_room() {
            Some(room) => StoreError::Query(trouble::no_room(room)),
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
            Some(Trouble::Away) if trouble::is_lost(error) => {
                *self.answered.lock() = None;
                self.losses.add(error, Instant::now());
            }
            Some(Trouble::Away) => {
                self.unwritable.store(true, Ordering::Relaxed);
                self.note_away(error);
            }
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
            Some(room) => trouble::no_room(room),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn error(kind: Kind, text: &str) -> Error {
        Error::DatabaseError(kind, Box::new(text.to_owned()))
    }

    #[tokio::test]
    async fn a_read_only_server_is_away_until_something_could_be_written() {
        let condition = Condition::new(None);
        condition.note(&error(Kind::ReadOnlyTransaction, "cannot execute UPDATE in a read-only transaction"));
        for _ in 0..2 {
            assert_eq!(condition.trouble(), Some(Trouble::Away));
            condition.answered();
            condition.connected();
        }
        condition.can_write();
        assert_eq!(condition.trouble(), None);
        condition.failed("refused");
        assert_eq!(condition.trouble(), Some(Trouble::Away));
        condition.answered();
        assert_eq!(condition.trouble(), None, "it was only not reached");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_lets_nobody_else_in_is_not_away() {
        let condition = Condition::new(None);
        condition.failed("refused");
        condition.crowded("sorry, too many clients already");
        assert!(condition.refuses());
        let busy = condition.broken(&RunError::TimedOut);
        assert_eq!((condition.trouble(), busy.trouble()), (None, Some(Trouble::Away)), "{busy}");
        condition.connected();
        assert!(!condition.refuses());
        tokio::time::advance(THERE).await;
        let gone = condition.broken(&RunError::TimedOut);
        assert_eq!((condition.trouble(), gone.trouble()), (Some(Trouble::Away), Some(Trouble::Away)), "{gone}");
    }

    #[tokio::test]
    async fn a_lost_connection_is_no_outage() {
        let condition = Condition::new(None);
        condition.answered();
        assert!(condition.is_fresh());
        condition.note(&error(Kind::UnableToSendCommand, "connection closed"));
        assert!(!condition.is_fresh(), "the next connection is asked before it is lent");
        assert_eq!(condition.trouble(), None);
    }
}

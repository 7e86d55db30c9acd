//! Health of the database as seen by all connections of this process, shared by all callers.

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

/// Time that a caller waits for a database that is away. Together with [`ANSWER`] less than two seconds.
const PATIENCE: Duration = Duration::from_millis(400);
/// Timeout for the answer to `SELECT 1` and for opening a connection.
pub(crate) const ANSWER: Duration = Duration::from_millis(1400);
/// Age of the last answer up to which a connection is handed out without a check.
const FRESH: Duration = Duration::from_millis(500);
/// Age of the last answer up to which a server counts as reachable, however long its connections stay busy.
const THERE: Duration = Duration::from_secs(2);

/// Health of one database.
#[derive(Debug)]
pub(crate) struct Condition {
    /// Outage: the database does not answer or cannot be written.
    away: Outage,
    /// Outage: no room on its disk.
    full: Outage,
    /// Outage: the server refuses further connections; only logged.
    crowded: Outage,
    /// Whether the last write was refused: the database counts as away until a write succeeds, even if it answers.
    unwritable: AtomicBool,
    /// Folder of the SQLite file.
    folder: Option<PathBuf>,
    answered: Mutex<Option<Instant>>,
    losses: Losses,
    /// Lock of connection attempts: while the server refuses connections, one task at a time tries.
    pub(crate) trying: tokio::sync::Mutex<()>,
}

impl Condition {
    /// Creates the condition of a healthy database; `file` is that of SQLite.
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

    /// Returns the current trouble.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        match (self.away.lasts(), self.full.lasts()) {
            (true, _) => Some(Trouble::Away),
            (_, true) => Some(Trouble::Full),
            _ => None,
        }
    }

    /// Waits until a trouble begins.
    pub(crate) async fn begun(&self) {
        tokio::select! {
            () = self.away.begun() => {}
            () = self.full.begun() => {}
        }
    }

    /// Notes a successful write.
    pub(crate) fn can_write(&self) {
        self.unwritable.store(false, Ordering::Relaxed);
        self.away.works();
        // The write may have fitted into free pages of the file, so the disk is checked as well.
        if self.full.lasts() && self.room().is_none_or(|room| !room.is_full()) {
            self.full.works();
        }
    }

    /// Notes an answer of the server. It ends an outage unless a write was refused.
    pub(crate) fn answered(&self) {
        let now = Instant::now();
        *self.answered.lock() = Some(now);
        if !self.unwritable.load(Ordering::Relaxed) {
            self.away.works();
        }
        if let Some(lost) = self.losses.due(now) {
            let (connections, cause) = (lost.connections, lost.cause);
            tracing::warn!(
                connections,
                cause,
                "database connections were lost although the database answers; their statements failed"
            );
        }
    }

    /// Notes a new connection.
    pub(crate) fn connected(&self) {
        self.crowded.works();
        self.answered();
    }

    /// Notes that the server has reached its limit of connections: it is busy, not away.
    pub(crate) fn crowded(&self, cause: impl Display) {
        self.crowded.failed(cause);
        self.answered();
    }

    /// Whether new connections fail, as far as is known.
    pub(crate) fn refuses(&self) -> bool {
        self.away.lasts() || self.crowded.lasts()
    }

    /// Whether the last answer is recent enough to skip a check.
    pub(crate) fn is_fresh(&self) -> bool {
        !self.away.lasts() && self.has_answered_within(FRESH)
    }

    fn has_answered_within(&self, time: Duration) -> bool {
        self.answered.lock().is_some_and(|at| at.elapsed() < time)
    }

    /// Notes a failed connection: the database is away, or the disk of SQLite is full.
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

    /// Fails if the database is unavailable and does not recover within [`PATIENCE`].
    ///
    /// # Errors
    /// [`StoreError::Pool`] with the cause.
    pub(crate) async fn admit(&self) -> Result<()> {
        if self.away.lasts() && timeout(PATIENCE, self.away.over()).await.is_err() {
            return Err(StoreError::Pool(self.away.cause()));
        }
        Ok(())
    }

    /// Notes that the pool gave no connection, and returns the error.
    pub(crate) fn broken(&self, error: &RunError) -> StoreError {
        let cause = match error {
            RunError::TimedOut => "every connection stayed busy, or no new one could be opened".to_owned(),
            RunError::User(error) => error.to_string(),
        };
        // Not every caller that waits makes the pool try to connect, so the last refusal of a full server may be older.
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

    /// Waits for `work`; fails once the database is away, but not before [`PATIENCE`].
    ///
    /// # Errors
    /// [`StoreError::Pool`] with the cause.
    pub(crate) async fn unless_unavailable<T>(&self, work: impl Future<Output = T>) -> Result<T> {
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
        match trouble::of_query(error) {
            Some(Trouble::Full) => self.filled(error),
            // On a full disk, SQLite cannot map a file that it cannot extend, and reports only an I/O error.
            Some(Trouble::Away) if self.full_room().is_some() => self.filled(error),
            // One lost connection is not an outage: the next connection is checked before it is handed out.
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

    /// Returns the error of a connection that cannot be opened. On a full disk SQLite cannot create its shared-memory
    /// file, which looks like any other failure, so the disk is checked.
    pub(crate) fn unopened(&self, error: &RunError) -> Error {
        match self.full_room() {
            Some(room) => trouble::no_room(room),
            None => Error::DatabaseError(Kind::UnableToSendCommand, Box::new(error.to_string())),
        }
    }

    fn room(&self) -> Option<disk::Room> {
        disk::room(self.folder.as_deref()?)
    }

    /// Returns the room on SQLite's disk if it is full.
    fn full_room(&self) -> Option<disk::Room> {
        self.room().filter(disk::Room::is_full)
    }
}

/// Instrumentation that reports the errors of all statements of a connection.
pub(crate) struct Observer {
    condition: Arc<Condition>,
    /// Default instrumentation of the process, called as well.
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

//! SQLite's writer: one connection for all that is written, and a thread for tasks that mostly write.
//!
//! A connection forgets the pages that it keeps in memory when another one has written, so all writes share one. Who
//! waits for it is served in order, which SQLite's own waiting is not.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use diesel::result::{DatabaseErrorKind, Error, QueryResult};
use diesel_async::pooled_connection::bb8::{Pool, PooledConnection};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;

use crate::condition::Condition;
use crate::conn::AsyncSqlite;
use crate::open::PoolLoad;

/// How long a write waits for those before it. As a transaction that stands still loses PostgreSQL's patience.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// See the module.
pub(crate) struct Writer {
    /// Of one connection, so that a broken one is replaced.
    pool: Pool<AsyncSqlite>,
    /// The queue in front of it.
    turns: Arc<Semaphore>,
    condition: Arc<Condition>,
    /// How many stand in it.
    waiting: AtomicUsize,
    thread: OnceLock<Option<Thread>>,
}

/// The writing connection, and the turn with it.
pub(crate) type Taken = (PooledConnection<'static, AsyncSqlite>, OwnedSemaphorePermit);

/// A thread with a runtime of its own. It ends when this is dropped.
struct Thread {
    runtime: Handle,
    _until_dropped: oneshot::Sender<()>,
}

impl Writer {
    /// With a pool of one connection.
    pub(crate) fn new(pool: Pool<AsyncSqlite>, condition: Arc<Condition>) -> Self {
        let (turns, waiting) = (Arc::new(Semaphore::new(1)), AtomicUsize::new(0));
        Self { pool, turns, condition, waiting, thread: OnceLock::new() }
    }

    /// Waits for its turn.
    ///
    /// # Errors
    /// When others kept writing for [`MAX_WAIT`], the file cannot be written, or the connection cannot be opened: nothing was
    /// done.
    pub(crate) async fn take(&self) -> QueryResult<Taken> {
        let failed = |text: String| Error::DatabaseError(DatabaseErrorKind::UnableToSendCommand, Box::new(text));
        let waits = Waits::of(&self.waiting);
        let turn = timeout(MAX_WAIT, Arc::clone(&self.turns).acquire_owned());
        let turn = self.condition.unless_away(turn).await.map_err(|error| failed(error.to_string()))?;
        drop(waits);
        let turn = turn.ok().and_then(Result::ok);
        let turn = turn.ok_or_else(|| {
            let cause = format!("the database was busy with other writes for {} s", MAX_WAIT.as_secs());
            self.condition.failed(&cause);
            failed(cause)
        })?;
        let link = self.pool.get_owned().await.map_err(|error| self.condition.unopened(&error))?;
        Ok((link, turn))
    }

    /// How it stands: its connection, whether that is in use, and who waits for it.
    pub(crate) fn load(&self) -> PoolLoad {
        let connections = self.pool.state().connections;
        let in_use = u32::from(self.turns.available_permits() == 0).min(connections);
        let waiting = u64::try_from(self.waiting.load(Ordering::Relaxed)).unwrap_or(u64::MAX);
        PoolLoad { in_use, idle: connections - in_use, waiting }
    }

    /// The runtime of the thread, which is started when it is first asked for. Without one, that of the caller.
    pub(crate) fn runtime(&self) -> Handle {
        let started = self.thread.get_or_init(|| {
            let started = Thread::start();
            started.inspect_err(|error| tracing::warn!(%error, "no thread for writing, other threads do it")).ok()
        });
        started.as_ref().map_or_else(Handle::current, |thread| thread.runtime.clone())
    }
}

/// Somebody in the queue, until this is dropped.
struct Waits<'a>(&'a AtomicUsize);

impl<'a> Waits<'a> {
    fn of(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Thread {
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (until_dropped, dropped) = oneshot::channel::<()>();
        let work = move || drop(runtime.block_on(dropped));
        thread::Builder::new().name("sqlite-writer".to_owned()).spawn(work)?;
        Ok(Self { runtime: handle, _until_dropped: until_dropped })
    }
}

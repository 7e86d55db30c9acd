//! SQLite's writer: one connection for all writes, and a thread for tasks that mostly write.
//!
//! The page cache of a connection becomes useless when another connection writes, so all writes share one. Waiting
//! callers are served in order, unlike with SQLite's own busy timeout.

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
use crate::options::PoolLoad;
use crate::sqlite::AsyncSqlite;

/// Timeout of a write that waits for others, the same as PostgreSQL's `idle_in_transaction_session_timeout`.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Writing connection with its queue and its thread.
pub(crate) struct Writer {
    /// Pool of one connection, which replaces a broken one.
    pool: Pool<AsyncSqlite>,
    /// Queue of callers: one permit.
    turns: Arc<Semaphore>,
    condition: Arc<Condition>,
    /// Number of callers in the queue.
    waiting: AtomicUsize,
    thread: OnceLock<Option<Thread>>,
}

/// Writing connection with its permit.
pub(crate) struct WriterConnection {
    pub(crate) link: PooledConnection<'static, AsyncSqlite>,
    pub(crate) turn: OwnedSemaphorePermit,
}

/// Thread with a runtime of its own. It ends when this is dropped.
struct Thread {
    runtime: Handle,
    _until_dropped: oneshot::Sender<()>,
}

impl Writer {
    /// Creates a writer from a pool of one connection.
    pub(crate) fn new(pool: Pool<AsyncSqlite>, condition: Arc<Condition>) -> Self {
        let (turns, waiting) = (Arc::new(Semaphore::new(1)), AtomicUsize::new(0));
        Self { pool, turns, condition, waiting, thread: OnceLock::new() }
    }

    /// Waits for the writing connection.
    ///
    /// # Errors
    /// A timeout when others kept writing for [`MAX_WAIT`]; an error when the file cannot be written or the connection
    /// cannot be opened. Nothing was written.
    pub(crate) async fn take(&self) -> QueryResult<WriterConnection> {
        let failed = |text: String| Error::DatabaseError(DatabaseErrorKind::UnableToSendCommand, Box::new(text));
        let waits = Waits::of(&self.waiting);
        let turn = timeout(MAX_WAIT, Arc::clone(&self.turns).acquire_owned());
        let turn = self.condition.unless_unavailable(turn).await.map_err(|error| failed(error.to_string()))?;
        drop(waits);
        let turn = turn.ok().and_then(Result::ok);
        let turn = turn.ok_or_else(|| {
            let cause = format!("the database was busy with other writes for {} s", MAX_WAIT.as_secs());
            self.condition.failed(&cause);
            failed(cause)
        })?;
        let link = self.pool.get_owned().await.map_err(|error| self.condition.unopened(&error))?;
        Ok(WriterConnection { link, turn })
    }

    /// Returns the load: the connection, in use or idle, and the number of waiters.
    pub(crate) fn load(&self) -> PoolLoad {
        let connections = self.pool.state().connections;
        let in_use = u32::from(self.turns.available_permits() == 0).min(connections);
        let waiting = u64::try_from(self.waiting.load(Ordering::Relaxed)).unwrap_or(u64::MAX);
        PoolLoad { in_use, idle: connections - in_use, waiting }
    }

    /// Returns the runtime of the thread, which is started on first use, or the caller's runtime if that fails.
    pub(crate) fn runtime(&self) -> Handle {
        let started = self.thread.get_or_init(|| {
            let started = Thread::start();
            started.inspect_err(|error| tracing::warn!(%error, "could not start the SQLite writer thread; writes run on the other threads")).ok()
        });
        started.as_ref().map_or_else(Handle::current, |thread| thread.runtime.clone())
    }
}

/// Counts one waiter until dropped.
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

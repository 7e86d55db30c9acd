//! SQLite's writer: one connection for all that is written, and a thread for tasks that mostly write.
//!
//! A connection forgets the pages that it keeps in memory when another one has written, so all writes share one. Who
//! waits for it is served in order, which SQLite's own waiting is not.

use std::io;
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

/// How long a write waits for those before it. As a transaction that stands still loses PostgreSQL's patience.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// See the module.
pub(crate) struct Writer {
    /// Of one connection, so that a broken one is replaced.
    pool: Pool<AsyncSqlite>,
    /// The queue in front of it.
    turns: Arc<Semaphore>,
    condition: Arc<Condition>,
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
        Self { pool, turns: Arc::new(Semaphore::new(1)), condition, thread: OnceLock::new() }
    }

    /// Waits for its turn.
    ///
    /// # Errors
    /// When others kept writing for [`MAX_WAIT`], the file cannot be written, or the connection cannot be opened: nothing was
    /// done.
    pub(crate) async fn take(&self) -> QueryResult<Taken> {
        let failed = |text: String| Error::DatabaseError(DatabaseErrorKind::UnableToSendCommand, Box::new(text));
        let turn = timeout(MAX_WAIT, Arc::clone(&self.turns).acquire_owned());
        let turn = self.condition.unless_away(turn).await.map_err(|error| failed(error.to_string()))?;
        let turn = turn.ok().and_then(Result::ok);
        let turn = turn.ok_or_else(|| {
            let cause = format!("the database was busy with other writes for {} s", MAX_WAIT.as_secs());
            self.condition.went_away(&cause);
            failed(cause)
        })?;
        let link = self.pool.get_owned().await.map_err(|error| failed(error.to_string()))?;
        Ok((link, turn))
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

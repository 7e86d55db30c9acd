//! A connection of either kind.
//!
//! `on!` expands a query once per kind, so both are type-checked. Where they must differ, it takes two bodies, or the
//! query's own file has one for each.

use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::future::poll_fn;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use diesel::SqliteConnection;
use diesel::connection::{
    AnsiTransactionManager as SyncTransactions, TransactionDepthChange, TransactionManagerStatus,
};
use diesel::result::{Error, QueryResult};
use diesel_async::pooled_connection::bb8::PooledConnection;
use diesel_async::sync_connection_wrapper::{SpawnBlocking, SyncConnectionWrapper};
use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection, TransactionManager};
use futures_util::FutureExt;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::block_in_place;

use crate::writer::{Taken, Writer};

/// SQLite behind an async face: every statement runs at once, on the thread that asks.
pub(crate) type AsyncSqlite = SyncConnectionWrapper<SqliteConnection, InPlace>;

/// A connection out of the pool. It goes back when dropped, or is closed if a transaction was left open on it.
pub struct Conn {
    pub(crate) link: Link,
    state: Arc<AtomicU8>,
    /// Where SQLite's writing connection is, when this is another one.
    writer: Option<Arc<Writer>>,
    /// See [`Conn::added`].
    added: BTreeSet<String>,
    /// The turn, when this is the writing connection. Given back after the connection.
    _turn: Option<OwnedSemaphorePermit>,
}

/// The two kinds.
#[expect(clippy::large_enum_variant, reason = "there are as many as the pool has, and none is moved around")]
pub(crate) enum Link {
    Pg(PooledConnection<'static, AsyncPgConnection>),
    Sqlite(PooledConnection<'static, AsyncSqlite>),
}

/// What keeps the books of PostgreSQL's transactions.
pub(crate) type PostgresTransactions = <AsyncPgConnection as AsyncConnection>::TransactionManager;

/// Runs statements on the calling thread, whose other tasks move to another one for that time. Sending each statement to
/// a thread of its own takes several times as long as the statement.
pub(crate) struct InPlace;

/// An async closure on a connection whose future can move between threads.
/// (`AsyncFnOnce` alone cannot say so yet.)
pub trait TxFn<'c, R, E>: FnOnce(&'c mut Conn) -> <Self as TxFn<'c, R, E>>::Fut {
    /// The future it gives.
    type Fut: Future<Output = Result<R, E>> + Send;
}

impl<'c, F, Fut, R, E> TxFn<'c, R, E> for F
where
    F: FnOnce(&'c mut Conn) -> Fut,
    Fut: Future<Output = Result<R, E>> + Send,
{
    type Fut = Fut;
}

/// One expression, type-checked once per backend: `on!(conn, |c| query.execute(c).await)`.
///
/// What looks a row up by a unique key ends in `get_result`, not in `first`: that adds a LIMIT, and SQLite plans a
/// statement whose limit is bound anew each time.
macro_rules! on {
    ($conn:expr, |$c:ident| $body:expr) => {
        match $conn.link {
            $crate::conn::Link::Pg(ref mut link) => {
                let $c = &mut **link;
                $body
            }
            $crate::conn::Link::Sqlite(ref mut link) => {
                let $c = &mut **link;
                $body
            }
        }
    };
    ($conn:expr, pg |$p:ident| $pg:expr, sqlite |$s:ident| $lite:expr) => {
        match $conn.link {
            $crate::conn::Link::Pg(ref mut link) => {
                let $p = &mut **link;
                $pg
            }
            $crate::conn::Link::Sqlite(ref mut link) => {
                let $s = &mut **link;
                $lite
            }
        }
    };
}
pub(crate) use on;

const IDLE: u8 = 0;
const OPEN: u8 = 1;
const ABANDONED: u8 = 2;

impl Conn {
    /// `writer` writes for it, when it is SQLite's.
    pub(crate) fn new(link: Link, writer: Option<Arc<Writer>>) -> Self {
        Self { link, state: Arc::new(AtomicU8::new(IDLE)), writer, added: BTreeSet::new(), _turn: None }
    }

    /// SQLite's writing connection.
    pub(crate) fn writing((link, turn): Taken) -> Self {
        Self { _turn: Some(turn), ..Self::new(Link::Sqlite(link), None) }
    }

    /// The queues to which jobs were added on this connection since it was last asked: their workers in this process are
    /// to be woken once that is committed.
    pub fn added(&mut self) -> Vec<String> {
        mem::take(&mut self.added).into_iter().collect()
    }

    /// Notes that jobs were added to a queue.
    pub(crate) fn add_to(&mut self, queue: &str) {
        if !self.added.contains(queue) {
            self.added.insert(queue.to_owned());
        }
    }

    /// Runs `f` in a transaction: committed when it answers `Ok`, rolled back when it answers `Err` or is dropped.
    /// Write the closure as `async |conn: &mut Conn| { … }`.
    ///
    /// # Errors
    /// Those of `f`; those of the database; `AlreadyInTransaction` inside another transaction, because SQLite
    /// cannot nest, and on a connection whose last transaction was dropped half way.
    pub async fn tx<R, E, F>(&mut self, f: F) -> Result<R, E>
    where
        F: for<'c> AsyncFnOnce(&'c mut Conn) -> Result<R, E> + for<'c> TxFn<'c, R, E>,
        E: From<Error>,
    {
        if self.state.load(Ordering::Relaxed) != IDLE {
            return Err(Error::AlreadyInTransaction.into());
        }
        let mut conn = self.turn().await?;
        match conn.link {
            Link::Pg(_) => conn.run(f).await,
            Link::Sqlite(_) => in_place(conn.run(f)).await,
        }
    }

    /// The same connection, or with SQLite the writing one in its place. Whoever writes without a transaction takes this
    /// first; inside one the turn is there already.
    ///
    /// # Errors
    /// Those of [`Writer::take`]: nothing was done.
    pub(crate) async fn turn(&mut self) -> QueryResult<Turn<'_>> {
        let reading = match &self.writer {
            Some(writer) if self.state.load(Ordering::Relaxed) == IDLE => {
                let (link, turn) = writer.take().await?;
                Some((mem::replace(&mut self.link, Link::Sqlite(link)), turn))
            }
            _ => None,
        };
        Ok(Turn { conn: self, reading })
    }

    async fn run<R, E, F>(&mut self, f: F) -> Result<R, E>
    where
        F: for<'c> AsyncFnOnce(&'c mut Conn) -> Result<R, E> + for<'c> TxFn<'c, R, E>,
        E: From<Error>,
    {
        let span = Span::open(&self.state);
        if let Err(error) = self.begin().await {
            span.close();
            return Err(error.into());
        }
        let result = f(self).await;
        let end = if result.is_ok() { self.commit().await } else { self.rollback().await };
        span.close();
        match (result, end) {
            (Ok(value), Ok(())) => Ok(value),
            (Ok(_), Err(error)) => Err(error.into()),
            (Err(error), Ok(())) => Err(error),
            (Err(error), Err(rollback)) => {
                tracing::warn!(error = %rollback, "rollback failed, the connection is given up");
                Err(error)
            }
        }
    }

    /// Runs `f` in the transaction that is open, or else in one of its own.
    pub(crate) async fn atomic<R, E, F>(&mut self, f: F) -> Result<R, E>
    where
        F: for<'c> AsyncFnOnce(&'c mut Conn) -> Result<R, E> + for<'c> TxFn<'c, R, E>,
        E: From<Error>,
    {
        if self.state.load(Ordering::Relaxed) == OPEN { f(self).await } else { self.tx(f).await }
    }

    async fn begin(&mut self) -> QueryResult<()> {
        on!(
            self,
            pg | c | begin_postgres(c),
            // A plain BEGIN would read first and fail when it comes to write.
            sqlite | c | c.spawn_blocking(|c| SyncTransactions::begin_transaction_sql(c, "BEGIN IMMEDIATE")).await
        )
    }

    async fn commit(&mut self) -> QueryResult<()> {
        on!(
            self,
            pg | c | PostgresTransactions::commit_transaction(c).await,
            sqlite | c | <AsyncSqlite as AsyncConnection>::TransactionManager::commit_transaction(c).await
        )
    }

    async fn rollback(&mut self) -> QueryResult<()> {
        on!(
            self,
            pg | c | PostgresTransactions::rollback_transaction(c).await,
            sqlite | c | <AsyncSqlite as AsyncConnection>::TransactionManager::rollback_transaction(c).await
        )
    }
}

/// A connection that may write. The reading one comes back when it is dropped.
pub(crate) struct Turn<'c> {
    conn: &'c mut Conn,
    reading: Option<(Link, OwnedSemaphorePermit)>,
}

impl Deref for Turn<'_> {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        self.conn
    }
}

impl DerefMut for Turn<'_> {
    fn deref_mut(&mut self) -> &mut Conn {
        self.conn
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some((link, turn)) = self.reading.take() {
            // The connection first: whoever has the turn next needs it.
            self.conn.link = link;
            drop(turn);
        }
    }
}

/// Sends BEGIN and goes on: its answer comes with that of the first statement, and is of no use before. The server takes
/// one message after the other, so nothing can overtake it.
fn begin_postgres(conn: &mut AsyncPgConnection) -> QueryResult<()> {
    if let Some(answer) = (&mut &*conn).batch_execute("BEGIN").now_or_never() {
        answer?;
    }
    match PostgresTransactions::transaction_manager_status_mut(conn) {
        TransactionManagerStatus::Valid(status) => {
            status.change_transaction_depth(TransactionDepthChange::IncreaseDepth)
        }
        TransactionManagerStatus::InError => Err(Error::BrokenTransactionManager),
    }
}

/// Polls `work` where blocking is allowed, so that its statements need not ask for that one by one.
async fn in_place<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| blocking(|| work.as_mut().poll(context))).await
}

/// On a runtime of a single thread the other tasks have nowhere to go: there they wait.
fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::CurrentThread) => work(),
        _ => block_in_place(work),
    }
}

impl SpawnBlocking for InPlace {
    fn spawn_blocking<'a, R>(
        &mut self,
        task: impl FnOnce() -> R + Send + 'static,
    ) -> Pin<Box<dyn Future<Output = Result<R, Box<dyn StdError + Send + Sync>>> + Send + 'a>>
    where
        R: Send + 'static,
    {
        Box::pin(async move { Ok(blocking(task)) })
    }

    fn get_runtime() -> Self {
        Self
    }
}

impl std::fmt::Debug for Conn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.link {
            Link::Pg(_) => "Conn(PostgreSQL)",
            Link::Sqlite(_) => "Conn(SQLite)",
        })
    }
}

/// The time of a transaction. Dropped without [`Span::close`], it marks the connection as unusable.
struct Span(Arc<AtomicU8>);

impl Span {
    fn open(state: &Arc<AtomicU8>) -> Self {
        state.store(OPEN, Ordering::Relaxed);
        Self(Arc::clone(state))
    }

    fn close(self) {
        self.0.store(IDLE, Ordering::Relaxed);
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let _ = self.0.compare_exchange(OPEN, ABANDONED, Ordering::Relaxed, Ordering::Relaxed);
    }
}

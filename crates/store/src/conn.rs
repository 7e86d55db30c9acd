//! Connections of both backends.
//!
//! `on!` expands a query once for each backend, so both are type-checked. Where the backends differ, it takes two
//! bodies, or the file of the query has one for each.

use std::collections::BTreeSet;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use diesel::connection::{
    AnsiTransactionManager as SyncTransactions, TransactionDepthChange, TransactionManagerStatus,
};
use diesel::result::{Error, QueryResult};
use diesel_async::pooled_connection::bb8::PooledConnection;
use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection, TransactionManager};
use futures_util::FutureExt;
use tokio::sync::OwnedSemaphorePermit;

use crate::sqlite::{AsyncSqlite, in_place};
use crate::writer::{Writer, WriterConnection};

/// Pooled connection. It returns to the pool when dropped, or is closed if a transaction was left open.
pub struct Conn {
    pub(crate) link: Link,
    state: Arc<AtomicU8>,
    /// SQLite's writer, if this connection is a reading one.
    writer: Option<Arc<Writer>>,
    /// Queues for [`Conn::added`].
    added: BTreeSet<String>,
    /// Permit of the writing connection, released after the connection.
    _turn: Option<OwnedSemaphorePermit>,
}

/// Connection of one backend.
#[expect(clippy::large_enum_variant, reason = "there are as many as the pool has, and none is moved around")]
pub(crate) enum Link {
    Pg(PooledConnection<'static, AsyncPgConnection>),
    Sqlite(PooledConnection<'static, AsyncSqlite>),
}

/// Transaction manager of PostgreSQL connections.
pub(crate) type PostgresTransactions = <AsyncPgConnection as AsyncConnection>::TransactionManager;

/// Async closure on a connection whose future is `Send`, which `AsyncFnOnce` alone cannot express yet.
pub trait TxFn<'c, R, E>: FnOnce(&'c mut Conn) -> <Self as TxFn<'c, R, E>>::Fut {
    /// Future that the closure returns.
    type Fut: Future<Output = Result<R, E>> + Send;
}

impl<'c, F, Fut, R, E> TxFn<'c, R, E> for F
where
    F: FnOnce(&'c mut Conn) -> Fut,
    Fut: Future<Output = Result<R, E>> + Send,
{
    type Fut = Fut;
}

/// Expands an expression once for each backend: `on!(conn, |c| query.execute(c).await)`.
///
/// Look-ups by a unique key use `get_result` and not `first`, which adds a LIMIT: SQLite prepares a statement with a
/// bound limit again each time.
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
    /// Wraps a connection; `writer` is SQLite's, for its reading connections.
    pub(crate) fn new(link: Link, writer: Option<Arc<Writer>>) -> Self {
        Self { link, state: Arc::new(AtomicU8::new(IDLE)), writer, added: BTreeSet::new(), _turn: None }
    }

    /// Wraps SQLite's writing connection.
    pub(crate) fn writing(taken: WriterConnection) -> Self {
        let WriterConnection { link, turn } = taken;
        Self { _turn: Some(turn), ..Self::new(Link::Sqlite(link), None) }
    }

    /// Returns the queues to which jobs were added on this connection since the last call, and resets the list. Their
    /// workers in this process must be woken after the commit.
    pub fn added(&mut self) -> Vec<String> {
        mem::take(&mut self.added).into_iter().collect()
    }

    /// Notes that jobs were added to a queue.
    pub(crate) fn add_to(&mut self, queue: &str) {
        if !self.added.contains(queue) {
            self.added.insert(queue.to_owned());
        }
    }

    /// Runs `f` in a transaction: commits on `Ok`, rolls back on `Err` or when dropped. Write the closure as `async
    /// |conn: &mut Conn| { … }`.
    ///
    /// # Errors
    /// Those of `f`; those of the database; `AlreadyInTransaction` inside another transaction, because SQLite cannot
    /// nest them, and on a connection whose last transaction was dropped before its end.
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

    /// Runs several reads in a row, in no transaction. On SQLite, the other tasks of the thread move to another thread once,
    /// and not at each statement. Write the closure as `async |conn: &mut Conn| { … }`.
    ///
    /// # Errors
    /// Those of `f`.
    pub async fn reads<R, E, F>(&mut self, f: F) -> Result<R, E>
    where
        F: for<'c> AsyncFnOnce(&'c mut Conn) -> Result<R, E> + for<'c> TxFn<'c, R, E>,
    {
        match self.link {
            Link::Pg(_) => f(self).await,
            Link::Sqlite(_) => in_place(f(self)).await,
        }
    }

    /// Returns this connection for writing; on a reading connection of SQLite, the writing one takes its place. Must be
    /// called before writes outside of a transaction; inside one it changes nothing.
    ///
    /// # Errors
    /// Those of [`Writer::take`]; nothing was written.
    pub(crate) async fn turn(&mut self) -> QueryResult<WriteTurn<'_>> {
        let reading = match &self.writer {
            Some(writer) if self.state.load(Ordering::Relaxed) == IDLE => {
                let WriterConnection { link, turn } = writer.take().await?;
                Some((mem::replace(&mut self.link, Link::Sqlite(link)), turn))
            }
            _ => None,
        };
        Ok(WriteTurn { conn: self, reading })
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
                tracing::warn!(error = %rollback, "rollback failed; the connection is discarded");
                Err(error)
            }
        }
    }

    /// Runs `f` in the open transaction, or in one of its own.
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
            // A plain BEGIN takes a read lock first and may fail when it comes to write.
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

/// Connection that may write. The reading connection is restored when it is dropped.
pub(crate) struct WriteTurn<'c> {
    conn: &'c mut Conn,
    reading: Option<(Link, OwnedSemaphorePermit)>,
}

impl Deref for WriteTurn<'_> {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        self.conn
    }
}

impl DerefMut for WriteTurn<'_> {
    fn deref_mut(&mut self) -> &mut Conn {
        self.conn
    }
}

impl Drop for WriteTurn<'_> {
    fn drop(&mut self) {
        if let Some((link, turn)) = self.reading.take() {
            // The connection first: the next holder of the turn needs it.
            self.conn.link = link;
            drop(turn);
        }
    }
}

/// Sends BEGIN without waiting for its answer, which arrives with that of the first statement. The server processes
/// messages in order, so no statement can overtake it.
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

impl std::fmt::Debug for Conn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.link {
            Link::Pg(_) => "Conn(PostgreSQL)",
            Link::Sqlite(_) => "Conn(SQLite)",
        })
    }
}

/// Guard of an open transaction. Dropped without [`Span::close`], it marks the connection as abandoned.
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

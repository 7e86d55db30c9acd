//! Opening a database: the address, the pool, the settings of each connection.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::Secret;
use bb8::QueueStrategy;
use diesel::ConnectionError;
use diesel::result::Error;
use diesel_async::pooled_connection::bb8::Pool;
use diesel_async::pooled_connection::{
    AsyncDieselConnectionManager, ManagerConfig, PoolableConnection, RecyclingMethod,
};
use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection};
use tokio::sync::Semaphore;

use crate::conn::{AsyncSqlite, Conn, Link, on};
use crate::error::{Result, StoreError};

/// The database of the service. Cheap to clone; all clones share one pool.
#[derive(Clone)]
pub struct Store {
    pool: Pools,
    url: Secret,
}

/// How many connections, and how long to wait for one.
#[derive(Debug, Clone)]
pub struct Options {
    /// The size of the pool; by default 4 for SQLite and 16 for PostgreSQL.
    pub connections: Option<u32>,
    /// How long [`Store::conn`] waits for a free connection.
    pub wait: Duration,
}

/// Which database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// One file, one machine.
    Sqlite,
    /// A server, many machines.
    Postgres,
}

#[derive(Clone)]
enum Pools {
    Pg(Pool<AsyncPgConnection>),
    Sqlite(Pool<AsyncSqlite>, Arc<Semaphore>),
}

impl Default for Options {
    fn default() -> Self {
        Self { connections: None, wait: Duration::from_secs(10) }
    }
}

impl Store {
    /// Opens `sqlite://<path of the file>` (absolute: three slashes; a missing folder is made) or
    /// `postgres://user:password@host:port/database`, and connects once to see that it answers.
    /// SQLite works on the thread that asks; on tokio's multi-thread runtime other tasks go on meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Url`], [`StoreError::Folder`], [`StoreError::Connect`].
    pub async fn open(url: &str, options: Options) -> Result<Store> {
        let pool = match backend(url)? {
            Backend::Sqlite => {
                let path = sqlite_path(url)?;
                make_folder(path).await?;
                connect_sqlite(path).await.map_err(|error| StoreError::Connect(format!("{path}: {error}")))?;
                Pools::Sqlite(sqlite_pool(path, &options).await?, Arc::new(Semaphore::new(1)))
            }
            Backend::Postgres => {
                AsyncPgConnection::establish(url).await.map_err(|error| StoreError::Connect(error.to_string()))?;
                Pools::Pg(postgres_pool(url, &options).await?)
            }
        };
        Ok(Store { pool, url: Secret::new(url) })
    }

    /// A connection; waits for a free one.
    ///
    /// # Errors
    /// [`StoreError::Pool`] when none came free in [`Options::wait`], or the database is away.
    pub async fn conn(&self) -> Result<Conn> {
        let broken = |error: diesel_async::pooled_connection::bb8::RunError| StoreError::Pool(error.to_string());
        Ok(match &self.pool {
            Pools::Pg(pool) => Conn::new(Link::Pg(pool.get_owned().await.map_err(broken)?), None),
            Pools::Sqlite(pool, writer) => {
                let link = pool.get_owned().await.map_err(broken)?;
                Conn::new(Link::Sqlite(link), Some(Arc::clone(writer)))
            }
        })
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// [`StoreError::Pool`], or that of the connection.
    pub async fn ping(&self) -> Result<()> {
        let mut conn = self.conn().await?;
        on!(conn, |c| c.batch_execute("SELECT 1").await)?;
        Ok(())
    }

    /// Which database it is.
    #[must_use]
    pub fn backend(&self) -> Backend {
        match self.pool {
            Pools::Pg(_) => Backend::Postgres,
            Pools::Sqlite(..) => Backend::Sqlite,
        }
    }

    /// Where it is: for SQLite the path, for PostgreSQL the whole address.
    pub(crate) fn place(&self) -> Result<&str> {
        let url = self.url.expose();
        if self.backend() == Backend::Sqlite { sqlite_path(url) } else { Ok(url) }
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Store").field(&self.backend()).finish()
    }
}

/// Waiting comes first: switching to WAL needs the file for itself for a moment. A log of up to 16 MB is copied back less
/// often, and then each page that was written several times only once. What undoes half a statement is kept in memory.
/// What is deleted is overwritten where that costs nothing.
pub(crate) const SQLITE_SETTINGS: &str = "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = FAST;";

fn backend(url: &str) -> Result<Backend> {
    match url.split_once("://").map(|(scheme, _)| scheme) {
        Some("sqlite") => Ok(Backend::Sqlite),
        Some("postgres" | "postgresql") => Ok(Backend::Postgres),
        _ => Err(StoreError::Url("must begin with sqlite:// or postgres://".to_owned())),
    }
}

fn sqlite_path(url: &str) -> Result<&str> {
    let path = url.strip_prefix("sqlite://").unwrap_or_default();
    // diesel would read these as something else than a file.
    if path.is_empty() || path.ends_with('/') || path.starts_with(':') || path.starts_with("file:") {
        return Err(StoreError::Url("sqlite:// must be followed by the path of a file".to_owned()));
    }
    Ok(path)
}

async fn make_folder(path: &str) -> Result<()> {
    let Some(folder) = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let describe = |source| StoreError::Folder { folder: folder.display().to_string(), source };
    tokio::fs::create_dir_all(folder).await.map_err(describe)
}

async fn connect_sqlite(path: &str) -> std::result::Result<AsyncSqlite, ConnectionError> {
    let mut conn = AsyncSqlite::establish(path).await?;
    conn.batch_execute(SQLITE_SETTINGS).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(conn)
}

/// Compiling a plan takes the server longer than any of our queries. A process that stands still in the middle of a
/// transaction loses it, so that its locks hold up nobody.
const POSTGRES_SETTINGS: &str = "SET jit = off; SET idle_in_transaction_session_timeout = '30s'";

async fn connect_postgres(url: &str) -> std::result::Result<AsyncPgConnection, ConnectionError> {
    let mut conn = AsyncPgConnection::establish(url).await?;
    conn.batch_execute(POSTGRES_SETTINGS).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(conn)
}

async fn sqlite_pool(path: &str, options: &Options) -> Result<Pool<AsyncSqlite>> {
    let mut config = ManagerConfig::default();
    config.custom_setup = Box::new(|path| Box::pin(connect_sqlite(path)));
    // A file does not go away as a server does.
    config.recycling_method = RecyclingMethod::Fast;
    let manager = AsyncDieselConnectionManager::new_with_config(path, config);
    let builder = Pool::builder().max_size(options.connections.unwrap_or(4)).connection_timeout(options.wait);
    // The pages that a connection keeps in memory are of no use once another one has written: use the same as long as one
    // is enough.
    let builder = builder.queue_strategy(QueueStrategy::Lifo);
    builder.build(manager).await.map_err(|error| StoreError::Pool(error.to_string()))
}

async fn postgres_pool(url: &str, options: &Options) -> Result<Pool<AsyncPgConnection>> {
    let mut config = ManagerConfig::default();
    config.custom_setup = Box::new(|url| Box::pin(connect_postgres(url)));
    // A connection that the server has ended knows it. Asking the server each time would cost a round trip.
    config.recycling_method = RecyclingMethod::CustomFunction(Box::new(|conn| {
        let is_open = if conn.is_broken() { Err(Error::BrokenTransactionManager) } else { Ok(()) };
        Box::pin(async { is_open })
    }));
    let manager = AsyncDieselConnectionManager::new_with_config(url, config);
    let builder = Pool::builder().max_size(options.connections.unwrap_or(16)).connection_timeout(options.wait);
    builder.build(manager).await.map_err(|error| StoreError::Pool(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        let check = |url: &str, expect: Option<Backend>| assert_eq!(backend(url).ok(), expect, "{url}");
        check("sqlite:///var/lib/quarry.db", Some(Backend::Sqlite));
        check("postgres://u:p@h/db", Some(Backend::Postgres));
        check("postgresql://h/db", Some(Backend::Postgres));
        check("mysql://h/db", None);
        check("quarry.db", None);
    }

    #[test]
    fn sqlite_addresses_name_a_file() {
        let check = |url: &str, expect: Option<&str>| assert_eq!(sqlite_path(url).ok(), expect, "{url}");
        check("sqlite:///var/lib/quarry.db", Some("/var/lib/quarry.db"));
        check("sqlite://data/quarry.db", Some("data/quarry.db"));
        check("sqlite://", None);
        check("sqlite://:memory:", None);
        check("sqlite:///var/lib/", None);
    }
}

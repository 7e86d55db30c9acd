//! Opening a database: address, pool, settings of each connection.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use base::Secret;
use bb8::QueueStrategy;
use diesel::ConnectionError;
use diesel_async::pooled_connection::bb8::Pool;
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::{AsyncConnection, SimpleAsyncConnection};
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use crate::backend::{Backend, backend};
use crate::condition::{Condition, Observer};
use crate::conn::{Conn, on};
use crate::error::{Result, StoreError};
use crate::options::{Options, PoolLoad};
use crate::pools::Pools;
use crate::postgres::{Server, pool};
use crate::recovery;
use crate::sqlite::AsyncSqlite;
use crate::trouble::Trouble;
use crate::writer::Writer;

/// The database of the service. Cheap to clone; all clones share one pool.
#[derive(Clone)]
pub struct Store {
    pool: Arc<Pools>,
    url: Secret,
    condition: Arc<Condition>,
    /// Task that notices the end of an outage.
    _recovery: Arc<AbortOnDropHandle<()>>,
}

/// Location of a database.
pub(crate) enum DatabaseLocation<'a> {
    /// Path of the SQLite file.
    File(&'a str),
    /// PostgreSQL server.
    Server(&'a Arc<Server>),
}

impl Store {
    /// Opens `sqlite://<path of the file>` (three slashes for an absolute path; a missing folder is created) or
    /// `postgres://user:password@host:port/database`, and connects once to check that it answers. `sslmode`,
    /// `sslrootcert`, `sslcert` and `sslkey` in a PostgreSQL address have the meaning of libpq. SQLite statements run
    /// on the calling thread; on tokio's multi-thread runtime other tasks move to another thread meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Url`], [`StoreError::Folder`], [`StoreError::File`], [`StoreError::Connect`].
    #[crate::boxed]
    pub async fn open(url: &str, options: Options) -> Result<Store> {
        let (pool, condition) = match backend(url)? {
            Backend::Sqlite => {
                let path = sqlite_path(url)?;
                let condition = Condition::new(Some(path));
                make_folder(path).await?;
                make_private(path).await?;
                let first = connect_sqlite(path, &condition).await;
                let first = first.map_err(|error| StoreError::Connect(format!("{path}: {error}")))?;
                let one = Options { connections: Some(1), ..options.clone() };
                let writer = Writer::new(sqlite_pool(path, &one, &condition).await?, Arc::clone(&condition));
                let pool = sqlite_pool(path, &options, &condition).await?;
                // Kept: closing the last connection copies the WAL back and removes it.
                let _ = pool.add(first);
                (Pools::Sqlite(pool, Arc::new(writer)), condition)
            }
            Backend::Postgres => {
                let condition = Condition::new(None);
                let server = Server::new(url)?;
                let conn = server.connect().await.map_err(|error| StoreError::Connect(error.to_string()))?;
                pool::log_encryption(&server, conn).await;
                (Pools::Pg(pool::open(&server, &options, &condition).await?, server), condition)
            }
        };
        let (pool, url) = (Arc::new(pool), Secret::new(url));
        let watch = recovery::watch(Arc::downgrade(&pool), Arc::clone(&condition));
        let recovery = Arc::new(AbortOnDropHandle::new(tokio::spawn(watch)));
        Ok(Store { pool, url, condition, _recovery: recovery })
    }

    /// Returns a connection; waits for a free one.
    ///
    /// # Errors
    /// [`StoreError::Pool`] when none became free within [`Options::wait`]; within two seconds when the database is
    /// away.
    #[crate::boxed]
    pub async fn conn(&self) -> Result<Conn> {
        self.condition.admit().await?;
        self.pool.conn(&self.condition).await
    }

    /// Returns the current trouble of the database, as far as this process has noticed.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        self.condition.trouble()
    }

    /// Returns a connection for immediate writes. On SQLite it is the only writing connection, for which all other
    /// writers wait: keep it for one transaction only.
    ///
    /// # Errors
    /// Those of [`Store::conn`], and a timeout when others kept writing for 30 s.
    #[crate::boxed]
    pub async fn writing(&self) -> Result<Conn> {
        match &*self.pool {
            Pools::Pg(..) => self.conn().await,
            Pools::Sqlite(_, writer) => Ok(Conn::writing(writer.take().await?)),
        }
    }

    /// Returns the runtime for tasks that mostly write: on SQLite a dedicated thread, so that statements block no other
    /// task; else the caller's runtime.
    #[must_use]
    pub fn writing_runtime(&self) -> Handle {
        match &*self.pool {
            Pools::Pg(..) => Handle::current(),
            Pools::Sqlite(_, writer) => writer.runtime(),
        }
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    /// [`StoreError::Pool`], or that of the connection.
    #[crate::boxed]
    pub async fn ping(&self) -> Result<()> {
        let mut conn = self.conn().await?;
        on!(conn, |c| c.batch_execute("SELECT 1").await)?;
        Ok(())
    }

    /// Returns the kind of database.
    #[must_use]
    pub fn backend(&self) -> Backend {
        match *self.pool {
            Pools::Pg(..) => Backend::Postgres,
            Pools::Sqlite(..) => Backend::Sqlite,
        }
    }

    /// Returns the load of the connections by use: `all`, or on SQLite `read` and `write`.
    #[must_use]
    pub fn load(&self) -> Vec<(&'static str, PoolLoad)> {
        match &*self.pool {
            Pools::Pg(pool, _) => vec![("all", PoolLoad::of(&pool.state()))],
            Pools::Sqlite(pool, writer) => vec![("read", PoolLoad::of(&pool.state())), ("write", Writer::load(writer))],
        }
    }

    /// Whether transactions can write concurrently; SQLite has one writer.
    #[must_use]
    pub fn parallel_writers(&self) -> bool {
        self.backend() == Backend::Postgres
    }

    /// Returns the location of the database.
    pub(crate) fn location(&self) -> Result<DatabaseLocation<'_>> {
        Ok(match &*self.pool {
            Pools::Pg(_, server) => DatabaseLocation::Server(server),
            Pools::Sqlite(..) => DatabaseLocation::File(sqlite_path(self.url.expose())?),
        })
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Store").field(&self.backend()).finish()
    }
}

/// Settings of every SQLite connection.
// Switching to WAL needs an exclusive lock for a moment, so the busy timeout is 5 s for that and 1.4 s for all
// statements: a caller then learns within two seconds that the file is locked. The WAL is checkpointed at 16 MB (4000
// pages), so a page that was written several times is copied back once. Statement journals stay in memory. Deleted data
// is overwritten where that costs no further write (`secure_delete = FAST`).
const SQLITE_SETTINGS: &str = "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 1400;
    PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = FAST;";

fn sqlite_path(url: &str) -> Result<&str> {
    let path = url.strip_prefix("sqlite://").unwrap_or_default();
    // diesel would not take these for the path of a file.
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

/// Restricts the database file to its owner: it holds keys, webhook secrets and the ledger. SQLite creates the `-wal`
/// and `-shm` files with the mode of the database file.
async fn make_private(path: &str) -> Result<()> {
    let describe = |source| StoreError::File { file: path.to_owned(), source };
    let mut open = tokio::fs::OpenOptions::new();
    open.create(true).truncate(false).write(true).mode(0o600).open(path).await.map_err(describe)?;
    for file in ["", "-wal", "-shm"].map(|end| format!("{path}{end}")) {
        let Ok(known) = tokio::fs::metadata(&file).await else { continue };
        if known.permissions().mode() & 0o077 == 0 {
            continue;
        }
        if let Err(error) = tokio::fs::set_permissions(&file, Permissions::from_mode(0o600)).await {
            tracing::warn!(file, %error, "database file is readable by other users; run `chmod 600` on it");
        }
    }
    Ok(())
}

async fn connect_sqlite(path: &str, condition: &Arc<Condition>) -> std::result::Result<AsyncSqlite, ConnectionError> {
    let mut conn = AsyncSqlite::establish(path).await?;
    conn.batch_execute(SQLITE_SETTINGS).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
    conn.set_instrumentation(Observer::new(condition));
    Ok(conn)
}

async fn sqlite_pool(path: &str, options: &Options, condition: &Arc<Condition>) -> Result<Pool<AsyncSqlite>> {
    let mut config = ManagerConfig::default();
    let condition = Arc::clone(condition);
    config.custom_setup = Box::new(move |path| {
        let (path, condition) = (path.to_owned(), Arc::clone(&condition));
        Box::pin(async move { connect_sqlite(&path, &condition).await.inspect_err(|error| condition.failed(error)) })
    });
    // A file stays reachable, unlike a server: no check before a connection is handed out.
    config.recycling_method = RecyclingMethod::Fast;
    let manager = AsyncDieselConnectionManager::new_with_config(path, config);
    let builder = Pool::builder().max_size(options.connections.unwrap_or(4)).connection_timeout(options.wait);
    // LIFO: the page cache of a connection is useless once another connection has written, so the most recently used
    // connection is reused as long as one is enough.
    let builder = builder.queue_strategy(QueueStrategy::Lifo);
    builder.build(manager).await.map_err(|error| StoreError::Pool(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

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

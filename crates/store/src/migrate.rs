//! The schema's versions: embedded, one folder per backend, changed under a lock so that several processes may start
//! at once.

use diesel::connection::SimpleConnection;
use diesel::sql_types::BigInt;
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};
use diesel_async::AsyncPgConnection;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::error::{Result, StoreError};
use crate::open::{Place, Store};

const SQLITE: EmbeddedMigrations = embed_migrations!("migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("migrations/postgres");

/// Any number will do, as long as every version of the service uses the same.
const POSTGRES_LOCK: &str = "SELECT pg_advisory_lock(8174631095240719)";

/// Another process may be migrating a large file.
const SQLITE_WAIT: &str = "PRAGMA busy_timeout = 60000;";

#[derive(Clone, Copy)]
enum Task {
    Up,
    Down,
    Pending,
}

impl Store {
    /// Brings the schema up to date and names the migrations that this took.
    ///
    /// # Errors
    /// [`StoreError::Migration`], [`StoreError::Connect`].
    #[crate::boxed]
    pub async fn migrate(&self) -> Result<Vec<String>> {
        self.run(Task::Up).await
    }

    /// Names the migrations that [`Store::migrate`] would run.
    ///
    /// # Errors
    /// As [`Store::migrate`].
    #[crate::boxed]
    pub async fn pending(&self) -> Result<Vec<String>> {
        self.run(Task::Pending).await
    }

    /// Undoes every migration, newest first, and names them. All data is lost.
    ///
    /// # Errors
    /// As [`Store::migrate`].
    #[crate::boxed]
    pub async fn unmigrate(&self) -> Result<Vec<String>> {
        self.run(Task::Down).await
    }

    async fn run(&self, task: Task) -> Result<Vec<String>> {
        // The migration harness blocks.
        let work = match self.place()? {
            Place::File(path) => {
                let path = path.to_owned();
                tokio::task::spawn_blocking(move || on_sqlite(&path, task))
            }
            Place::Server(server) => {
                let conn = server.connect().await.map_err(|error| StoreError::Connect(error.to_string()))?;
                tokio::task::spawn_blocking(move || on_postgres(conn, task))
            }
        };
        work.await.map_err(|error| StoreError::Migration(error.to_string()))?
    }
}

fn on_sqlite(path: &str, task: Task) -> Result<Vec<String>> {
    let mut conn = SqliteConnection::establish(path).map_err(|error| StoreError::Connect(error.to_string()))?;
    conn.batch_execute(SQLITE_WAIT)?;
    // SQLite changes a table by making another, and dropping the old one would delete what refers to it. In a transaction
    // this setting does nothing.
    conn.batch_execute("PRAGMA foreign_keys = OFF")?;
    // Each migration becomes a savepoint in here.
    conn.immediate_transaction(|conn| {
        let done = perform(conn, SQLITE, task)?;
        if !done.is_empty() && !matches!(task, Task::Pending) {
            check_references(conn)?;
        }
        Ok(done)
    })
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// Makes sure that every reference leads to a row.
fn check_references(conn: &mut SqliteConnection) -> Result<()> {
    let broken: Count = diesel::sql_query("SELECT count(*) AS count FROM pragma_foreign_key_check").get_result(conn)?;
    match broken.count {
        0 => Ok(()),
        count => Err(StoreError::Migration(format!("{count} rows would refer to others that are not there"))),
    }
}

fn on_postgres(conn: AsyncPgConnection, task: Task) -> Result<Vec<String>> {
    let mut conn = AsyncConnectionWrapper::<AsyncPgConnection>::from(conn);
    // Held until the connection closes.
    conn.batch_execute(POSTGRES_LOCK)?;
    perform(&mut conn, POSTGRES, task)
}

fn perform<DB, H>(harness: &mut H, migrations: EmbeddedMigrations, task: Task) -> Result<Vec<String>>
where
    DB: diesel::backend::Backend,
    H: MigrationHarness<DB>,
    EmbeddedMigrations: diesel::migration::MigrationSource<DB>,
{
    let failed = |error: Box<dyn std::error::Error + Send + Sync>| StoreError::Migration(error.to_string());
    match task {
        Task::Up => {
            let done = harness.run_pending_migrations(migrations).map_err(failed)?;
            Ok(done.iter().map(ToString::to_string).collect())
        }
        Task::Down => {
            let done = harness.revert_all_migrations(migrations).map_err(failed)?;
            Ok(done.iter().map(ToString::to_string).collect())
        }
        Task::Pending => {
            let open = harness.pending_migrations(migrations).map_err(failed)?;
            Ok(open.iter().map(|migration| migration.name().to_string()).collect())
        }
    }
}

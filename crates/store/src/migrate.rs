//! Schema migrations: embedded, one folder per backend, run under a lock so that several processes can start at once.

use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Text};
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};
use diesel_async::AsyncPgConnection;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::error::{Result, StoreError};
use crate::open::{DatabaseLocation, Store};

const SQLITE: EmbeddedMigrations = embed_migrations!("migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("migrations/postgres");

/// Schema that the migrations of [`SQLITE`] lead to, written by [`sqlite_schema`]. Newer migrations run after it.
const SQLITE_SCHEMA: &str = include_str!("../../../docs/sqlite.sql");

/// Advisory lock of the migrations. The number is arbitrary, but must be the same in every version of the service.
const POSTGRES_LOCK: &str = "SELECT pg_advisory_lock(8174631095240719)";

/// Connection settings of a migration: another process may be migrating a large file, hence the long timeout. As on all
/// other connections, commits are not synced: a schema lost in a power failure is created again.
const SQLITE_SETTINGS: &str = "PRAGMA busy_timeout = 60000; PRAGMA synchronous = NORMAL;";

/// Turns foreign keys off: SQLite changes a table by creating another one, and dropping the old one would delete the
/// rows that refer to it. The pragma has no effect inside a transaction.
const NO_REFERENCES: &str = "PRAGMA foreign_keys = OFF";

const SCHEMA_HEADING: &str =
    "-- Written by `cargo xtask codegen` from crates/store/migrations/sqlite: the schema of an empty database.\n\n";

/// Statements of all tables and indexes except the table of versions, in the order of their creation.
const SQLITE_STATEMENTS: &str = "SELECT sql AS line FROM sqlite_master
    WHERE sql IS NOT NULL AND name <> '__diesel_schema_migrations' ORDER BY rowid";

#[derive(Clone, Copy)]
enum Task {
    Up,
    Down,
    Pending,
}

impl Store {
    /// Runs all pending migrations and returns their names.
    ///
    /// # Errors
    /// [`StoreError::Migration`], [`StoreError::Connect`].
    #[crate::boxed]
    pub async fn migrate(&self) -> Result<Vec<String>> {
        self.run(Task::Up).await
    }

    /// Returns the names of the migrations that [`Store::migrate`] would run.
    ///
    /// # Errors
    /// Those of [`Store::migrate`].
    #[crate::boxed]
    pub async fn pending(&self) -> Result<Vec<String>> {
        self.run(Task::Pending).await
    }

    /// Reverts every migration, newest first, and returns their names. All data is lost.
    ///
    /// # Errors
    /// Those of [`Store::migrate`].
    #[crate::boxed]
    pub async fn unmigrate(&self) -> Result<Vec<String>> {
        self.run(Task::Down).await
    }

    async fn run(&self, task: Task) -> Result<Vec<String>> {
        // The migration harness blocks.
        let work = match self.location()? {
            DatabaseLocation::File(path) => {
                let path = path.to_owned();
                tokio::task::spawn_blocking(move || on_sqlite(&path, task))
            }
            DatabaseLocation::Server(server) => {
                let conn = server.connect().await.map_err(|error| StoreError::Connect(error.to_string()))?;
                tokio::task::spawn_blocking(move || on_postgres(conn, task))
            }
        };
        work.await.map_err(|error| StoreError::Migration(error.to_string()))?
    }
}

fn on_sqlite(path: &str, task: Task) -> Result<Vec<String>> {
    let mut conn = SqliteConnection::establish(path).map_err(|error| StoreError::Connect(error.to_string()))?;
    conn.batch_execute(SQLITE_SETTINGS)?;
    conn.batch_execute(NO_REFERENCES)?;
    // Each migration becomes a savepoint in this transaction.
    conn.immediate_transaction(|conn| {
        let done = match task {
            Task::Up if is_empty(conn)? => make_at_once(conn)?,
            _ => perform(conn, SQLITE, task)?,
        };
        if !done.is_empty() && !matches!(task, Task::Pending) {
            check_references(conn)?;
        }
        Ok(done)
    })
}

/// Whether the file has no table at all, not even the one of versions.
fn is_empty(conn: &mut SqliteConnection) -> Result<bool> {
    let known: Count = diesel::sql_query("SELECT count(*) AS count FROM sqlite_master").get_result(conn)?;
    Ok(known.count == 0)
}

/// Creates the current schema in an empty file. Running the migrations one by one takes ten times as long, because
/// SQLite parses the whole schema again for each renamed table.
fn make_at_once(conn: &mut SqliteConnection) -> Result<Vec<String>> {
    // Makes diesel create its table of versions.
    perform(conn, SQLITE, Task::Pending)?;
    conn.batch_execute(SQLITE_SCHEMA)?;
    perform(conn, SQLITE, Task::Up)?;
    versions(conn)
}

/// Returns the applied versions, oldest first.
fn versions(conn: &mut SqliteConnection) -> Result<Vec<String>> {
    let applied = conn.applied_migrations().map_err(|error| StoreError::Migration(error.to_string()))?;
    Ok(applied.iter().rev().map(ToString::to_string).collect())
}

/// Returns the text of `docs/sqlite.sql`: the statements that create the current SQLite schema at once, and the
/// versions that it covers.
///
/// # Errors
/// [`StoreError::Migration`], [`StoreError::Connect`].
pub fn sqlite_schema() -> Result<String> {
    let mut conn = SqliteConnection::establish(":memory:").map_err(|error| StoreError::Connect(error.to_string()))?;
    conn.batch_execute(NO_REFERENCES)?;
    perform(&mut conn, SQLITE, Task::Up)?;
    let mut text = SCHEMA_HEADING.to_owned();
    let statements: Vec<TextRow> = diesel::sql_query(SQLITE_STATEMENTS).load(&mut conn)?;
    for statement in statements {
        text += &format!("{};\n\n", statement.line);
    }
    let versions: Vec<String> = versions(&mut conn)?.iter().map(|version| format!("('{version}')")).collect();
    text += &format!("INSERT INTO __diesel_schema_migrations (version) VALUES\n{};\n", versions.join(",\n"));
    Ok(text)
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

#[derive(QueryableByName)]
struct TextRow {
    #[diesel(sql_type = Text)]
    line: String,
}

/// Fails if a foreign key refers to a missing row.
fn check_references(conn: &mut SqliteConnection) -> Result<()> {
    let broken: Count = diesel::sql_query("SELECT count(*) AS count FROM pragma_foreign_key_check").get_result(conn)?;
    match broken.count {
        0 => Ok(()),
        count => Err(StoreError::Migration(format!("{count} rows would violate a foreign key"))),
    }
}

fn on_postgres(conn: AsyncPgConnection, task: Task) -> Result<Vec<String>> {
    let mut conn = AsyncConnectionWrapper::<AsyncPgConnection>::from(conn);
    // The lock is held until the connection closes.
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

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: &str = "SELECT type || ' ' || name || ' on ' || tbl_name || ': ' || coalesce(sql, '') AS line
        FROM sqlite_master ORDER BY line";
    const TABLES: &str = "SELECT name AS line FROM sqlite_master WHERE type = 'table' ORDER BY name";
    const VERSIONS: &str = "SELECT version AS line FROM __diesel_schema_migrations ORDER BY version";

    fn empty() -> SqliteConnection {
        let mut conn = SqliteConnection::establish(":memory:").unwrap();
        conn.batch_execute(NO_REFERENCES).unwrap();
        conn
    }

    fn lines(conn: &mut SqliteConnection, query: &str) -> Vec<String> {
        let lines: Vec<TextRow> = diesel::sql_query(query).load(conn).unwrap();
        lines.into_iter().map(|line| line.line).collect()
    }

    /// Returns the tables that have rows, with their number of rows.
    fn filled(conn: &mut SqliteConnection) -> Vec<(String, i64)> {
        let tables = lines(conn, TABLES).into_iter().map(|table| {
            let rows: Count =
                diesel::sql_query(format!("SELECT count(*) AS count FROM \"{table}\"")).get_result(conn).unwrap();
            (table, rows.count)
        });
        tables.filter(|(_, rows)| *rows > 0).collect()
    }

    #[test]
    fn an_empty_file_becomes_what_the_migrations_lead_to() {
        let (mut one_by_one, mut at_once) = (empty(), empty());
        assert!(is_empty(&mut at_once).unwrap());
        let steps = perform(&mut one_by_one, SQLITE, Task::Up).unwrap();
        assert_eq!(make_at_once(&mut at_once).unwrap(), steps);
        assert!(!is_empty(&mut at_once).unwrap());
        for query in [EVERYTHING, VERSIONS] {
            assert_eq!(lines(&mut at_once, query), lines(&mut one_by_one, query));
        }
        // Rows that a migration inserts would also have to be in the schema file.
        let only_versions = [("__diesel_schema_migrations".to_owned(), i64::try_from(steps.len()).unwrap())];
        assert_eq!(filled(&mut one_by_one), only_versions);
        assert_eq!(filled(&mut at_once), only_versions);
        assert_eq!(perform(&mut at_once, SQLITE, Task::Up).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn the_schema_is_written_anew_with_every_migration() {
        assert_eq!(sqlite_schema().unwrap(), SQLITE_SCHEMA, "run cargo xtask codegen and commit");
    }

    #[test]
    fn what_is_cut_off_leaves_an_empty_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.db");
        let path = path.to_str().unwrap();
        let mut conn = SqliteConnection::establish(path).unwrap();
        let cut: Result<()> = conn.immediate_transaction(|conn| {
            make_at_once(conn)?;
            Err(StoreError::Migration("cut off".to_owned()))
        });
        assert!(cut.is_err());
        assert!(is_empty(&mut conn).unwrap());
        drop(conn);
        assert!(!on_sqlite(path, Task::Up).unwrap().is_empty());
    }
}

//! Fast creation of a database for each test: a copied file, or a copy of a template.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection};
use store::{Options, Store};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// Database of one test.
pub(crate) struct Db {
    url: String,
    store: Store,
    kind: Kind,
}

enum Kind {
    /// Temporary folder, removed after the test.
    Sqlite {
        _folder: TempDir,
    },
    Postgres {
        name: String,
    },
}

impl Db {
    /// Creates a migrated SQLite database.
    pub(crate) async fn sqlite() -> Db {
        static TEMPLATE: OnceCell<TempDir> = OnceCell::const_new();
        let template = TEMPLATE
            .get_or_init(|| async {
                let folder = TempDir::new().unwrap();
                open(&sqlite_url(folder.path())).await.migrate().await.unwrap();
                folder
            })
            .await;
        let folder = TempDir::new().unwrap();
        std::fs::copy(template.path().join("test.db"), folder.path().join("test.db")).unwrap();
        Self::of_folder(folder).await
    }

    /// Creates an empty SQLite database, in a folder that does not exist yet.
    pub(crate) async fn empty_sqlite() -> Db {
        Self::of_folder(TempDir::new().unwrap()).await
    }

    /// Creates a migrated PostgreSQL database, if there is a server.
    pub(crate) async fn postgres() -> Option<Db> {
        let template = template().await?;
        Some(Self::copy_of(template).await)
    }

    /// Creates an empty PostgreSQL database, if there is a server.
    pub(crate) async fn empty_postgres() -> Option<Db> {
        admin_url()?;
        Some(Self::copy_of("template0").await)
    }

    pub(crate) fn store(&self) -> Store {
        self.store.clone()
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Removes a PostgreSQL database; a failed test leaves its own for inspection.
    pub(crate) async fn remove(self) {
        if let Kind::Postgres { name } = &self.kind {
            drop(self.store);
            admin(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
        }
    }

    async fn of_folder(folder: TempDir) -> Db {
        let url = sqlite_url(folder.path());
        Db { store: open(&url).await, url, kind: Kind::Sqlite { _folder: folder } }
    }

    async fn copy_of(template: &str) -> Db {
        let name = format!("quarry_test_{}", base::new_id().simple());
        patiently(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
        let url = postgres_url(&name).unwrap();
        Db { store: open(&url).await, url, kind: Kind::Postgres { name } }
    }
}

/// Opens a database with the settings of the service.
pub(crate) async fn open(url: &str) -> Store {
    Store::open(url, Options { wait: Duration::from_secs(60), ..Options::default() }).await.unwrap()
}

fn sqlite_url(folder: &Path) -> String {
    format!("sqlite://{}/test.db", folder.display())
}

#[expect(clippy::disallowed_methods, reason = "this is where the tests learn of the server")]
pub(crate) fn admin_url() -> Option<String> {
    let url = std::env::var("QUARRY_TEST_POSTGRES").ok();
    if url.is_none() {
        println!("skipped on PostgreSQL: QUARRY_TEST_POSTGRES is not set");
    }
    url
}

fn postgres_url(database: &str) -> Option<String> {
    let admin = admin_url()?;
    let (server, _) = admin.rsplit_once('/').expect("the address names a database");
    Some(format!("{server}/{database}"))
}

async fn admin(sql: &str) -> diesel::QueryResult<()> {
    let url = admin_url().expect("asked before");
    AsyncPgConnection::establish(&url).await.expect("the test server answers").batch_execute(sql).await
}

/// Retries while the database has connections: copying and renaming need none, and closing one takes the server a
/// moment.
async fn patiently(sql: &str) {
    for _ in 0..200 {
        match admin(sql).await {
            Ok(()) => return,
            Err(error) if error.to_string().contains("being accessed") => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(error) => panic!("{sql}: {error}"),
        }
    }
    panic!("{sql}: the database stays in use");
}

/// Returns the template for the present migrations. It outlives the process, because nextest runs each test in its own.
async fn template() -> Option<&'static str> {
    static NAME: OnceCell<String> = OnceCell::const_new();
    let url = admin_url()?;
    let name = NAME.get_or_init(|| async move {
        let name = format!("quarry_store_{:016x}", fingerprint());
        let mut admin = AsyncPgConnection::establish(&url).await.expect("the test server answers");
        admin.batch_execute("SELECT pg_advisory_lock(51423)").await.unwrap();
        let raw = format!("{name}_raw");
        if AsyncPgConnection::establish(&postgres_url(&name).unwrap()).await.is_err() {
            admin.batch_execute(&format!("DROP DATABASE IF EXISTS {raw} WITH (FORCE)")).await.unwrap();
            admin.batch_execute(&format!("CREATE DATABASE {raw} TEMPLATE template0")).await.unwrap();
            open(&postgres_url(&raw).unwrap()).await.migrate().await.unwrap();
            patiently(&format!("ALTER DATABASE {raw} RENAME TO {name}")).await;
        }
        name
    });
    Some(name.await)
}

fn fingerprint() -> u64 {
    let mut hasher = DefaultHasher::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/postgres");
    let mut folders: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for folder in folders {
        folder.file_name().hash(&mut hasher);
        std::fs::read(folder.join("up.sql")).unwrap().hash(&mut hasher);
    }
    hasher.finish()
}

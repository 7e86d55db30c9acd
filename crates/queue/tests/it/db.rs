//! Database of a test.

use std::time::Duration;

use base::{Clock, SystemClock};
use store::teams::{self, Team};
use store::{Options, Store};
use tempfile::TempDir;
use tokio_postgres::NoTls;

/// Migrated database with the teams `a` and `b`. A PostgreSQL database is removed with its server.
pub(crate) struct Db {
    url: String,
    _folder: Option<TempDir>,
}

impl Db {
    pub(crate) async fn sqlite() -> Db {
        let folder = TempDir::new().unwrap();
        let url = format!("sqlite://{}/test.db", folder.path().display());
        Db { url, _folder: Some(folder) }.prepared().await
    }

    pub(crate) async fn postgres() -> Option<Db> {
        let admin = admin_url()?;
        let (client, connection) = tokio_postgres::connect(&admin, NoTls).await.expect("the test server answers");
        let connection = tokio::spawn(connection);
        let name = format!("quarry_queue_{}", base::new_id().simple());
        client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).await.unwrap();
        drop(client);
        connection.await.unwrap().unwrap();
        let (server, _) = admin.rsplit_once('/').expect("the address names a database");
        Some(Db { url: format!("{server}/{name}"), _folder: None }.prepared().await)
    }

    /// Opens the database again, as another process would.
    pub(crate) async fn open(&self) -> Store {
        Store::open(&self.url, Options { wait: Duration::from_secs(30), ..Options::default() }).await.unwrap()
    }

    async fn prepared(self) -> Db {
        let store = self.open().await;
        store.migrate().await.unwrap();
        let mut conn = store.conn().await.unwrap();
        for team in ["a", "b"] {
            teams::create(&mut conn, &Team::new(team, team, SystemClock.now())).await.unwrap();
        }
        self
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the tests learn of the server")]
fn admin_url() -> Option<String> {
    let url = std::env::var("QUARRY_TEST_POSTGRES").ok();
    if url.is_none() {
        println!("skipped on PostgreSQL: QUARRY_TEST_POSTGRES is not set");
    }
    url
}

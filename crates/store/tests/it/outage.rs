//! Outages: a database that goes away, or cannot be written, and comes back.

use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, SqliteConnection};
use diesel_async::{AsyncConnection as _, AsyncPgConnection, SimpleAsyncConnection as _};
use store::teams::{self, Team};
use store::{Options, Result, Store, Trouble};

use crate::at;
use crate::backend::Db;
use crate::cluster::Cluster;

/// Longest time until a caller gets the error: two seconds, plus a margin for a busy machine.
const SOON: Duration = Duration::from_secs(5);

async fn write(store: &Store, id: &str) -> Result<()> {
    teams::create(&mut store.conn().await?, &Team::new(id, id, at(0))).await
}

/// Checks that concurrent writers all fail soon, for this reason.
async fn fails_soon(store: &Store, trouble: Trouble) {
    let tries = (0..8).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let started = Instant::now();
            let error = write(&store, &format!("lost-{number}")).await.unwrap_err();
            assert!(started.elapsed() < SOON, "{:?}: {error}", started.elapsed());
            error
        })
    });
    for each in tries.collect::<Vec<_>>() {
        let error = each.await.unwrap();
        assert_eq!(error.trouble(), Some(trouble), "{error:?}");
    }
    assert_eq!(store.trouble(), Some(trouble));
}

/// Waits for the end of the outage, which must be noticed without requests.
async fn works_again(store: &Store) {
    let started = Instant::now();
    while store.trouble().is_some() {
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", store.trouble());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    write(store, &format!("team-{}", base::new_id())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_sqlite_file() {
    let db = Db::sqlite().await;
    let store = db.store();
    let path = db.url().strip_prefix("sqlite://").unwrap();
    let mut other = SqliteConnection::establish(path).unwrap();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    fails_soon(&store, Trouble::Away).await;
    other.batch_execute("ROLLBACK").unwrap();
    works_again(&store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_and_a_frozen_postgresql() {
    let Some(cluster) = Cluster::start("host all all 127.0.0.1/32 trust\n") else { return };
    let store = Store::open(&cluster.url("postgres", "127.0.0.1", ""), Options::default()).await.unwrap();
    store.migrate().await.unwrap();
    write(&store, "first").await.unwrap();
    cluster.stop();
    fails_soon(&store, Trouble::Away).await;
    cluster.go_on();
    works_again(&store).await;

    tokio::time::sleep(Duration::from_millis(600)).await;
    cluster.freeze(true);
    fails_soon(&store, Trouble::Away).await;
    cluster.freeze(false);
    works_again(&store).await;
}

/// A read-only server answers queries and refuses writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_only_postgresql() {
    let Some(cluster) = Cluster::start("host all all 127.0.0.1/32 trust\n") else { return };
    let store = Store::open(&cluster.url("postgres", "127.0.0.1", ""), Options::default()).await.unwrap();
    store.migrate().await.unwrap();
    cluster.configure("default_transaction_read_only = on\n");
    let started = Instant::now();
    // Its processes pick up a new setting one by one.
    while write(&store, &base::new_id().to_string()).await.is_ok() {
        assert!(started.elapsed() < SOON, "it can still be written");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    fails_soon(&store, Trouble::Away).await;
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(3) {
        assert_eq!(store.trouble(), Some(Trouble::Away), "after {:?}", started.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    cluster.configure("default_transaction_read_only = off\n");
    works_again(&store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgresql_that_takes_no_more_connections_is_busy() {
    let Some(cluster) = Cluster::start("host all all 127.0.0.1/32 trust\n") else { return };
    let admin = cluster.url("postgres", "127.0.0.1", "");
    let mut admin = AsyncPgConnection::establish(admin.trim_end_matches('?')).await.unwrap();
    for sql in ["CREATE ROLE few LOGIN CONNECTION LIMIT 2", "CREATE DATABASE few OWNER few"] {
        admin.batch_execute(sql).await.unwrap();
    }
    let url = cluster.url("few", "127.0.0.1", "").replace("/postgres?", "/few?");
    let options = Options { wait: Duration::from_secs(3), ..Options::default() };
    let store = Store::open(&url, options).await.unwrap();
    store.migrate().await.unwrap();
    let held = [store.conn().await.unwrap(), store.conn().await.unwrap()];
    for _ in 0..2 {
        let error = write(&store, "refused").await.unwrap_err();
        assert_eq!((error.trouble(), store.trouble()), (Some(Trouble::Away), None), "{error:?}");
    }
    drop(held);
    write(&store, "let in").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_without_room() {
    let Some(disk) = testkit::SmallDisk::mount(4 << 20) else { return };
    let url = format!("sqlite://{}/quarry.db", disk.path().display());
    // A connection that cannot be opened is tried again after half of this time at the latest.
    let options = Options { wait: Duration::from_millis(1400), ..Options::default() };
    let store = Store::open(&url, options).await.unwrap();
    store.migrate().await.unwrap();
    disk.fill();
    let error = loop {
        // The WAL may have free room that was never returned to the disk.
        match write(&store, &base::new_id().to_string()).await {
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(error.trouble(), Some(Trouble::Full), "{error:?}");
    assert_eq!(store.trouble(), Some(Trouble::Full));
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(store.trouble(), Some(Trouble::Full), "it is still full");
    disk.empty();
    works_again(&store).await;
    drop(store);
    disk.fill();
    let error = match Store::open(&url, Options::default()).await {
        Ok(store) => write(&store, "late").await.unwrap_err(),
        Err(error) => error,
    };
    assert!(error.trouble().is_some(), "{error}");
}

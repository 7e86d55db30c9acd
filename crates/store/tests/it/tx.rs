//! Transactions: commit, rollback, and futures that are dropped in between.

use std::time::Duration;

use billing::LedgerError;
use diesel::result::Error;
use futures_util::future::join_all;
use store::teams::{self, Team};
use store::{Conn, Store, StoreError, Trouble, leases, ledger};
use tokio::sync::oneshot;

use crate::backend::{Db, open};
use crate::bank::{audit, booking, rich_team};
use crate::{at, id, suite};

suite!(
    a_good_end_commits_and_a_bad_end_rolls_back,
    nesting_is_refused,
    a_dropped_transaction_leaves_nothing_behind,
    futures_dropped_anywhere_leave_a_sound_ledger,
    a_failed_command_undoes_the_whole_transaction,
);

/// Transactions and single statements wait for the writing connection, while reads go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_share_one_connection() {
    let db = Db::sqlite().await;
    let store = db.store();
    let mut writing = store.writing().await.unwrap();
    let other = store.clone();
    let waiting = store.writing_runtime().spawn(async move {
        let mut conn = other.conn().await.unwrap();
        leases::acquire(&mut conn, "lease", "other", at(0), at(1)).await.unwrap()
    });
    tokio::task::yield_now().await;
    assert!(leases::acquire(&mut writing, "lease", "first", at(0), at(1)).await.unwrap());
    let tx: Result<(), StoreError> = writing.tx(async |_: &mut Conn| Ok(())).await;
    tx.unwrap();
    assert!(teams::find(&mut store.conn().await.unwrap(), "nobody").await.unwrap().is_none());
    assert!(!waiting.is_finished());
    drop(writing);
    assert!(!waiting.await.unwrap(), "the first was first");
}

/// Repeats a call a few times while the file is locked, as callers do.
macro_rules! patiently {
    ($call:expr) => {{
        let mut tries = 0;
        loop {
            tries += 1;
            match $call.await {
                Err(error) if tries < 5 && error.trouble() == Some(Trouble::Away) => {}
                done => break done.unwrap(),
            }
        }
    }};
}

/// A server and a worker: two pools on one file, which only share that file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_share_one_sqlite_file() {
    let db = Db::sqlite().await;
    let stores = [db.store(), open(db.url()).await];
    rich_team(&stores[0], "team", 1000).await;
    let work = (0..64).map(|n| {
        let store = stores[n % 2].clone();
        tokio::spawn(async move {
            for round in 0..5 {
                let mut conn = store.conn().await.unwrap();
                let key = format!("{n}/{round}");
                let held = patiently!(ledger::reserve(&mut conn, &booking(&key, "team", at(0)), 2, at(5)));
                patiently!(leases::acquire(&mut conn, &key, "me", at(0), at(1)));
                patiently!(ledger::settle(&mut conn, &held, 1, at(1)));
            }
        })
    });
    for result in join_all(work).await {
        result.unwrap();
    }
    assert_eq!(audit(&mut db.store().conn().await.unwrap(), "team").await.spent, 320);
}

/// A write behind a transaction that does not end times out; later writes work.
#[tokio::test(start_paused = true)]
async fn a_writer_that_stands_still_holds_nobody_for_ever() {
    let db = Db::sqlite().await;
    let (mut held, mut other) = (db.store().conn().await.unwrap(), db.store().conn().await.unwrap());
    let standing = held.tx(async |_: &mut Conn| std::future::pending::<Result<(), StoreError>>().await);
    let waiting = async {
        let tx: Result<(), StoreError> = other.tx(async |_: &mut Conn| Ok(())).await;
        let alone = leases::acquire(&mut other, "lease", "me", at(0), at(1)).await;
        (tx, alone)
    };
    let (tx, alone) = tokio::select! {
        biased;
        result = standing => panic!("the transaction ended: {result:?}"),
        ends = waiting => ends,
    };
    for error in [tx.unwrap_err(), alone.unwrap_err()] {
        assert!(error.to_string().contains("busy with other writes"), "{error}");
    }
    drop(held);
    assert!(leases::acquire(&mut other, "lease", "me", at(0), at(1)).await.unwrap(), "the turn is free again");
}

/// A single-threaded runtime, which has no other thread for its tasks.
#[tokio::test]
async fn one_thread_is_enough_for_sqlite() {
    let db = Db::sqlite().await;
    rich_team(&db.store(), "team", 100).await;
    let scrape = async |n: i64| {
        let (mut conn, key) = (db.store().conn().await.unwrap(), n.to_string());
        let held = ledger::reserve(&mut conn, &booking(&key, "team", at(0)), 2, at(5)).await.unwrap();
        tokio::task::yield_now().await;
        ledger::settle(&mut conn, &held, 1, at(1)).await.unwrap();
    };
    join_all((0..20).map(scrape)).await;
    assert_eq!(audit(&mut db.store().conn().await.unwrap(), "team").await.spent, 20);
}

async fn a_good_end_commits_and_a_bad_end_rolls_back(store: Store) {
    let mut conn = store.conn().await.unwrap();
    conn.tx(async |conn: &mut Conn| teams::create(conn, &Team::new("good", "", at(0))).await).await.unwrap();
    let result: Result<(), StoreError> = conn
        .tx(async |conn: &mut Conn| {
            teams::create(conn, &Team::new("bad", "", at(0))).await?;
            Err(StoreError::UnknownTeam)
        })
        .await;
    assert!(matches!(result, Err(StoreError::UnknownTeam)));
    assert!(teams::find(&mut conn, "good").await.unwrap().is_some());
    assert!(teams::find(&mut conn, "bad").await.unwrap().is_none());
}

async fn nesting_is_refused(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let inner = conn
        .tx(async |conn: &mut Conn| {
            let inner: Result<(), StoreError> = conn.tx(async |_: &mut Conn| Ok(())).await;
            Ok::<_, StoreError>(inner)
        })
        .await
        .unwrap();
    assert!(matches!(inner, Err(StoreError::Query(Error::AlreadyInTransaction))), "{inner:?}");
}

async fn a_dropped_transaction_leaves_nothing_behind(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let (tell, told) = oneshot::channel();
    let work = conn.tx(async move |conn: &mut Conn| {
        teams::create(conn, &Team::new("ghost", "", at(0))).await?;
        tell.send(()).unwrap();
        std::future::pending::<Result<(), StoreError>>().await
    });
    tokio::select! {
        result = work => panic!("the transaction ended: {result:?}"),
        result = told => result.unwrap(),
    }
    let again: Result<(), StoreError> = conn.tx(async |_: &mut Conn| Ok(())).await;
    assert!(again.is_err(), "the connection still has the old transaction");
    drop(conn);
    // The row is gone and holds no lock: the same id can be written at once.
    let mut conn = store.conn().await.unwrap();
    assert!(teams::find(&mut conn, "ghost").await.unwrap().is_none());
    teams::create(&mut conn, &Team::new("ghost", "", at(0))).await.unwrap();
}

async fn futures_dropped_anywhere_leave_a_sound_ledger(store: Store) {
    rich_team(&store, "team", 1000).await;
    for n in 0..60 {
        let store = store.clone();
        let work = async move {
            let mut conn = store.conn().await.unwrap();
            let key = id();
            let held = ledger::reserve(&mut conn, &booking(&key, "team", at(0)), 3, at(5)).await.unwrap();
            ledger::settle(&mut conn, &held, 1, at(1)).await.unwrap();
        };
        // Each drop comes a little later than the one before: from the first statement to after the last.
        let _ = tokio::time::timeout(Duration::from_micros(150 * n), work).await;
    }
    let mut conn = store.conn().await.unwrap();
    audit(&mut conn, "team").await;
    while ledger::expire_reservations(&mut conn, at(5), 100).await.unwrap() == 100 {}
    let balance = audit(&mut conn, "team").await;
    assert_eq!((balance.reserved, balance.available + balance.spent), (0, 1000));
}

async fn a_failed_command_undoes_the_whole_transaction(store: Store) {
    rich_team(&store, "team", 5).await;
    let mut conn = store.conn().await.unwrap();
    let result = conn
        .tx(async |conn: &mut Conn| {
            ledger::reserve(conn, &booking("first", "team", at(0)), 4, at(5)).await?;
            ledger::reserve(conn, &booking("second", "team", at(0)), 4, at(5)).await
        })
        .await;
    let expect = LedgerError::Insufficient { needed: 4, available: 1 };
    assert!(matches!(result, Err(StoreError::Ledger(error)) if error == expect));
    assert_eq!(audit(&mut conn, "team").await.available, 5);
}

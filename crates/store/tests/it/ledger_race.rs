//! Ledger with 64 concurrent callers.

use billing::{Balance, Hold, LedgerError};
use futures_util::future::join_all;
use store::scrapes::{self, Scrape};
use store::{Store, StoreError, ledger};

use crate::bank::{audit, booking, rich_team};
use crate::{at, id, suite};

suite!(
    sixty_four_reservations_on_ten_credits_give_ten,
    one_key_used_by_many_at_once_is_booked_once,
    sixty_four_whole_scrapes_at_once_all_end,
);

async fn sixty_four_reservations_on_ten_credits_give_ten(store: Store) {
    rich_team(&store, "team", 10).await;
    let tries = (0..64).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut conn = store.conn().await.unwrap();
            match ledger::reserve(&mut conn, &booking(&format!("s{n}"), "team", at(0)), 1, at(5)).await {
                Ok(_) => true,
                Err(StoreError::Ledger(LedgerError::Insufficient { .. })) => false,
                Err(other) => panic!("{other}"),
            }
        })
    });
    let got = join_all(tries).await.into_iter().filter(|result| *result.as_ref().unwrap()).count();
    assert_eq!(got, 10);
    let balance = audit(&mut store.conn().await.unwrap(), "team").await;
    assert_eq!(balance, Balance { available: 0, reserved: 10, spent: 0, granted: 10 });
}

async fn one_key_used_by_many_at_once_is_booked_once(store: Store) {
    rich_team(&store, "team", 100).await;
    let tries = (0..50).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut conn = store.conn().await.unwrap();
            let held = ledger::reserve(&mut conn, &booking("s1", "team", at(0)), 5, at(5)).await.unwrap();
            ledger::settle(&mut conn, &held, 2, at(1)).await.unwrap()
        })
    });
    for hold in join_all(tries).await {
        assert_eq!(hold.unwrap(), Hold { amount: 5, posted: 2, voided: 3 });
    }
    let balance = audit(&mut store.conn().await.unwrap(), "team").await;
    assert_eq!(balance, Balance { available: 98, reserved: 0, spent: 2, granted: 100 });
}

/// 64 concurrent requests, with statements outside of transactions between them: none may fail with a locked database.
async fn sixty_four_whole_scrapes_at_once_all_end(store: Store) {
    rich_team(&store, "team", 640).await;
    let scrapes = (0..64).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..5 {
                let id = id();
                let key = format!("scrape:{id}");
                let mut conn = store.conn().await.unwrap();
                let held = ledger::reserve(&mut conn, &booking(&key, "team", at(0)), 2, at(5)).await.unwrap();
                drop(conn);
                tokio::task::yield_now().await;
                let mut conn = store.conn().await.unwrap();
                scrapes::insert(&mut conn, &row(&id)).await.unwrap();
                ledger::settle(&mut conn, &held, 1, at(1)).await.unwrap();
            }
        })
    });
    for result in join_all(scrapes).await {
        result.unwrap();
    }
    let balance = audit(&mut store.conn().await.unwrap(), "team").await;
    assert_eq!(balance, Balance { available: 320, reserved: 0, spent: 320, granted: 640 });
}

fn row(id: &str) -> Scrape {
    Scrape {
        id: id.to_owned(),
        team_id: "team".to_owned(),
        api_key_id: None,
        url: None,
        status_code: Some(200),
        error_code: None,
        cache_state: None,
        credits: 1,
        duration_ms: 1,
        created_at: at(0),
        kept: None,
    }
}

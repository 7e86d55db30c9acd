//! Ledger commands: single, repeated, late.

use billing::{Applied, Balance, Hold, LedgerError};
use chrono::{DateTime, NaiveDate};
use store::ledger::{self, Booking};
use store::usage::{self, Period};
use store::{Store, StoreError};

use crate::bank::{audit, booking, rich_team};
use crate::{at, id, suite};

suite!(
    a_reservation_is_settled,
    a_repeated_key_answers_as_the_first_time,
    a_key_names_one_command,
    too_little_is_refused,
    an_unknown_team_is_refused,
    a_reservation_is_spent_piece_by_piece,
    late_reservations_expire,
    an_expired_reservation_cannot_be_spent,
    an_unlimited_team_is_charged,
    usage_is_summed_by_month_and_key,
    history_is_paged_by_key,
);

fn refused<T: std::fmt::Debug>(result: Result<T, StoreError>) -> LedgerError {
    match result {
        Err(StoreError::Ledger(error)) => error,
        other => panic!("not refused by the ledger: {other:?}"),
    }
}

async fn a_reservation_is_settled(store: Store) {
    rich_team(&store, "team", 10).await;
    let mut conn = store.conn().await.unwrap();
    let held = ledger::reserve(&mut conn, &booking("s1", "team", at(0)), 5, at(5)).await.unwrap();
    assert_eq!(held.hold, Hold { amount: 5, posted: 0, voided: 0 });
    let balance = ledger::balance(&mut conn, "team").await.unwrap();
    assert_eq!(balance, Balance { available: 5, reserved: 5, spent: 0, granted: 10 });
    let hold = ledger::settle(&mut conn, &held, 2, at(1)).await.unwrap();
    assert_eq!(hold, Hold { amount: 5, posted: 2, voided: 3 });
    assert_eq!(audit(&mut conn, "team").await, Balance { available: 8, reserved: 0, spent: 2, granted: 10 });
    let free = ledger::reserve(&mut conn, &booking("s2", "team", at(0)), 8, at(5)).await.unwrap();
    ledger::void(&mut conn, &free, at(1)).await.unwrap();
    let full = ledger::reserve(&mut conn, &booking("s3", "team", at(0)), 8, at(5)).await.unwrap();
    ledger::settle(&mut conn, &full, 8, at(1)).await.unwrap();
    assert_eq!(audit(&mut conn, "team").await, Balance { available: 0, reserved: 0, spent: 10, granted: 10 });
}

async fn a_repeated_key_answers_as_the_first_time(store: Store) {
    rich_team(&store, "team", 10).await;
    let mut conn = store.conn().await.unwrap();
    let grant = booking("plan:team", "team", at(9));
    assert_eq!(ledger::grant(&mut conn, &grant, 10).await.unwrap(), Applied::Before(10));
    let first = ledger::reserve(&mut conn, &booking("s1", "team", at(0)), 7, at(5)).await.unwrap();
    let again = ledger::reserve(&mut conn, &booking("s1", "team", at(1)), 7, at(6)).await.unwrap();
    assert_eq!(again, first);
    for _ in 0..3 {
        let hold = ledger::settle(&mut conn, &first, 4, at(2)).await.unwrap();
        assert_eq!(hold, Hold { amount: 7, posted: 4, voided: 3 });
    }
    let late = ledger::reserve(&mut conn, &booking("s1", "team", at(1)), 7, at(6)).await.unwrap();
    assert_eq!(late.hold.remaining(), 0);
    assert_eq!(audit(&mut conn, "team").await, Balance { available: 6, reserved: 0, spent: 4, granted: 10 });
}

async fn a_key_names_one_command(store: Store) {
    rich_team(&store, "team", 10).await;
    rich_team(&store, "other", 10).await;
    let mut conn = store.conn().await.unwrap();
    let held = ledger::reserve(&mut conn, &booking("s1", "team", at(0)), 5, at(5)).await.unwrap();
    let reused = [
        refused(ledger::reserve(&mut conn, &booking("s1", "team", at(0)), 4, at(5)).await),
        refused(ledger::reserve(&mut conn, &booking("s1", "other", at(0)), 5, at(5)).await),
        refused(ledger::reserve(&mut conn, &booking("s1", "team", at(0)), 99, at(5)).await),
        refused(ledger::grant(&mut conn, &booking("s1", "team", at(0)), 5).await),
    ];
    assert_eq!(reused, [const { LedgerError::KeyReused }; 4]);
    ledger::settle(&mut conn, &held, 2, at(1)).await.unwrap();
    assert_eq!(refused(ledger::settle(&mut conn, &held, 3, at(1)).await), LedgerError::KeyReused);
    audit(&mut conn, "team").await;
}

async fn too_little_is_refused(store: Store) {
    rich_team(&store, "team", 3).await;
    let mut conn = store.conn().await.unwrap();
    let error = refused(ledger::reserve(&mut conn, &booking("s1", "team", at(0)), 4, at(5)).await);
    assert_eq!(error, LedgerError::Insufficient { needed: 4, available: 3 });
    assert_eq!(ledger::reservation(&mut conn, "team", "s1").await.unwrap(), None);
    let held = ledger::reserve(&mut conn, &booking("s2", "team", at(0)), 2, at(5)).await.unwrap();
    let error = refused(ledger::settle(&mut conn, &held, 3, at(1)).await);
    assert_eq!(error, LedgerError::Overdrawn { needed: 3, remaining: 2 });
    assert_eq!(refused(ledger::settle(&mut conn, &held, -1, at(1)).await), LedgerError::Amount(-1));
    // The key of a refused command is free.
    ledger::reserve(&mut conn, &booking("s1", "team", at(0)), 1, at(5)).await.unwrap();
    assert_eq!(audit(&mut conn, "team").await.available, 0);
}

async fn an_unknown_team_is_refused(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let result = ledger::grant(&mut conn, &booking("g", "nobody", at(0)), 1).await;
    assert!(matches!(result, Err(StoreError::UnknownTeam)));
    assert!(matches!(ledger::balance(&mut conn, "nobody").await, Err(StoreError::UnknownTeam)));
}

async fn a_reservation_is_spent_piece_by_piece(store: Store) {
    rich_team(&store, "team", 10).await;
    let mut conn = store.conn().await.unwrap();
    let held = ledger::reserve(&mut conn, &booking("crawl", "team", at(0)), 6, at(5)).await.unwrap();
    for (page, amount, expect) in
        [("p1", 2, Applied::Now(2)), ("p2", 3, Applied::Now(3)), ("p1", 2, Applied::Before(2))]
    {
        let applied = ledger::post(&mut conn, &booking(page, "team", at(1)), &held.key, amount).await.unwrap();
        assert_eq!(applied, expect, "{page}");
    }
    let unknown = ledger::post(&mut conn, &booking("p3", "team", at(1)), "elsewhere", 1).await;
    assert_eq!(refused(unknown), LedgerError::UnknownReservation);
    assert_eq!(ledger::void(&mut conn, &held, at(2)).await.unwrap(), Hold { amount: 6, posted: 5, voided: 1 });
    assert_eq!(audit(&mut conn, "team").await, Balance { available: 5, reserved: 0, spent: 5, granted: 10 });
}

async fn late_reservations_expire(store: Store) {
    rich_team(&store, "team", 10).await;
    let mut conn = store.conn().await.unwrap();
    for (key, until) in [("s1", 1), ("s2", 2), ("s3", 3), ("s4", 9)] {
        ledger::reserve(&mut conn, &booking(key, "team", at(0)), 2, at(until)).await.unwrap();
    }
    assert_eq!(ledger::expire_reservations(&mut conn, at(0), 10).await.unwrap(), 0);
    assert_eq!(ledger::expire_reservations(&mut conn, at(3), 2).await.unwrap(), 2);
    let state = async |key| ledger::reservation(&mut store.conn().await.unwrap(), "team", key).await.unwrap().unwrap();
    assert_eq!((state("s1").await.hold.voided, state("s3").await.hold.voided), (2, 0));
    assert_eq!(ledger::expire_reservations(&mut conn, at(3), 2).await.unwrap(), 1);
    assert_eq!(ledger::expire_reservations(&mut conn, at(3), 2).await.unwrap(), 0);
    assert_eq!(audit(&mut conn, "team").await, Balance { available: 8, reserved: 2, spent: 0, granted: 10 });
}

async fn an_expired_reservation_cannot_be_spent(store: Store) {
    rich_team(&store, "team", 10).await;
    let mut conn = store.conn().await.unwrap();
    let held = ledger::reserve(&mut conn, &booking("s1", "team", at(0)), 2, at(1)).await.unwrap();
    ledger::expire_reservations(&mut conn, at(1), 10).await.unwrap();
    assert_eq!(refused(ledger::settle(&mut conn, &held, 1, at(2)).await), LedgerError::Closed);
    assert_eq!(ledger::void(&mut conn, &held, at(2)).await.unwrap().voided, 2);
    assert_eq!(audit(&mut conn, "team").await.available, 10);
}

async fn an_unlimited_team_is_charged(store: Store) {
    rich_team(&store, "team", 0).await;
    let mut conn = store.conn().await.unwrap();
    assert_eq!(ledger::charge(&mut conn, &booking("s1", "team", at(0)), 5).await.unwrap(), Applied::Now(5));
    assert_eq!(ledger::charge(&mut conn, &booking("s1", "team", at(0)), 5).await.unwrap(), Applied::Before(5));
    assert_eq!(audit(&mut conn, "team").await, Balance { available: 0, reserved: 0, spent: 5, granted: 5 });
}

async fn usage_is_summed_by_month_and_key(store: Store) {
    rich_team(&store, "team", 100).await;
    rich_team(&store, "other", 100).await;
    let mut conn = store.conn().await.unwrap();
    let day = |text: &str| DateTime::parse_from_rfc3339(&format!("{text}T23:59:59Z")).unwrap().to_utc();
    let spent = [
        ("team", None, "2026-01-31", 1),
        ("team", Some("k1"), "2026-01-31", 2),
        ("team", Some("k1"), "2026-01-31", 4),
        ("team", Some("k1"), "2026-01-01", 8),
        ("team", Some("k2"), "2025-12-31", 16),
        ("other", None, "2026-01-31", 32),
    ];
    for (team, api_key, date, credits) in spent {
        let key = id();
        let booking = Booking { key: &key, team, api_key, at: day(date) };
        let held = ledger::reserve(&mut conn, &booking, credits + 1, at(1_000_000)).await.unwrap();
        ledger::settle(&mut conn, &held, credits, day(date)).await.unwrap();
    }
    let month = |year, month, api_key: Option<&str>, credits| Period {
        start: NaiveDate::from_ymd_opt(year, month, 1).unwrap(),
        end: NaiveDate::from_ymd_opt(2026, month % 12 + 1, 1).unwrap(),
        api_key: api_key.map(str::to_owned),
        credits,
    };
    let all = usage::periods(&mut conn, "team", false).await.unwrap();
    assert_eq!(all, [month(2025, 12, None, 16), month(2026, 1, None, 15)]);
    let by_key = usage::periods(&mut conn, "team", true).await.unwrap();
    assert_eq!(by_key, [month(2025, 12, Some("k2"), 16), month(2026, 1, None, 1), month(2026, 1, Some("k1"), 14)]);
}

async fn history_is_paged_by_key(store: Store) {
    rich_team(&store, "team", 10).await;
    let mut conn = store.conn().await.unwrap();
    for key in ["a:2", "a:1", "B", "a"] {
        let held = ledger::reserve(&mut conn, &booking(key, "team", at(0)), 1, at(5)).await.unwrap();
        ledger::settle(&mut conn, &held, 1, at(1)).await.unwrap();
    }
    let (mut keys, mut after) = (Vec::new(), None);
    loop {
        let page = ledger::history(&mut conn, "team", after.as_deref(), 4).await.unwrap();
        after = page.last().map(|booked| booked.key.clone());
        keys.extend(page.into_iter().map(|booked| booked.key));
        if after.is_none() {
            break;
        }
    }
    assert_eq!(keys, ["B", "B/post", "a", "a/post", "a:1", "a:1/post", "a:2", "a:2/post", "plan:team"]);
}

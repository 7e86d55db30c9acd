//! Group bookings must give the same results and rows as single bookings.

use billing::LedgerError;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use store::ledger::{self, Booking, Order, Reservation, Task};
use store::{Conn, Store, StoreError};
use tokio::runtime::Handle;

use crate::bank::{audit, rich_team};
use crate::{at, id, suite};

suite!(
    random_groups_do_what_each_would_alone,
    a_refusal_keeps_nothing_else_from_being_booked,
    a_repeat_is_left_to_be_booked_alone,
    an_unknown_team_books_nothing,
);

const CASES: u32 = 16;

/// Operation to book: the number of its key, and credits.
#[derive(Debug, Clone)]
enum Wish {
    Reserve(u8, i64),
    Settle(u8, i64),
    Charge(u8, i64),
}

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        4 => (0..12_u8, 0..9_i64).prop_map(|(n, amount)| Wish::Reserve(n, amount)),
        4 => (0..12_u8, 0..9_i64).prop_map(|(n, amount)| Wish::Settle(n, amount)),
        1 => (0..12_u8, 1..9_i64).prop_map(|(n, amount)| Wish::Charge(n, amount)),
    ]
}

async fn random_groups_do_what_each_would_alone(store: Store) {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let strategy = prop::collection::vec(prop::collection::vec(wish(), 1..7), 1..12);
    let handle = Handle::current();
    let result = tokio::task::block_in_place(|| {
        TestRunner::new(config).run(&strategy, |groups| {
            handle.block_on(compare(&store, &groups));
            Ok(())
        })
    });
    result.unwrap();
}

async fn compare(store: &Store, groups: &[Vec<Wish>]) {
    let mut conn = store.conn().await.unwrap();
    let case = id();
    let (one, other) = (format!("{case}/1"), format!("{case}/2"));
    for team in [&one, &other] {
        rich_team(store, team, 40).await;
    }
    for group in groups {
        let together = book(&mut conn, &one, group, true).await;
        let alone = book(&mut conn, &other, group, false).await;
        assert_eq!(together, alone, "{group:?}");
        assert_eq!(audit(&mut conn, &one).await, audit(&mut conn, &other).await, "{group:?}");
    }
    let (mine, others) = (rows(&mut conn, &one).await, rows(&mut conn, &other).await);
    assert_eq!(mine, others);
}

/// Books a group as the service does: together, or each order alone if that fails.
async fn book(conn: &mut Conn, team: &str, group: &[Wish], together: bool) -> Vec<Result<(), LedgerError>> {
    let mut held = Vec::new();
    for wish in group {
        held.push(match wish {
            Wish::Settle(n, _) => ledger::reservation(conn, team, &format!("{team}/r{n}")).await.unwrap(),
            Wish::Reserve(..) | Wish::Charge(..) => None,
        });
    }
    let keys: Vec<String> = group.iter().map(|wish| key(team, wish)).collect();
    let orders: Vec<Order<'_>> =
        group.iter().zip(&held).zip(&keys).filter_map(|((wish, held), key)| order(wish, held.as_ref(), key)).collect();
    if together {
        let booked = conn.tx(async |conn: &mut Conn| ledger::book_all(conn, team, &orders, at(1)).await).await;
        if let Ok(booked) = booked {
            return booked.into_iter().map(|one| one.map(drop)).collect();
        }
    }
    let mut answers = Vec::new();
    for order in orders {
        answers.push(alone(conn, team, &order).await);
    }
    answers
}

fn key(team: &str, wish: &Wish) -> String {
    match wish {
        Wish::Reserve(n, _) | Wish::Settle(n, _) => format!("{team}/r{n}"),
        Wish::Charge(n, _) => format!("{team}/c{n}"),
    }
}

/// Returns the order of a wish; `None` for the settlement of a reservation that was never made.
fn order<'a>(wish: &Wish, held: Option<&'a Reservation>, key: &'a str) -> Option<Order<'a>> {
    let task = match *wish {
        Wish::Reserve(_, amount) => Task::Reserve { amount, expires_at: at(5) },
        Wish::Settle(_, amount) => Task::Settle { held: held?, amount },
        Wish::Charge(_, amount) => Task::Charge { amount },
    };
    Some(Order { key, api_key: None, task })
}

async fn alone(conn: &mut Conn, team: &str, order: &Order<'_>) -> Result<(), LedgerError> {
    let booking = Booking { key: order.key, team, api_key: None, at: at(1) };
    let answer = match order.task {
        Task::Reserve { amount, expires_at } => ledger::reserve(conn, &booking, amount, expires_at).await.map(drop),
        Task::Settle { held, amount } => ledger::settle(conn, held, amount, at(1)).await.map(drop),
        Task::Charge { amount } => ledger::charge(conn, &booking, amount).await.map(drop),
    };
    match answer {
        Ok(()) => Ok(()),
        Err(StoreError::Ledger(refusal)) => Err(refusal),
        Err(other) => panic!("{other}"),
    }
}

/// Returns the transfers of a team without its name, and the rest of each reservation.
async fn rows(conn: &mut Conn, team: &str) -> Vec<(String, String, i64, Option<i64>)> {
    let mut rows = Vec::new();
    for row in ledger::history(conn, team, None, 1000).await.unwrap() {
        let left = ledger::reservation(conn, team, &row.key).await.unwrap().map(|held| held.hold.remaining());
        rows.push((row.key.replace(team, ""), row.kind, row.amount, left));
    }
    rows
}

async fn a_refusal_keeps_nothing_else_from_being_booked(store: Store) {
    rich_team(&store, "team", 10).await;
    let mut conn = store.conn().await.unwrap();
    let reserve = |key, amount| Order { key, api_key: None, task: Task::Reserve { amount, expires_at: at(5) } };
    let orders = [reserve("a", 6), reserve("b", 6), reserve("c", 4)];
    let booked = conn.tx(async |conn: &mut Conn| ledger::book_all(conn, "team", &orders, at(0)).await).await.unwrap();
    let [Ok(Some(a)), Err(refusal), Ok(Some(c))] = &booked[..] else { panic!("{booked:?}") };
    assert_eq!((a.hold.amount, c.hold.amount), (6, 4));
    assert_eq!(*refusal, LedgerError::Insufficient { needed: 6, available: 4 });
    assert_eq!(ledger::reservation(&mut conn, "team", "a").await.unwrap().as_ref(), Some(a));
    assert!(ledger::reservation(&mut conn, "team", "b").await.unwrap().is_none());
    assert_eq!(audit(&mut conn, "team").await.reserved, 10);
}

async fn a_repeat_is_left_to_be_booked_alone(store: Store) {
    rich_team(&store, "team", 10).await;
    let mut conn = store.conn().await.unwrap();
    let charge = |key| Order { key, api_key: None, task: Task::Charge { amount: 1 } };
    let first = conn.tx(async |conn: &mut Conn| ledger::book_all(conn, "team", &[charge("a")], at(0)).await).await;
    assert_eq!(first.unwrap(), [Ok(None)]);
    let orders = [charge("b"), charge("a")];
    let again = conn.tx(async |conn: &mut Conn| ledger::book_all(conn, "team", &orders, at(0)).await).await;
    assert!(again.is_err(), "{again:?}");
    assert_eq!(audit(&mut conn, "team").await.spent, 1);
}

async fn an_unknown_team_books_nothing(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let orders = [Order { key: "a", api_key: None, task: Task::Charge { amount: 1 } }];
    let booked = conn.tx(async |conn: &mut Conn| ledger::book_all(conn, "nobody", &orders, at(0)).await).await;
    assert!(matches!(booked, Err(StoreError::UnknownTeam)), "{booked:?}");
}

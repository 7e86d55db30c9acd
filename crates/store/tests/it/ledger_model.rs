//! Model test of the ledger: random commands must give the same results and rows in SQL as in `billing`.

use billing::{Account, Applied, Command, Ledger, LedgerError};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use store::ledger::{self, Booking};
use store::teams::{self, Team};
use store::{Store, StoreError};
use tokio::runtime::Handle;

use crate::bank::audit;
use crate::{at, id, suite};

suite!(random_commands_do_what_the_model_does);

const CASES: u32 = 24;

/// Command with its team and key. Names are completed with the number of the case.
type Operation = (usize, String, Command);

fn operation() -> impl Strategy<Value = Operation> {
    let amount = prop_oneof![8 => 1..20_i64, 1 => -1..1_i64];
    let command = prop_oneof![
        2 => amount.clone().prop_map(|amount| ("g", Command::Grant { amount })),
        4 => amount.clone().prop_map(|amount| ("r", Command::Reserve { amount })),
        4 => (0..8_u8, amount.clone())
            .prop_map(|(n, amount)| ("p", Command::Post { reservation: format!("r{n}"), amount })),
        2 => (0..8_u8).prop_map(|n| ("v", Command::Void { reservation: format!("r{n}") })),
        1 => amount.prop_map(|amount| ("c", Command::Charge { amount })),
    ];
    (0..2_usize, command, 0..8_u8, prop::bool::weighted(0.05)).prop_map(|(team, (kind, command), n, clash)| {
        (team, if clash { format!("x{n}") } else { format!("{kind}{n}") }, command)
    })
}

async fn random_commands_do_what_the_model_does(store: Store) {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let strategy = prop::collection::vec(operation(), 1..60);
    let handle = Handle::current();
    let result = tokio::task::block_in_place(|| {
        TestRunner::new(config).run(&strategy, |operations| handle.block_on(compare(&store, operations)))
    });
    result.unwrap();
}

async fn compare(store: &Store, operations: Vec<Operation>) -> Result<(), TestCaseError> {
    let mut conn = store.conn().await.unwrap();
    let case = id();
    let teams = [0, 1].map(|n| format!("{case}/{n}"));
    for team in &teams {
        teams::create(&mut conn, &Team::new(team, "", at(0))).await.unwrap();
    }
    let mut model = Ledger::default();
    for (team, key, command) in operations {
        let (team, key, command) = (&teams[team], format!("{case}/{key}"), prefixed(&case, command));
        let expect = model.apply(team, &key, &command);
        let got = in_sql(store, team, &key, &command).await;
        prop_assert_eq!(got, expect, "{} {} {:?}", team, key, command);
        prop_assert_eq!(ledger::balance(&mut conn, team).await.unwrap(), model.balance(team));
    }
    for team in &teams {
        audit(&mut conn, team).await;
        let rows = ledger::history(&mut conn, team, None, 1000).await.unwrap();
        let records: Vec<_> = model.records().filter(|(_, record)| record.team == *team).collect();
        prop_assert_eq!(rows.len(), records.len());
        for (row, (key, record)) in rows.iter().zip(records) {
            let mut entries =
                record.entries.map(|entry| (Account::as_str(entry.account).to_owned(), entry.amount)).to_vec();
            entries.sort();
            prop_assert_eq!(&row.key, key);
            prop_assert_eq!(row.kind.as_str(), record.command.transfer().as_str());
            prop_assert_eq!(row.amount, record.amount);
            prop_assert_eq!(row.reservation.as_deref(), record.command.reservation());
            prop_assert_eq!(&row.entries, &entries);
            let held = ledger::reservation(&mut conn, team, key).await.unwrap().map(|held| held.hold);
            prop_assert_eq!(held, model.hold(team, key));
        }
    }
    Ok(())
}

fn prefixed(case: &str, command: Command) -> Command {
    match command {
        Command::Post { reservation, amount } => Command::Post { reservation: format!("{case}/{reservation}"), amount },
        Command::Void { reservation } => Command::Void { reservation: format!("{case}/{reservation}") },
        other => other,
    }
}

async fn in_sql(store: &Store, team: &str, key: &str, command: &Command) -> Result<Applied, LedgerError> {
    let mut conn = store.conn().await.unwrap();
    let booking = Booking { key, team, api_key: None, at: at(0) };
    match ledger::apply(&mut conn, &booking, command, at(5)).await {
        Ok(applied) => Ok(applied),
        Err(StoreError::Ledger(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

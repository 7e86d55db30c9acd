//! The ledger under random commands: at least 100 000 operations, with the invariants checked after each.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use billing::{Applied, Balance, Command, Hold, Ledger, LedgerError, post_key, void_key};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const TEAMS: [&str; 3] = ["red", "green", "blue"];

/// Random operation. Keys come from a small pool, so that repeats and conflicts are common.
#[derive(Debug, Clone)]
struct Operation {
    team: usize,
    key: String,
    command: Command,
}

fn operation() -> impl Strategy<Value = Operation> {
    let amount = prop_oneof![8 => 1..20_i64, 1 => -2..1_i64, 1 => 20..1000_i64];
    let reservation = (0..40_u8).prop_map(|n| format!("r{n}"));
    let command = prop_oneof![
        2 => amount.clone().prop_map(|amount| (Command::Grant { amount }, "g")),
        4 => amount.clone().prop_map(|amount| (Command::Reserve { amount }, "r")),
        4 => (reservation.clone(), amount.clone())
            .prop_map(|(reservation, amount)| (Command::Post { reservation, amount }, "p")),
        2 => reservation.prop_map(|reservation| (Command::Void { reservation }, "v")),
        1 => amount.prop_map(|amount| (Command::Charge { amount }, "c")),
    ];
    (0..TEAMS.len(), command, 0..40_u8, prop::bool::weighted(0.05)).prop_map(|(team, (command, kind), n, clash)| {
        let key = if clash { format!("x{n}") } else { format!("{kind}{n}") };
        Operation { team, key, command }
    })
}

/// Random operations; one in eight repeats an earlier one.
fn log() -> impl Strategy<Value = Vec<Operation>> {
    let again = prop::option::weighted(0.125, any::<prop::sample::Index>());
    prop::collection::vec((operation(), again), 200..260).prop_map(|drawn| {
        let mut log: Vec<Operation> = Vec::with_capacity(drawn.len());
        for (fresh, again) in drawn {
            let next = again.filter(|_| !log.is_empty()).map_or(fresh, |index| index.get(&log).clone());
            log.push(next);
        }
        log
    })
}

fn run(cases: u32, test: impl Fn(&mut TestRunner)) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    test(&mut TestRunner::new(config));
}

#[test]
fn a_hundred_thousand_random_operations_keep_every_rule() {
    let (booked, repeated, refused) = (Cell::new(0_u64), Cell::new(0_u64), Cell::new(0_u64));
    run(512, |runner| {
        let result = runner.run(&log(), |operations| {
            let mut ledger = Ledger::default();
            for Operation { team, key, command } in &operations {
                let before = ledger.clone();
                match ledger.apply(TEAMS[*team], key, command) {
                    Ok(Applied::Now(amount)) => {
                        prop_assert!(amount > 0);
                        booked.set(booked.get() + 1);
                    }
                    Ok(Applied::Before(_)) => {
                        prop_assert_eq!(&ledger, &before);
                        repeated.set(repeated.get() + 1);
                    }
                    Err(_) => {
                        prop_assert_eq!(&ledger, &before);
                        refused.set(refused.get() + 1);
                    }
                }
                prop_assert_eq!(ledger.invariants(), Ok(()));
            }
            replay_gives_the_same(&ledger, &operations)
        });
        result.unwrap();
    });
    let total = booked.get() + repeated.get() + refused.get();
    println!("{total} operations: {} booked, {} repeated, {} refused", booked.get(), repeated.get(), refused.get());
    assert!(total >= 100_000, "only {total} operations");
    assert!(booked.get() > 10_000 && repeated.get() > 2_000 && refused.get() > 10_000, "the mix is off");
}

/// Replays the log in a new ledger, then repeats every transfer on top of it.
fn replay_gives_the_same(ledger: &Ledger, operations: &[Operation]) -> Result<(), TestCaseError> {
    let mut again = Ledger::default();
    for Operation { team, key, command } in operations {
        let _ = again.apply(TEAMS[*team], key, command);
    }
    prop_assert_eq!(&again, ledger);
    for (key, record) in ledger.records() {
        prop_assert_eq!(again.apply(&record.team, key, &record.command), Ok(Applied::Before(record.amount)));
    }
    prop_assert_eq!(&again, ledger);
    Ok(())
}

/// Simulates a job that reserves credits, pays page by page with repeated attempts, and returns the rest.
#[test]
fn a_job_pays_each_page_once_and_gives_the_rest_back() {
    run(400, |runner| {
        let plan = (1..30_i64, 0..60_i64, prop::collection::vec((0..30_i64, 1..6_i64), 0..60));
        let result = runner.run(&plan, |(limit, credits, attempts)| {
            const PRICE: i64 = 5;
            let mut ledger = Ledger::default();
            if credits > 0 {
                ledger.apply("t", "plan", &Command::Grant { amount: credits }).unwrap();
            }
            let reserve = Command::Reserve { amount: limit * PRICE };
            if let Err(error) = ledger.apply("t", "job", &reserve) {
                let available = credits;
                prop_assert_eq!(error, LedgerError::Insufficient { needed: limit * PRICE, available });
                prop_assert_eq!(ledger.balance("t").spent, 0);
                return Ok(());
            }
            let mut paid = BTreeMap::new();
            for (page, cost) in attempts.into_iter().filter(|(page, _)| *page < limit) {
                let cost = *paid.entry(page).or_insert(cost);
                let post = Command::Post { reservation: "job".into(), amount: cost };
                let applied = ledger.apply("t", &format!("job/page/{page}"), &post);
                prop_assert!(applied.is_ok() || applied == Err(LedgerError::Closed), "{:?}", applied);
            }
            let spent: i64 = paid.values().sum();
            prop_assert_eq!(ledger.balance("t").spent, spent);
            let _ = ledger.apply("t", &void_key("job"), &Command::Void { reservation: "job".into() });
            let hold = ledger.hold("t", "job").unwrap();
            prop_assert_eq!(hold, Hold { amount: limit * PRICE, posted: spent, voided: limit * PRICE - spent });
            let left = Balance { available: credits - spent, reserved: 0, spent, granted: credits };
            prop_assert_eq!(ledger.balance("t"), left);
            ledger.invariants().map_err(TestCaseError::fail)
        });
        result.unwrap();
    });
}

/// Checks that one-credit debits, in any order and with any repeats, succeed exactly as often as there are credits.
#[test]
fn no_order_of_debits_spends_more_than_there_is() {
    run(200, |runner| {
        let plan = (0..20_i64, prop::collection::vec(0..64_u8, 0..128));
        let result = runner.run(&plan, |(credits, tries)| {
            let mut ledger = Ledger::default();
            if credits > 0 {
                ledger.apply("t", "plan", &Command::Grant { amount: credits }).unwrap();
            }
            let asked: BTreeSet<_> = tries.iter().collect();
            for n in &tries {
                let key = format!("scrape:{n}");
                if ledger.apply("t", &key, &Command::Reserve { amount: 1 }).is_ok() {
                    let post = Command::Post { reservation: key.clone(), amount: 1 };
                    prop_assert!(ledger.apply("t", &post_key(&key), &post).is_ok());
                }
            }
            let expect = credits.min(i64::try_from(asked.len()).unwrap());
            prop_assert_eq!(ledger.balance("t").spent, expect);
            ledger.invariants().map_err(TestCaseError::fail)
        });
        result.unwrap();
    });
}

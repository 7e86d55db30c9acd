//! Test suite that runs on SQLite (a copied file for each test) and on PostgreSQL (a copied template database for each
//! test). PostgreSQL needs QUARRY_TEST_POSTGRES, the URL of an administrator, which `cargo xtask test` sets.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod activity;
mod backend;
mod bank;
mod browser;
mod cache;
mod chats;
mod cluster;
mod feedback;
mod files;
mod jobs;
mod jobs_hosts;
mod jobs_model;
mod jobs_race;
mod keys;
mod leases;
mod ledger;
mod ledger_group;
mod ledger_model;
mod ledger_race;
mod mails;
mod migrations;
mod monitor_checks;
mod monitors;
mod outage;
mod periodic;
mod profiles;
mod robots;
mod runs;
mod scrapes;
mod search;
mod search_months;
mod teams;
mod tls;
mod tx;
mod versions;
mod webhooks;

use base::Timestamp;
use chrono::{DateTime, TimeDelta};

/// Runs every named `async fn(store: Store)` of a module on both backends.
macro_rules! suite {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::backend::Db::sqlite().await.store()).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let Some(db) = $crate::backend::Db::postgres().await else { return };
                super::$name(db.store()).await;
                db.remove().await;
            })+
        }
    };
}
pub(crate) use suite;

/// Returns minute `minutes` of the tests' time.
pub(crate) fn at(minutes: i64) -> Timestamp {
    DateTime::from_timestamp(1_790_000_000, 123_456_000).unwrap() + TimeDelta::minutes(minutes)
}

/// Returns a fresh id.
pub(crate) fn id() -> String {
    base::new_id().to_string()
}

//! Workers on a real database: SQLite, and PostgreSQL if QUARRY_TEST_POSTGRES (set by `cargo xtask test`) names one.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod act;
mod db;
mod lost;
mod periodic;
mod work;

/// Runs every named `async fn(db: Db)` of a module on both backends.
macro_rules! suite {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::db::Db::sqlite().await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let Some(db) = $crate::db::Db::postgres().await else { return };
                super::$name(db).await;
            })+
        }
    };
}
pub(crate) use suite;

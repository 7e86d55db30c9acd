//! Database of the service, on SQLite or PostgreSQL: schema, migrations, queries. The only crate that uses diesel.
//!
//! Queries are functions per resource on a [`Conn`]; they work alone and inside [`Conn::tx`]. Times and ids are
//! parameters.
//!
//! ```
//! use store::{Options, Store, ledger, teams};
//!
//! # #[tokio::main]
//! # async fn main() -> store::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let url = format!("sqlite://{}/quarry.db", folder.path().display());
//! let store = Store::open(&url, Options::default()).await?;
//! store.migrate().await?;
//!
//! let now = chrono::DateTime::UNIX_EPOCH;
//! let mut conn = store.conn().await?;
//! teams::create(&mut conn, &teams::Team::new("team-1", "Team", now)).await?;
//! let plan = ledger::Booking { key: "plan:team-1", team: "team-1", api_key: None, at: now };
//! ledger::grant(&mut conn, &plan, 10).await?;
//! assert_eq!(ledger::balance(&mut conn, "team-1").await?.available, 10);
//! # Ok(())
//! # }
//! ```

// Linked for its features only; see Cargo.toml.
use libsqlite3_sys as _;

/// Boxes the future of an async function, so that its code is compiled once, in this crate. Otherwise every crate that
/// awaits the function would compile it again, queries included.
pub(crate) use async_recursion::async_recursion as boxed;

mod backend;
mod condition;
mod conn;
mod copy;
mod db_time;
mod error;
#[cfg(test)]
mod example;
mod list;
mod losses;
mod migrate;
mod open;
mod options;
mod pools;
mod postgres;
mod recovery;
mod schema;
mod sql;
mod sqlite;
mod trouble;
mod writer;

pub mod activity;
pub mod browser;
pub mod cache;
pub mod chats;
pub mod feedback;
pub mod files;
pub mod hosts;
pub mod jobs;
pub mod keys;
pub mod leases;
pub mod ledger;
pub mod listen;
pub mod mails;
pub mod monitors;
pub mod periodic;
pub mod profiles;
pub mod robots;
pub mod runs;
pub mod scrapes;
pub mod search;
pub mod search_months;
pub mod teams;
pub mod usage;
pub mod versions;
pub mod webhooks;

pub use backend::Backend;
pub use conn::{Conn, TxFn};
pub use error::{Result, StoreError};
pub use list::List;
pub use migrate::sqlite_schema;
pub use open::Store;
pub use options::{Options, PoolLoad};
pub use postgres::servers;
pub use trouble::Trouble;

//! Browser sessions of callers, with or without the page of a scrape in them.
//!
//! [`browser`] opens, drives and ends sessions; [`interact`] opens the page of an earlier scrape in one. [`Sessions`]
//! holds those of this process.

/// Boxes the future of an async function, so that it is compiled once, in this crate. Otherwise every crate that awaits
/// it compiles it again, including its queries.
pub(crate) use async_recursion::async_recursion as boxed;

pub mod browser;
mod error;
mod handle;
pub mod interact;
mod settings;

pub use error::SessionsError;
pub use handle::{Parts, Sessions};
pub use settings::SessionSettings;

//! Searches of the web and of the pages that this instance has read, and feedback on calls.
//!
//! The way of a request through [`search()`]: admit it, reserve the most that it may cost, ask all engines about all
//! sources at once, merge their answers, charge what was found, scrape the pages of the results, and put the sentences
//! of our own copies that answer the query in the place of descriptions.

/// Boxes the future of an async function, so that it is compiled once, in this crate. Otherwise every crate that awaits
/// it compiles it again, including its queries.
pub(crate) use async_recursion::async_recursion as boxed;

mod ask;
mod error;
pub mod feedback;
mod found;
mod gather;
mod highlights;
mod months;
mod operation;
mod own;
mod pages;
mod settings;
mod sites;
mod state;
pub mod vertical;
pub mod watch;

pub use error::{EngineFailure, SearchError};
pub use feedback::FeedbackError;
pub use months::StoredMonths;
pub use operation::search;
pub use settings::{FeedbackSettings, Sites};
pub use state::{Parts, Searches};

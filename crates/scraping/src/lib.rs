//! Reading of pages and files for callers: scrapes, parsed files, profiles, and the limits that they share.
//!
//! Every operation takes the [`Scraper`], which holds the tools and the page cache. The way of a request through
//! [`scrape`] and [`parse`] is the same: admit it, reserve its price, read the page or the file, charge what was
//! delivered.

/// Boxes the future of an async function, so that it is compiled once, in this crate. Otherwise every crate that awaits
/// it compiles it again, including its queries.
pub(crate) use async_recursion::async_recursion as boxed;

pub mod check;
mod error;
pub mod files;
mod model_limit;
pub mod parse;
pub mod profiles;
mod recent;
pub mod scrape;
mod scraper;
#[cfg(test)]
mod tests;

pub use error::ScrapingError;
pub use model_limit::model_limit;
pub use scraper::{Parts, Scraper};

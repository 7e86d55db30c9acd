//! Crawls and batches: the kinds of run whose items are pages.
//!
//! Both are a [`runs::Kind`] and a [`runs::PageKind`]. What all runs of pages share is in the crate `runs`, which knows
//! neither of them.

/// Boxes the future of an async function, so that it is compiled once, in this crate. Otherwise every crate that awaits
/// it compiles it again, including its queries.
pub(crate) use async_recursion::async_recursion as boxed;

pub mod batch;
pub mod crawl;
mod error;
#[cfg(test)]
mod fixture;

pub use error::CrawlsError;

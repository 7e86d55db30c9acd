//! What the caller lends to a scrape. A scrape that must leave no trace is lent nothing that could keep one.

use std::error::Error;

use async_trait::async_trait;
use base::Timestamp;
use fetch::Fetched;

use crate::ScrapeError;

/// All that a scrape can be lent; the default is nothing.
#[derive(Clone, Copy, Default)]
pub struct Ports<'a> {
    /// Pages that were fetched before. Without it every page is fetched, and none is kept.
    pub copies: Option<&'a dyn Copies>,
}

/// Pages that were fetched before.
#[async_trait]
pub trait Copies: Send + Sync {
    /// A copy that answers this scrape.
    ///
    /// # Errors
    /// [`ScrapeError::NoCopy`] when there is none and the page must not be fetched, [`ScrapeError::Port`] when the copies
    /// cannot be read and nothing else will do.
    async fn find(&self) -> Result<CopyLookup, ScrapeError>;

    /// Whether a page that is fetched for this scrape should be kept.
    fn keeps(&self) -> bool;

    /// Keeps a page, if it is worth it. Dropped when it takes too long; a failure costs nothing but the copy.
    async fn keep(&self, page: &Fetched);
}

/// What a look for a copy brought.
pub enum CopyLookup {
    /// Copies do not answer this scrape.
    NotAsked,
    /// There is none.
    Miss,
    /// The copy, as if it had just been fetched, and when it was.
    Hit(Box<Fetched>, Timestamp),
}

impl ScrapeError {
    /// For a port that failed.
    pub fn port(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Port(cause.into())
    }
}

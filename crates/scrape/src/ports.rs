//! What the caller lends to a scrape. A scrape that must leave no trace is lent nothing that could keep one.

use std::error::Error;

use async_trait::async_trait;
use base::Timestamp;
use bytes::Bytes;
use fetch::{Fetched, Validators};
use url::{Position, Url};
use wire::ProxyUsed;

use crate::ScrapeError;

/// All that a scrape can be lent; the default is nothing.
#[derive(Clone, Copy, Default)]
pub struct Ports<'a> {
    /// Pages that were fetched before. Without it every page is fetched, and none is kept.
    pub copies: Option<&'a dyn Copies>,
    /// Where pictures and prints are kept. Without it they stand in the document, as `data:` URLs.
    pub files: Option<&'a dyn Files>,
    /// Who pays for what costs more than a page. Without it everything is paid for.
    pub funds: Option<&'a dyn Funds>,
}

/// Who pays for what costs more than a page.
#[async_trait]
pub trait Funds: Send + Sync {
    /// Asked when it is known that so many pages of a PDF are going to be read, before any of them is.
    ///
    /// # Errors
    /// [`ScrapeError::Port`] when they cannot be paid for; then none is read.
    async fn cover(&self, pages: u32) -> Result<(), ScrapeError>;
}

/// A place for files that come out of pages.
#[async_trait]
pub trait Files: Send + Sync {
    /// Keeps a file and says its URL. `kind` is what it is, in a word such as `screenshot`.
    ///
    /// # Errors
    /// [`ScrapeError::Port`] when it cannot be kept.
    async fn keep(&self, kind: &'static str, content_type: &'static str, bytes: Bytes) -> Result<String, ScrapeError>;
}

/// Which copies will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// Any. One from before its scripts counts only when it does not need them.
    Any,
    /// One that its scripts have run in.
    Rendered,
    /// One with the body as it was sent.
    Sent,
}

/// Pages that were fetched before.
#[async_trait]
pub trait Copies: Send + Sync {
    /// A copy that answers this scrape.
    ///
    /// # Errors
    /// [`ScrapeError::NoCopy`] when there is none and the page must not be fetched, [`ScrapeError::Port`] when the copies
    /// cannot be read and nothing else will do.
    async fn find(&self, wants: Wants) -> Result<CopyLookup, ScrapeError>;

    /// The URL and validators of a copy that is too old, where [`Copies::find`] found no other.
    /// A conditional request tells whether it is still the page.
    fn outdated(&self) -> Option<Outdated> {
        None
    }

    /// The copy that a 304 has confirmed, as if it had just been fetched. `None` when it cannot be read.
    async fn revalidated(&self) -> Option<Fetched> {
        None
    }

    /// Whether nothing but a copy may answer this scrape.
    fn is_all(&self) -> bool;

    /// Whether a page that is fetched for this scrape should be kept.
    fn keeps(&self) -> bool;

    /// Keeps a page, if it is worth it; in place of one that was kept before for this scrape. Dropped when it takes too long; a failure costs nothing but the copy.
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

/// The URL and validators of a copy that is too old to answer.
pub struct Outdated {
    /// Where the page was found after redirects.
    pub url: Url,
    /// What the site named this version of the page by.
    pub validators: Validators,
    /// Through which kind of proxy it was found: what is asked through another may not tell that both have one caller.
    pub proxy: ProxyUsed,
}

impl Outdated {
    /// Whether it was found at this address: what a site says of one says nothing of another, and is nobody else's business.
    pub(crate) fn is_at(&self, url: &Url) -> bool {
        self.url[..Position::AfterQuery] == url[..Position::AfterQuery]
    }
}

impl ScrapeError {
    /// For a port that failed.
    pub fn port(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Port(cause.into())
    }
}

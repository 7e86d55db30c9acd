//! Ports: services that the caller provides to a scrape. A scrape that must leave no trace gets none that could keep
//! one.

use std::error::Error;

use async_trait::async_trait;
use base::Timestamp;
use bytes::Bytes;
use fetch::{Fetched, Validators};
use url::{Position, Url};
use wire::ProxyUsed;

use crate::{ScrapeError, Versions};

/// All ports of a scrape; the default is none.
#[derive(Clone, Copy, Default)]
pub struct Ports<'a> {
    /// Page cache. Without it every page is fetched, and none is stored.
    pub copies: Option<&'a dyn Copies>,
    /// File store for screenshots and PDFs. Without it they are embedded in the document as `data:` URLs.
    pub files: Option<&'a dyn Files>,
    /// Payment for scrapes that cost more than one page. Without it everything is covered.
    pub funds: Option<&'a dyn Funds>,
    /// Versions of the page, for change tracking. Without them the page is not compared.
    pub versions: Option<&'a dyn Versions>,
}

/// Payment for scrapes that cost more than one page.
#[async_trait]
pub trait Funds: Send + Sync {
    /// Covers this number of PDF pages. Called before the first of them is read.
    ///
    /// # Errors
    /// [`ScrapeError::Port`] when the credits do not suffice; no page is read then.
    async fn cover(&self, pages: u32) -> Result<(), ScrapeError>;
}

/// File store for captures of pages.
#[async_trait]
pub trait Files: Send + Sync {
    /// Stores a file and returns its URL. `kind` is a word such as `screenshot`.
    ///
    /// # Errors
    /// [`ScrapeError::Port`] when it cannot be stored.
    async fn keep(&self, kind: &'static str, content_type: &'static str, bytes: Bytes) -> Result<String, ScrapeError>;
}

/// Kind of copy that is acceptable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// Any copy. One without scripts run is used only if the page does not need them.
    Any,
    /// A rendered copy, after its scripts have run.
    Rendered,
    /// A copy with the body as it was sent.
    Sent,
}

/// Cache of fetched pages, for one scrape.
#[async_trait]
pub trait Copies: Send + Sync {
    /// Looks up a copy that may answer this scrape.
    ///
    /// # Errors
    /// [`ScrapeError::NoCopy`] when there is none and fetching is not allowed, [`ScrapeError::Port`] when the cache
    /// cannot be read and fetching is not allowed.
    async fn find(&self, wants: Wants) -> Result<CopyLookup, ScrapeError>;

    /// Returns URL and validators of a stale copy, if [`Copies::find`] had a miss. A conditional request tells whether
    /// it is still current.
    fn outdated(&self) -> Option<Outdated> {
        None
    }

    /// Returns the copy that a 304 has confirmed, as if it had just been fetched. `None` when it cannot be read.
    async fn revalidated(&self) -> Option<Fetched> {
        None
    }

    /// Whether only the cache may answer this scrape, without fetching.
    fn is_all(&self) -> bool;

    /// Whether a page that is fetched for this scrape should be stored.
    fn keeps(&self) -> bool;

    /// Stores a page if it is worth caching, replacing one stored earlier for this scrape. The future is dropped when
    /// it takes too long. A failure only loses the copy.
    async fn keep(&self, page: &Fetched);
}

/// Result of a cache lookup.
pub enum CopyLookup {
    /// The cache is not used for this scrape.
    NotAsked,
    /// There is no copy.
    Miss,
    /// The copy, as if it had just been fetched, and the time when it was fetched.
    Hit(Box<Fetched>, Timestamp),
}

/// URL and validators of a stale copy.
pub struct Outdated {
    /// Final URL of the copy after redirects.
    pub url: Url,
    /// Validators of this version of the page.
    pub validators: Validators,
    /// Strength of the proxy that it came through. Validators are not sent through another, as they would link the two.
    pub proxy: ProxyUsed,
}

impl Outdated {
    /// Whether the copy has this address. Validators of another address mean nothing there, and must not be revealed to
    /// it.
    pub(crate) fn is_at(&self, url: &Url) -> bool {
        self.url[..Position::AfterQuery] == url[..Position::AfterQuery]
    }
}

impl ScrapeError {
    /// Wraps the error of a port.
    pub fn port(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Port(cause.into())
    }
}

//! Pages listed in the sitemaps of a site, passed on while they are downloaded.

mod ask;
mod discovery;
mod read;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use base::Owner;
use crawl_frontier::{SitemapUrl, sitemap_candidates};
use url::Url;

use crate::{Approach, Site, SiteError};
use ask::{Budget, Candidate, Context};
use discovery::Discovery;
pub(crate) use read::address;

/// Request limit of one call, including redirects and retries. A crawl or map whose start redirects makes two calls.
pub const MAX_REQUESTS: usize = 40;
/// Limit of decoded bytes of one call.
pub const MAX_BYTES: u64 = 256 << 20;
/// Time limit of each request for a sitemap.
pub const MAX_SITEMAP_TIME: Duration = Duration::from_secs(15);
/// Limit of redirects to a sitemap.
const MAX_REDIRECTS: usize = 3;

/// Page that a sitemap lists.
#[derive(Debug, Clone, PartialEq)]
pub struct SitemapPage {
    /// Absolute address, `http` or `https`, without user name and password. May be of any site, and may repeat.
    pub url: Url,
    /// Other data of the entry.
    pub about: SitemapUrl,
}

/// Owner of the work, and rules to respect.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// Owner whose CPU slots are used for parsing.
    pub owner: &'a Owner,
    /// Whether robots.txt is obeyed for sitemaps at guessed addresses.
    pub obey: bool,
}

/// Receiver of the pages.
pub trait Sink: Send {
    /// Reason why it cannot take more.
    type Error: From<SiteError>;

    /// Takes a batch of 1 to 2000 pages. The downloads wait meanwhile, so it may write to the database; `Break` ends
    /// them.
    fn take(&mut self, pages: Vec<SitemapPage>) -> impl Future<Output = Result<ControlFlow<()>, Self::Error>> + Send;
}

/// Totals of one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SitemapTotals {
    /// Number of sitemaps read, including indexes and malformed ones.
    pub sitemaps: usize,
    /// Number of pages passed on.
    pub pages: usize,
    /// Number of declared sitemaps that could not be read.
    pub failed: usize,
    /// Whether a limit or the deadline left something out. A `Break` of the sink does not count.
    pub is_cut: bool,
}

impl SitemapTotals {
    /// Adds the totals of two calls.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            sitemaps: self.sitemaps + other.sitemaps,
            pages: self.pages + other.pages,
            failed: self.failed + other.failed,
            is_cut: self.is_cut || other.is_cut,
        }
    }
}

impl Site {
    /// Passes the pages of all sitemaps of the site of `start` to `sink` while they are downloaded: the sitemaps that
    /// robots.txt declares, those that they list (3 indexes deep), and if there are none, those at the usual addresses.
    /// Reads XML, text, RSS and Atom, gzipped or not, even if malformed.
    ///
    /// A busy site (429, 500, 502, 503, 504, no connection) is asked up to three times for each sitemap that it
    /// declares or that has the usual name.
    ///
    /// Every request passes the address guard. The limits are 40 requests, 256 MiB, and 15 s for each sitemap; at
    /// `approach.deadline` the call ends and keeps the results so far. Only small pieces are in memory. Declared
    /// sitemaps are always read (RFC 9309 section 2.2.4: `Sitemap` belongs to no group). Decompression and parsing use
    /// CPU slots of the owner.
    ///
    /// ```no_run
    /// # async fn list(site: &site::Site, start: &url::Url) -> Result<(), site::SiteError> {
    /// use std::ops::ControlFlow;
    ///
    /// use site::{AGENT, Approach, SitemapPage, Sink, SiteError, Terms};
    ///
    /// struct First(Vec<SitemapPage>);
    ///
    /// impl Sink for First {
    ///     type Error = SiteError;
    ///
    ///     async fn take(&mut self, pages: Vec<SitemapPage>) -> Result<ControlFlow<()>, SiteError> {
    ///         self.0.extend(pages);
    ///         Ok(if self.0.len() < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    ///     }
    /// }
    ///
    /// let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(25);
    /// let approach = Approach { agent: AGENT, deadline, verify_tls: false, private: false };
    /// let mut first = First(Vec::new());
    /// let owner = base::Owner::new("team", "crawl");
    /// let terms = Terms { owner: &owner, obey: true };
    /// let found = site.sitemaps(start, approach, terms, &mut first).await?;
    /// println!("{} pages from {} sitemaps", first.0.len(), found.sitemaps);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of the sink. Failed sitemaps are counted in [`SitemapTotals`].
    pub async fn sitemaps<S: Sink>(
        &self,
        start: &Url,
        approach: Approach<'_>,
        terms: Terms<'_>,
        sink: &mut S,
    ) -> Result<SitemapTotals, S::Error> {
        let lines = match self.rules(start, approach).await {
            Ok(rules) => rules.sitemaps.clone(),
            Err(SiteError::Timeout) => return Ok(SitemapTotals { is_cut: true, ..SitemapTotals::default() }),
            Err(error @ SiteError::Panicked) => return Err(error.into()),
        };
        let context = Context { site: self, approach, terms, bytes: Arc::default(), budget: Budget::new() };
        let mut discovery = Discovery::default();
        let candidates = sitemap_candidates(start, &lines).into_iter().map(Candidate::from);
        let (likely, guesses): (Vec<_>, Vec<_>) = candidates.partition(Candidate::is_likely);
        let ended = discovery.run(&context, likely.into_iter(), sink).await?;
        // The names used by content management systems are tried only if no other sitemap was found.
        if ended.is_continue() && discovery.found.sitemaps == 0 {
            let _ended = discovery.run(&context, guesses.into_iter(), sink).await?;
        }
        Ok(discovery.found)
    }
}

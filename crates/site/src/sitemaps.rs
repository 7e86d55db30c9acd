//! The pages that the sitemaps of a site list, handed out while they are downloaded.

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
use ask::Budget;
use discovery::Discovery;
pub(crate) use read::address;
use read::{Candidate, Context};

/// Most requests of one call, with redirects and those that are sent again. A crawl or map whose start leads away makes two.
pub const MAX_REQUESTS: usize = 40;
/// Most decoded bytes of one call.
pub const MAX_BYTES: u64 = 256 << 20;
/// Longest time for one sitemap, each time that it is asked for.
pub const MAX_SITEMAP_TIME: Duration = Duration::from_secs(15);
/// Redirects that are followed to a sitemap.
const MAX_REDIRECTS: usize = 3;

/// A page that a sitemap lists.
#[derive(Debug, Clone, PartialEq)]
pub struct SitemapPage {
    /// Its address, absolute, `http` or `https`, without user name and password. It may be of any site, and appear
    /// again.
    pub url: Url,
    /// What else the sitemap says of it.
    pub about: SitemapUrl,
}

/// Whose work it is, and what it must respect.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// Who has it done: reading takes that owner's places for processor work.
    pub owner: &'a Owner,
    /// Whether robots.txt decides about the places that are only guessed.
    pub obey: bool,
}

/// Who gets the pages.
pub trait Sink: Send {
    /// Why it can take no more.
    type Error: From<SiteError>;

    /// Takes a batch of pages, two thousand at most and never none. While it works the downloads wait, so it may
    /// write to the database; `Break` ends them.
    fn take(&mut self, pages: Vec<SitemapPage>) -> impl Future<Output = Result<ControlFlow<()>, Self::Error>> + Send;
}

/// What was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SitemapTotals {
    /// Sitemaps that were read, indexes and broken ones included.
    pub sitemaps: usize,
    /// Pages that were handed out.
    pub pages: usize,
    /// Sitemaps that were announced and could not be read.
    pub failed: usize,
    /// Whether a limit or the deadline left something out. The sink's own `Break` does not count.
    pub is_cut: bool,
}

impl SitemapTotals {
    /// Those of two calls together.
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
    /// Hands the pages of all sitemaps of the site of `start` to `sink`, while they are downloaded: those that robots.txt
    /// names, those that they list (3 indexes deep), and else those in the usual places; XML, text, RSS and Atom, gzipped
    /// or not, however broken.
    ///
    /// A site that is busy (429, 500, 502, 503, 504, no connection) is asked again, up to three times for each sitemap that it
    /// names or that has the usual name.
    ///
    /// Every request passes the guard. At most 40 requests and 256 MiB, 15 s for each sitemap; `approach.deadline` ends
    /// the whole, and what came before counts. Only pieces are in memory, and what the sink keeps. Sitemaps that the site
    /// itself names are always read (RFC 9309 section 2.2.4: `Sitemap` belongs to no group). Unpacking and parsing take
    /// the places for processor work of the owner.
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
    /// Those of the sink. What goes wrong with a sitemap is counted in [`SitemapTotals`].
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
        // What content systems call it is asked for only when nothing else is there.
        if ended.is_continue() && discovery.found.sitemaps == 0 {
            let _ended = discovery.run(&context, guesses.into_iter(), sink).await?;
        }
        Ok(discovery.found)
    }
}

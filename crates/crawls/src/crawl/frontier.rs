//! What all pages of a crawl share: the scope, and the addresses that the crawl already has.

use std::any::Any;
use std::sync::Arc;

use ::runs::{Context, PageRun};
use base::address::BasicAuth;
use crawl_frontier::Scope;
use url::Url;
use wire::SitemapMode;

use super::known::Known;

/// Open crawl.
pub(crate) struct CrawlRun {
    /// Absent in a transaction that compiles nothing.
    pub(super) frontier: Option<Frontier>,
    /// In-memory cache of the addresses that the crawl already has.
    pub(super) known: Arc<Known>,
}

/// Scope and settings for following links in a crawl.
pub(crate) struct Frontier {
    /// Start URL without user name and password; the request's headers are sent to its origin only.
    pub(super) start: Url,
    /// User name and password from the start URL.
    pub(super) basic_auth: Option<BasicAuth>,
    pub(super) scope: Scope,
    pub(super) sitemap: SitemapMode,
    pub(super) ignore_robots: bool,
    pub(super) agent: Option<String>,
    /// URL that the start was redirected to.
    pub(super) landed: Option<Url>,
    /// Maximum number of links examined per page, high enough to contain plenty that the crawl does not know.
    pub(super) max_links: usize,
}

impl CrawlRun {
    /// Returns the crawl that a context belongs to; `None` for other kinds of run.
    pub(super) fn of(context: &Context) -> Option<&Self> {
        Self::beneath(&*context.pages)
    }

    /// Returns the crawl of a run, which may be of a kind that stands on crawls.
    fn beneath(run: &dyn PageRun) -> Option<&Self> {
        let found: &dyn Any = run;
        found.downcast_ref().or_else(|| run.lower().and_then(Self::beneath))
    }

    /// Whether the crawl has a depth limit (`maxDiscoveryDepth`); then the shortest path to each page matters.
    pub(super) fn has_max_depth(&self) -> bool {
        self.frontier.as_ref().is_some_and(|frontier| frontier.scope.max_depth().is_some())
    }
}

impl Frontier {
    /// Whether the links of a page that is `depth` hops from the start are followed.
    pub(super) fn follows(&self, page: &Url, depth: u32) -> bool {
        // With a depth limit, the page may turn out to be nearer to the start.
        let nearest = if self.scope.max_depth().is_some() { 0 } else { depth };
        self.sitemap != SitemapMode::Only && self.scope.follows_links_of(page, nearest)
    }
}

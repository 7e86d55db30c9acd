//! Adapter of the cache for the scrape pipeline.

use ::scrape::{Copies, CopyLookup, Outdated, ScrapeError, Target, Wants};
use async_trait::async_trait;
use base::Owner;
use cache::{Cache, CacheError, CacheSlot, Look, OnMiss, Page, PageCopy, Policy, Search};
use fetch::{BodyKind, Fetched};
use parking_lot::Mutex;
use store::cache::CacheEntry;
use url::Url;

use super::metrics;

/// Cached copies that may answer one scrape.
pub(super) struct CacheCopies<'a> {
    cache: &'a Cache,
    slot: CacheSlot,
    policy: Policy,
    used: Mutex<Option<PageCopy>>,
    outdated: Mutex<Option<CacheEntry>>,
}

impl<'a> CacheCopies<'a> {
    pub(super) fn new(cache: &'a Cache, target: &Target, policy: Policy) -> Self {
        let Target { url, options, owner, .. } = target;
        let slot = cache.slot(&Page { url, options, owner, takes_markdown: target.takes_markdown() });
        Self { cache, slot, policy, used: Mutex::default(), outdated: Mutex::default() }
    }

    /// Returns the copy that the document was made from, or the new copy of its page.
    pub(super) fn into_used(self) -> Option<PageCopy> {
        self.used.into_inner()
    }

    /// Looks up a copy. A failing cache fails only requests that accept nothing but a copy.
    async fn look_up(&self, search: Search) -> Result<Look, CacheError> {
        match (self.cache.find(&self.slot, search).await, self.policy.on_miss) {
            (Err(error), OnMiss::Fetch) => {
                if !error.is_outage() {
                    tracing::warn!(?error, "could not read the cache; fetching the page");
                }
                Ok(Look::default())
            }
            (found, _) => found,
        }
    }
}

#[async_trait]
impl Copies for CacheCopies<'_> {
    async fn find(&self, wants: Wants) -> Result<CopyLookup, ScrapeError> {
        let mut miss = CopyLookup::NotAsked;
        if let Some(window) = self.policy.window {
            // A conditional request says nothing about the page as rendered by a browser.
            let revalidates = self.policy.revalidates && wants != Wants::Rendered;
            let rendered = match wants {
                Wants::Any => None,
                Wants::Rendered => Some(true),
                Wants::Sent => Some(false),
            };
            let look = self.look_up(Search { window, revalidates, rendered }).await.map_err(ScrapeError::port)?;
            metrics::cache_lookup(look.copy.is_some());
            miss = CopyLookup::Miss;
            if let Some(copy) = look.copy {
                *self.used.lock() = Some(PageCopy::Kept(copy.id));
                return Ok(CopyLookup::Hit(Box::new(copy.fetched), copy.fetched_at));
            }
            *self.outdated.lock() = look.outdated;
        }
        match self.policy.on_miss {
            OnMiss::Fetch => Ok(miss),
            OnMiss::LockdownMiss | OnMiss::NoCachedData => Err(ScrapeError::NoCopy),
        }
    }

    fn outdated(&self) -> Option<Outdated> {
        let entry = self.outdated.lock();
        entry.as_ref().and_then(outdated)
    }

    async fn revalidated(&self) -> Option<Fetched> {
        let entry = self.outdated.lock().take()?;
        self.cache.revalidated(&self.slot, entry).await
    }

    fn is_all(&self) -> bool {
        self.policy.on_miss != OnMiss::Fetch
    }

    fn keeps(&self) -> bool {
        self.policy.store
    }

    async fn keep(&self, page: &Fetched) {
        let is_document = page.kind == BodyKind::Other && ::scrape::is_document(page);
        if let Some(copy) = self.cache.keep(&self.slot, page, is_document).await {
            // A page that was fetched again after its scripts ran replaces the first copy.
            *self.used.lock() = Some(copy);
        }
    }
}

/// Returns the URL and validators of a copy, for a conditional request.
fn outdated(entry: &CacheEntry) -> Option<Outdated> {
    let url = Url::parse(&entry.final_url).ok()?;
    Some(Outdated { url, validators: cache::validators(entry), proxy: cache::proxy(entry) })
}

/// Lookup of one copy by its id; the page is never fetched.
pub(super) struct KeptCopy<'a> {
    pub(super) cache: &'a Cache,
    pub(super) id: &'a str,
    pub(super) owner: &'a Owner,
}

#[async_trait]
impl Copies for KeptCopy<'_> {
    async fn find(&self, _: Wants) -> Result<CopyLookup, ScrapeError> {
        let copy = self.cache.by_id(self.id, self.owner).await.map_err(ScrapeError::port)?;
        copy.map(|copy| CopyLookup::Hit(Box::new(copy.fetched), copy.fetched_at)).ok_or(ScrapeError::NoCopy)
    }

    fn is_all(&self) -> bool {
        true
    }

    fn keeps(&self) -> bool {
        false
    }

    async fn keep(&self, _: &Fetched) {}
}

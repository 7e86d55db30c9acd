//! Adapter of the cache for the scrape pipeline.

use ::scrape::{Copies, CopyLookup, Outdated, ScrapeError, Wants};
use async_trait::async_trait;
use base::Owner;
use fetch::Fetched;
use parking_lot::Mutex;
use store::cache::CacheEntry;

use super::metrics;
use crate::cache::{self, CacheSlot, Look, OnMiss, PageCopy, Policy, Search};
use crate::{App, AppError, Refusal as _};

/// Cached copies that may answer one scrape.
pub(super) struct CacheCopies<'a> {
    app: &'a App,
    slot: CacheSlot,
    policy: Policy,
    used: Mutex<Option<PageCopy>>,
    outdated: Mutex<Option<CacheEntry>>,
}

impl<'a> CacheCopies<'a> {
    pub(super) fn new(app: &'a App, slot: CacheSlot, policy: Policy) -> Self {
        Self { app, slot, policy, used: Mutex::default(), outdated: Mutex::default() }
    }

    /// Returns the copy that the document was made from, or the new copy of its page.
    pub(super) fn into_used(self) -> Option<PageCopy> {
        self.used.into_inner()
    }

    /// Looks up a copy. A failing cache fails only requests that accept nothing but a copy.
    async fn look_up(&self, search: Search) -> Result<Look, AppError> {
        match (cache::find(self.app, &self.slot, search).await, self.policy.on_miss) {
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
            let look = self.look_up(Search { window, revalidates, wants }).await.map_err(ScrapeError::port)?;
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
        entry.as_ref().and_then(cache::outdated)
    }

    async fn revalidated(&self) -> Option<Fetched> {
        let entry = self.outdated.lock().take()?;
        cache::revalidated(self.app, &self.slot, entry).await
    }

    fn is_all(&self) -> bool {
        self.policy.on_miss != OnMiss::Fetch
    }

    fn keeps(&self) -> bool {
        self.policy.store
    }

    async fn keep(&self, page: &Fetched) {
        if let Some(copy) = cache::keep(self.app, &self.slot, page).await {
            // A page that was fetched again after its scripts ran replaces the first copy.
            *self.used.lock() = Some(copy);
        }
    }
}

/// Lookup of one copy by its id; the page is never fetched.
pub(super) struct KeptCopy<'a> {
    pub(super) app: &'a App,
    pub(super) id: &'a str,
    pub(super) owner: &'a Owner,
}

#[async_trait]
impl Copies for KeptCopy<'_> {
    async fn find(&self, _: Wants) -> Result<CopyLookup, ScrapeError> {
        let copy = cache::by_id(self.app, self.id, self.owner).await.map_err(ScrapeError::port)?;
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

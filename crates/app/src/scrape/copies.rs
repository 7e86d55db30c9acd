//! The cache as the pipeline sees it.

use ::scrape::{Copies, CopyLookup, Outdated, ScrapeError, Wants};
use async_trait::async_trait;
use base::Owner;
use fetch::Fetched;
use parking_lot::Mutex;
use store::cache::CacheEntry;

use crate::cache::{self, CacheSlot, Look, OnMiss, PageCopy, Policy, Search};
use crate::{App, AppError, metrics};

/// The copies that may answer one scrape.
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

    /// The copy that the document was made of, or that was made of its page.
    pub(super) fn into_used(self) -> Option<PageCopy> {
        self.used.into_inner()
    }

    /// A cache that cannot be read fails only requests that want nothing but a copy.
    async fn look_up(&self, search: Search) -> Result<Look, AppError> {
        match (cache::find(self.app, &self.slot, search).await, self.policy.on_miss) {
            (Err(error), OnMiss::Fetch) => {
                if !error.is_outage() {
                    tracing::warn!(?error, "cache not readable, the page is fetched");
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
            // What a browser makes of the page, no site can name.
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
            // Of a page that was fetched once more, after its scripts, only that is written.
            *self.used.lock() = Some(copy);
        }
    }
}

/// One copy, by its id; nothing is fetched in its place.
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

//! Cache of fetched pages: rows in the database, large bodies in the blob store. All formats are derived again on each
//! hit. Versions of pages for change tracking ([`Series`]) share the bodies.
//!
//! A page is kept as it was fetched, under its address and the options that change what a site sends, for one team or
//! for all of them. [`policy()`] says what a request may take from it.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use base::{Clock as _, Owner, SystemClock};
//! use cache::{Cache, CacheSettings, Page, Parts, Search, Situation};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().display();
//! # let store = store::Store::open(&format!("sqlite://{folder}/quarry.db"), store::Options::default()).await?;
//! # store.migrate().await?;
//! # let blobs = blobs::Blobs::open(&format!("file://{folder}/blobs"))?;
//! # let client = net::Client::new(net::Config::default())?;
//! let (settings, clock) = (CacheSettings::default(), Arc::new(SystemClock));
//! let cache = Cache::new(Parts { store, blobs, client, clock, settings, has_room: Box::new(|| true) });
//!
//! let (url, owner) = (url::Url::parse("https://example.com/")?, Owner::new("a team", "a scrape"));
//! let options = wire::ScrapeOptions::default();
//! let slot = cache.slot(&Page { url: &url, options: &options, owner: &owner, takes_markdown: false });
//! let CacheSettings { enabled, retention, .. } = cache.settings();
//! let situation = Situation { enabled, retention, zero_data_retention: false, credentials: false };
//! let policy = cache::policy(&options, situation, SystemClock.now());
//! if let Some(window) = policy.window {
//!     let look = cache.find(&slot, Search { window, revalidates: policy.revalidates, rendered: None }).await?;
//!     assert!(look.copy.is_none(), "the page has to be fetched; then `Cache::keep` keeps it");
//! }
//! # Ok(())
//! # }
//! ```

/// Boxes the future of an async function, so that it is compiled once, in this crate. Otherwise every crate that awaits
/// it compiles it again, including its queries.
pub(crate) use async_recursion::async_recursion as boxed;

mod copy;
mod error;
mod facts;
mod following;
mod key;
mod policy;
mod settings;
mod size;
mod sweep;
mod versions;

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use base::{Clock, Owner, Timestamp, new_id};
use blobs::Blobs;
use blobs::content::{self, Digest, Hashed};
use bytes::Bytes;
use chrono::TimeDelta;
use fetch::{BodyKind, Fetched, Validators};
use store::cache::{self as rows, BodyPlace, CacheEntry, Wanted};
use store::{Conn, Store};
use tokio::sync::Notify;
use url::Url;
use wire::{ProxyUsed, ScrapeOptions};

use self::facts::{Facts, kept_body, page_of};
use self::size::Size;

pub use self::copy::{NewCopy, PageCopy, PageToKeep, write_pages};
pub use self::error::CacheError;
pub use self::following::PackedCopy;
pub use self::policy::{OnMiss, Policy, Situation, Window, policy};
pub use self::settings::CacheSettings;
pub use self::sweep::Swept;
pub use self::versions::{CrawlOf, Extraction, NewState, NewVersion, Series, SeriesOf, VersionNote};

/// Maximum compressed size of a body kept in the database, in bytes: writing a row is faster than creating a file.
const MAX_IN_ROW: usize = 64 << 10;
/// Maximum size of a body that is compressed to see whether it fits in a row.
const MAX_TO_TRY: usize = 8 * MAX_IN_ROW;

/// Size up to which compressing a body takes no longer than asking whether it is stored already.
const QUICK_TO_PACK: usize = 32 << 10;

/// Scope of copies that all teams share.
pub const EVERYBODY: &str = "*";

/// Cache of fetched pages. Cheap to clone; all clones are one cache.
#[derive(Clone)]
pub struct Cache(Arc<Inner>);

struct Inner {
    parts: Parts,
    size: Size,
    /// Signal that a page was stored.
    kept: Notify,
}

/// Parts of a [`Cache`].
pub struct Parts {
    /// Database.
    pub store: Store,
    /// Blob store for large bodies.
    pub blobs: Blobs,
    /// HTTP client, whose memory budget for bodies also holds those that are read from the cache.
    pub client: net::Client,
    /// Clock for the age of copies.
    pub clock: Arc<dyn Clock>,
    /// Settings of the operator.
    pub settings: CacheSettings,
    /// Whether the disks have room for anything more.
    pub has_room: Box<dyn Fn() -> bool + Send + Sync>,
}

/// Page to look up or to cache, with what distinguishes its copies.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// URL.
    pub url: &'a Url,
    /// Options of the request.
    pub options: &'a ScrapeOptions,
    /// Team and run of the request.
    pub owner: &'a Owner,
    /// Whether the site may answer in Markdown.
    pub takes_markdown: bool,
}

/// Location of copies in the cache: their scope, page and variant.
#[derive(Debug, Clone)]
pub struct CacheSlot {
    scope: String,
    key: String,
    variant: String,
    /// Variant of answers in Markdown, where the request accepts them.
    markdown: Option<String>,
    /// Owner, for a fair share of memory when large copies wait for it.
    owner: Owner,
}

/// Page from the cache, in the form of a fetched page.
pub struct Copy {
    /// Id for [`Cache::by_id`].
    pub id: String,
    /// Page.
    pub fetched: Fetched,
    /// Time of the fetch.
    pub fetched_at: Timestamp,
}

impl CacheSlot {
    /// Returns the variant of a fetched page.
    fn variant_of(&self, fetched: &Fetched) -> &str {
        // Some sites label the Markdown that was requested as plain text.
        let is_text = matches!(fetched.kind, BodyKind::Markdown | BodyKind::Text);
        let markdown = self.markdown.as_ref().filter(|_| is_text);
        markdown.unwrap_or(&self.variant)
    }
}

/// Criteria of a lookup.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    /// Accepted fetch time of a copy.
    pub window: Window,
    /// Whether an older copy is wanted for revalidation if none answers.
    pub revalidates: bool,
    /// Only copies of the page after its scripts ran, or only others; `None` for both.
    pub rendered: Option<bool>,
}

/// Result of a lookup.
#[derive(Default)]
pub struct Look {
    /// Copy that answers the request.
    pub copy: Option<Copy>,
    /// Newest stale copy that can be revalidated, if no copy answers.
    pub outdated: Option<CacheEntry>,
}

impl Cache {
    /// Assembles the cache. Nothing is read or written yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(Inner { parts, size: Size::default(), kept: Notify::new() }))
    }

    /// Returns the settings of the operator.
    #[must_use]
    pub fn settings(&self) -> CacheSettings {
        self.0.parts.settings
    }

    /// Returns the slot of a page for its team and options.
    #[must_use]
    pub fn slot(&self, page: &Page<'_>) -> CacheSlot {
        let Page { url, options, owner, takes_markdown } = *page;
        let scope = if self.settings().shared { EVERYBODY.to_owned() } else { owner.team.to_string() };
        let variant = key::variant(url, options);
        let markdown = takes_markdown.then(|| key::in_markdown(&variant));
        CacheSlot { scope, key: key::key(url), variant, markdown, owner: owner.clone() }
    }

    /// Looks up a copy. A site's own Markdown has priority for requests that accept it.
    ///
    /// # Errors
    /// [`CacheError`] when the database or the blob store fails.
    #[crate::boxed]
    pub async fn find(&self, slot: &CacheSlot, search: Search) -> Result<Look, CacheError> {
        let mut outdated: Option<CacheEntry> = None;
        for variant in slot.markdown.iter().chain([&slot.variant]) {
            let look = self.find_variant(slot, variant, search).await?;
            if look.copy.is_some() {
                return Ok(look);
            }
            outdated = outdated.into_iter().chain(look.outdated).max_by_key(|entry| entry.fetched_at);
        }
        Ok(Look { copy: None, outdated })
    }

    async fn find_variant(&self, slot: &CacheSlot, variant: &str, search: Search) -> Result<Look, CacheError> {
        let CacheSlot { scope, key, owner, .. } = slot;
        let Search { window: Window { not_before: since, not_after }, revalidates, rendered } = search;
        let not_before = if revalidates { Timestamp::UNIX_EPOCH } else { since };
        let wanted = Wanted { scope, key, variant, not_before, not_after, rendered };
        let entries = rows::find(&mut self.conn().await?, &wanted).await?;
        let (mut young, old): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.fetched_at >= since);
        loop {
            let known: Vec<(u16, bool)> = young.iter().map(|entry| (status(entry), entry.rendered)).collect();
            let Some(index) = policy::pick(&known) else { break };
            let entry = young.remove(index);
            match self.read(entry, owner).await? {
                Some(copy) => return Ok(Look { copy: Some(copy), outdated: None }),
                // The body is gone or not written yet: an older copy may still do.
                None => continue,
            }
        }
        let newest = young.into_iter().chain(old).next();
        Ok(Look { copy: None, outdated: newest.filter(|entry| revalidates && has_validators(entry)) })
    }

    /// Returns the copy that a 304 has confirmed; `None` when its body cannot be read and the page has to be fetched.
    #[crate::boxed]
    pub async fn revalidated(&self, slot: &CacheSlot, entry: CacheEntry) -> Option<Fetched> {
        match self.read(entry, &slot.owner).await {
            Ok(copy) => copy.map(|copy| copy.fetched),
            Err(error) => {
                if !error.is_outage() {
                    tracing::warn!(?error, "could not read a cached copy; fetching the page");
                }
                None
            }
        }
    }

    /// Returns the copy with this id, unless it has left the cache or belongs to another team.
    ///
    /// # Errors
    /// [`CacheError`] when the database or the blob store fails.
    #[crate::boxed]
    pub async fn by_id(&self, id: &str, owner: &Owner) -> Result<Option<Copy>, CacheError> {
        let entry = rows::by_id(&mut self.conn().await?, id).await?;
        match entry.filter(|entry| entry.scope == EVERYBODY || *entry.scope == *owner.team) {
            Some(entry) => self.read(entry, owner).await,
            None => Ok(None),
        }
    }

    /// Caches a page if its status and type allow it. A failure is logged; the scrape itself goes on. `is_document` says
    /// whether a page that is [`BodyKind::Other`] can be converted to text.
    #[crate::boxed]
    pub async fn keep(&self, slot: &CacheSlot, fetched: &Fetched, is_document: bool) -> Option<PageCopy> {
        let bytes = kept_body(fetched).len();
        if !policy::storable(fetched.status, fetched.kind, is_document, bytes) || !self.admits(bytes).await {
            return None;
        }
        match self.write(slot, fetched).await {
            Ok(copy) => {
                self.0.kept.notify_one();
                copy
            }
            Err(error) if error.is_outage() => None,
            Err(error) => {
                let error = error.source().map(tracing::field::display);
                tracing::warn!(error, "could not store a page in the cache");
                None
            }
        }
    }

    async fn read(&self, entry: CacheEntry, owner: &Owner) -> Result<Option<Copy>, CacheError> {
        let Ok(url) = Url::parse(&entry.final_url) else { return Ok(None) };
        let place = BodyPlace { digest: entry.body_digest.clone(), in_row: entry.in_row };
        let Some((body, room)) = self.body(&place, entry.body_bytes, owner).await? else { return Ok(None) };
        Ok(Some(copy(entry, url, body, room)))
    }

    /// Returns a stored body with its share of the memory budget; `None` if it is gone or damaged.
    async fn body(
        &self,
        place: &BodyPlace,
        bytes: i64,
        owner: &Owner,
    ) -> Result<Option<(Bytes, net::Room)>, CacheError> {
        let Ok(digest) = place.digest.parse::<Digest>() else { return Ok(None) };
        let Parts { blobs, client, .. } = &self.0.parts;
        let size = usize::try_from(bytes).unwrap_or(0);
        let room = client.in_flight().room(owner);
        room.grow(size as u64).await;
        let body =
            if place.in_row { self.in_row(&digest, size).await? } else { content::get(blobs, &digest, size).await? };
        Ok(body.map(|body| (body, room)))
    }

    async fn in_row(&self, digest: &Digest, size: usize) -> Result<Option<Bytes>, CacheError> {
        let Some(packed) = rows::packed(&mut self.conn().await?, &digest.to_string()).await? else { return Ok(None) };
        match content::open(packed.into(), digest, size).await {
            Ok(body) => Ok(Some(body)),
            Err(error) => {
                tracing::error!(error = &error as &dyn StdError, "cached body is damaged; fetching its page again");
                Ok(None)
            }
        }
    }

    /// Writes a copy; `None` when the body that is stored already is about to be removed.
    async fn write(&self, slot: &CacheSlot, fetched: &Fetched) -> Result<Option<PageCopy>, CacheError> {
        let Parts { blobs, clock, settings, .. } = &self.0.parts;
        let now = clock.now();
        let retention = TimeDelta::from_std(settings.retention).unwrap_or(TimeDelta::MAX);
        let bytes = kept_body(fetched);
        let body = Hashed::of(bytes.clone()).await;
        let mut entry = CacheEntry {
            id: new_id().to_string(),
            scope: slot.scope.clone(),
            key: slot.key.clone(),
            variant: slot.variant_of(fetched).to_owned(),
            final_url: fetched.url.to_string(),
            status_code: i32::from(fetched.status),
            content_type: fetched.content_type.clone(),
            charset: fetched.charset.clone(),
            body_digest: body.digest().to_string(),
            body_bytes: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
            proxy: fetched.proxy.as_str().to_owned(),
            fetched_at: now,
            expires_at: now.checked_add_signed(retention).unwrap_or(Timestamp::MAX_UTC),
            in_row: false,
            rendered: fetched.dom().is_some(),
            etag: fetched.validators.etag.clone(),
            last_modified: fetched.validators.last_modified.clone(),
        };
        if bytes.len() <= MAX_TO_TRY {
            entry.in_row = true;
            // Most refetched pages have not changed, so compressing their bodies again would be wasted.
            let asks = bytes.len() > QUICK_TO_PACK;
            let is_there = asks && rows::has_body(&mut self.conn().await?, &entry.body_digest).await?;
            let packed = if is_there { None } else { Some(body.pack().await?) };
            if packed.as_ref().is_none_or(|packed| packed.len() <= MAX_IN_ROW) {
                return Ok(Some(PageCopy::New(Box::new(NewCopy { entry, packed }))));
            }
            entry.in_row = false;
        }
        // The row comes first: a body without a row would never be removed, a row without a body is a cache miss until it
        // expires. An existing body is not written again, so it must not be one that is being deleted: then this copy is
        // dropped.
        let mut conn = self.conn().await?;
        rows::insert(&mut conn, &entry).await?;
        if !rows::rely_on(&mut conn, &entry.body_digest).await? {
            rows::remove(&mut conn, &entry.id).await?;
            return Ok(None);
        }
        drop(conn);
        body.put(blobs).await?;
        Ok(Some(PageCopy::Kept(entry.id)))
    }

    async fn conn(&self) -> Result<Conn, CacheError> {
        Ok(self.0.parts.store.conn().await?)
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("settings", &self.settings()).finish_non_exhaustive()
    }
}

/// Returns the key of a page, which all spellings of its address share.
#[must_use]
pub fn page_key(url: &Url) -> String {
    key::key(url)
}

/// Whether a copy can be revalidated: it is the page as the site sent it, with a validator.
fn has_validators(entry: &CacheEntry) -> bool {
    !entry.rendered && status(entry) == 200 && (entry.etag.is_some() || entry.last_modified.is_some())
}

/// Returns the validators of a copy, for a conditional request.
#[must_use]
pub fn validators(entry: &CacheEntry) -> Validators {
    Validators { etag: entry.etag.clone(), last_modified: entry.last_modified.clone() }
}

/// Returns the strength of the proxy that a copy came through.
#[must_use]
pub fn proxy(entry: &CacheEntry) -> ProxyUsed {
    if entry.proxy == ProxyUsed::Stealth.as_str() { ProxyUsed::Stealth } else { ProxyUsed::Basic }
}

fn status(entry: &CacheEntry) -> u16 {
    u16::try_from(entry.status_code).unwrap_or(0)
}

/// Builds the page of a cache entry, in the form of a fetched page.
fn copy(entry: CacheEntry, url: Url, body: Bytes, room: net::Room) -> Copy {
    let (status, validators, proxy) = (status(&entry), validators(&entry), proxy(&entry));
    let CacheEntry { id, content_type, charset, rendered, fetched_at, .. } = entry;
    let facts = Facts { url, status, content_type, charset, rendered, proxy, validators };
    Copy { id, fetched: page_of(facts, body, room), fetched_at }
}

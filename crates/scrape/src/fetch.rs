//! Phase 1: the cached copy of the page, else the result of the plan's steps.

use std::time::Duration;

use base::Timestamp;
use branding::Sheet;
use fetch::{BodyKind, FetchError, Fetched, Plan};
use tokio::time::{Instant, timeout_at};
use url::Url;
use wire::{CacheState, FormatKind, ParserKind, ProxyUsed};

use crate::captures::Captured;
use crate::steps::resource;
use crate::tracked::Tracked;
use crate::{Copies, CopyLookup, Ports, ScrapeError, Target, Tools, Wants, detect, embedded, metrics, revalidate};

/// Longest time that a document waits until its page is stored in the cache.
const MAX_KEEP_TIME: Duration = Duration::from_secs(2);
/// Time before the deadline at which storing is abandoned.
const KEEP_MARGIN: Duration = Duration::from_millis(100);

/// Maximum time that is reserved for the surrounding page if an embedded PDF does not arrive.
const MAX_TIME_FOR_PAGE: Duration = Duration::from_secs(2);
/// Page and its cache state.
pub(crate) struct Page {
    pub(crate) fetched: Fetched,
    /// Cache state; `None` if the cache was not consulted.
    pub(crate) cache: Option<CacheState>,
    /// Time when the cached copy was fetched.
    pub(crate) cached_at: Option<Timestamp>,
    /// Screenshots, PDFs and action results.
    pub(crate) captured: Captured,
    /// Linked style sheets, if wanted.
    pub(crate) sheets: Vec<Sheet>,
    /// What the page is compared with, if it is.
    pub(crate) tracked: Option<Box<Tracked>>,
}

impl Page {
    /// Creates a page without captures. `cache` is the result of the cache lookup, if there was one.
    pub(crate) fn new(fetched: Fetched, cache: Option<CacheState>) -> Self {
        Self { fetched, cache, cached_at: None, captured: Captured::default(), sheets: Vec::new(), tracked: None }
    }
}

/// Result of the cache lookup.
pub(crate) struct Found {
    copy: Option<Page>,
    cache: Option<CacheState>,
}

/// Looks for a cached copy. A rendered copy is used as it is, and so is any copy if fetching is not allowed: the plan
/// ends then. Any other copy is judged like a fetched page: whether it needs its scripts.
///
/// # Errors
/// Errors of [`Copies::find`](crate::Copies::find).
pub(crate) async fn find(ports: Ports<'_>, target: &Target, plan: &mut Plan) -> Result<Found, ScrapeError> {
    let Some(copies) = ports.copies else { return Ok(Found { copy: None, cache: None }) };
    let wants = match () {
        () if target.options.wants(FormatKind::RawBase64) => Wants::Sent,
        () if plan.runs_scripts() && !copies.is_all() => Wants::Rendered,
        () => Wants::Any,
    };
    Ok(match copies.find(wants).await? {
        CopyLookup::NotAsked => Found { copy: None, cache: None },
        CopyLookup::Miss => Found { copy: None, cache: Some(CacheState::Miss) },
        CopyLookup::Hit(fetched, at) => {
            if copies.is_all() || fetched.dom().is_some() {
                plan.end();
            }
            let copy = Page { cached_at: Some(at), ..Page::new(*fetched, Some(CacheState::Hit)) };
            // A later fetch counts as a miss, as this copy was not good enough.
            Found { copy: Some(copy), cache: Some(CacheState::Miss) }
        }
    })
}

/// Returns the cached copy, else fetches the page. A page with an error status is a page as well.
///
/// # Errors
/// [`ScrapeError::Fetch`] and [`ScrapeError::Timeout`] when no step got a page.
pub(crate) async fn fetch(
    tools: &Tools,
    ports: Ports<'_>,
    target: &Target,
    plan: &mut Plan,
    found: &mut Found,
) -> Result<Page, ScrapeError> {
    match found.copy.take() {
        Some(copy) => Ok(copy),
        None => Ok(Page::new(revalidate::page(tools, ports, target, plan).await?, found.cache)),
    }
}

/// Whether an embedded PDF may replace its page: not if the caller wants the page itself, or if fetching is not
/// allowed.
pub(crate) fn follows_embedded(tools: &Tools, ports: Ports<'_>, target: &Target) -> bool {
    let options = &target.options;
    let is_copy = ports.copies.is_some_and(Copies::is_all);
    tools.documents.is_some() && !is_copy && !detect::wants_page(options) && detect::reads(options, ParserKind::Pdf)
}

/// Fetches the PDF that a page embeds, with the cheapest engine and the proxy strength of the page. Returns false on
/// failure; otherwise the next call of [`fetch`] returns it.
pub(crate) async fn embedded(
    tools: &Tools,
    target: &Target,
    mut url: Url,
    proxy: ProxyUsed,
    found: &mut Found,
) -> bool {
    base::address::cut_credentials(&mut url);
    let Some(engine) = tools.engines.iter().min_by_key(|engine| engine.rank()) else { return false };
    let left = target.deadline.saturating_duration_since(Instant::now());
    // If the PDF does not arrive, processing the page itself still takes a moment.
    let deadline = target.deadline - (left / 10).min(MAX_TIME_FOR_PAGE);
    // A cached copy may come from a time when an enhanced proxy was configured.
    let proxy = if tools.proxies.has_enhanced() { proxy } else { ProxyUsed::Basic };
    let request = resource(tools, target, &url, proxy, deadline);
    let Ok(Ok(mut fetched)) = timeout_at(deadline, engine.fetch(&request)).await else { return false };
    if !fetched.is_loaded() || fetched.kind != BodyKind::Pdf {
        return false;
    }
    metrics::step(engine.name(), "embedded");
    fetched.proxy = proxy;
    fetched.warnings.push(embedded::WARNING.to_owned());
    found.copy = Some(Page::new(fetched, found.cache));
    true
}

/// Rejects a refused page, which must not replace the page of an earlier step.
pub(crate) fn check_not_refused(page: &Page) -> Result<(), FetchError> {
    match page.fetched.is_refused() {
        true => Err(FetchError::Site { reason: format!("HTTP status {}", page.fetched.status) }),
        false => Ok(()),
    }
}

/// Returns a copy of the page to store. Without a cache the body is not copied.
pub(crate) fn copy_to_keep(ports: Ports<'_>, page: &Page) -> Option<Fetched> {
    let is_new = page.cached_at.is_none();
    ports.copies.filter(|copies| is_new && copies.keeps()).map(|_| page.fetched.clone())
}

/// Stores the page in the cache, within a time limit, so that slow storage does not cost the caller the document.
pub(crate) async fn keep(ports: Ports<'_>, target: &Target, copy: Option<Fetched>) {
    let (Some(copies), Some(copy)) = (ports.copies, copy) else { return };
    let until = (Instant::now() + MAX_KEEP_TIME).min(target.deadline - KEEP_MARGIN);
    let _in_time = timeout_at(until, copies.keep(&copy)).await;
}

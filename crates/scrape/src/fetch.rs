//! Phase 1: a copy of the page, else what the steps of the plan bring.

use std::time::Duration;

use base::Timestamp;
use branding::Sheet;
use fetch::{BodyKind, FetchError, FetchRequest, Fetched, Given, Plan, Step, Verdict};
use tokio::time::{Instant, timeout_at};
use url::Url;
use wire::{CacheState, Format, FormatKind, ParserKind, ProxyUsed};

use crate::captures::Captured;
use crate::{
    Copies, CopyLookup, Outdated, Ports, ScrapeError, Target, Tools, Wants, detect, embedded, export, metrics,
    revalidate,
};

/// Longest time that a document waits for its page to be kept.
const MAX_KEEP_TIME: Duration = Duration::from_secs(2);
/// Time before the deadline at which keeping the page is given up.
const KEEP_MARGIN: Duration = Duration::from_millis(100);

/// Longest time that is left for the page around a PDF that does not arrive.
const MAX_TIME_FOR_PAGE: Duration = Duration::from_secs(2);
/// How much longer than its share a step may take that shows an unfinished page when its time is over.
const OVERRUN: Duration = Duration::from_millis(300);

/// A page, and how the copies had a part in it.
pub(crate) struct Page {
    pub(crate) fetched: Fetched,
    /// `None` when no copy was looked for.
    pub(crate) cache: Option<CacheState>,
    /// When the copy was fetched that this is.
    pub(crate) cached_at: Option<Timestamp>,
    /// What was taken of it besides.
    pub(crate) captured: Captured,
    /// The style sheets that it links to, where they are wanted.
    pub(crate) sheets: Vec<Sheet>,
}

impl Page {
    /// A page with nothing besides. `cache` says what the look for a copy brought, if there was one.
    pub(crate) fn new(fetched: Fetched, cache: Option<CacheState>) -> Self {
        Self { fetched, cache, cached_at: None, captured: Captured::default(), sheets: Vec::new() }
    }
}

/// What the look for a copy brought.
pub(crate) struct Found {
    copy: Option<Page>,
    cache: Option<CacheState>,
}

/// Looks for a copy. One that its scripts have run in answers as it is, and so does any where nothing else may: no step of
/// the plan is taken then. Another is judged as the page would be: whether it needs its scripts.
///
/// # Errors
/// Those of [`Copies::find`](crate::Copies::find).
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
            // Whatever follows is fetched because this one did not do.
            Found { copy: Some(copy), cache: Some(CacheState::Miss) }
        }
    })
}

/// What was found, else the page itself; one that answers with an error status is a page as well.
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

/// Takes step after step for as long as the next one helps with what went wrong. When nothing better comes, a page that was
/// refused stands. A copy that was found at the address that is asked makes the requests conditional.
///
/// # Errors
/// That of the last step when none got a page.
pub(crate) async fn steps(
    tools: &Tools,
    target: &Target,
    plan: &mut Plan,
    outdated: Option<&Outdated>,
) -> Result<Fetched, FetchError> {
    let (mut refused, mut failed) = (None, None);
    let export = export::of(tools, target);
    let url = export.as_ref().unwrap_or(&target.url);
    let outdated = outdated.filter(|copy| copy.is_at(url));
    loop {
        let answer = take(tools, target, url, plan, outdated).await;
        let goes_on = plan.improve(Verdict::of(&answer));
        match answer {
            Ok(page) if goes_on => refused = Some(page),
            Ok(page) => return Ok(page),
            Err(error) if goes_on => failed = Some(error),
            // That there was no engine to try says nothing of the page.
            Err(error @ FetchError::Unavailable { .. }) => return refused.ok_or(failed.unwrap_or(error)),
            Err(error) => return refused.ok_or(error),
        }
    }
}

/// Takes one step, within its share of the time.
async fn take(
    tools: &Tools,
    target: &Target,
    url: &Url,
    plan: &Plan,
    outdated: Option<&Outdated>,
) -> Result<Fetched, FetchError> {
    let Some(step) = plan.step() else {
        let reason = "nothing on this server can do all that the request asks for".to_owned();
        return Err(FetchError::Site { reason });
    };
    let deadline = plan.share(target.deadline);
    // What a browser has made of the page is another body than the one that the site named.
    let outdated = outdated.filter(|copy| !plan.runs_scripts() && copy.proxy == step.proxy);
    let validators = outdated.map(|copy| &copy.validators);
    let request = FetchRequest { validators, ..request(tools, target, url, step, deadline) };
    let cut = if plan.runs_scripts() { deadline + OVERRUN } else { deadline };
    let answer = timeout_at(cut, step.engine.fetch(&request)).await.unwrap_or(Err(FetchError::Timeout));
    let (engine, reason) = (step.engine.name(), plan.reason());
    metrics::step(engine, reason);
    match answer {
        Ok(mut page) => {
            tracing::debug!(engine, reason, status = page.status, bytes = page.body.len(), "fetched");
            page.proxy = step.proxy;
            page.warnings.extend(step.warnings.iter().map(|&warning| warning.to_owned()));
            Ok(page)
        }
        Err(error) => {
            tracing::debug!(engine, reason, "engine got no page");
            Err(error)
        }
    }
}

pub(crate) fn request<'a>(
    tools: &Tools,
    target: &'a Target,
    url: &'a Url,
    step: &Step,
    deadline: Instant,
) -> FetchRequest<'a> {
    let options = &target.options;
    let screenshot = options.formats.iter().find_map(|format| match format {
        Format::Screenshot(how) => Some(how),
        _ => None,
    });
    FetchRequest {
        url,
        given: Given::new(&target.given_for, &options.headers, target.basic_auth.as_ref()),
        mobile: options.mobile,
        location: options.location.as_ref(),
        proxy: tools.proxies.next(step.proxy),
        skip_tls_verification: options.skips_tls_verification(target.basic_auth.is_some()),
        deadline,
        markdown: target.takes_markdown(),
        validators: None,
        wait_for: Duration::from_millis(options.wait_for.into()),
        block_ads: options.block_ads,
        actions: &options.actions,
        screenshot,
        styles: options.wants(FormatKind::Branding),
        state: target.state.as_deref(),
        keeps_state: target.keeps_state,
        hold: target.hold.as_deref(),
        owner: target.owner.clone(),
    }
}

/// Whether a PDF that is all that the page shows stands for it: not where its caller wants to see the page, and not where
/// nothing but a copy may answer.
pub(crate) fn follows_embedded(tools: &Tools, ports: Ports<'_>, target: &Target) -> bool {
    let options = &target.options;
    let is_copy = ports.copies.is_some_and(Copies::is_all);
    tools.documents.is_some() && !is_copy && !detect::wants_page(options) && detect::reads(options, ParserKind::Pdf)
}

/// Gets the PDF that a page embeds, by the plainest engine and the kind of proxy that the page came through. False when it
/// cannot be had; otherwise it is what [`fetch`] brings next.
pub(crate) async fn embedded(
    tools: &Tools,
    target: &Target,
    (mut url, proxy): (Url, ProxyUsed),
    found: &mut Found,
) -> bool {
    base::address::cut_credentials(&mut url);
    let Some(engine) = tools.engines.iter().min_by_key(|engine| engine.rank()) else { return false };
    let left = target.deadline.saturating_duration_since(Instant::now());
    // Without it the page is what there is, and takes a moment.
    let deadline = target.deadline - (left / 10).min(MAX_TIME_FOR_PAGE);
    let given = Given::new(&target.given_for, &target.options.headers, target.basic_auth.as_ref());
    // A copy may be from when there was another kind.
    let proxy = if tools.proxies.has_enhanced() { proxy } else { ProxyUsed::Basic };
    let request = FetchRequest {
        mobile: target.options.mobile,
        location: target.options.location.as_ref(),
        proxy: tools.proxies.next(proxy),
        skip_tls_verification: target.options.skips_tls_verification(target.basic_auth.is_some()),
        owner: target.owner.clone(),
        ..FetchRequest::new(&url, given, deadline)
    };
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

/// A later step that the site refuses must not replace the page that an earlier step brought.
pub(crate) fn check_not_refused(page: &Page) -> Result<(), FetchError> {
    match page.fetched.is_refused() {
        true => Err(FetchError::Site { reason: format!("HTTP status {}", page.fetched.status) }),
        false => Ok(()),
    }
}

/// The page once more, if it is to be kept. Where nothing keeps copies, the body is not copied.
pub(crate) fn copy_to_keep(ports: Ports<'_>, page: &Page) -> Option<Fetched> {
    let is_new = page.cached_at.is_none();
    ports.copies.filter(|copies| is_new && copies.keeps()).map(|_| page.fetched.clone())
}

/// Keeps the page, within bounds: slow storage may not cost the caller the document.
pub(crate) async fn keep(ports: Ports<'_>, target: &Target, copy: Option<Fetched>) {
    let (Some(copies), Some(copy)) = (ports.copies, copy) else { return };
    let until = (Instant::now() + MAX_KEEP_TIME).min(target.deadline - KEEP_MARGIN);
    let _in_time = timeout_at(until, copies.keep(&copy)).await;
}

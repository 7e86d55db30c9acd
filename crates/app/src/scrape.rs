//! Scraping one page: refusals, credits, cache, fetch, document, bill.

mod kept;

use std::sync::Arc;
use std::time::Duration;

use ::scrape::{Derived, ScrapeError, Target, derive, fetch as fetch_page};
use base::{Timestamp, new_id};
use billing::Outcome;
use chrono::{SecondsFormat, TimeDelta};
use fetch::BasicAuth;
use store::scrapes::Scrape;
use tokio::time::{Instant, timeout_at};
use url::Url;
use wire::{CacheState, Document, Format, Invalid, ScrapeOptions, ScrapeRequest};

use crate::auth::Caller;
use crate::cache::{self, OnMiss, Place, Policy, Situation};
use crate::reservation::Funds;
use crate::{App, AppError, credentials, metrics};

pub use self::kept::read;

/// Turns a page into a document and charges the caller's team.
///
/// `timeout` of the options is one deadline for everything up to the document. A request that is refused or fails costs
/// nothing, except a lockdown miss (1 credit). Dropping the future gives the reserved credits back. With zero data
/// retention nothing is written but the credits; with lockdown, additionally, no connection is made.
///
/// # Errors
/// [`AppError`]; see its variants.
#[crate::boxed]
pub async fn scrape(app: &App, caller: &Caller, request: ScrapeRequest) -> Result<Document, AppError> {
    scrape_with_room(app, caller, request).await.map(|(document, _)| document)
}

/// As [`scrape()`], with what the document holds of the budget for bodies in memory: to be kept until it was sent.
///
/// # Errors
/// [`AppError`]; see its variants.
#[crate::boxed]
pub async fn scrape_with_room(
    app: &App,
    caller: &Caller,
    request: ScrapeRequest,
) -> Result<(Document, net::Room), AppError> {
    let started = Instant::now();
    if app.tracker.is_closed() {
        return Err(AppError::ShuttingDown);
    }
    check(caller, &request)?;
    let limit = u32::try_from(caller.team.concurrency).unwrap_or(0);
    let _slot = app.active.enter(&caller.team.id, limit).ok_or(AppError::ConcurrencyLimited { limit })?;
    let job = Job::new(app, caller, request, None, started);
    let reserved = timeout_at(job.target.deadline, job.reserve(app, caller)).await;
    let funds = reserved.unwrap_or(Err(ScrapeError::Timeout.into()))?;
    let result = timeout_at(job.target.deadline, produce(app, &job)).await;
    job.finish(caller, funds, result.unwrap_or(Err(ScrapeError::Timeout.into()))).await
}

/// One page of a crawl or a batch: as [`scrape()`], but whoever runs the job has checked the request, pays, and writes down
/// what comes out. The page's id is also its `scrapeId`.
pub(crate) async fn page(app: &App, caller: &Caller, id: &str, wanted: Wanted) -> Paged {
    let mut job = Job::new(app, caller, wanted.request, Some(wanted.given), Instant::now());
    job.id = id.to_owned();
    job.target.collect_links = wanted.collect_links;
    let result = timeout_at(job.target.deadline, produce(app, &job)).await;
    let result = result.unwrap_or(Err(ScrapeError::Timeout.into()));
    let credits = job.price(&result);
    metrics::scraped(result.as_ref().map_or_else(|error| error.code().as_str(), |_| "ok"));
    job.log(caller, &result, credits);
    let took = job.started.elapsed();
    metrics::page(took);
    let page = result.map(|produced| {
        let retry_after = produced.retry_after.clone();
        let is_cached = produced.cache == Some(CacheState::Hit);
        let (document, links, room) = job.complete(produced, credits);
        Page { document, links, room, retry_after, is_cached }
    });
    Paged { page, credits, took }
}

/// A page that a job wants.
pub(crate) struct Wanted {
    pub(crate) request: ScrapeRequest,
    pub(crate) given: Given,
    pub(crate) collect_links: bool,
}

/// The URL that the headers of a request were given for, and the user name and password that stood in it.
pub(crate) struct Given {
    pub(crate) for_url: Url,
    pub(crate) basic_auth: Option<BasicAuth>,
}

/// How a page of a job came out.
pub(crate) struct Paged {
    pub(crate) page: Result<Page, AppError>,
    pub(crate) credits: i64,
    pub(crate) took: Duration,
}

/// A page of a job.
pub(crate) struct Page {
    pub(crate) document: Document,
    /// Absolute addresses; empty unless they were asked for.
    pub(crate) links: Vec<String>,
    /// To be kept for as long as the document is.
    pub(crate) room: net::Room,
    /// `Retry-After` as it was sent.
    pub(crate) retry_after: Option<String>,
    pub(crate) is_cached: bool,
}

/// Everything that can be refused without a look at the ledger or the page.
pub(crate) fn check(caller: &Caller, request: &ScrapeRequest) -> Result<(), AppError> {
    check_selectors(&request.options)?;
    if request.zero_data_retention && !caller.team.zero_data_retention {
        return Err(AppError::Forbidden("zero data retention is not enabled for this team"));
    }
    if request.domain_tools && !caller.team.catalog {
        return Err(AppError::Forbidden("the tool catalog is not enabled for this team"));
    }
    if request.domain_tools && request.is_private() {
        return Err(AppError::Forbidden("domainTools cannot be combined with zero data retention"));
    }
    match wire::unsupported(request) {
        features if features.is_empty() => Ok(()),
        features => Err(AppError::Unsupported(features)),
    }
}

fn check_selectors(options: &ScrapeOptions) -> Result<(), Invalid> {
    // Counted before anything is read: a request can name hundreds of long selectors.
    let mut parts = 0;
    let mut check = |text: &str, path: &dyn Fn() -> String| {
        parts += page::selector_parts(text);
        if parts > page::MAX_SELECTOR_PARTS {
            let most = page::MAX_SELECTOR_PARTS;
            let why =
                format!("makes more than {most} names and combinators in all selectors of the request; use fewer");
            return Err(Invalid::at(path(), why));
        }
        page::check_selector(text).map_err(|error| Invalid::at(path(), format!("is not a usable selector: {error}")))
    };
    for (name, tags) in [("includeTags", &options.include_tags), ("excludeTags", &options.exclude_tags)] {
        for (index, tag) in tags.iter().enumerate() {
            check(tag, &|| format!("{name}[{index}]"))?;
        }
    }
    for (at, format) in options.formats.iter().enumerate() {
        let Format::Attributes(wanted) = format else { continue };
        for (index, one) in wanted.selectors.iter().enumerate() {
            check(&one.selector, &|| format!("formats[{at}].selectors[{index}].selector"))?;
        }
    }
    Ok(())
}

/// One scrape on its way.
struct Job {
    id: String,
    target: Target,
    policy: Policy,
    place: Place,
    private: bool,
    began: Timestamp,
    started: Instant,
}

/// What came out, before it is paid.
struct Produced {
    derived: Derived,
    /// `None` when the cache was not consulted.
    cache: Option<CacheState>,
    cached_at: Option<Timestamp>,
    retry_after: Option<String>,
    /// Id of the copy in the cache that it was made from, or that was made of it.
    copy: Option<String>,
}

impl Job {
    /// Without `given`, the headers were given for the page itself.
    fn new(app: &App, caller: &Caller, request: ScrapeRequest, given: Option<Given>, started: Instant) -> Self {
        let private = request.is_private();
        let zero_data_retention = request.zero_data_retention;
        let (url, basic_auth) = credentials::split(request.url);
        let Given { for_url, basic_auth } = given.unwrap_or_else(|| Given { for_url: url.clone(), basic_auth });
        let options = Arc::new(request.options);
        let cache = app.settings.cache;
        let situation = Situation {
            enabled: cache.enabled,
            retention: cache.retention,
            zero_data_retention,
            credentials: basic_auth.is_some(),
        };
        let began = app.now();
        let owner = caller.team.id.clone();
        let deadline = started + Duration::from_millis(options.timeout.into());
        Self {
            id: new_id().to_string(),
            policy: cache::policy(&options, situation, began),
            place: Place::of(app, caller, &url, &options),
            target: Target {
                source: request.source.or(&url),
                given_for: for_url,
                basic_auth,
                private,
                owner,
                ..Target::new(url, options, deadline)
            },
            private,
            began,
            started,
        }
    }

    async fn reserve(&self, app: &App, caller: &Caller) -> Result<Funds, AppError> {
        let options = &self.target.options;
        let life = Duration::from_millis(options.timeout.into()) + app.settings.reservation_grace;
        let life = TimeDelta::from_std(life).unwrap_or(TimeDelta::MAX);
        let expires_at = self.began.checked_add_signed(life).unwrap_or(Timestamp::MAX_UTC);
        Funds::reserve(app, caller, &self.id, billing::quote(options), expires_at).await
    }

    /// Settles, writes the row, and completes the document.
    async fn finish(
        self,
        caller: &Caller,
        funds: Funds,
        result: Result<Produced, AppError>,
    ) -> Result<(Document, net::Room), AppError> {
        let credits = self.price(&result);
        let row = (!self.private).then(|| self.row(caller, &result, credits));
        metrics::scraped(result.as_ref().map_or_else(|error| error.code().as_str(), |_| "ok"));
        self.log(caller, &result, credits);
        let settled = funds.settle(credits, row).await;
        let produced = match (result, settled) {
            (Ok(produced), Ok(())) => produced,
            (Ok(_), Err(error)) => return Err(error),
            (Err(error), Ok(())) => return Err(error),
            (Err(error), Err(unsettled)) => {
                tracing::warn!(error = ?unsettled, scrape = self.id, "failed scrape not settled, its credits will be given back");
                return Err(error);
            }
        };
        produced.derived.shrink_room();
        let (document, _, room) = self.complete(produced, credits);
        Ok((document, room))
    }

    /// The document with what only we know, its links and its room.
    fn complete(self, produced: Produced, credits: i64) -> (Document, Vec<String>, net::Room) {
        let Derived { mut document, links, room, .. } = produced.derived;
        document.metadata.scrape_id = self.id;
        document.metadata.credits_used = credits;
        document.metadata.cache_state = produced.cache;
        document.metadata.cached_at = produced.cached_at.map(|at| at.to_rfc3339_opts(SecondsFormat::Millis, true));
        (document, links, room)
    }

    fn price(&self, result: &Result<Produced, AppError>) -> i64 {
        let extras = || billing::extras(&self.target.options);
        billing::price(&match result {
            Ok(_) if self.target.options.lockdown => Outcome::LockdownHit { extras: extras() },
            Ok(_) => Outcome::Page { extras: extras() },
            Err(AppError::LockdownMiss) => Outcome::LockdownMiss,
            Err(_) => Outcome::Failed,
        })
    }

    fn row(&self, caller: &Caller, result: &Result<Produced, AppError>, credits: i64) -> Scrape {
        let produced = result.as_ref().ok();
        let cache = produced.and_then(|produced| produced.cache).map(|state| state.as_str().to_owned());
        Scrape {
            id: self.id.clone(),
            team_id: caller.team.id.clone(),
            api_key_id: caller.key.clone(),
            url: Some(self.target.url.to_string()),
            status_code: produced.map(|produced| i32::from(produced.derived.document.metadata.status_code)),
            error_code: result.as_ref().err().map(|error| error.code().as_str().to_owned()),
            cache_state: cache,
            credits,
            duration_ms: i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX),
            created_at: self.began,
            kept: produced.and_then(|produced| kept::note(&self.target, produced)),
        }
    }

    fn log(&self, caller: &Caller, result: &Result<Produced, AppError>, credits: i64) {
        // Queries carry tokens.
        let mut shown = self.target.url.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        let url = if self.private { "" } else { shown.as_str() };
        let duration_ms = self.started.elapsed().as_millis();
        let team = caller.team.id.as_str();
        match result {
            Ok(produced) => {
                let cache = produced.cache.map(CacheState::as_str);
                tracing::debug!(scrape = self.id, team, url, cache, credits, duration_ms, "page scraped");
            }
            Err(error) => {
                let code = error.code().as_str();
                tracing::debug!(scrape = self.id, team, url, code, credits, duration_ms, "scrape failed");
            }
        }
    }
}

/// Longest time that a document waits for its page to be kept.
const KEEP_PATIENCE: Duration = Duration::from_secs(2);
/// Time before the deadline at which keeping the page is given up.
const KEEP_MARGIN: Duration = Duration::from_millis(100);

/// From the cache, else from the page.
async fn produce(app: &App, job: &Job) -> Result<Produced, AppError> {
    let Policy { window, on_miss, store } = job.policy;
    if let Some(window) = window {
        let copy = look_up(app, job, window).await?;
        metrics::cache_lookup(copy.is_some());
        if let Some(copy) = copy {
            let derived = derive(&app.tools, &job.target, copy.fetched).await?;
            let (cache, cached_at) = (Some(CacheState::Hit), Some(copy.fetched_at));
            return Ok(Produced { derived, cache, cached_at, retry_after: None, copy: Some(copy.id) });
        }
    }
    match on_miss {
        OnMiss::LockdownMiss => return Err(AppError::LockdownMiss),
        OnMiss::NoCachedData => return Err(AppError::NoCachedData),
        OnMiss::Fetch => {}
    }
    let fetched = fetch_page(&app.tools, &job.target).await?;
    let retry_after = fetched.retry_after.clone();
    let (derived, copy) = if store {
        let copy = fetched.clone();
        // Together, and within bounds: a slow blob store may not cost the caller the document.
        let until = (Instant::now() + KEEP_PATIENCE).min(job.target.deadline - KEEP_MARGIN);
        let keep = timeout_at(until, cache::keep(app, &job.place, &copy));
        let (derived, kept) = tokio::join!(derive(&app.tools, &job.target, fetched), keep);
        (derived, kept.ok().flatten())
    } else {
        (derive(&app.tools, &job.target, fetched).await, None)
    };
    Ok(Produced { derived: derived?, cache: window.map(|_| CacheState::Miss), cached_at: None, retry_after, copy })
}

/// A broken cache fails only those who want nothing else.
async fn look_up(app: &App, job: &Job, window: cache::Window) -> Result<Option<cache::Copy>, AppError> {
    match (cache::find(app, &job.place, window).await, job.policy.on_miss) {
        (Err(error), OnMiss::Fetch) => {
            tracing::warn!(?error, "cache not readable, the page is fetched");
            Ok(None)
        }
        (found, _) => found,
    }
}

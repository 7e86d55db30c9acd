//! Crawling a site: accept, watch, cancel. The work itself is done by two jobs, `kickoff` and `page`; `commit`
//! writes down what they bring. Batches ([`crate::batch`]) share all of it but the start.

mod active;
mod commit;
mod context;
mod deposit;
mod document;
mod end;
mod erase;
mod fill;
mod kickoff;
mod left_out;
mod page;
mod read;
mod secrets;
mod submit;

use std::time::Duration;

use ::scrape::CpuError;
use base::{Timestamp, new_id};
use chrono::TimeDelta;
use crawl_frontier::{KeyRules, PatternError, Scope, ScopeOptions, Verdict};
use queue::Queue;
use serde_json::Value;
use sha2::{Digest, Sha256};
use store::crawls::{self, Crawl};
use tokio::time::Instant;
use url::Url;
use uuid::Uuid;
use wire::{CrawlRequest, Invalid, ParamsPreview};

use crate::auth::Caller;
use crate::check::check;
use crate::{App, AppError};

pub use self::active::active;
pub use self::end::cancel;
pub(crate) use self::end::cancel_found;
pub use self::left_out::{Listed, errors};
pub use self::read::{Progress, status};

pub(crate) use self::context::Contexts;
pub(crate) use self::deposit::FOLDER as DOCUMENTS;
pub(crate) use self::document::Lost;
pub(crate) use self::erase::whole as erase;
#[cfg(test)]
pub(crate) use self::fill::FillPayload;
pub(crate) use self::fill::{Fill, Pages};
pub(crate) use self::kickoff::Kickoff;
#[cfg(test)]
pub(crate) use self::kickoff::StartPayload;
pub(crate) use self::page::{PagePayload, Visit};
pub(crate) use self::secrets::Secrets;
pub(crate) use self::submit::{Lanes, Submission, new_pages, submit};

/// Fetching pages, and what belongs to it.
pub(crate) const PAGES: Queue = Queue { name: "pages", slots: 64 };

/// How the database names the two kinds.
pub(crate) const CRAWL: &str = "crawl";
pub(crate) const BATCH: &str = "batch";

/// How long results can be read after the end (docs/CONTRACT.md, "Jobs").
pub(crate) const RETENTION: TimeDelta = TimeDelta::hours(24);
/// A crawl that has not ended by then gives its credits back.
pub(crate) const LONGEST_LIFE: TimeDelta = TimeDelta::days(30);
/// Longest wait for a place to compile patterns in.
const PATIENCE: Duration = Duration::from_secs(20);

/// Accepts a crawl and gives its id. The credits for `limit` pages are set aside, the start page is queued, and the crawl
/// survives whatever happens from here on. The same `idempotency_key` with the same request gives the same crawl.
///
/// # Errors
/// [`AppError::Invalid`] and the like for a request that cannot be carried out, [`AppError::InsufficientCredits`] when the
/// team cannot pay for `limit` pages, [`AppError::DuplicateRequest`] for a key that belongs to another request.
#[crate::boxed]
pub async fn start(
    app: &App,
    caller: &Caller,
    mut request: CrawlRequest,
    idempotency_key: Option<&str>,
) -> Result<Uuid, AppError> {
    check_request(app, caller, &request)?;
    crate::room::check(app)?;
    let verdict = scope(app, caller, &request, |scope, start| scope.admit_start(start)).await?;
    let now = app.now();
    let id = new_id();
    let fingerprint = fingerprint(&serde_json::to_string(&request).map_err(AppError::internal)?);
    let webhook = request.webhook.clone();
    let secrets = Secrets::of_crawl(&mut request).text().map(|text| (crawls::OF_THE_JOB.to_owned(), text));
    let options = &request.options;
    let row = Crawl {
        url: Some(request.url.to_string()),
        fingerprint,
        request: serde_json::to_string(&request).map_err(AppError::internal)?,
        page_limit: i64::from(options.limit),
        preparing: true,
        idempotency_key: idempotency_key.map(str::to_owned),
        ..blank(id, CRAWL, caller, now)
    };
    let mut pages = match verdict {
        Verdict::Follow { key, depth } => new_pages([(request.url.clone(), key.to_string(), depth)]),
        Verdict::Skip(_) => Vec::new(),
    };
    pages.iter_mut().for_each(|page| page.url = request.source.or(&request.url));
    let submission = Submission {
        row,
        pages: Pages::rows(pages),
        secrets: secrets.into_iter().collect(),
        price: billing::quote(&options.scrape_options),
        kickoff: true,
        webhook,
        private: request.is_private(),
        lanes: Lanes::new(caller.team.concurrency, options.max_concurrency, options.delay),
    };
    submit(app, caller, submission).await
}

/// The crawl options that a prompt stands for. Needs a language model.
///
/// # Errors
/// [`AppError::Unsupported`]: there is none yet.
pub fn params_preview(request: &ParamsPreview) -> Result<Value, AppError> {
    Err(AppError::Unsupported(request.needs()))
}

/// What can be refused without a look at the ledger or the site.
fn check_request(app: &App, caller: &Caller, request: &CrawlRequest) -> Result<(), AppError> {
    let options = &request.options;
    if (options.ignore_robots_txt || options.robots_user_agent.is_some()) && !caller.team.enterprise {
        return Err(AppError::Forbidden("ignoreRobotsTxt and robotsUserAgent are not enabled for this team"));
    }
    check(app, caller, &options.scrape_options, request.zero_data_retention, request.needs())
}

/// Compiles which links the crawl may follow, and does something with it and the start. Patterns are text of a caller:
/// this takes one of the team's places, unless there are none.
async fn scope<T: Send + 'static>(
    app: &App,
    caller: &Caller,
    request: &CrawlRequest,
    then: impl FnOnce(Scope, &Url) -> T + Send + 'static,
) -> Result<T, AppError> {
    let (start, options) = (request.url.clone(), scope_options(request));
    let is_plain = options.include_paths.is_empty() && options.exclude_paths.is_empty();
    let work = move || Scope::new(&start, &options).map(|scope| then(scope, &start));
    let done = if is_plain {
        work()
    } else {
        let compiled = app.tools.cpu.run(&caller.team.id, Instant::now() + PATIENCE, move |_| work()).await;
        compiled.map_err(|error| no_place(error, caller))?
    };
    done.map_err(|error| AppError::Invalid(refused(&error)))
}

/// Work of a team that found no place for the processor, or broke.
fn no_place(error: CpuError, caller: &Caller) -> AppError {
    match error {
        CpuError::Timeout => {
            AppError::ConcurrencyLimited { limit: u32::try_from(caller.team.concurrency).unwrap_or(0) }
        }
        CpuError::Panicked => AppError::internal(error),
    }
}

fn scope_options(request: &CrawlRequest) -> ScopeOptions {
    let options = &request.options;
    ScopeOptions {
        include_paths: options.include_paths.clone(),
        exclude_paths: options.exclude_paths.clone(),
        regex_on_full_url: options.regex_on_full_url,
        max_discovery_depth: options.max_discovery_depth,
        crawl_entire_domain: options.crawl_entire_domain,
        allow_subdomains: options.allow_subdomains,
        allow_external_links: options.allow_external_links,
        key_rules: KeyRules {
            fold_similar: options.deduplicate_similar_urls,
            ignore_query: options.ignore_query_parameters,
        },
    }
}

fn refused(error: &PatternError) -> Invalid {
    let path = match error {
        PatternError::Pattern { field, index, .. } => format!("{field}[{index}]"),
        PatternError::TooMany { field, .. } => field.to_string(),
        _ => "includePaths".to_owned(),
    };
    Invalid { message: error.to_string(), ..Invalid::at(path, error.to_string()) }
}

/// The row of a crawl or batch that begins now.
pub(crate) fn blank(id: Uuid, kind: &str, caller: &Caller, now: Timestamp) -> Crawl {
    Crawl {
        id: id.to_string(),
        team_id: caller.team.id.clone(),
        api_key_id: caller.key.clone(),
        kind: kind.to_owned(),
        url: None,
        request: String::new(),
        status: crawls::SCRAPING.to_owned(),
        page_limit: 0,
        pending: 0,
        completed: 0,
        failed: 0,
        spare: 0,
        credits: 0,
        reservation: None,
        preparing: false,
        landed_url: None,
        warning: None,
        error: None,
        idempotency_key: None,
        fingerprint: String::new(),
        created_at: now,
        finished_at: None,
        expires_at: now + RETENTION,
    }
}

/// Whether a job's pages must leave no trace: by what is kept of its request, so that nothing else of it has to be readable.
/// One that cannot be read at all counts as private.
pub(crate) fn is_private(row: &Crawl) -> bool {
    let Ok(request) = serde_json::from_str::<Value>(&row.request) else { return true };
    let is_set = |pointer: &str| request.pointer(pointer).and_then(Value::as_bool).unwrap_or(false);
    ["/zeroDataRetention", "/lockdown", "/scrapeOptions/lockdown"].into_iter().any(is_set)
}

/// Tells requests apart.
pub(crate) fn fingerprint(request: &str) -> String {
    hex::encode(Sha256::digest(request.as_bytes()))
}

/// The URL behind an address as a page is known by: written in full, or as the caller of a batch spelled it.
pub(crate) fn url_of(address: &str) -> Option<Url> {
    Url::parse(address).ok().or_else(|| wire::target_url(address).ok())
}

/// The host that a request to this address must be polite to.
pub(crate) fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

//! Crawls: runs whose items are pages that are found by links and sitemaps. This module starts crawls and lists the open
//! ones; `prompt` derives options from a prompt; `start` reads the sitemaps of the site; the crate `runs` holds what all
//! runs share.
//!
//! What a crawl does with its pages: `frontier` is the crawl at work and `kind` opens it; `plan` decides whether a page
//! may be fetched, `look` sorts its links in the thread that parsed it, and `record` writes them down, with `copies` and
//! `walk`.

mod active;
mod copies;
mod ended;
mod frontier;
mod hidden;
mod kind;
mod known;
mod links;
mod look;
mod plan;
mod prompt;
mod record;
mod site_urls;
mod start;
mod waiting;
mod walk;

use std::time::Duration;

use ::runs::{
    Begin, Kind, Lanes, RETENTION, Runs, Secrets, Submission, add_pages, digest, new_page, nothing_then, page_lanes,
    started, submit,
};
use ::scrape::CpuError;
use base::address::BasicAuth;
use base::{Owner, Timestamp};
use crawl_frontier::{KeyRules, PatternError, Scope, ScopeOptions, Verdict};
use kernel::auth::Caller;
use kernel::{AppError, credentials, fingerprint};
use scraping::Scraper;
use scraping::check::check;
use store::runs::{NewPage, Progress};
use store::{Conn, StoreError};
use tokio::time::Instant;
use url::Url;
use uuid::Uuid;
use wire::{ActivityEndpoint, CrawlRequest, GivenFields, Invalid, event};

use crate::CrawlsError;

pub use self::active::active;
pub use self::hidden::add_hidden_of;
pub use self::kind::Pages;
pub use self::prompt::params_preview;
pub use self::start::{StartHandler, StartPayload};
pub use self::waiting::release as release_waiting;

/// Kind of run for crawls.
pub static KIND: Kind = Kind {
    name: "crawl",
    noun: "crawl",
    events: &event::CRAWL,
    endpoint: Some(ActivityEndpoint::Crawl),
    lanes: page_lanes,
    verdict,
    explain: ended::explain,
    total: |progress| progress.done + progress.pending,
    drained: hidden::add_hidden,
    closed: nothing_then,
    retention: RETENTION,
    owns_reservation: true,
};

/// Maximum wait for a CPU slot to compile patterns in.
const PATIENCE: Duration = Duration::from_secs(20);

/// Accepts a crawl and returns its id. The credits for `limit` pages are reserved and the start page is queued; from
/// then on the crawl survives a restart. The same `idempotency_key` with the same request returns the same crawl.
///
/// A prompt fills the options that `given`, the keys of the request, does not set. They are fixed here, with the request.
///
/// # Errors
/// [`AppError::Invalid`] and similar errors for a request that cannot be carried out,
/// [`CrawlsError::InsufficientForPages`] when the team cannot pay for `limit` pages, [`AppError::DuplicateRequest`] for
/// a key that belongs to another request, and those of [`params_preview`] for its prompt.
#[crate::boxed]
pub async fn start(
    runs: &Runs,
    caller: &Caller,
    mut request: CrawlRequest,
    given: &GivenFields,
    idempotency_key: Option<&str>,
) -> Result<Uuid, CrawlsError> {
    check_request(runs.scraper(), caller, &request)?;
    kernel::room::check(runs.app())?;
    let fingerprint = fingerprint(&serde_json::to_string(&request).map_err(AppError::internal)?);
    let mut warnings = Vec::new();
    if request.prompt.is_some() {
        // A repeated request asks no model again.
        if let Some(known) = started(runs, caller, &KIND, idempotency_key, &fingerprint).await? {
            return Ok(known);
        }
        warnings.extend(prompt::fill(runs, caller, &mut request, given).await?);
    }
    let limit = i64::from(request.options.limit);
    let Prepared { submission, beginning } = prepared(runs, caller, request, warnings).await?;
    let idempotency_key = idempotency_key.map(str::to_owned);
    let submitted = submit(runs, caller, Submission { idempotency_key, fingerprint, ..submission }, beginning).await;
    submitted.map_err(|error| CrawlsError::for_pages(error, "limit", limit))
}

/// Crawl that is ready to be submitted.
#[derive(Clone)]
pub struct Prepared {
    /// The run, without an idempotency key and a fingerprint.
    pub submission: Submission,
    /// Its first jobs.
    pub beginning: Beginning,
}

/// Checks a crawl as [`start`] does, for a caller that submits it later. Its prompt is not read.
///
/// # Errors
/// Those of [`start`] but of credits and keys.
#[crate::boxed]
pub async fn prepare(runs: &Runs, caller: &Caller, request: CrawlRequest) -> Result<Prepared, CrawlsError> {
    check_request(runs.scraper(), caller, &request)?;
    prepared(runs, caller, request, Vec::new()).await
}

async fn prepared(
    runs: &Runs,
    caller: &Caller,
    mut request: CrawlRequest,
    mut warnings: Vec<String>,
) -> Result<Prepared, CrawlsError> {
    let verdict = scope(runs, caller, &request, |scope, start| scope.admit_start(start)).await?;
    let webhook = request.webhook.clone();
    let secrets = take_secrets(&mut request).text();
    let options = &request.options;
    let mut pages = Vec::new();
    match verdict {
        Verdict::Follow { key, depth } => pages.push(new_page(request.url.clone(), digest(key.as_str()), depth)),
        Verdict::Skip(reason) => warnings.push(ended::left_out(reason)),
    }
    pages.iter_mut().for_each(|page| page.url = request.source.or(&request.url));
    let lanes = Lanes::new(&caller.team, options.max_concurrency, options.delay);
    let submission = Submission {
        kind: &KIND,
        subject: Some(request.url.to_string()),
        spec: serde_json::to_string(&request).map_err(AppError::internal)?,
        secrets,
        private: request.is_private(),
        webhook,
        idempotency_key: None,
        fingerprint: String::new(),
        max_items: i64::from(options.limit),
        worst: i64::from(options.limit).saturating_mul(billing::quote(&options.scrape_options)),
        warning: (!warnings.is_empty()).then(|| warnings.join(" ")),
    };
    Ok(Prepared { submission, beginning: Beginning { lanes, pages } })
}

/// First jobs of a crawl: the start page, unless it is out of scope, and the job that reads the sitemaps.
#[derive(Clone)]
pub struct Beginning {
    lanes: Lanes,
    pages: Vec<NewPage>,
}

impl Begin for Beginning {
    async fn begin(self, conn: &mut Conn, progress: &mut Progress, now: Timestamp) -> Result<(), StoreError> {
        progress.preparing = true;
        add_pages(conn, progress, &self.lanes, self.pages, now).await?;
        start::enqueue(conn, &progress.run_id, &self.lanes, now).await
    }
}

/// Returns the result of a crawl: one without documents but with failed pages has failed.
fn verdict(progress: &Progress) -> Result<(), &'static str> {
    match progress.done == 0 && progress.failed > 0 {
        true => Err(ended::NOTHING),
        false => Ok(()),
    }
}

/// Moves the secrets out of the request.
fn take_secrets(request: &mut CrawlRequest) -> Secrets {
    let (headers, webhook) = (&mut request.options.scrape_options.headers, request.webhook.as_mut());
    Secrets::take(Some(&mut request.url), headers, webhook)
}

/// Restores the request, and returns the credentials from its URL. Rows of older versions hold the secrets in the
/// request itself.
fn put_back(secrets: Secrets, request: &mut CrawlRequest) -> Option<BasicAuth> {
    let in_url = credentials::take(&mut request.url);
    let user = secrets.put_back(&mut request.options.scrape_options.headers, request.webhook.as_mut());
    user.or(in_url)
}

/// Checks what can be refused without the ledger and without contacting the site.
fn check_request(scraper: &Scraper, caller: &Caller, request: &CrawlRequest) -> Result<(), AppError> {
    let options = &request.options;
    if (options.ignore_robots_txt || options.robots_user_agent.is_some()) && !caller.team.enterprise {
        return Err(AppError::Forbidden("ignoreRobotsTxt and robotsUserAgent are not enabled for this team"));
    }
    check(scraper, caller, &options.scrape_options, request.zero_data_retention, prompt::other_needs(request))
}

/// Compiles the scope of a crawl, and applies `then` to it and the start. Patterns are untrusted input, so compiling
/// them takes one of the team's CPU slots; a scope without patterns is built at once.
async fn scope<T: Send + 'static>(
    runs: &Runs,
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
        let owner = Owner::of_team(&caller.team.id);
        let compiled = runs.scraper().tools().cpu.run(&owner, Instant::now() + PATIENCE, move |_| work()).await;
        compiled.map_err(|error| no_place(error, caller))?
    };
    done.map_err(|error| AppError::Invalid(refused(&error)))
}

/// Returns the error of CPU work that found no free slot, or panicked.
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

#[cfg(test)]
mod tests {
    use ::runs::hide;
    use serde_json::json;

    use super::*;

    fn request() -> CrawlRequest {
        let body = json!({
            "url": "http://me:hush1%40@a.test/x",
            "scrapeOptions": { "headers": { "Cookie": "hush2", "X-Tok": "hush3" } },
            "webhook": { "url": "https://you:hush4@hook.test/", "headers": { "Authorization": "hush5" } },
        });
        wire::decode_crawl(body).unwrap()
    }

    #[test]
    fn no_secret_stays_in_the_request_and_all_come_back() {
        let mut taken = request();
        let secrets = take_secrets(&mut taken);
        let written = serde_json::to_string(&taken).unwrap();
        assert!(!written.contains("hush") && written.contains("Cookie"), "{written}");
        let text = secrets.text().unwrap();
        let mut again = wire::decode_crawl(serde_json::from_str(&written).unwrap()).unwrap();
        let (name, password) = put_back(Secrets::read(Some(&text)).unwrap(), &mut again).unwrap();
        assert_eq!((name.as_str(), password.expose()), ("me", "hush1@"));
        let mut given = request();
        credentials::take(&mut given.url);
        assert!(again == given, "headers and hook are as they were given");
        assert!(take_secrets(&mut CrawlRequest::new("http://a.test/".parse().unwrap())).text().is_none());
    }

    #[test]
    fn rows_of_older_versions_are_read() {
        let mut restored = request();
        let user = put_back(Secrets::read(None).unwrap(), &mut restored).unwrap();
        assert_eq!((user.0.as_str(), restored.url.as_str()), ("me", "http://a.test/x"));
        assert_eq!(restored.options.scrape_options.headers["Cookie"], "hush2");
        let mut shown = serde_json::to_value(request()).unwrap();
        hide(&mut shown);
        assert!(!shown.to_string().contains("hush"), "{shown}");
        assert_eq!(shown["webhook"]["url"], "https://hook.test/");
    }
}

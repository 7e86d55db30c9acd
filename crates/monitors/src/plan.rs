//! Plan of a check: what is done for each target, and the most that it may cost. Made before the transaction that starts
//! the check.

use std::collections::HashSet;

use ::runs::{Begin, Lanes, Secrets, Submission, add_pages, digest, new_page, of_page};
use base::{Secret, Timestamp};
use crawls::crawl;
use kernel::auth::Caller;
use kernel::{AppError, credentials};
use scraping::check::check;
use serde_json::{Map, Value, json};
use store::monitors::{self as rows, Monitor, MonitorSecret, Target};
use store::runs::{self, NewPage, Progress};
use store::teams::{self, Team};
use store::{Conn, StoreError};
use url::Url;
use wire::{
    ChangeMode, ChangeTrackingFormat, Format, FormatKind, Invalid, MonitorTarget, ScrapeOptions, TargetWork, target_url,
};

use crate::kind::{CRAWL, PAGES};
use crate::link::wants_judge;
use crate::quiet::Quiet;
use crate::{Monitors, MonitorsError, secrets};

/// Warning of a check whose changes nothing judges.
pub(crate) const NO_MODEL: &str =
    "changes were not judged: this server has no language model; every change is reported";

/// Plan of a check.
#[derive(Clone)]
pub(crate) struct Plan {
    /// Monitor as it was when the plan was made.
    pub(crate) monitor: Monitor,
    /// Team and key that pay.
    pub(crate) caller: Caller,
    /// Parts, one for each target.
    pub(crate) parts: Vec<Part>,
    /// Upper bound of the cost, in credits.
    pub(crate) estimate: i64,
    /// Warning for the team.
    pub(crate) warning: Option<&'static str>,
}

/// Part of a check.
#[derive(Clone)]
pub(crate) struct Part {
    /// Id of the target.
    pub(crate) target: String,
    /// Position of the target.
    pub(crate) position: i32,
    /// Work for the target.
    pub(crate) work: Work,
}

/// Work for a target.
#[derive(Clone)]
pub(crate) enum Work {
    /// Pages of a list.
    Pages(Box<Submission>, PagesToRead),
    /// Pages of a crawl.
    Crawl(Box<crawl::Prepared>),
    /// Searches.
    Search,
    /// Target that cannot be checked any more, with the reason.
    Refused(String),
}

/// Pages of a list, with what is needed to queue them.
#[derive(Clone)]
pub(crate) struct PagesToRead {
    lanes: Lanes,
    pages: Vec<NewPage>,
    /// Credentials from their URLs, by the ids of the pages.
    secrets: Vec<(String, Secret)>,
}

impl PagesToRead {
    /// Returns the ids of the pages.
    pub(crate) fn ids(&self) -> Vec<&str> {
        self.pages.iter().map(|page| page.id.as_str()).collect()
    }
}

impl Begin for PagesToRead {
    async fn begin(self, conn: &mut Conn, progress: &mut Progress, now: Timestamp) -> Result<(), StoreError> {
        let Self { lanes, pages, secrets } = self;
        runs::keep_secrets(conn, &progress.run_id, &secrets).await?;
        add_pages(conn, progress, &lanes, pages, now).await
    }
}

/// Rows that a plan is made of.
struct Found {
    monitor: Monitor,
    team: Team,
    targets: Vec<Target>,
    secrets: Vec<MonitorSecret>,
}

impl Found {
    /// Reads them; `None` if monitor or team is gone.
    async fn read(conn: &mut Conn, team: &str, id: &str) -> Result<Option<Self>, StoreError> {
        let Some(monitor) = rows::find(conn, team, id).await? else { return Ok(None) };
        let Some(team) = teams::find(conn, team).await? else { return Ok(None) };
        let targets = rows::targets(conn, &[id]).await?;
        Ok(Some(Self { monitor, team, targets, secrets: rows::secrets(conn, id).await? }))
    }
}

/// Reads a monitor with its team, and plans a check; `None` if one of them is gone.
///
/// # Errors
/// [`MonitorsError`] of an outage. What is wrong with a target is part of the plan.
pub(crate) async fn plan(monitors: &Monitors, team: &str, id: &str) -> Result<Option<Plan>, MonitorsError> {
    let mut conn = monitors.app().conn().await?;
    let found: Result<Option<Found>, StoreError> =
        conn.reads(async |conn: &mut Conn| Found::read(conn, team, id).await).await;
    drop(conn);
    let Some(Found { monitor, team, targets, secrets }) = found? else { return Ok(None) };
    let caller = Caller::of(team, monitor.api_key_id.clone(), monitor.address.clone());
    let judges = wants_judge(&monitor);
    let has_model = monitors.model().is_some();
    let (mut parts, mut estimate) = (Vec::new(), 0_i64);
    for target in &targets {
        let (work, most) = match revealed(target, &secrets) {
            Ok(read) => (work(monitors, &caller, target, &read).await?, price(&read.work, judges && has_model)),
            Err(error) => (Work::Refused(error.to_string()), 0),
        };
        estimate = estimate.saturating_add(if matches!(work, Work::Refused(_)) { 0 } else { most });
        parts.push(Part { target: target.id.clone(), position: target.position, work });
    }
    let warning = (judges && !has_model).then_some(NO_MODEL);
    Ok(Some(Plan { monitor, caller, parts, estimate, warning }))
}

/// Reads a stored target with its secrets.
///
/// # Errors
/// [`AppError`] for one that this version cannot read.
pub(crate) fn revealed(target: &Target, all: &[MonitorSecret]) -> Result<MonitorTarget, AppError> {
    let mut spec: Map<String, Value> = serde_json::from_str(&target.spec).map_err(AppError::internal)?;
    secrets::put_back(&mut spec, all, &target.id)?;
    Ok(wire::decode_monitor_target(Value::Object(spec))?)
}

/// Returns the most that a check of a target may cost, in credits.
pub(crate) fn price(work: &TargetWork, is_judged: bool) -> i64 {
    let judged = |pages: i64| if is_judged { pages } else { 0 };
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    match work {
        TargetWork::Scrape(target) => {
            let pages = count(unique(&target.urls).len());
            pages.saturating_mul(billing::quote(&tracked(&target.options, ""))).saturating_add(judged(pages))
        }
        TargetWork::Crawl(request) => {
            let pages = i64::from(request.options.limit);
            let quote = billing::quote(&tracked(&request.options.scrape_options, ""));
            pages.saturating_mul(quote).saturating_add(judged(pages))
        }
        TargetWork::Search(target) => {
            let results = count(target.queries.len()).saturating_mul(target.max_results.into());
            let results = usize::try_from(results).unwrap_or(usize::MAX);
            billing::search(results, false).saturating_add(judged(count(results)))
        }
    }
}

/// Returns the URLs of a target, each page once.
fn unique(urls: &[String]) -> Vec<Url> {
    let mut found = Vec::new();
    let mut keys = HashSet::new();
    for text in urls {
        if let Ok(url) = target_url(text)
            && keys.insert(cache::page_key(&credentials::split(url.clone()).0))
        {
            found.push(url);
        }
    }
    found
}

/// Returns the options with the format that compares the page with its version before, in the series of a target.
fn tracked(options: &ScrapeOptions, target: &str) -> ScrapeOptions {
    let mut options = options.clone();
    let tag = (!target.is_empty()).then(|| target.to_owned());
    let mut is_tracked = false;
    for format in &mut options.formats {
        if let Format::ChangeTracking(tracking) = format {
            tracking.tag.clone_from(&tag);
            is_tracked = true;
        }
    }
    if !is_tracked {
        let modes = vec![ChangeMode::GitDiff];
        options.formats.push(Format::ChangeTracking(ChangeTrackingFormat { modes, schema: None, prompt: None, tag }));
    }
    if !options.wants(FormatKind::Markdown) {
        options.formats.push(Format::Markdown);
    }
    options
}

/// Plans the part of a target.
async fn work(
    monitors: &Monitors,
    caller: &Caller,
    row: &Target,
    target: &MonitorTarget,
) -> Result<Work, MonitorsError> {
    let planned = match &target.work {
        TargetWork::Scrape(scrape) => {
            let mut options = tracked(&scrape.options, &row.id);
            Quiet::read(&target.given)?.leave_out(&mut options);
            pages(monitors, caller, &scrape.urls, options)
        }
        TargetWork::Crawl(request) => {
            let mut request = (**request).clone();
            let options = &mut request.options.scrape_options;
            *options = tracked(options, &row.id);
            Quiet::read(&target.given)?.leave_out(options);
            match crawl::prepare(monitors.runs(), caller, request).await {
                Ok(mut prepared) => {
                    prepared.submission.kind = &CRAWL;
                    Ok(Work::Crawl(Box::new(prepared)))
                }
                Err(error) => Err(error.into()),
            }
        }
        TargetWork::Search(_) => Ok(Work::Search),
    };
    match planned {
        Ok(work) => Ok(work),
        Err(error) if error.is_of_outage() => Err(error),
        Err(error) => Ok(Work::Refused(error.to_string())),
    }
}

/// Plans the pages of a list.
fn pages(
    monitors: &Monitors,
    caller: &Caller,
    urls: &[String],
    mut options: ScrapeOptions,
) -> Result<Work, MonitorsError> {
    check(monitors.runs().scraper(), caller, &options, false, options.needs())?;
    let secrets = Secrets::take(None, &mut options.headers, None).text();
    let (mut pages, mut of_pages) = (Vec::new(), Vec::new());
    for url in unique(urls) {
        let (url, user) = credentials::split(url);
        let page = new_page(url.clone(), digest(&cache::page_key(&url)), 0);
        of_pages.extend(user.and_then(of_page).map(|secret| (page.id.clone(), secret)));
        pages.push(page);
    }
    let submission = Submission {
        kind: &PAGES,
        subject: None,
        spec: json!({ "options": options }).to_string(),
        secrets,
        private: false,
        webhook: None,
        idempotency_key: None,
        fingerprint: String::new(),
        max_items: i64::try_from(pages.len()).unwrap_or(i64::MAX),
        worst: 0,
        warning: None,
    };
    let lanes = Lanes::new(&caller.team, None, None);
    Ok(Work::Pages(Box::new(submission), PagesToRead { lanes, pages, secrets: of_pages }))
}

/// Checks whether the targets of a monitor could be checked now, each fault with the path of its target.
///
/// # Errors
/// [`MonitorsError`] of the first target that is refused.
pub(crate) async fn check_targets(
    monitors: &Monitors,
    caller: &Caller,
    targets: &[MonitorTarget],
) -> Result<(), MonitorsError> {
    for (index, target) in targets.iter().enumerate() {
        let place = |path: &str| format!("targets[{index}].{path}");
        let quiet = Quiet::read(&target.given).map_err(MonitorsError::from);
        let quiet = quiet.map_err(|error| error.below(&format!("targets[{index}]")))?;
        let checked = match &target.work {
            TargetWork::Scrape(scrape) => {
                let mut options = tracked(&scrape.options, "x");
                quiet.leave_out(&mut options);
                let checked = check(monitors.runs().scraper(), caller, &options, false, options.needs());
                checked.map_err(MonitorsError::from)
            }
            TargetWork::Crawl(request) if request.prompt.is_some() => {
                let why = "is not read by monitors; `POST /v2/crawl/params-preview` turns it into `crawlOptions`";
                Err(Invalid::at("prompt", why).into())
            }
            TargetWork::Crawl(request) => {
                let mut request = (**request).clone();
                let options = &mut request.options.scrape_options;
                *options = tracked(options, "x");
                quiet.leave_out(options);
                crawl::prepare(monitors.runs(), caller, request).await.map(drop).map_err(MonitorsError::from)
            }
            TargetWork::Search(_) => Ok(()),
        };
        let options = if matches!(target.work, TargetWork::Crawl(_)) { "crawlOptions" } else { "scrapeOptions" };
        checked.map_err(|error| error.below(&place(options)))?;
    }
    Ok(())
}

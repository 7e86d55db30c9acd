//! Scrape of one page: checks, credit reservation, cache or fetch, document, charge.

mod copies;
mod files;
mod kept;
mod metrics;
mod purse;
mod versions;
mod wanted;

use std::sync::Arc;
use std::time::Duration;

use ::scrape::{Files, Ports, ScrapeError, Scraped, Target, Versions};
use base::{Stop, Timestamp, new_id};
use billing::{Delivered, Outcome};
use cache::{CrawlOf, OnMiss, PageCopy, PageToKeep, Policy, Situation};
use chrono::TimeDelta;
use fetch::Fetched;
use kernel::admit::{Admitted, Entry, admit};
use kernel::auth::Caller;
use kernel::reservation::{Funds, Record};
use kernel::{App, AppError, Refusal as _, uuid};
use store::scrapes::Scrape;
use tokio::time::{Instant, timeout_at};
use wire::{CacheState, Document, FormatKind, ScrapeOptions, ScrapeRequest};

use self::copies::CacheCopies;
use self::files::Place;
use self::purse::{Purse, RunPurse};
use self::versions::PageVersions;
use crate::check::check;
use crate::profiles::{self, Holder, Opened, Saver};
use crate::{Scraper, ScrapingError, model_limit};

pub use self::kept::read;
pub use self::kept::request_of;
pub use self::purse::Surcharge;
pub(crate) use self::wanted::UploadedFile;
pub use self::wanted::Wanted;

/// Time allowed between scraping a page of a run and recording it.
const WRITTEN_WITHIN: TimeDelta = TimeDelta::minutes(10);

/// Scrapes a page into a document and charges the caller's team.
///
/// `timeout` of the options is one deadline for everything up to the document. A request that is refused or fails costs
/// nothing, except a lockdown miss (1 credit). The cost of a PDF is reserved when its page count is known, before it is
/// read. Dropping the future returns the reserved credits. With zero data retention nothing is stored but the credits;
/// with lockdown, additionally, no connection is made.
///
/// # Errors
/// [`ScrapingError`]; see its variants.
#[crate::boxed]
pub async fn scrape(scraper: &Scraper, caller: &Caller, request: ScrapeRequest) -> Result<Document, ScrapingError> {
    scrape_with_room(scraper, caller, request).await.map(|(document, _)| document)
}

/// Scrapes as [`scrape()`] does, and also returns the document's share of the memory budget for bodies; keep it until
/// the document is sent.
///
/// # Errors
/// [`ScrapingError`]; see its variants.
#[crate::boxed]
pub async fn scrape_with_room(
    scraper: &Scraper,
    caller: &Caller,
    request: ScrapeRequest,
) -> Result<(Document, net::Room), ScrapingError> {
    let (id, started) = (new_id().to_string(), Instant::now());
    let timeout = Duration::from_millis(request.options.timeout.into());
    // Upper bound of the cost; the actual cost is known at the end.
    let price = billing::quote(&request.options);
    let entry = Entry { started, timeout, key: format!("scrape:{id}"), price };
    let Admitted { slot: _slot, funds, .. } =
        admit(scraper.app(), caller, entry, || check_request(scraper, caller, &request)).await?;
    if let Some(recent) = scraper.recent()
        && !caller.is_keyless
    {
        recent.put(&caller.team.id, uuid(&id)?, &request).await;
    }
    let mut scraping = Scraping::new(scraper, caller, Wanted::of(id, request), started);
    let copies = scraping.copies(scraper);
    let versions = scraping.versions(scraper);
    let purse = scraping.purse(funds);
    let stamp = scraping.stamp();
    let last = move |scraped: Scraped, _: &Stop| stamp.put(scraped);
    let tracked = versions.as_ref().map(|versions| versions as &dyn Versions);
    let ports = Ports { copies: Some(&copies), funds: Some(&purse), versions: tracked, ..Ports::default() };
    let result = scraping.run(scraper, caller, ports, last).await;
    let result = result.map(|(mut scraped, unsaved)| {
        warn(&mut scraped.document, unsaved);
        scraped
    });
    // Shrink only now: until the copy is stored, the body is in memory as well.
    result.iter().for_each(Scraped::shrink_room);
    // A failed scrape leaves the versions of its page alone.
    let version = versions.filter(|_| result.is_ok()).and_then(PageVersions::into_next);
    scraping.settle(caller, purse.into_funds(), result, copies.into_used().or(version)).await
}

/// Turns an uploaded file into a document, as [`scrape()`] does with a page. Nothing is fetched or cached.
pub(crate) async fn file(
    scraper: &Scraper,
    caller: &Caller,
    uploaded: UploadedFile,
    funds: Funds,
    started: Instant,
) -> Result<(Document, net::Room), ScrapingError> {
    let UploadedFile { wanted, fetched } = uploaded;
    let scraping = Scraping::new(scraper, caller, wanted, started);
    let purse = scraping.purse(funds);
    let stamp = scraping.stamp();
    let last = move |scraped: Scraped, _: &Stop| stamp.put(scraped);
    let ports = Ports { funds: Some(&purse), ..Ports::default() };
    let looks_like = looks_like(&fetched, scraping.target.file.as_deref());
    let result = ::scrape::read(scraper.tools(), ports, &scraping.target, fetched, last).await;
    result.iter().for_each(Scraped::shrink_room);
    let result = result.map_err(|error| match error {
        ScrapeError::UnsupportedFile { .. } => ScrapingError::UnsupportedFile(looks_like),
        error => error.into(),
    });
    scraping.settle(caller, purse.into_funds(), result, None).await
}

/// Describes the apparent type of a file that is not supported.
fn looks_like(fetched: &Fetched, name: Option<&str>) -> String {
    match documents::detect(&fetched.body, fetched.content_type.as_deref(), name) {
        Some(kind) => format!("a {} file", kind.word()),
        None => documents::looks_like(&fetched.body).to_owned(),
    }
}

/// Scrapes one page of a crawl or a batch. Unlike in [`scrape()`], the job has checked the request, pays, and records
/// the result. `last` processes the page in the thread that parsed it; it also gets the time that the page took.
pub async fn page<T, F>(scraper: &Scraper, caller: &Caller, wanted: Wanted, last: F) -> Charged<T>
where
    T: Send + 'static,
    F: FnOnce(Scraped, Duration, &Stop) -> T + Send + 'static,
{
    let mut scraping = Scraping::new(scraper, caller, wanted, Instant::now());
    let copies = scraping.copies(scraper);
    let versions = scraping.versions(scraper);
    let purse = scraping.run_purse(scraper.app(), caller);
    let (stamp, started) = (scraping.stamp(), scraping.started);
    let last = move |scraped: Scraped, stop: &Stop| {
        let (metadata, delivered) = (&scraped.document.metadata, scraped.delivered.clone());
        // The wait for a browser or model of ours says nothing about the host.
        let waited = Duration::from_millis(metadata.concurrency_queue_duration_ms.unwrap_or(0)) + scraped.answering;
        let (took, cache) = (started.elapsed().saturating_sub(waited), metadata.cache_state);
        (last(stamp.put(scraped), took, stop), took, (cache, delivered))
    };
    // The document is already packed, so a profile that was not saved is only logged.
    let tracked = versions.as_ref().map(|versions| versions as &dyn Versions);
    let ports = Ports { copies: Some(&copies), funds: Some(&purse), versions: tracked, ..Ports::default() };
    let result = scraping.run(scraper, caller, ports, last).await.map(|(made, _)| made);
    let credits = scraping.price(result.as_ref().map(|(_, _, (_, delivered))| delivered));
    metrics::scraped(result.as_ref().map_or_else(|error| error.code().as_str(), |_| "ok"));
    scraping.log(caller, result.as_ref().map(|(_, _, (cache, _))| *cache), credits);
    let took = result.as_ref().map_or_else(|_| started.elapsed(), |(_, took, _)| *took);
    metrics::page(took);
    let version = versions.filter(|_| result.is_ok()).and_then(PageVersions::into_next);
    let copy = copies.into_used().or(version).and_then(PageCopy::into_new);
    let beyond = (credits - billing::quote(&scraping.target.options)).max(0);
    let surcharge = purse.into_surcharge().filter(|_| result.is_ok()).map(|surcharge| surcharge.costing(beyond));
    Charged { result: result.map(|(made, ..)| made), credits, surcharge, took, copy }
}

/// Result and cost of a page of a job.
pub struct Charged<T> {
    /// What `last` has made of the page, or why there is none.
    pub result: Result<T, ScrapingError>,
    /// Cost in credits, which the caller charges.
    pub credits: i64,
    /// Part of the credits that was reserved for this page alone.
    pub surcharge: Option<Surcharge>,
    /// Time from the beginning to the document, without the wait for a browser.
    pub took: Duration,
    /// Copy for the cache, to be written with the page.
    pub copy: Option<PageToKeep>,
}

/// Adds a problem that occurred after the document was made to its warning.
fn warn(document: &mut Document, why: Option<String>) {
    if let Some(why) = why {
        let before = document.warning.take().map(|before| format!("{before}; "));
        document.warning = Some(before.unwrap_or_default() + &why);
    }
}

/// Checks what can be refused before anything is reserved or fetched.
fn check_request(scraper: &Scraper, caller: &Caller, request: &ScrapeRequest) -> Result<(), AppError> {
    if caller.is_keyless && request.options.profile.is_some() {
        return Err(AppError::Unauthorized("`profile` needs an API key: Authorization: Bearer <key>"));
    }
    if caller.is_keyless && request.options.wants(FormatKind::ChangeTracking) {
        return Err(AppError::Unauthorized("`changeTracking` needs an API key: Authorization: Bearer <key>"));
    }
    if request.domain_tools && !caller.team.catalog {
        return Err(AppError::Forbidden("the tool catalog is not enabled for this team"));
    }
    if request.domain_tools && request.is_private() {
        return Err(AppError::Forbidden("domainTools cannot be combined with zero data retention"));
    }
    check(scraper, caller, &request.options, request.zero_data_retention, request.needs())
}

/// Scrape in progress.
struct Scraping {
    id: String,
    run: Option<String>,
    /// Crawl that the page belongs to.
    crawl: Option<CrawlOf>,
    target: Target,
    policy: Policy,
    began: Timestamp,
    started: Instant,
    /// Whether the document is gone once it is sent: it cannot be read again, and none of its files are kept.
    is_fleeting: bool,
}

/// Metadata that only this crate can fill in.
struct Stamp {
    id: String,
    price: Price,
}

/// Price of a document.
enum Price {
    /// Price by what was delivered.
    Of(Arc<ScrapeOptions>),
    /// Price already charged.
    Known(i64),
}

impl Stamp {
    fn put(self, mut scraped: Scraped) -> Scraped {
        let metadata = &mut scraped.document.metadata;
        metadata.scrape_id = self.id;
        metadata.credits_used = match self.price {
            Price::Of(options) => billing::charge(&options, &scraped.delivered),
            Price::Known(credits) => credits,
        };
        scraped
    }
}

impl Scraping {
    fn new(scraper: &Scraper, caller: &Caller, wanted: Wanted, started: Instant) -> Self {
        let Wanted { id, url, source, file, given_for, basic_auth, options, zero_data_retention, .. } = wanted;
        let Wanted { collect_links, reviewer, run, start, .. } = wanted;
        let crawl =
            run.as_ref().zip(start).map(|(run, start)| CrawlOf { start: cache::page_key(&start), run: run.clone() });
        let cache = scraper.cache().settings();
        let situation = Situation {
            // Keyless callers neither read nor fill the cache of a team.
            enabled: cache.enabled && (cache.shared || !caller.is_keyless),
            retention: cache.retention,
            zero_data_retention,
            credentials: basic_auth.is_some(),
        };
        let began = scraper.app().now();
        // Lockdown is zero data retention without a connection, so it leaves no trace either.
        let private = zero_data_retention || options.lockdown;
        let deadline = started + Duration::from_millis(options.timeout.into());
        let owner = caller.owner(run.as_deref().unwrap_or(&id));
        // The page stays open in the browser only if actions changed it: without actions, opening it again gives the
        // same page.
        let is_held = run.is_none() && !private && !caller.is_keyless && !options.actions.is_empty();
        let hold = is_held.then(|| id.clone());
        Self {
            id,
            run,
            crawl,
            policy: cache::policy(&options, situation, began),
            target: Target {
                source,
                file,
                given_for,
                basic_auth,
                private,
                owner,
                model_limit: model_limit(&caller.team),
                collect_links,
                reviewer,
                hold,
                ..Target::new(url, options, deadline)
            },
            began,
            started,
            is_fleeting: private || caller.is_keyless,
        }
    }

    fn copies<'a>(&self, scraper: &'a Scraper) -> CacheCopies<'a> {
        CacheCopies::new(scraper.cache(), &self.target, self.policy.clone())
    }

    /// Returns the stamp for a new document.
    fn stamp(&self) -> Stamp {
        Stamp { id: self.id.clone(), price: Price::Of(Arc::clone(&self.target.options)) }
    }

    fn purse(&self, funds: Funds) -> Purse {
        Purse::new(funds, Arc::clone(&self.target.options))
    }

    fn run_purse<'a>(&self, app: &'a App, caller: &'a Caller) -> RunPurse<'a> {
        let timeout = TimeDelta::milliseconds(self.target.options.timeout.into());
        // A retry of the page reserves credits of its own, so the key has to be unique.
        let key = format!("page:{}:{}", self.id, new_id());
        RunPurse::new(app, caller, key, Arc::clone(&self.target.options), self.began + timeout + WRITTEN_WITHIN)
    }

    /// Runs the pipeline. Also returns why the profile was not saved, if it should have been.
    async fn run<T, F>(
        &mut self,
        scraper: &Scraper,
        caller: &Caller,
        ports: Ports<'_>,
        last: F,
    ) -> Result<(T, Option<String>), ScrapingError>
    where
        T: Send + 'static,
        F: FnOnce(Scraped, &Stop) -> T + Send + 'static,
    {
        let saver = self.open_profile(scraper, caller).await?;
        let last = move |mut scraped: Scraped, stop: &Stop| {
            let state = scraped.state.take();
            (last(scraped, stop), state)
        };
        let owner = || self.run.clone().unwrap_or_else(|| self.id.clone());
        let files = (!self.is_fleeting).then(|| Place::new(scraper.app(), caller, owner()));
        let files = files.as_ref().map(|place| place as &dyn Files);
        let ports = Ports { files, ..ports };
        let result = ::scrape::run(scraper.tools(), ports, &self.target, last).await;
        let (made, state) = result.map_err(|error| match (error, self.policy.on_miss) {
            (ScrapeError::NoCopy, OnMiss::LockdownMiss) => ScrapingError::LockdownMiss,
            (error, _) => error.into(),
        })?;
        let unsaved = match (saver, state) {
            (Some(saver), Some(state)) => saver.save_at_end(state).await,
            _ => None,
        };
        Ok((made, unsaved))
    }

    /// Opens the profile that was asked for. All pages of a run count as one holder of the profile.
    async fn open_profile(&mut self, scraper: &Scraper, caller: &Caller) -> Result<Option<Saver>, ScrapingError> {
        let Some(profile) = self.target.options.profile.clone() else { return Ok(None) };
        let left =
            self.target.deadline.saturating_duration_since(Instant::now()) + scraper.app().settings().reservation_grace;
        let holder = match &self.run {
            Some(run) => Holder::Run(run),
            None => Holder::One(&self.id, scraper.app().now() + left),
        };
        let opening = profiles::open(scraper, caller, &profile, holder, self.target.private);
        let opened = timeout_at(self.target.deadline, opening).await;
        let Opened { state, saver } = opened.unwrap_or(Err(AppError::Timeout.into()))?;
        (self.target.state, self.target.keeps_state) = (Some(Arc::new(state)), saver.is_some());
        Ok(saver)
    }

    /// Charges the team and writes the row of the scrape.
    async fn settle(
        self,
        caller: &Caller,
        funds: Funds,
        result: Result<Scraped, ScrapingError>,
        used: Option<PageCopy>,
    ) -> Result<(Document, net::Room), ScrapingError> {
        let credits = self.price(result.as_ref().map(|scraped| &scraped.delivered));
        let copy = used.as_ref().and_then(PageCopy::id);
        // The row only serves later lookups; the credits are booked with or without it.
        let row = (!self.target.private).then(|| self.row(caller, &result, credits, copy));
        let copy = used.and_then(PageCopy::into_new);
        metrics::scraped(result.as_ref().map_or_else(|error| error.code().as_str(), |_| "ok"));
        self.log(caller, result.as_ref().map(|scraped| scraped.document.metadata.cache_state), credits);
        match (result, funds.settle(credits, row.map(Record::from), copy).await) {
            (Ok(scraped), Ok(())) => Ok((scraped.document, scraped.room)),
            (Ok(_), Err(error)) => Err(error.into()),
            (Err(error), Ok(())) => Err(error),
            (Err(error), Err(unsettled)) => {
                if !unsettled.is_outage() {
                    tracing::warn!(error = ?unsettled, scrape = self.id, "could not settle a failed scrape; its reservation will expire");
                }
                Err(error)
            }
        }
    }

    /// Returns the cost, given what was delivered.
    fn price(&self, result: Result<&Delivered, &ScrapingError>) -> i64 {
        match result {
            Ok(delivered) => billing::charge(&self.target.options, delivered),
            Err(ScrapingError::LockdownMiss) => billing::price(&Outcome::LockdownMiss),
            Err(_) => billing::price(&Outcome::Failed),
        }
    }

    fn row(
        &self,
        caller: &Caller,
        result: &Result<Scraped, ScrapingError>,
        credits: i64,
        copy: Option<&str>,
    ) -> Scrape {
        let document = result.as_ref().ok().map(|scraped| &scraped.document);
        let metadata = document.map(|document| &document.metadata);
        let again = document.zip(copy).filter(|_| !self.is_fleeting);
        Scrape {
            id: self.id.clone(),
            team_id: caller.team.id.clone(),
            api_key_id: caller.key.clone(),
            url: self.target.file.is_none().then(|| self.target.url.to_string()),
            status_code: metadata.map(|metadata| i32::from(metadata.status_code)),
            error_code: result.as_ref().err().map(|error| error.code().as_str().to_owned()),
            cache_state: metadata.and_then(|metadata| metadata.cache_state).map(|state| state.as_str().to_owned()),
            credits,
            duration_ms: i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX),
            created_at: self.began,
            kept: again.and_then(|(document, copy)| kept::note(&self.target, document, copy.to_owned())),
        }
    }

    fn log(&self, caller: &Caller, result: Result<Option<CacheState>, &ScrapingError>, credits: i64) {
        // Queries may carry tokens.
        let mut shown = self.target.url.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        let is_named = !self.target.private && self.target.file.is_none();
        let url = if is_named { shown.as_str() } else { "" };
        let duration_ms = self.started.elapsed().as_millis();
        let team = caller.team.id.as_str();
        match result {
            Ok(cache) => {
                let cache = cache.map(CacheState::as_str);
                tracing::debug!(scrape = self.id, team, url, cache, credits, duration_ms, "page scraped");
            }
            Err(error) => {
                let code = error.code().as_str();
                tracing::debug!(scrape = self.id, team, url, code, credits, duration_ms, "scrape failed");
            }
        }
    }
}

//! Job that turns one page of a run into a document and sorts its links.

use std::sync::Arc;
use std::time::Duration;

use ::scrape::Scraped;
use base::Stop;
use base::address::BasicAuth;
use cache::NewCopy;
use chrono::TimeDelta;
use politeness::{HostAnswer, retry_after};
use queue::{Asking, Failure, Finished, Handler, Payload, Polite, Queue, Running};
use serde::{Deserialize, Serialize};
use site::{AGENT, Approach, SiteRules};
use store::jobs::Claimed;
use store::runs::{self, NewPage, PageState, Way};
use store::{Conn, StoreError};
use tokio::time::Instant;
use url::Url;
use wire::{CacheState, SourceUrl};

use super::context::Context;
use super::document::Packed;
use super::handle::Runs;
use super::known::Learnt;
use super::links::Links;
use super::seen::{Asked, read};
use super::{PAGES, metrics, pages, patience, secrets, url_of};
use crate::scrape::{self, Charged, Surcharge, Wanted};
use crate::{App, AppError, Refusal, Scraper, credentials};

/// Attempts after which an answer of 429 or 503 is accepted as the page.
const MAX_ASKED: i32 = 3;
/// Timeout for robots.txt.
const ROBOTS_PATIENCE: Duration = Duration::from_secs(30);

/// Payload of a page job.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PagePayload {
    /// Run id, under the stored name of the member.
    pub(super) crawl: String,
    pub(super) depth: u32,
    pub(super) url: String,
    /// URL of the page that links to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
}

impl Payload for PagePayload {
    const KIND: &'static str = "crawl.page";
    const QUEUE: Queue = PAGES;
    /// Includes attempts that sites have answered with 429 or 503.
    const ATTEMPTS: i32 = 5;
}

/// Handler of page jobs.
pub(crate) struct PageHandler {
    pub(crate) runs: Runs,
}

/// Page of a run with its result.
#[derive(Clone, Copy)]
pub(crate) struct Page<'r> {
    /// Id of the page, which is that of its job too.
    pub(super) id: &'r str,
    pub(super) result: &'r PageResult,
}

/// Result of a page job.
pub(crate) struct PageResult {
    pub(super) context: Arc<Context>,
    pub(super) outcome: Outcome,
    pub(super) credits: i64,
    /// Part of the credits that is not covered by the run's reservation.
    pub(super) surcharge: Option<Surcharge>,
    pub(super) answer: Option<HostAnswer>,
    /// Key of the page; absent where no links are followed.
    pub(super) key: Option<Vec<u8>>,
    /// Path to the page that its document states.
    pub(super) way: Option<Way>,
    /// Page at the address it was redirected to, if that has another key.
    pub(super) alias: Option<NewPage>,
    /// Key of the page that it names as canonical, if that is another page.
    pub(super) canonical: Option<Vec<u8>>,
    /// Hash of its text, to tell a copy from a page that only claims to be one.
    pub(super) content: Option<u64>,
    /// URL that the start was redirected to.
    pub(super) landed: Option<String>,
    /// Status of the start, if it is an error.
    pub(super) start_status: Option<u16>,
    /// Sorted links of the page.
    pub(super) links: Links,
    /// Packed links, to be followed again when a shorter path to the page is found.
    pub(super) way_on: Option<Vec<u8>>,
    /// Template of its address and hash of its content, to detect endless near-copies.
    pub(super) likeness: Option<(u64, u64)>,
    /// Copy of the page for the cache.
    pub(super) copy: Option<Box<NewCopy>>,
    /// Keys that the run knows once this result is committed.
    pub(super) learnt: Learnt,
}

/// Outcome of a page.
pub(crate) enum Outcome {
    Document(Box<Packed>),
    Failed {
        code: String,
        error: String,
    },
    /// Not a page of this run: it may not be fetched, or leads elsewhere.
    Left {
        state: PageState,
        code: &'static str,
        message: &'static str,
    },
}

impl Outcome {
    /// Returns the outcome of a page that could not be read.
    pub(super) fn failed(error: &dyn Refusal) -> Self {
        Self::Failed { code: error.code().as_str().to_owned(), error: error.to_string() }
    }

    /// Returns the outcome of a page that robots.txt disallows.
    pub(super) fn blocked() -> Self {
        Self::Left { state: PageState::Blocked, code: "ROBOTS_BLOCKED", message: "robots.txt forbids the page" }
    }
}

impl Handler for PageHandler {
    type Payload = PagePayload;
    type Done = Option<PageResult>;

    async fn run(&self, job: &Running<PagePayload>) -> Result<Option<PageResult>, Failure> {
        let _in_work = metrics::PageInWork::begin();
        let found = self.runs.context(&job.payload.crawl).await;
        let again = |error: AppError| patience::again(self.runs.app(), job, &error, patience::PAUSE);
        let Some(context) = found.map_err(again)? else { return Ok(None) };
        work(self.runs.scraper(), context, job).await.map(Some)
    }

    async fn commit(
        &self,
        conn: &mut Conn,
        done: &[&Finished<PagePayload, Option<PageResult>>],
    ) -> Result<(), StoreError> {
        pages::commit(&self.runs, conn, done).await
    }

    async fn give_up(&self, conn: &mut Conn, job: &Running<PagePayload>, error: &str) -> Result<(), StoreError> {
        pages::give_up(&self.runs, conn, &job.payload.crawl, &job.id, error).await
    }

    async fn give_up_unread(&self, conn: &mut Conn, job: &Claimed, error: &str) -> Result<(), StoreError> {
        // The lane of page jobs is named after the run, so the run is known without the payload.
        pages::give_up(&self.runs, conn, &job.lane, &job.id, error).await
    }

    fn after_commit(&self, done: &[&Finished<PagePayload, Option<PageResult>>]) {
        pages::settled(done.iter().filter_map(|finished| finished.done.as_ref()));
        for Finished { job, done } in done {
            done.iter()
                .for_each(|result| result.context.crawl().into_iter().for_each(|run| run.known.learn(&result.learnt)));
            if done.as_ref().is_some_and(|result| result.landed.is_some()) {
                self.runs.refresh(&job.payload.crawl);
            }
            self.runs.changed(&job.payload.crawl);
        }
    }
}

impl Polite for PageHandler {
    fn answer(done: &Option<PageResult>) -> Option<HostAnswer> {
        done.as_ref().and_then(|result| result.answer)
    }
}

async fn work(scraper: &Scraper, context: Arc<Context>, job: &Running<PagePayload>) -> Result<PageResult, Failure> {
    let app = scraper.app();
    let url = url_of(&job.payload.url).ok_or_else(|| Failure::retry("the address of the page is not a valid URL"))?;
    let (url, in_url) = credentials::split(url);
    let site = match admitted(app, &context, &url).await {
        Ok(Ok(site)) => site,
        Ok(Err(outcome)) => return Ok(PageResult::without(context, outcome)),
        Err(error) => return unmade(app, job, context, &error, patience::PAUSE),
    };
    let (given_for, basic_auth) = match given(app, &context, job, &url, in_url).await {
        Ok(given) => given,
        Err(error) => return unmade(app, job, context, &error, patience::PAUSE),
    };
    let Way { depth, parent } = match way_to(app, &context, job).await {
        Ok(way) => way,
        Err(error) => return unmade(app, job, context, &error, patience::PAUSE),
    };
    let depth = u32::try_from(depth).unwrap_or(0);
    let wanted = Wanted {
        id: job.id.clone(),
        source: SourceUrl::new(&job.payload.url).or(&url),
        file: None,
        url: url.clone(),
        given_for,
        basic_auth,
        options: Arc::clone(&context.options),
        zero_data_retention: context.zero_data_retention,
        collect_links: context.frontier().is_some_and(|frontier| frontier.follows(&url, depth)),
        run: Some(context.id.clone()),
    };
    let asking = job.asking.clone();
    let setting = Setting { app: app.clone(), context: Arc::clone(&context), site, url, depth, parent, asking };
    let may_ask_again = job.attempt < MAX_ASKED;
    let last = move |scraped: Scraped, took: Duration, stop: &Stop| setting.see(scraped, took, may_ask_again, stop);
    let Charged { result, credits, surcharge, took, copy } = scrape::page(scraper, &context.caller, wanted, last).await;
    let pause = patience::refetch_pause(app, job);
    let seen = match result {
        Ok(Ok(seen)) => seen,
        Ok(Err(error)) => return unmade(app, job, context, &error, pause),
        // Nothing is charged, and credits reserved for this page alone are returned.
        Err(error) if error.is_outage() => return unmade(app, job, context, &error, pause),
        Err(error) => {
            let outcome = Outcome::failed(&error);
            return Ok(PageResult {
                credits,
                copy,
                answer: Some(HostAnswer::Failed(took)),
                ..PageResult::without(context, outcome)
            });
        }
    };
    let mut result = match seen {
        Seen::Page(result) => *result,
        Seen::Refused { status, wait } => {
            let at = wait.and_then(|wait| TimeDelta::from_std(wait).ok()).map(|wait| app.now() + wait);
            let error = format!("the site answered {status}");
            return Err(Failure::Retry { at, error, answer: Some(HostAnswer::Refused(wait)), counted: true });
        }
    };
    if let Outcome::Document(packed) = &mut result.outcome {
        // Shrink only now: until the packed document exists, the body is in memory as well.
        packed.shrink_room();
        if let Err(error) = packed.put_away(app, context.is_private()).await {
            return unmade(app, job, context, &error, pause);
        }
    }
    Ok(PageResult { credits, surcharge, copy, ..result })
}

/// Returns the shortest known path to the page: its depth and the page that links to it.
async fn way_to(app: &App, context: &Context, job: &Running<PagePayload>) -> Result<Way, AppError> {
    let known = Way { depth: i32::try_from(job.payload.depth).unwrap_or(i32::MAX), parent: job.payload.parent.clone() };
    if !context.has_max_depth() {
        return Ok(known);
    }
    let now = runs::way_to(&mut app.conn().await?, &job.id).await?;
    Ok(now.filter(|way| way.depth < known.depth).unwrap_or(known))
}

/// Checks whether the page may be fetched: returns the robots.txt rules of its site, or the outcome of a page that is
/// not fetched.
///
/// # Errors
/// An outage: the page can be neither fetched nor given up.
async fn admitted(
    app: &App,
    context: &Context,
    url: &Url,
) -> Result<Result<Option<Arc<SiteRules>>, Outcome>, AppError> {
    // Check storage first: do not fetch a page that could not be stored.
    patience::can_keep(app).await?;
    let site = match rules(app, context, url).await {
        Ok(site) => site,
        Err(error) if error.is_outage() => return Err(error),
        Err(error) => return Ok(Err(Outcome::failed(&error))),
    };
    let refusal = site.as_deref().filter(|site| !site.rules.allows_url(url)).map(|site| match site.failure {
        Some(failure) => Outcome::failed(&AppError::from(failure.error(url))),
        None => Outcome::blocked(),
    });
    Ok(refusal.map_or(Ok(site), Err))
}

/// Returns what follows an outage or an internal error: a retry, or the failure of the page.
fn unmade(
    app: &App,
    job: &Running<PagePayload>,
    context: Arc<Context>,
    error: &dyn Refusal,
    pause: TimeDelta,
) -> Result<PageResult, Failure> {
    match patience::is_end(app, job, error) {
        true => Ok(PageResult::without(context, Outcome::failed(error))),
        false => Err(patience::again(app, job, error, pause)),
    }
}

/// Context of a page for the thread that parses it.
struct Setting {
    app: App,
    context: Arc<Context>,
    site: Option<Arc<SiteRules>>,
    url: Url,
    depth: u32,
    parent: Option<String>,
    /// Request to the host, which ends when the page is parsed.
    asking: Asking,
}

/// Result of the thread that parses the page.
enum Seen {
    Page(Box<PageResult>),
    /// Host asked for a retry later, and attempts are left.
    Refused {
        status: u16,
        wait: Option<Duration>,
    },
}

impl Setting {
    fn see(self, scraped: Scraped, took: Duration, may_ask_again: bool, stop: &Stop) -> Result<Seen, AppError> {
        let answer = answer(&self.app, &scraped, took);
        // Release the host before packing: packing and storing must not delay its next request.
        self.asking.over(answer);
        if let HostAnswer::Refused(wait) = answer
            && may_ask_again
        {
            return Ok(Seen::Refused { status: scraped.document.metadata.status_code, wait });
        }
        let Self { context, site, url, depth, parent, .. } = self;
        let mut scraped = scraped;
        if context.frontier().is_some() {
            scraped.document.metadata.depth = Some(depth);
            scraped.document.metadata.parent.clone_from(&parent);
        }
        let result = read(context, Asked { url: &url, depth, site: site.as_deref() }, scraped, stop)?;
        let way = Some(Way { depth: i32::try_from(depth).unwrap_or(i32::MAX), parent });
        Ok(Seen::Page(Box::new(PageResult { answer: Some(answer), way, ..result })))
    }
}

/// Returns the caller's credentials and the URL they were given for: the start of a crawl, or each page of a batch.
/// Queue entries of older versions may hold userinfo; userinfo in a link was not given by the caller.
async fn given(
    app: &App,
    context: &Context,
    job: &Running<PagePayload>,
    url: &Url,
    in_url: Option<BasicAuth>,
) -> Result<(Url, Option<BasicAuth>), AppError> {
    if let Some(frontier) = context.frontier() {
        return Ok((frontier.start.clone(), frontier.basic_auth.clone()));
    }
    let kept = runs::secret(&mut app.conn().await?, &context.id, &job.id).await?;
    let kept = kept.as_ref().map(secrets::page).transpose().map_err(AppError::internal)?;
    Ok((url.clone(), kept.or(in_url)))
}

/// Returns the robots.txt rules, where the run obeys them. Batches list their pages explicitly, as scrapes do, and skip
/// robots.txt.
async fn rules(app: &App, context: &Context, url: &Url) -> Result<Option<Arc<SiteRules>>, AppError> {
    let Some(frontier) = context.frontier().filter(|frontier| !frontier.ignore_robots) else {
        return Ok(None);
    };
    let approach = Approach {
        agent: frontier.agent.as_deref().unwrap_or(AGENT),
        deadline: Instant::now() + ROBOTS_PATIENCE,
        verify_tls: !context.options.skips_tls_verification(frontier.basic_auth.is_some()),
        private: context.is_private(),
    };
    // The first page starts the crawl.
    let site = if *url == frontier.start {
        app.site().rules_at_start(url, approach).await
    } else {
        app.site().rules(url, approach).await
    };
    Ok(Some(site?))
}

/// Returns the answer of the host, for its rate limit. A cache hit says nothing about the host.
fn answer(app: &App, page: &Scraped, took: Duration) -> HostAnswer {
    let metadata = &page.document.metadata;
    match metadata.status_code {
        _ if metadata.cache_state == Some(CacheState::Hit) => HostAnswer::Unknown,
        429 | 503 => HostAnswer::Refused(page.retry_after.as_deref().and_then(|text| retry_after(text, app.now()))),
        500..=599 => HostAnswer::Failed(took),
        _ => HostAnswer::Answered(took),
    }
}

impl PageResult {
    /// Returns the keys of all addresses that it names; without `found`, the keys of pages that could be added are left
    /// out.
    pub(super) fn keys(&self, found: bool) -> impl Iterator<Item = &[u8]> {
        let alias = self.alias.iter().map(|page| page.key.as_slice());
        alias.chain(self.links.keys(found))
    }

    pub(super) fn without(context: Arc<Context>, outcome: Outcome) -> Self {
        Self {
            context,
            outcome,
            credits: 0,
            surcharge: None,
            answer: None,
            key: None,
            way: None,
            alias: None,
            canonical: None,
            content: None,
            landed: None,
            start_status: None,
            links: Links::default(),
            way_on: None,
            likeness: None,
            copy: None,
            learnt: Learnt::default(),
        }
    }
}

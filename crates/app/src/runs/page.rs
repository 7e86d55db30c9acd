//! The job that makes one page of a run into a document, and finds where it leads.

use std::sync::Arc;
use std::time::Duration;

use ::scrape::Scraped;
use base::Stop;
use chrono::TimeDelta;
use crawl_frontier::Reason;
use fetch::BasicAuth;
use politeness::{HostAnswer, retry_after};
use queue::{Asking, Failure, Finished, Handler, Payload, Polite, Queue, Running};
use serde::{Deserialize, Serialize};
use site::{AGENT, Approach, SiteRules};
use store::jobs::Claimed;
use store::runs::{self, NewPage, Way};
use store::{Conn, StoreError};
use tokio::time::Instant;
use url::Url;
use wire::{CacheState, SourceUrl};

use super::context::{Context, Frontier};
use super::document::Packed;
use super::known::Learnt;
use super::links::Links;
use super::seen::{Asked, read};
use super::{PAGES, pages, patience, secrets, url_of};
use crate::cache::NewCopy;
use crate::scrape::{self, Charged, Surcharge, Wanted};
use crate::{App, AppError, credentials, metrics};

/// How often a page that answers 429 or 503 is asked again before that answer is taken as the page.
const MAX_ASKED: i32 = 3;
/// Longest wait for robots.txt.
const ROBOTS_PATIENCE: Duration = Duration::from_secs(30);

/// Which page.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PagePayload {
    /// The run, under the name that is stored.
    pub(super) crawl: String,
    pub(super) depth: u32,
    pub(super) url: String,
    /// The page that it was found on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
}

impl Payload for PagePayload {
    const KIND: &'static str = "crawl.page";
    const QUEUE: Queue = PAGES;
    /// Sites that ask to come back later count as well.
    const ATTEMPTS: i32 = 5;
}

/// The handler.
pub(crate) struct PageHandler {
    pub(crate) app: App,
}

/// What the job of a page brings.
pub(crate) struct PageResult {
    pub(super) context: Arc<Context>,
    pub(super) outcome: Outcome,
    pub(super) credits: i64,
    /// The part of the credits that the run has not set aside.
    pub(super) surcharge: Option<Surcharge>,
    pub(super) answer: Option<HostAnswer>,
    /// What the page is known by; absent where no links are followed.
    pub(super) key: Option<Vec<u8>>,
    /// The way to it that its document tells.
    pub(super) way: Option<Way>,
    /// The page under the address that it was redirected to, when that is another than the one it was known by.
    pub(super) alias: Option<NewPage>,
    /// What the page is known by that it names as the one that counts, when that is another.
    pub(super) canonical: Option<Vec<u8>>,
    /// A hash of its text, to tell a copy from a page that only says that it is one.
    pub(super) content: Option<u64>,
    /// Where the start was redirected to.
    pub(super) landed: Option<String>,
    /// The status of the start, when that is an error.
    pub(super) start_status: Option<u16>,
    /// Where its links lead.
    pub(super) links: Links,
    /// The same, packed, to be followed once more when a shorter way to the page is found.
    pub(super) way_on: Option<Vec<u8>>,
    /// The template of its address and the hash of its content, against endless copies.
    pub(super) likeness: Option<(u64, u64)>,
    /// The copy of the page that goes into the cache.
    pub(super) copy: Option<Box<NewCopy>>,
    /// What the run knows besides, once this is written down.
    pub(super) learnt: Learnt,
}

/// What became of the page.
pub(crate) enum Outcome {
    Document(Box<Packed>),
    Failed {
        code: String,
        error: String,
    },
    /// Forbidden by robots.txt.
    Blocked,
    /// Led to a place where the crawl does not go.
    LeftScope(Reason),
}

impl Handler for PageHandler {
    type Payload = PagePayload;
    type Done = Option<PageResult>;

    async fn run(&self, job: &Running<PagePayload>) -> Result<Option<PageResult>, Failure> {
        let _in_work = metrics::PageInWork::begin();
        let found = self.app.contexts().get(&self.app, &job.payload.crawl).await;
        let again = |error: AppError| patience::again(&self.app, job, &error, patience::PAUSE);
        let Some(context) = found.map_err(again)? else { return Ok(None) };
        work(&self.app, context, job).await.map(Some)
    }

    async fn commit(
        &self,
        conn: &mut Conn,
        done: &[&Finished<PagePayload, Option<PageResult>>],
    ) -> Result<(), StoreError> {
        pages::commit(&self.app, conn, done).await
    }

    async fn give_up(&self, conn: &mut Conn, job: &Running<PagePayload>, error: &str) -> Result<(), StoreError> {
        pages::give_up(&self.app, conn, &job.payload.crawl, &job.id, error).await
    }

    async fn give_up_unread(&self, conn: &mut Conn, job: &Claimed, error: &str) -> Result<(), StoreError> {
        // The lane of its pages has the name of the run.
        pages::give_up(&self.app, conn, &job.lane, &job.id, error).await
    }

    fn after_commit(&self, done: &[&Finished<PagePayload, Option<PageResult>>]) {
        pages::settled(done.iter().filter_map(|finished| finished.done.as_ref()));
        for Finished { job, done } in done {
            done.iter().for_each(|result| result.context.known.learn(&result.learnt));
            if done.as_ref().is_some_and(|result| result.landed.is_some()) {
                self.app.contexts().refresh(&job.payload.crawl);
            }
            self.app.changes.notify(&job.payload.crawl);
        }
    }
}

impl Polite for PageHandler {
    fn answer(done: &Option<PageResult>) -> Option<HostAnswer> {
        done.as_ref().and_then(|result| result.answer)
    }
}

async fn work(app: &App, context: Arc<Context>, job: &Running<PagePayload>) -> Result<PageResult, Failure> {
    let url = url_of(&job.payload.url).ok_or_else(|| Failure::retry("the address of the page is not readable"))?;
    let (url, in_url) = credentials::split(url);
    let site = match admitted(app, &context, &url).await {
        Ok(Ok(site)) => site,
        Ok(Err(outcome)) => return Ok(PageResult::without(context, outcome)),
        Err(error) => return unmade(app, job, context, &error, patience::PAUSE),
    };
    let (given_for, basic_auth) = match given(app, &context, job, (&url, in_url)).await {
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
        collect_links: context.frontier.as_ref().is_some_and(|frontier| frontier.follows(&url, depth)),
        run: Some(context.id.clone()),
    };
    let asking = job.asking.clone();
    let setting = Setting { app: app.clone(), context: Arc::clone(&context), site, url, depth, parent, asking };
    let may_ask_again = job.attempt < MAX_ASKED;
    let last = move |scraped: Scraped, took: Duration, stop: &Stop| setting.see(scraped, took, may_ask_again, stop);
    let Charged { result, credits, surcharge, took, copy } = scrape::page(app, &context.caller, wanted, last).await;
    let pause = patience::refetch_pause(app, job);
    let seen = match result {
        Ok(Ok(seen)) => seen,
        Ok(Err(error)) => return unmade(app, job, context, &error, pause),
        // Nothing is charged for it, and what was set aside for it alone is given back.
        Err(error) if error.is_outage() => return unmade(app, job, context, &error, pause),
        Err(error) => {
            let outcome = failed(&error);
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
        // Not before the body is kept: until then it is in memory as well.
        packed.shrink_room();
        if let Err(error) = packed.put_away(app, context.is_private()).await {
            return unmade(app, job, context, &error, pause);
        }
    }
    Ok(PageResult { credits, surcharge, copy, ..result })
}

/// How many hops a page is from the start, and the page that leads to it: the shortest way that is known by now.
async fn way_to(app: &App, context: &Context, job: &Running<PagePayload>) -> Result<Way, AppError> {
    let known = Way { depth: i32::try_from(job.payload.depth).unwrap_or(i32::MAX), parent: job.payload.parent.clone() };
    if !context.has_max_depth() {
        return Ok(known);
    }
    let now = runs::way_to(&mut app.conn().await?, &job.id).await?;
    Ok(now.filter(|way| way.depth < known.depth).unwrap_or(known))
}

/// What its site says of a page that may be asked for; else what becomes of it without a request.
///
/// # Errors
/// That of an outage: the page can be neither asked for nor given up.
async fn admitted(
    app: &App,
    context: &Context,
    url: &Url,
) -> Result<Result<Option<Arc<SiteRules>>, Outcome>, AppError> {
    // Before the site is asked for what could not be kept.
    patience::can_keep(app).await?;
    let site = match rules(app, context, url).await {
        Ok(site) => site,
        Err(error) if error.is_outage() => return Err(error),
        Err(error) => return Ok(Err(failed(&error))),
    };
    let refusal = site.as_deref().filter(|site| !site.rules.allows_url(url)).map(|site| match site.failure {
        Some(failure) => failed(&AppError::from(failure.error(url))),
        None => Outcome::Blocked,
    });
    Ok(refusal.map_or(Ok(site), Err))
}

/// What becomes of a page that an outage or something else of ours has cut short: another try, or its end.
fn unmade(
    app: &App,
    job: &Running<PagePayload>,
    context: Arc<Context>,
    error: &AppError,
    pause: TimeDelta,
) -> Result<PageResult, Failure> {
    match patience::is_end(app, job, error) {
        true => Ok(PageResult::without(context, failed(error))),
        false => Err(patience::again(app, job, error, pause)),
    }
}

/// What a page is seen as part of, in the thread that parsed it.
struct Setting {
    app: App,
    context: Arc<Context>,
    site: Option<Arc<SiteRules>>,
    url: Url,
    depth: u32,
    parent: Option<String>,
    /// Over by then.
    asking: Asking,
}

/// What that thread makes of it.
enum Seen {
    Page(Box<PageResult>),
    /// The site wants to be asked later, and there is another attempt.
    Refused {
        status: u16,
        wait: Option<Duration>,
    },
}

impl Setting {
    fn see(self, scraped: Scraped, took: Duration, may_ask_again: bool, stop: &Stop) -> Result<Seen, AppError> {
        let answer = answer(&self.app, &scraped, took);
        // Packing it and writing it down is nothing that the host has to wait for.
        self.asking.over(answer);
        if let HostAnswer::Refused(wait) = answer
            && may_ask_again
        {
            return Ok(Seen::Refused { status: scraped.document.metadata.status_code, wait });
        }
        let Self { context, site, url, depth, parent, .. } = self;
        let mut scraped = scraped;
        if context.frontier.is_some() {
            scraped.document.metadata.depth = Some(depth);
            scraped.document.metadata.parent.clone_from(&parent);
        }
        let result = read(context, Asked { url: &url, depth, site: site.as_deref() }, scraped, stop)?;
        let way = Some(Way { depth: i32::try_from(depth).unwrap_or(i32::MAX), parent });
        Ok(Seen::Page(Box::new(PageResult { answer: Some(answer), way, ..result })))
    }
}

/// What the caller gave, and for which URL: for the start of a crawl, and for every single page of a batch. Addresses of
/// pages that older versions have queued may hold userinfo; that of a link is nothing the caller gave.
async fn given(
    app: &App,
    context: &Context,
    job: &Running<PagePayload>,
    (url, in_url): (&Url, Option<BasicAuth>),
) -> Result<(Url, Option<BasicAuth>), AppError> {
    if let Some(frontier) = &context.frontier {
        return Ok((frontier.start.clone(), frontier.basic_auth.clone()));
    }
    let kept = runs::secret(&mut app.conn().await?, &context.id, &job.id).await?;
    let kept = kept.as_ref().map(secrets::page).transpose().map_err(AppError::internal)?;
    Ok((url.clone(), kept.or(in_url)))
}

/// What robots.txt says, where the run asks it. Batches name their pages one by one, as scrapes do, and do not.
async fn rules(app: &App, context: &Context, url: &Url) -> Result<Option<Arc<SiteRules>>, AppError> {
    let Some(frontier) = context.frontier.as_ref().filter(|frontier| !frontier.ignore_robots) else {
        return Ok(None);
    };
    let approach = Approach {
        agent: frontier.agent.as_deref().unwrap_or(AGENT),
        deadline: Instant::now() + ROBOTS_PATIENCE,
        verify_tls: !context.options.skips_tls_verification(frontier.basic_auth.is_some()),
        private: context.is_private(),
    };
    // The first page begins the crawl.
    let site = if *url == frontier.start {
        app.site.rules_at_start(url, approach).await
    } else {
        app.site.rules(url, approach).await
    };
    Ok(Some(site?))
}

fn failed(error: &AppError) -> Outcome {
    Outcome::Failed { code: error.code().as_str().to_owned(), error: error.to_string() }
}

/// What the host has answered, for its pace. What came from the cache says nothing.
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
    /// The keys of all addresses that it names; without `found`, not those of pages that could be taken on.
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

impl Frontier {
    fn follows(&self, page: &Url, depth: u32) -> bool {
        // Where there is a largest depth, the page may turn out to be nearer than it seems.
        let nearest = if self.scope.max_depth().is_some() { 0 } else { depth };
        self.sitemap != wire::SitemapMode::Only && self.scope.follows_links_of(page, nearest)
    }
}

//! Job that turns one page of a run into a document.

use std::sync::Arc;
use std::time::Duration;

use ::scrape::Scraped;
use base::Stop;
use base::address::BasicAuth;
use cache::PageToKeep;
use chrono::TimeDelta;
use kernel::{App, AppError, Refusal, Refused, credentials};
use politeness::{HostAnswer, retry_after};
use queue::{Asking, Failure, Finished, Handler, Polite, Running};
use scraping::scrape::{self, Charged, Wanted};
use store::jobs::Claimed;
use store::runs::{self, Way};
use store::{Conn, StoreError};
use url::Url;
use wire::{CacheState, Code, SourceUrl};

use super::context::Context;
use super::document::Packed;
use super::page_kind::{Given, Look, Looked, PagePlan, PlannedPage, Visit};
use super::page_result::{Outcome, PageResult};
use super::payload::PagePayload;
use super::{Runs, metrics, pages, patience, secrets, url_of};

/// Attempts after which an answer of 429 or 503 is accepted as the page.
const MAX_ASKED: i32 = 3;

/// Handler of page jobs.
pub struct PageHandler {
    /// Runs whose pages it reads.
    pub runs: Runs,
}

impl Handler for PageHandler {
    type Payload = PagePayload;
    type Done = Option<PageResult>;

    async fn run(&self, job: &Running<PagePayload>) -> Result<Option<PageResult>, Failure> {
        let _in_work = metrics::PageInWork::begin();
        let found = self.runs.context(&job.payload.crawl).await;
        let again = |error: AppError| patience::again(self.runs.app(), job, &error, patience::PAUSE);
        let Some(context) = found.map_err(again)? else { return Ok(None) };
        work(&self.runs, context, job).await.map(Some)
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
            let left = done.as_ref().and_then(|result| Some((result, result.left.lock().take()?)));
            if left.is_some_and(|(result, left)| result.context.pages.committed(left)) {
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

async fn work(runs: &Runs, context: Arc<Context>, job: &Running<PagePayload>) -> Result<PageResult, Failure> {
    let app = runs.app();
    let url = url_of(&job.payload.url).ok_or_else(|| Failure::retry("the address of the page is not a valid URL"))?;
    let (url, in_url) = credentials::split(url);
    let Visit { given, start, collect_links, reviewer, look } = match planned(runs, &context, job, &url).await {
        Ok(PagePlan::Scrape(visit)) => *visit,
        Ok(PagePlan::End(outcome)) => return Ok(PageResult::without(context, outcome)),
        Err(error) => return unmade(app, job, context, &*error, patience::PAUSE),
    };
    let given = match given {
        Some(given) => given,
        None => match of_page(app, &context, job, &url, in_url).await {
            Ok(given) => given,
            Err(error) => return unmade(app, job, context, &error, patience::PAUSE),
        },
    };
    let wanted = Wanted {
        id: job.id.clone(),
        source: SourceUrl::new(&job.payload.url).or(&url),
        file: None,
        url,
        given_for: given.url,
        basic_auth: given.basic_auth,
        options: Arc::clone(&context.options),
        zero_data_retention: context.zero_data_retention,
        collect_links,
        reviewer,
        run: Some(context.id.clone()),
        start,
    };
    let setting = Setting { app: app.clone(), context: Arc::clone(&context), look, asking: job.asking.clone() };
    let may_ask_again = job.attempt < MAX_ASKED;
    let last = move |scraped: Scraped, took: Duration, stop: &Stop| setting.see(scraped, took, may_ask_again, stop);
    let charged = scrape::page(runs.scraper(), &context.caller, wanted, last).await;
    finished(app, context, job, charged).await
}

/// Plans the page. Storage is checked first: a page that could not be stored is not fetched.
async fn planned(
    runs: &Runs,
    context: &Arc<Context>,
    job: &Running<PagePayload>,
    url: &Url,
) -> Result<PagePlan, Refused> {
    patience::can_keep(runs.app()).await?;
    let way = Way { depth: i32::try_from(job.payload.depth).unwrap_or(i32::MAX), parent: job.payload.parent.clone() };
    context.pages.plan(runs, PlannedPage { context, id: &job.id, url, way }).await
}

/// Returns the credentials of a page that has its own. Queue entries of older versions may hold them in the URL.
async fn of_page(
    app: &App,
    context: &Context,
    job: &Running<PagePayload>,
    url: &Url,
    in_url: Option<BasicAuth>,
) -> Result<Given, AppError> {
    let kept = runs::secret(&mut app.conn().await?, &context.id, &job.id).await?;
    let kept = kept.as_ref().map(secrets::page).transpose().map_err(AppError::internal)?;
    Ok(Given { url: url.clone(), basic_auth: kept.or(in_url) })
}

/// Turns what a page was charged for into its result.
async fn finished(
    app: &App,
    context: Arc<Context>,
    job: &Running<PagePayload>,
    charged: Charged<Result<Seen, AppError>>,
) -> Result<PageResult, Failure> {
    let Charged { result, credits, surcharge, took, copy } = charged;
    let pause = patience::refetch_pause(app, job);
    let seen = match result {
        Ok(Ok(seen)) => seen,
        Ok(Err(error)) => return unmade(app, job, context, &error, pause),
        // Nothing is charged, and credits reserved for this page alone are returned.
        Err(error) if error.is_outage() => return unmade(app, job, context, &error, pause),
        Err(error) if error.waits_for_model() && job.attempt < job.max_attempts => {
            return Err(patience::model_again(app, job, &error));
        }
        Err(error) => {
            let outcome = Outcome::failed(&error);
            let is_of_model = matches!(error.code(), Code::ModelUnavailable | Code::ScrapeJsonInvalid);
            let answer = Some(if is_of_model { HostAnswer::Unknown } else { HostAnswer::Failed(took) });
            return Ok(PageResult { credits, copy, answer, ..PageResult::without(context, outcome) });
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
    let is_kept = |kept: &PageToKeep| !result.is_uncompared || matches!(kept, PageToKeep::Copy(_));
    let copy = copy.filter(is_kept);
    Ok(PageResult { credits, surcharge, copy, ..result })
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
    look: Box<dyn Look>,
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
    fn see(self, mut scraped: Scraped, took: Duration, may_ask_again: bool, stop: &Stop) -> Result<Seen, AppError> {
        let answer = answer(&self.app, &scraped, took);
        // Release the host before packing: packing and storing must not delay its next request.
        self.asking.over(answer);
        if let HostAnswer::Refused(wait) = answer
            && may_ask_again
        {
            return Ok(Seen::Refused { status: scraped.document.metadata.status_code, wait });
        }
        let Self { context, look, .. } = self;
        let (found, is_uncompared) = match look.look(&mut scraped, stop)? {
            Looked::End(outcome) => {
                let result = PageResult { answer: Some(answer), ..PageResult::without(context, outcome) };
                return Ok(Seen::Page(Box::new(result)));
            }
            Looked::Keep(found) => (found, false),
            Looked::KeepUncompared(found) => (found, true),
        };
        let Scraped { document, room, .. } = scraped;
        let outcome = Outcome::Document(Box::new(Packed::of(&document, room)?));
        let result = PageResult { answer: Some(answer), found, is_uncompared, ..PageResult::without(context, outcome) };
        Ok(Seen::Page(Box::new(result)))
    }
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

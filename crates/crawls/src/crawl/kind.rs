//! Crawls as a kind of run: how the spec of a crawl is opened, and how its pages are planned and recorded.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use ::runs::{
    Left, Opening, PageKind, PagePlan, PageRecord, PageRun, PageSpec, PlannedPage, Recording, Runs, Secrets, Terms,
};
use async_trait::async_trait;
use base::address::BasicAuth;
use crawl_frontier::Scope;
use kernel::auth::Caller;
use kernel::{AppError, Refused};
use serde_json::Value;
use store::runs::{self as rows, Progress};
use store::{Conn, StoreError};
use url::Url;
use wire::CrawlRequest;

use super::frontier::{CrawlRun, Frontier};
use super::known::Known;
use super::plan::plan;
use super::record::{CrawlLeft, CrawlRecord};
use super::{put_back, scope};

/// Lower bound of [`Frontier::max_links`].
const MIN_LINKS: usize = 10_000;

/// Kind of pages of crawls. One object for all crawls of the process.
#[derive(Debug, Default)]
pub struct Pages {
    /// Number of addresses that all crawls together keep in memory.
    all_keys: Arc<AtomicUsize>,
}

/// Request of a crawl without its page options, with the credentials from its URL.
struct Spec {
    request: CrawlRequest,
    basic_auth: Option<BasicAuth>,
    known: Arc<Known>,
}

impl PageKind for Pages {
    fn read(&self, spec: Value, secrets: Secrets) -> Result<(Terms, Box<dyn PageSpec>), AppError> {
        let mut request = wire::decode_crawl(spec).map_err(AppError::internal)?;
        let basic_auth = put_back(secrets, &mut request);
        let terms = Terms {
            options: std::mem::take(&mut request.options.scrape_options),
            zero_data_retention: request.zero_data_retention,
            max_concurrency: request.options.max_concurrency,
            delay: request.options.delay,
            webhook: request.webhook.clone(),
        };
        let spec: Box<dyn PageSpec> = Box::new(Spec { request, basic_auth, known: Known::counted_in(&self.all_keys) });
        Ok((terms, spec))
    }

    fn bare(&self) -> Arc<dyn PageRun> {
        Arc::new(CrawlRun { frontier: None, known: Known::counted_in(&self.all_keys) })
    }
}

#[async_trait]
impl PageSpec for Spec {
    /// Compiles the scope, or takes it over if the start has not been redirected since.
    async fn open(self: Box<Self>, opening: Opening<'_>) -> Result<Arc<dyn PageRun>, AppError> {
        let Self { request, basic_auth, known } = *self;
        let Opening { runs, row, progress, caller, before } = opening;
        let landed = rows::landed(&mut runs.app().conn().await?, &row.id).await?;
        let landed = landed.as_deref().and_then(|url| Url::parse(url).ok());
        let before = before.and_then(CrawlRun::of);
        let compiled = before.and_then(|run| run.frontier.as_ref());
        let scope = scope_of(runs, caller, &request, landed.as_ref(), compiled).await?;
        let frontier = Frontier {
            start: request.url,
            basic_auth,
            scope,
            sitemap: request.options.sitemap,
            ignore_robots: request.options.ignore_robots_txt,
            agent: request.options.robots_user_agent,
            landed,
            max_links: max_links(progress),
        };
        let known = before.map_or(known, |run| Arc::clone(&run.known));
        Ok(Arc::new(CrawlRun { frontier: Some(frontier), known }))
    }

    fn unopened(self: Box<Self>) -> Arc<dyn PageRun> {
        Arc::new(CrawlRun { frontier: None, known: self.known })
    }
}

/// Returns the scope compiled earlier, or compiles it if the start has been redirected since.
async fn scope_of(
    runs: &Runs,
    caller: &Caller,
    request: &CrawlRequest,
    landed: Option<&Url>,
    compiled: Option<&Frontier>,
) -> Result<Scope, AppError> {
    match compiled.filter(|compiled| compiled.landed.as_ref() == landed) {
        Some(compiled) => Ok(compiled.scope.clone()),
        None => {
            let landed = landed.cloned();
            scope(runs, caller, request, move |scope, _| landed.iter().fold(scope, Scope::landed_at)).await
        }
    }
}

/// Returns the number of links to examine: the crawl may know up to `max_items` pages and as many other addresses;
/// twice that leaves room for new links.
fn max_links(progress: &Progress) -> usize {
    usize::try_from(progress.max_items).unwrap_or(usize::MAX).saturating_mul(2).max(MIN_LINKS)
}

#[async_trait]
impl PageRun for CrawlRun {
    fn bytes(&self) -> usize {
        self.frontier.as_ref().map_or(0, |frontier| frontier.scope.size())
    }

    async fn plan(&self, runs: &Runs, page: PlannedPage<'_>) -> Result<PagePlan, Refused> {
        plan(self, runs, page).await
    }

    async fn begin<'a>(
        &'a self,
        conn: &mut Conn,
        progress: &mut Progress,
        recording: Recording<'a>,
    ) -> Result<Box<dyn PageRecord + 'a>, StoreError> {
        let record: Box<dyn PageRecord + 'a> = Box::new(CrawlRecord::begin(conn, self, progress, recording).await?);
        Ok(record)
    }

    fn committed(&self, left: Left) -> bool {
        let Ok(left) = left.downcast::<CrawlLeft>() else { return false };
        let CrawlLeft { keys, has_landed } = *left;
        self.known.learn(keys);
        has_landed
    }
}

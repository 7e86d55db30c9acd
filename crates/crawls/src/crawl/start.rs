//! First job of a crawl: reads robots.txt and the sitemaps, and queues the listed pages while the sitemaps are
//! downloaded. If the start redirects to another site, a second such job does this there.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::time::Duration;

use ::runs::{Context, Lanes, PAGES, Runs, add_pages, beside, digest, host_of, new_page, patience, run_of, save};
use base::{Stop, Timestamp, new_id};
use crawl_frontier::{Scope, Steps, Verdict, page_of_markdown};
use kernel::AppError;
use queue::{Failure, Finished, Handler, NewJob, Payload, Queue, Running};
use serde::{Deserialize, Serialize};
use site::{AGENT, Approach, Sink, SitemapPage, Terms};
use store::jobs::{self, Claimed};
use store::runs::{self, NewPage, Progress, Way};
use store::{Conn, StoreError, hosts};
use tokio::time::Instant;
use url::Url;
use wire::SitemapMode;

use super::frontier::{CrawlRun, Frontier};
use super::known::MAX_LISTED;
use super::walk::Walk;

/// Number of pages from `llms.txt` that are added at once.
const BATCH: usize = 1000;
/// Timeout for the sitemaps of one crawl.
const PATIENCE: Duration = Duration::from_secs(300);

/// Payload of a start job.
#[derive(Debug, Serialize, Deserialize)]
pub struct StartPayload {
    crawl: String,
    /// Whether the job reads the sitemaps of the redirect target instead of the start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    moved: bool,
}

impl Payload for StartPayload {
    const KIND: &'static str = "crawl.start";
    const QUEUE: Queue = PAGES;
}

/// Handler of start jobs.
pub struct StartHandler {
    /// Runs whose sitemaps it reads.
    pub runs: Runs,
}

/// Queues the start job of a crawl, in a lane beside the pages.
pub(super) async fn enqueue(conn: &mut Conn, run: &str, lanes: &Lanes, now: Timestamp) -> Result<(), StoreError> {
    queue(conn, StartPayload { crawl: run.to_owned(), moved: false }, lanes, now).await
}

/// Queues a start job for the recorded redirect target of the start. The progress is locked, and the run stays open
/// until the sitemaps are read. While the first start job is running nothing is queued: its end does that.
pub(super) async fn look_where_it_led(
    conn: &mut Conn,
    progress: &mut Progress,
    lanes: &Lanes,
    now: Timestamp,
) -> Result<(), StoreError> {
    if std::mem::replace(&mut progress.preparing, true) {
        return Ok(());
    }
    queue(conn, StartPayload { crawl: progress.run_id.clone(), moved: true }, lanes, now).await
}

async fn queue(conn: &mut Conn, payload: StartPayload, lanes: &Lanes, now: Timestamp) -> Result<(), StoreError> {
    let job = NewJob::of(new_id(), &payload, now)?;
    jobs::enqueue(conn, &lanes.beside(&beside(&payload.crawl)), &[job], now).await?;
    Ok(())
}

impl Handler for StartHandler {
    type Payload = StartPayload;
    type Done = ();

    async fn run(&self, job: &Running<StartPayload>) -> Result<(), Failure> {
        let app = self.runs.app();
        let again = |error: AppError| patience::again(app, job, &error, patience::refetch_pause(app, job));
        let StartPayload { crawl, moved } = &job.payload;
        if *moved {
            // The context may have been read before the start was redirected.
            self.runs.refresh(crawl);
        }
        let Some(context) = self.runs.context(crawl).await.map_err(again)? else { return Ok(()) };
        let Some(run) = CrawlRun::of(&context) else { return Ok(()) };
        let Some(frontier) = &run.frontier else { return Ok(()) };
        let home = if *moved { frontier.landed.as_ref() } else { Some(&frontier.start) };
        // Another task may have cached the run as it was before.
        let Some(home) = home else { return Err(Failure::retry("the redirect target of the start is not known yet")) };
        look(Reading { runs: &self.runs, context: &context, run, frontier }, home).await.map_err(again)
    }

    async fn commit(&self, conn: &mut Conn, done: &[&Finished<StartPayload, ()>]) -> Result<(), StoreError> {
        let jobs: BTreeSet<(&str, bool)> = done.iter().map(|finished| finished.job.payload.key()).collect();
        for (crawl, moved) in jobs {
            prepared(&self.runs, conn, crawl, moved).await?;
        }
        Ok(())
    }

    fn after_commit(&self, done: &[&Finished<StartPayload, ()>]) {
        done.iter().for_each(|finished| self.runs.changed(&finished.job.payload.crawl));
        self.runs.app().waker().wake(PAGES);
    }

    async fn give_up(&self, conn: &mut Conn, job: &Running<StartPayload>, error: &str) -> Result<(), StoreError> {
        tracing::warn!(crawl = job.payload.crawl, error, "could not read the sitemaps; the crawl goes on without them");
        prepared(&self.runs, conn, &job.payload.crawl, job.payload.moved).await
    }

    async fn give_up_unread(&self, conn: &mut Conn, job: &Claimed, _: &str) -> Result<(), StoreError> {
        // The payload is unknown, so this may be the last start job: a crawl that waited for another would never end.
        prepared(&self.runs, conn, run_of(&job.lane), true).await
    }
}

impl StartPayload {
    fn key(&self) -> (&str, bool) {
        (&self.crawl, self.moved)
    }
}

/// Records that a start job is done. Queues the job for the redirect target if there is one; otherwise the crawl ends
/// with its last page.
async fn prepared(runs: &Runs, conn: &mut Conn, crawl: &str, moved: bool) -> Result<(), StoreError> {
    let Some(mut progress) = runs::lock(conn, crawl).await? else { return Ok(()) };
    let Some(row) = runs::find(conn, crawl).await? else { return Ok(()) };
    let no_kind = || StoreError::Inconsistent(format!("a run of kind {}", row.kind));
    let kind = runs.kind_of(&row.kind).ok_or_else(no_kind)?;
    progress.preparing = false;
    if !moved && runs::landed(conn, crawl).await?.is_some() {
        let context = runs.context_of(conn, &row).await?;
        look_where_it_led(conn, &mut progress, &context.lanes, runs.app().now()).await?;
    }
    save(runs, conn, kind, &mut progress).await
}

/// Crawl whose sitemaps are read.
#[derive(Clone, Copy)]
struct Reading<'a> {
    runs: &'a Runs,
    context: &'a Context,
    run: &'a CrawlRun,
    frontier: &'a Frontier,
}

/// Reads robots.txt and the sitemaps of the site of `home`: the start or its redirect target.
async fn look(reading: Reading<'_>, home: &Url) -> Result<(), AppError> {
    let Reading { runs, context, run, frontier } = reading;
    let app = runs.app();
    let agent = frontier.agent.as_deref().unwrap_or(AGENT);
    let deadline = Instant::now() + PATIENCE;
    let verify_tls = !context.options.skips_tls_verification(frontier.basic_auth.is_some());
    let approach = Approach { agent, deadline, verify_tls, private: context.is_private() };
    if !frontier.ignore_robots {
        let site = app.site().rules_at_start(home, approach).await?;
        // All runs share the rate limit of a host, so the delay is stored with the host and not with the run.
        if let (Some(host), Some(_)) = (host_of(home), site.crawl_delay) {
            hosts::set_crawl_delay(&mut app.conn().await?, &host, site.crawl_delay, app.now()).await?;
        }
    }
    // The sitemaps of the start may have covered the site of its redirect target already.
    if frontier.sitemap == SitemapMode::Skip || (home != &frontier.start && run.known.has_listed(home)) {
        return Ok(());
    }
    let mut feed = Feed { reading, listed: Vec::new() };
    let owner = context.owner();
    let terms = Terms { owner: &owner, obey: !frontier.ignore_robots };
    let found = app.site().sitemaps(home, approach, terms, &mut feed).await?;
    tracing::debug!(crawl = context.id, sitemaps = found.sitemaps, pages = found.pages, "sitemaps read");
    if app.settings().sites.llms_txt_in_crawl {
        let mut named = app.site().llms_pages(home, approach, terms).await;
        named.retain(|page| !is_known_otherwise(reading, &page.url));
        while !named.is_empty() {
            let later = named.split_off(named.len().min(BATCH));
            if feed.take(std::mem::replace(&mut named, later)).await?.is_break() {
                break;
            }
        }
    }
    // Only after success: a job that is retried reads the sitemaps again.
    run.known.note_listed(feed.listed.into_iter());
    Ok(())
}

/// Whether the crawl is known to have the page of which this address is the Markdown version.
fn is_known_otherwise(reading: Reading<'_>, url: &Url) -> bool {
    let page = page_of_markdown(url).map(|page| digest(reading.frontier.scope.key(&page).as_str()));
    page.is_some_and(|key| reading.run.known.contains(&key))
}

/// Sink that queues pages listed in sitemaps. Idempotent, so a job may be repeated.
struct Feed<'a> {
    reading: Reading<'a>,
    /// One listed page of each site.
    listed: Vec<Url>,
}

/// Returns the listed pages that the crawl may follow, within the work limit per batch.
fn admitted(scope: &Scope, listed: Vec<SitemapPage>, stop: &Stop) -> Vec<NewPage> {
    let mut sieve = scope.sieve(Steps::of_a_page());
    let followed = listed.into_iter().take_while(|_| !stop.is_set()).filter_map(|page| {
        let Verdict::Follow { key, depth } = sieve.admit_listed(&page.url) else { return None };
        Some(new_page(page.url, digest(key.as_str()), depth))
    });
    followed.collect()
}

impl Sink for Feed<'_> {
    type Error = AppError;

    async fn take(&mut self, pages: Vec<SitemapPage>) -> Result<ControlFlow<()>, AppError> {
        let Reading { runs, context, run, frontier } = self.reading;
        let (app, scope) = (runs.app(), frontier.scope.clone());
        let work = move |stop: &Stop| admitted(&scope, pages, stop);
        let (owner, deadline) = (context.owner(), Instant::now() + PATIENCE);
        let pages = runs.scraper().tools().cpu.run(&owner, deadline, work).await.map_err(AppError::internal)?;
        for url in pages.iter().filter_map(|page| Url::parse(&page.url).ok()) {
            if self.listed.len() < MAX_LISTED && self.listed.iter().all(|listed| listed.origin() != url.origin()) {
                self.listed.push(url);
            }
        }
        let now = app.now();
        let mut conn = app.conn().await?;
        let going_on: Result<bool, StoreError> = conn
            .tx(async |conn: &mut Conn| {
                let team = &context.caller.team.id;
                // Every transaction locks the team before the run: another order would deadlock.
                jobs::lock_team(conn, PAGES.name, team).await?;
                let Some(mut progress) = runs::lock(conn, &context.id).await? else { return Ok(false) };
                let way = |page: &NewPage| Way { depth: page.depth, parent: None };
                let listed: HashMap<Vec<u8>, Way> = pages.iter().map(|page| (page.key.clone(), way(page))).collect();
                add_pages(conn, &mut progress, &context.lanes, pages, now).await?;
                if run.has_max_depth() {
                    // Links may have led to some of them before, at a greater depth.
                    let mut walk = Walk::begin(conn, context, &progress, Vec::new(), now).await?;
                    walk.bring_near(conn, &mut progress, listed).await?;
                }
                save(runs, conn, context.kind, &mut progress).await?;
                Ok(progress.room() > 0)
            })
            .await;
        app.waker().wake(PAGES);
        Ok(if going_on? { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }
}

//! The first job of a crawl: reads robots.txt and the sitemaps, and queues what they list while they are downloaded.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use base::{Stop, Timestamp, new_id};
use crawl_frontier::{Scope, Steps, Verdict};
use queue::{Failure, Finished, Handler, NewJob, Payload, Queue, Running};
use serde::{Deserialize, Serialize};
use site::{AGENT, Approach, Sink, SitemapPage, Terms};
use store::jobs::{self, Claimed};
use store::runs::NewPage;
use store::{Conn, StoreError, hosts, runs};
use tokio::time::Instant;
use wire::SitemapMode;

use super::KIND;
use crate::runs::{Context, Frontier, Lanes, PAGES, add_pages, beside, host_of, new_pages, patience, run_of, save};
use crate::{App, AppError};

/// Longest time for the sitemaps of one crawl.
const PATIENCE: Duration = Duration::from_secs(300);

/// Which crawl.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StartPayload {
    crawl: String,
}

impl Payload for StartPayload {
    const KIND: &'static str = "crawl.start";
    const QUEUE: Queue = PAGES;
}

/// The handler.
pub(crate) struct StartHandler {
    pub(crate) app: App,
}

/// Queues it beside the pages.
pub(super) async fn enqueue(
    conn: &mut Conn,
    run: &str,
    (lanes, team): (&Lanes, &str),
    now: Timestamp,
) -> Result<(), StoreError> {
    let job = NewJob::of(new_id(), &StartPayload { crawl: run.to_owned() }, now)?;
    jobs::enqueue(conn, &lanes.beside(&beside(run), team), &[job], now).await?;
    Ok(())
}

impl Handler for StartHandler {
    type Payload = StartPayload;
    type Done = ();

    async fn run(&self, job: &Running<StartPayload>) -> Result<(), Failure> {
        let again = |error: AppError| patience::again(&self.app, job, &error, patience::refetch_pause(&self.app, job));
        let found = self.app.contexts().get(&self.app, &job.payload.crawl).await.map_err(again)?;
        let Some(context) = found else { return Ok(()) };
        match &context.frontier {
            Some(frontier) => look(&self.app, &context, frontier).await.map_err(again),
            None => Ok(()),
        }
    }

    async fn commit(&self, conn: &mut Conn, done: &[&Finished<StartPayload, ()>]) -> Result<(), StoreError> {
        let crawls: BTreeSet<&str> = done.iter().map(|finished| finished.job.payload.crawl.as_str()).collect();
        for crawl in crawls {
            prepared(&self.app, conn, crawl).await?;
        }
        Ok(())
    }

    fn after_commit(&self, done: &[&Finished<StartPayload, ()>]) {
        done.iter().for_each(|finished| self.app.changes.notify(&finished.job.payload.crawl));
    }

    async fn give_up(&self, conn: &mut Conn, job: &Running<StartPayload>, error: &str) -> Result<(), StoreError> {
        tracing::warn!(crawl = job.payload.crawl, error, "sitemaps given up");
        prepared(&self.app, conn, &job.payload.crawl).await
    }

    async fn give_up_unread(&self, conn: &mut Conn, job: &Claimed, _: &str) -> Result<(), StoreError> {
        prepared(&self.app, conn, run_of(&job.lane)).await
    }
}

/// All pages that sitemaps name are queued: from now on the crawl ends with its last page.
async fn prepared(app: &App, conn: &mut Conn, crawl: &str) -> Result<(), StoreError> {
    let Some(mut progress) = runs::lock(conn, crawl).await? else { return Ok(()) };
    progress.preparing = false;
    save(app, conn, &KIND, &mut progress).await
}

async fn look(app: &App, context: &Arc<Context>, frontier: &Frontier) -> Result<(), AppError> {
    let agent = frontier.agent.as_deref().unwrap_or(AGENT);
    let deadline = Instant::now() + PATIENCE;
    let verify_tls = !context.options.skips_tls_verification(frontier.basic_auth.is_some());
    let approach = Approach { agent, deadline, verify_tls, private: context.is_private() };
    if !frontier.ignore_robots {
        let site = app.site.rules_at_start(&frontier.start, approach).await?;
        // All runs share the pace of a host, so the delay is kept with the host and not with the run.
        if let (Some(host), Some(_)) = (host_of(&frontier.start), site.crawl_delay) {
            hosts::set_crawl_delay(&mut app.conn().await?, &host, site.crawl_delay, app.now()).await?;
        }
    }
    if frontier.sitemap == SitemapMode::Skip {
        return Ok(());
    }
    let mut feed = Feed { app, context, frontier };
    let owner = context.owner();
    let terms = Terms { owner: &owner, obey: !frontier.ignore_robots };
    let found = app.site.sitemaps(&frontier.start, approach, terms, &mut feed).await?;
    tracing::debug!(crawl = context.id, sitemaps = found.sitemaps, pages = found.pages, "sitemaps read");
    Ok(())
}

/// Queues what sitemaps list. Doing it twice changes nothing, so a repeated job may.
struct Feed<'a> {
    app: &'a App,
    context: &'a Arc<Context>,
    frontier: &'a Frontier,
}

/// The listed pages that the crawl may follow, within the work that a batch of them may cause.
fn admitted(scope: &Scope, listed: Vec<SitemapPage>, stop: &Stop) -> Vec<NewPage> {
    let mut sieve = scope.sieve(Steps::of_a_page());
    let followed = listed.into_iter().take_while(|_| !stop.is_set()).filter_map(|page| {
        let Verdict::Follow { key, depth } = sieve.admit_listed(&page.url) else { return None };
        Some((page.url, key.to_string(), depth))
    });
    new_pages(followed)
}

impl Sink for Feed<'_> {
    type Error = AppError;

    async fn take(&mut self, pages: Vec<SitemapPage>) -> Result<ControlFlow<()>, AppError> {
        let scope = self.frontier.scope.clone();
        let work = move |stop: &Stop| admitted(&scope, pages, stop);
        let (owner, deadline) = (self.context.owner(), Instant::now() + PATIENCE);
        let pages = self.app.tools.cpu.run(&owner, deadline, work).await.map_err(AppError::internal)?;
        let now = self.app.now();
        let mut conn = self.app.conn().await?;
        let going_on: Result<bool, StoreError> = conn
            .tx(async |conn: &mut Conn| {
                let team = &self.context.caller.team.id;
                // Everybody locks the team before the run.
                jobs::lock_team(conn, PAGES.name, team).await?;
                let Some(mut progress) = runs::lock(conn, &self.context.id).await? else { return Ok(false) };
                add_pages(conn, &mut progress, (&self.context.lanes, team), pages, now).await?;
                save(self.app, conn, &KIND, &mut progress).await?;
                Ok(progress.room() > 0)
            })
            .await;
        self.app.waker.wake(PAGES);
        Ok(if going_on? { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }
}

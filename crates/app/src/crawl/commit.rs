//! Writing down what visits brought: documents, credits, links, counters and events, in the transaction that removes their
//! jobs. So a page counts once, whatever dies when.

use std::collections::{BTreeMap, HashSet};

use base::Timestamp;
use crawl_frontier::Run;
use queue::{Finished, Running};
use store::crawls::{self, Crawl, NewPage, PageState};
use store::jobs;
use store::ledger::{self, Booking};
use store::{Conn, StoreError};
use url::Url;
use webhooks::Event;

use super::context::Context;
use super::document::Place;
use super::page::{Became, Found, Payload, Visited};
use super::submit::jobs_of;
use super::{end, host_of};
use crate::webhooks::emit;
use crate::{App, metrics};

type Done = Finished<Payload, Option<Visited>>;

/// Writes down what visits of any number of crawls brought. Their jobs are gone already, and the teams' rows locked.
pub(super) async fn commit(app: &App, conn: &mut Conn, done: Vec<Done>) -> Result<(), StoreError> {
    // In the order of their ids, so that two workers never wait for each other.
    let mut crawls: BTreeMap<String, Vec<(String, Visited)>> = BTreeMap::new();
    for Finished { job, done } in done {
        if let Some(visited) = done {
            crawls.entry(job.payload.crawl.clone()).or_default().push((job.id.clone(), visited));
        }
    }
    for (crawl, pages) in crawls {
        let Some(row) = crawls::lock(conn, &crawl).await?.filter(Crawl::is_open) else { continue };
        let Some(context) = pages.first().map(|(_, visited)| visited.context.clone()) else { continue };
        let mut batch = Batch { app, context: &context, row, now: app.now() };
        batch.write(conn, pages).await?;
    }
    Ok(())
}

/// Ends a page whose attempts are used up.
pub(super) async fn give_up(
    app: &App,
    conn: &mut Conn,
    job: &Running<Payload>,
    error: &str,
) -> Result<(), StoreError> {
    let Some(mut row) = crawls::lock(conn, &job.payload.crawl).await?.filter(Crawl::is_open) else { return Ok(()) };
    tracing::warn!(crawl = row.id, page = job.id, error, "page given up");
    let reason = ("UNKNOWN_ERROR", "the page could not be processed");
    crawls::fail_page(conn, &job.id, PageState::Failed, reason, app.now()).await?;
    row.pending -= 1;
    row.failed += 1;
    end::if_over(app, conn, &mut row).await?;
    crawls::save(conn, &row).await?;
    app.changes.tell(&row.id);
    Ok(())
}

/// The visits of one crawl that are written down together.
struct Batch<'a> {
    app: &'a App,
    context: &'a Context,
    row: Crawl,
    now: Timestamp,
}

/// A page that became a document.
struct Kept {
    id: String,
    visited: Visited,
}

impl Batch<'_> {
    async fn write(&mut self, conn: &mut Conn, pages: Vec<(String, Visited)>) -> Result<(), StoreError> {
        let mut kept = Vec::new();
        let first = pages.first().map(|(id, _)| id.clone()).unwrap_or_default();
        let mut credits = 0;
        let mut links = Links::default();
        for (id, mut visited) in pages {
            self.row.pending -= 1;
            links.take(&mut visited);
            if let Some(landed) = visited.landed.take() {
                self.row.landed_url = Some(landed);
                self.app.contexts.forget(&self.row.id);
            }
            if let Some(paid) = self.settle(conn, &id, &mut visited).await? {
                credits += paid;
                if matches!(visited.became, Became::Document(_)) {
                    kept.push(Kept { id, visited });
                }
            }
        }
        self.charge(conn, &first, credits).await?;
        self.keep(conn, kept).await?;
        self.follow(conn, links).await?;
        end::if_over(self.app, conn, &mut self.row).await?;
        crawls::save(conn, &self.row).await?;
        self.app.changes.tell(&self.row.id);
        Ok(())
    }

    /// Decides what a page counts as, and gives what it costs; `None` for one that the crawl has under another address.
    async fn settle(&mut self, conn: &mut Conn, id: &str, visited: &mut Visited) -> Result<Option<i64>, StoreError> {
        match &visited.became {
            Became::Document(_) => {
                if let Some(alias) = visited.alias.take()
                    && !crawls::claim_key(conn, &self.row.id, alias).await?
                {
                    crawls::end_pages(conn, &[id], PageState::Alias, self.now).await?;
                    return Ok(None);
                }
            }
            Became::Failed { code, error } => {
                self.row.failed += 1;
                crawls::fail_page(conn, id, PageState::Failed, (code, error), self.now).await?;
                self.tell_of_failure(conn, id, error).await?;
            }
            Became::Blocked => {
                let reason = ("ROBOTS_BLOCKED", "robots.txt forbids the page");
                crawls::fail_page(conn, id, PageState::Blocked, reason, self.now).await?;
            }
            Became::Left(reason) => {
                let reason = (reason.code(), reason.message());
                crawls::fail_page(conn, id, PageState::External, reason, self.now).await?;
            }
        }
        Ok(Some(visited.credits))
    }

    async fn charge(&mut self, conn: &mut Conn, first: &str, credits: i64) -> Result<(), StoreError> {
        if credits == 0 {
            return Ok(());
        }
        // A page is in one batch only, so its id makes the key unique.
        let key = format!("pages:{first}");
        let (team, api_key) = (self.row.team_id.as_str(), self.row.api_key_id.as_deref());
        let booking = Booking { key: &key, team, api_key, at: self.now };
        match &self.row.reservation {
            Some(reservation) => ledger::post(conn, &booking, reservation, credits).await?,
            None => ledger::charge(conn, &booking, credits).await?,
        };
        self.row.credits += credits;
        metrics::charged(credits);
        Ok(())
    }

    async fn keep(&mut self, conn: &mut Conn, kept: Vec<Kept>) -> Result<(), StoreError> {
        let ids: Vec<&str> = kept.iter().map(|page| page.id.as_str()).collect();
        crawls::end_pages(conn, &ids, PageState::Done, self.now).await?;
        let mut rows = Vec::with_capacity(kept.len());
        for Kept { id, visited } in kept {
            let Became::Document(packed) = visited.became else { continue };
            if let Some(hook) = &self.context.hook {
                let event = Event::new(self.context.kind.page()).with(&packed.json);
                emit(conn, hook, &self.row.team_id, &self.row.id, &event, self.now).await?;
            }
            if let Some((template, content)) = visited.likeness {
                let step = |hash, length| {
                    let run = Run { hash, length };
                    // A trap stays one, or late answers of other workers would open it again.
                    let run = if run.is_trap() { run } else { run.with_page(content) };
                    (run.hash, run.length)
                };
                crawls::enter_run(conn, &self.row.id, template, step).await?;
            }
            self.row.completed += 1;
            let site = Url::parse(&packed.url).ok().as_ref().and_then(host_of).filter(|_| !self.context.is_private());
            let (crawl, team, seq) = (self.row.id.as_str(), self.row.team_id.as_str(), self.row.completed);
            rows.push(packed.row(Place { crawl, seq, page: &id, team, site }));
        }
        crawls::add_documents(conn, rows).await
    }

    /// Queues the pages that links lead to, unless they are traps, and notes those that are left alone.
    async fn follow(&mut self, conn: &mut Conn, links: Links) -> Result<(), StoreError> {
        let pages = self.without_traps(conn, links.found).await?;
        let mut fresh = crawls::add_pages(conn, &mut self.row, pages).await?;
        fresh.extend(crawls::promote_spare(conn, &mut self.row).await?);
        if !fresh.is_empty() {
            let jobs = jobs_of(&self.row.id, &fresh, self.now);
            jobs::enqueue(conn, &self.context.lanes.pages(&self.row), &jobs, self.now).await?;
        }
        let external = ("EXTERNAL_LINK", crawl_frontier::Reason::ExternalHomepage.message());
        let blocked = ("ROBOTS_BLOCKED", crawl_frontier::Reason::Robots.message());
        for (state, reason, pages) in
            [(PageState::External, external, links.external), (PageState::Blocked, blocked, links.blocked)]
        {
            crawls::list_pages(conn, &self.row.id, state, reason, (pages, self.now)).await?;
        }
        Ok(())
    }

    async fn without_traps(&self, conn: &mut Conn, found: Vec<Found>) -> Result<Vec<NewPage>, StoreError> {
        let found = crawls::unknown(conn, &self.row.id, found, |found: &Found| &found.page.key).await?;
        let templates: HashSet<u64> = found.iter().map(|found| found.template).collect();
        let trapped = crawls::trapped_templates(conn, &self.row.id, &templates, Run::LONGEST).await?;
        let found: Vec<Found> = found.into_iter().filter(|found| !trapped.contains(&found.template)).collect();
        let families: Vec<(u64, u32)> = found.iter().filter_map(|found| found.family).collect();
        let mut within = crawls::enter_families(conn, &self.row.id, &families).await?.into_iter();
        let mut fits = |found: &Found| found.family.is_none() || within.next().unwrap_or(false);
        Ok(found.into_iter().filter(|found| fits(found)).map(|found| found.page).collect())
    }

    async fn tell_of_failure(&self, conn: &mut Conn, id: &str, error: &str) -> Result<(), StoreError> {
        let Some(hook) = &self.context.hook else { return Ok(()) };
        let urls = crawls::urls_of(conn, &[id]).await?;
        let url = urls.first().map(|(_, url)| url.as_str()).unwrap_or_default();
        let Ok(event) = Event::failed_page(self.context.kind.page(), url, error) else { return Ok(()) };
        emit(conn, hook, &self.row.team_id, &self.row.id, &event, self.now).await
    }
}

/// Links of several pages.
#[derive(Default)]
struct Links {
    found: Vec<Found>,
    external: Vec<NewPage>,
    blocked: Vec<NewPage>,
}

impl Links {
    fn take(&mut self, visited: &mut Visited) {
        self.found.append(&mut visited.found);
        self.external.append(&mut visited.external);
        self.blocked.append(&mut visited.blocked);
    }
}

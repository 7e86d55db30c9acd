//! Writing down what visits brought: documents, credits, links, counters and events, in the transaction that removes their
//! jobs. So a page counts once, whatever dies when.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use base::Timestamp;
use crawl_frontier::Run;
use queue::Finished;
use store::crawls::{self, Crawl, NewPage, PageState};
use store::jobs;
use store::ledger::{self, Booking};
use store::{Conn, StoreError};
use webhooks::Event;
use wire::WebhookEvent;

use super::context::Context;
use super::deposit::Deposit;
use super::document::{Packed, Place};
use super::page::{Became, Found, PagePayload, Visited};
use super::submit::jobs_of;
use super::{end, is_private};
use crate::webhooks::{Source, emit_all};
use crate::{App, metrics};

type Done = Finished<PagePayload, Option<Visited>>;

/// Writes down what visits of any number of crawls brought. Their jobs are gone already, and the teams' rows locked.
pub(super) async fn commit(app: &App, conn: &mut Conn, done: &[&Done]) -> Result<(), StoreError> {
    spoil(done)?;
    // In the order of their ids, so that two workers never wait for each other.
    let mut crawls: BTreeMap<&str, Vec<(&str, &Visited)>> = BTreeMap::new();
    for Finished { job, done } in done {
        if let Some(visited) = done {
            crawls.entry(&job.payload.crawl).or_default().push((&job.id, visited));
        }
    }
    for (crawl, pages) in crawls {
        pages.iter().filter_map(|(_, visited)| deposit(visited)).for_each(Deposit::look);
        let Some(row) = crawls::lock(conn, crawl).await?.filter(Crawl::is_open) else { continue };
        let Some((_, first)) = pages.first() else { continue };
        let mut batch = Batch { app, context: &first.context, row, now: app.now() };
        batch.write(conn, pages).await?;
    }
    Ok(())
}

/// Fail point `commit_poison`: pages with `poison` in their URL cannot be written down. `return` fails for ever, as a
/// ledger does that refuses; `return(transient)` fails as a database does that is short of something.
fn spoil(done: &[&Done]) -> Result<(), StoreError> {
    fail::fail_point!(
        "commit_poison",
        done.iter().any(|finished| finished.job.payload.url.contains("poison")),
        |how| Err(match how.as_deref() {
            Some("transient") => StoreError::Pool("spoilt by a fail point".to_owned()),
            _ => StoreError::Inconsistent("spoilt by a fail point".to_owned()),
        })
    );
    let _ = done;
    Ok(())
}

/// Writes down that a page was given up: with the same consequences as a page that could not be scraped. Nothing happens
/// when something is written of it already.
pub(super) async fn give_up(
    app: &App,
    conn: &mut Conn,
    crawl: &str,
    page: &str,
    error: &str,
) -> Result<(), StoreError> {
    let found = crawls::lock(conn, crawl).await?;
    // Of a private job nothing is kept, and of one that is gone there is nothing to do again.
    if found.as_ref().is_none_or(is_private) {
        jobs::forget_one(conn, page).await?;
    }
    let Some(row) = found.filter(Crawl::is_open) else { return Ok(()) };
    if !crawls::is_queued(conn, page).await? {
        return Ok(());
    }
    tracing::warn!(crawl, page, error, "page given up");
    let context = app.contexts().of(conn, &row).await?;
    let (code, error) = ("UNKNOWN_ERROR".to_owned(), "the page could not be processed".to_owned());
    let visited = Visited::without(Arc::clone(&context), Became::Failed { code, error });
    Batch { app, context: &context, row, now: app.now() }.write(conn, vec![(page, &visited)]).await
}

/// Tells the bodies among the blobs what the transaction has decided.
pub(super) fn settled<'a>(done: impl Iterator<Item = &'a Visited>) {
    done.filter_map(deposit).for_each(Deposit::settle);
}

fn deposit(visited: &Visited) -> Option<&Deposit> {
    match &visited.became {
        Became::Document(packed) => packed.deposit.as_ref(),
        _ => None,
    }
}

/// The visits of one crawl that are written down together.
struct Batch<'a> {
    app: &'a App,
    context: &'a Context,
    row: Crawl,
    now: Timestamp,
}

impl Batch<'_> {
    async fn write(&mut self, conn: &mut Conn, pages: Vec<(&str, &Visited)>) -> Result<(), StoreError> {
        let (mut kept, mut credits, mut links) = (Vec::new(), 0, Links::default());
        let first = pages.first().map_or("", |(id, _)| *id);
        for (id, visited) in pages {
            self.row.pending -= 1;
            links.take(visited);
            if let Some(landed) = &visited.landed {
                self.row.landed_url = Some(landed.clone());
            }
            if self.settle(conn, id, visited).await? {
                credits += visited.credits;
                if let Became::Document(packed) = &visited.became {
                    kept.push((id, visited, packed.as_ref()));
                }
            }
        }
        self.charge(conn, first, credits).await?;
        self.keep(conn, kept).await?;
        self.follow(conn, links).await?;
        end::if_over(self.app, conn, &mut self.row).await?;
        crawls::save(conn, &self.row).await
    }

    /// Decides what a page counts as; `false` for one that the crawl has under another address.
    async fn settle(&mut self, conn: &mut Conn, id: &str, visited: &Visited) -> Result<bool, StoreError> {
        match &visited.became {
            Became::Document(_) => {
                if let Some(alias) = &visited.alias
                    && !crawls::claim_key(conn, &self.row.id, alias.clone()).await?
                {
                    crawls::end_pages(conn, &[id], PageState::Alias, self.now).await?;
                    return Ok(false);
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
        Ok(true)
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

    async fn keep(&mut self, conn: &mut Conn, kept: Vec<(&str, &Visited, &Packed)>) -> Result<(), StoreError> {
        let ids: Vec<&str> = kept.iter().map(|(id, ..)| *id).collect();
        crawls::end_pages(conn, &ids, PageState::Done, self.now).await?;
        let likenesses: Vec<(u64, u64)> = kept.iter().filter_map(|(_, visited, _)| visited.likeness).collect();
        crawls::enter_runs(conn, &self.row.id, &likenesses, longer).await?;
        let mut rows = Vec::with_capacity(kept.len());
        for (id, _, packed) in &kept {
            packed.deposit.iter().for_each(Deposit::keep);
            self.row.completed += 1;
            let site = packed.site().filter(|_| !self.context.is_private());
            let (crawl, team, seq) = (self.row.id.as_str(), self.row.team_id.as_str(), self.row.completed);
            rows.push(packed.row(Place { crawl, seq, page: id, team, site }));
        }
        crawls::add_documents(conn, rows).await?;
        let Some(hook) = &self.context.hook else { return Ok(()) };
        let page = self.context.family.event(WebhookEvent::Page);
        let events: Vec<Event<'_>> = kept.iter().map(|(.., packed)| Event::new(page).with(&packed.json)).collect();
        emit_all(conn, hook, self.source(), &events, self.now).await
    }

    fn source(&self) -> Source<'_> {
        Source { team: &self.row.team_id, job: &self.row.id }
    }

    /// Queues the pages that links lead to, unless they are traps, and notes those that are left alone.
    async fn follow(&mut self, conn: &mut Conn, links: Links) -> Result<(), StoreError> {
        let pages = self.without_traps(conn, links.found).await?;
        let mut fresh = crawls::add_pages(conn, &mut self.row, pages).await?;
        fresh.extend(crawls::promote_spare(conn, &mut self.row).await?);
        if !fresh.is_empty() {
            let jobs = jobs_of(&self.row.id, &fresh, self.now)?;
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
        let trapped = crawls::trapped_templates(conn, &self.row.id, &templates, Run::MAX_LENGTH).await?;
        let found: Vec<Found> = found.into_iter().filter(|found| !trapped.contains(&found.template)).collect();
        let families: Vec<(u64, u32)> = found.iter().filter_map(|found| found.family).collect();
        let mut within = crawls::enter_families(conn, &self.row.id, &families).await?.into_iter();
        let mut fits = |found: &Found| found.family.is_none() || within.next().unwrap_or(false);
        Ok(found.into_iter().filter(|found| fits(found)).map(|found| found.page).collect())
    }

    async fn tell_of_failure(&self, conn: &mut Conn, id: &str, error: &str) -> Result<(), StoreError> {
        let Some(hook) = &self.context.hook else { return Ok(()) };
        let urls = crawls::urls_of(conn, &[id]).await?;
        let url = urls.first().map(|(_, url)| wire::without_userinfo(url)).unwrap_or_default();
        let Ok(event) = Event::failed_page(self.context.family.event(WebhookEvent::Page), &url, error) else {
            return Ok(());
        };
        emit_all(conn, hook, self.source(), &[event], self.now).await
    }
}

/// The run with one more page of this content. A trap stays one, or late answers of other workers would open it again.
fn longer((hash, length): (u64, u32), content: u64) -> (u64, u32) {
    let run = Run { hash, length };
    let run = if run.is_trap() { run } else { run.with_page(content) };
    (run.hash, run.length)
}

/// Links of several pages.
#[derive(Default)]
struct Links {
    found: Vec<Found>,
    external: Vec<NewPage>,
    blocked: Vec<NewPage>,
}

impl Links {
    fn take(&mut self, visited: &Visited) {
        self.found.extend_from_slice(&visited.found);
        self.external.extend_from_slice(&visited.external);
        self.blocked.extend_from_slice(&visited.blocked);
    }
}

//! Recording of pages: documents, credits, counters and events are written in the transaction that removes the page
//! jobs, so that each page counts exactly once even after a crash. What else follows from a page is decided by the
//! run's kind ([`PageRecord`]).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cache::{PageToKeep, write_pages};
use kernel::metrics;
use queue::Finished;
use scraping::scrape::Surcharge;
use serde_json::json;
use store::ledger::{self, Booking};
use store::runs::{self, EndedPage, NewDocument, PageState, Progress};
use store::{Conn, StoreError, jobs};
use webhooks::Event;
use wire::EventType;
use wire::event::PAGE;

use super::deposit::Deposit;
use super::document::Place;
use super::page_kind::{KeptPage, Page, PageRecord, Recording};
use super::page_result::{Outcome, PageResult};
use super::payload::PagePayload;
use super::{Runs, end};
use crate::webhooks::{Source, emit_all};

type Done = Finished<PagePayload, Option<PageResult>>;

/// Records pages of several runs. Their jobs are already removed, and the teams' rows are locked.
pub(super) async fn commit(runs: &Runs, conn: &mut Conn, done: &[&Done]) -> Result<(), StoreError> {
    spoil(done)?;
    // Ordered by team, as jobs lock them, and by run id, so that two workers cannot deadlock.
    let mut by_run: BTreeMap<(&str, &str), Vec<Page<'_>>> = BTreeMap::new();
    for Finished { job, done } in done {
        if let Some(result) = done {
            by_run.entry((&job.team_id, &job.payload.crawl)).or_default().push(Page { id: &job.id, result });
        }
    }
    for pages in by_run.values() {
        record(runs, conn, pages).await?;
    }
    write_pages(conn, by_run.values().flatten().filter_map(|page| to_keep(page.result)).collect()).await
}

/// Returns what is kept of a page. A version belongs to a document: a page that was not recorded as one leaves the
/// versions of its address alone.
fn to_keep(result: &PageResult) -> Option<&PageToKeep> {
    let is_document = result.is_document.load(Ordering::Relaxed);
    result.copy.as_ref().filter(|page| is_document || matches!(page, PageToKeep::Copy(_)))
}

/// Fail point `commit_poison`: results of pages with `poison` in their URL cannot be written. `return` fails
/// permanently, like a ledger that refuses; `return(transient)` fails like a database that is out of some resource.
fn spoil(done: &[&Done]) -> Result<(), StoreError> {
    fail::fail_point!(
        "commit_poison",
        done.iter().any(|finished| finished.job.payload.url.contains("poison")),
        |how| Err(match how.as_deref() {
            Some("transient") => StoreError::transient(),
            _ => StoreError::Inconsistent("spoilt by a fail point".to_owned()),
        })
    );
    let _ = done;
    Ok(())
}

/// Records a page that was given up, with the same consequences as a page that could not be scraped. Does nothing if a
/// result of the page is recorded already.
pub(super) async fn give_up(
    runs: &Runs,
    conn: &mut Conn,
    run: &str,
    page: &str,
    error: &str,
) -> Result<(), StoreError> {
    let is_open = runs::lock(conn, run).await?.is_some();
    let row = runs::find(conn, run).await?;
    // Remove the dead job of a private run, because nothing of it is kept, and of a deleted run, because there is
    // nothing to retry.
    if row.as_ref().is_none_or(|row| row.private) {
        jobs::forget_one(conn, page).await?;
    }
    let Some(row) = row.filter(|_| is_open) else { return Ok(()) };
    if !runs::is_queued(conn, page).await? {
        return Ok(());
    }
    tracing::warn!(run, page, error, "page given up");
    let context = runs.context_of(conn, &row).await?;
    let (code, error) = ("UNKNOWN_ERROR".to_owned(), "the page could not be processed".to_owned());
    let result = PageResult::without(Arc::clone(&context), Outcome::Failed { code, error });
    record(runs, conn, &[Page { id: page, result: &result }]).await
}

/// Tells the deposited bodies that the transaction was committed.
pub(super) fn settled<'a>(done: impl Iterator<Item = &'a PageResult>) {
    done.filter_map(deposit).for_each(Deposit::settle);
}

fn deposit(result: &PageResult) -> Option<&Deposit> {
    match &result.outcome {
        Outcome::Document(packed) => packed.deposit.as_ref(),
        _ => None,
    }
}

/// Records pages of one run with all consequences. Does nothing when the run has ended.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
#[crate::boxed]
pub async fn record(runs: &Runs, conn: &mut Conn, pages: &[Page<'_>]) -> Result<(), StoreError> {
    pages.iter().filter_map(|page| deposit(page.result)).for_each(Deposit::look);
    // A transaction that was rolled back may have set it.
    pages.iter().for_each(|page| page.result.is_document.store(false, Ordering::Relaxed));
    let Some(Page { result: first, .. }) = pages.first() else { return Ok(()) };
    let context = &*first.context;
    let Some(mut progress) = runs::lock(conn, &context.id).await? else { return Ok(()) };
    let recording = Recording { context, pages, now: runs.app().now() };
    let kind = context.pages.begin(conn, &mut progress, recording).await?;
    let mut record = Record { runs, recording, kind, progress };
    record.write(conn).await?;
    let Record { kind, progress, .. } = record;
    *first.left.lock() = kind.finish(progress.is_open);
    if !progress.is_open {
        runs.forget(&context.id);
    }
    Ok(())
}

/// Pages of one run that are recorded in one transaction.
struct Record<'a> {
    runs: &'a Runs,
    recording: Recording<'a>,
    /// Record of the run's kind.
    kind: Box<dyn PageRecord + 'a>,
    /// Locked progress of the run.
    progress: Progress,
}

/// Credits of pages, to be charged together.
#[derive(Default)]
struct Bill<'a> {
    credits: i64,
    surcharges: Vec<&'a Surcharge>,
}

impl<'a> Record<'a> {
    async fn write(&mut self, conn: &mut Conn) -> Result<(), StoreError> {
        let Recording { context, now, .. } = self.recording;
        let (mut ended, mut kept, mut bill) = (Vec::new(), Vec::new(), Bill::default());
        for page in self.in_order() {
            let result = page.result;
            let Some(settled) = self.kind.settle(conn, &mut self.progress, page).await? else { continue };
            self.count(settled.state);
            if settled.state == PageState::Done || !matches!(result.outcome, Outcome::Document(_)) {
                bill.credits += result.credits;
                bill.surcharges.extend(&result.surcharge);
                if let Outcome::Document(packed) = &result.outcome {
                    result.is_document.store(true, Ordering::Relaxed);
                    kept.push(KeptPage { page, packed });
                }
            }
            ended.push(settled);
        }
        self.charge(conn, ended.first().map_or("", |page| page.id), bill).await?;
        self.kind.record(conn, &mut self.progress, &kept).await?;
        runs::end_pages(conn, &ended, self.rows(&kept), now).await?;
        self.tell(conn, &kept, &ended).await?;
        self.kind.follow(conn, &mut self.progress, &ended).await?;
        end::save(self.runs, conn, context.kind, &mut self.progress).await
    }

    /// Returns the pages in the order in which they are settled.
    fn in_order(&self) -> Vec<Page<'a>> {
        let mut pages = self.recording.pages.to_vec();
        pages.sort_by_key(|page| self.kind.is_last(page.result));
        pages
    }

    /// Counts a page that is no longer pending.
    fn count(&mut self, state: PageState) {
        self.progress.pending -= 1;
        match state {
            PageState::Done => self.progress.done += 1,
            PageState::Failed => self.progress.failed += 1,
            _ => {}
        }
    }

    /// Charges the run's reservation, and the surcharges that single pages have reserved.
    async fn charge(&mut self, conn: &mut Conn, first: &str, bill: Bill<'_>) -> Result<(), StoreError> {
        let Bill { credits, surcharges } = bill;
        if credits == 0 {
            return Ok(());
        }
        let Recording { context, now, .. } = self.recording;
        for surcharge in &surcharges {
            surcharge.settle(conn, now).await?;
        }
        let of_run = credits - surcharges.iter().map(|surcharge| surcharge.amount).sum::<i64>();
        // Each page is recorded once, so its id makes the key unique.
        let key = format!("pages:{first}");
        let (team, api_key) = (context.caller.team.id.as_str(), context.caller.key.as_deref());
        let booking = Booking { key: &key, team, api_key, at: now };
        match &self.progress.reservation {
            Some(reservation) => ledger::post(conn, &booking, reservation, of_run).await?,
            None => ledger::charge(conn, &booking, of_run).await?,
        };
        self.progress.credits += credits;
        metrics::charged(credits);
        Ok(())
    }

    /// Builds the rows of the documents, numbered after the existing ones.
    fn rows(&self, kept: &[KeptPage<'_>]) -> Vec<NewDocument> {
        let context = self.recording.context;
        let before = self.progress.done - i64::try_from(kept.len()).unwrap_or(0);
        let rows = (before + 1..).zip(kept).map(|(seq, KeptPage { page, packed })| {
            packed.deposit.iter().for_each(Deposit::keep);
            let site = packed.site().filter(|_| !context.is_private());
            packed.row(Place { team: &context.caller.team.id, run: &context.id, seq, page: page.id }, site)
        });
        rows.collect()
    }

    /// Emits a webhook event for each document and each failed page.
    async fn tell(&self, conn: &mut Conn, kept: &[KeptPage<'_>], ended: &[EndedPage<'_>]) -> Result<(), StoreError> {
        let Recording { context, now, .. } = self.recording;
        let (Some(hook), Some(event)) = (&context.hook, context.kind.events.event(PAGE)) else { return Ok(()) };
        let mut events: Vec<Event<'_>> = kept.iter().map(|page| self.kind.page_event(event, page)).collect();
        let failed: Vec<&EndedPage<'_>> = ended.iter().filter(|page| page.state == PageState::Failed).collect();
        if !failed.is_empty() {
            let ids: Vec<&str> = failed.iter().map(|page| page.id).collect();
            let urls: BTreeMap<String, String> = runs::urls_of(conn, &ids).await?.into_iter().collect();
            for EndedPage { id, reason, .. } in failed {
                let url = urls.get(*id).map(|url| wire::without_userinfo(url)).unwrap_or_default();
                let error = reason.map_or("", |(_, error)| error);
                events.extend(failed_page(event, &url, error));
            }
        }
        let source = Source { team: &context.caller.team.id, job: &context.id };
        emit_all(conn, hook, source, &events, now).await
    }
}

/// Returns the event of a page that failed (docs/CONTRACT.md, "Webhooks").
fn failed_page<'a>(event: EventType, source_url: &str, error: &'a str) -> serde_json::Result<Event<'a>> {
    let data = json!({ "metadata": { "sourceURL": source_url } });
    Ok(Event::new(event).with(&data)?.failed().because(error))
}

//! Writing down what pages of runs became: documents, credits, links, counters and events, in the transaction that removes
//! their jobs. So a page counts once, whatever dies when.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use base::Timestamp;
use queue::Finished;
use store::ledger::{self, Booking};
use store::runs::{self, EndedPage, NewDocument, NewPage, PageRow, PageState, Progress};
use store::{Conn, StoreError, jobs};
use webhooks::Event;
use wire::WebhookEvent;

use super::context::Context;
use super::deposit::Deposit;
use super::document::Packed;
use super::links::{self, Links};
use super::page::{Outcome, PagePayload, PageResult};
use super::{end, jobs_of};
use crate::cache::write_copies;
use crate::scrape::Surcharge;
use crate::webhooks::{Source, emit_all};
use crate::{App, metrics};

type Done = Finished<PagePayload, Option<PageResult>>;

/// Writes down what pages of any number of runs became. Their jobs are gone already, and the teams' rows locked.
pub(super) async fn commit(app: &App, conn: &mut Conn, done: &[&Done]) -> Result<(), StoreError> {
    spoil(done)?;
    // In the order of their teams, as jobs lock them, and of their ids, so that two workers never wait for each other.
    let mut runs: BTreeMap<(&str, &str), Vec<(&str, &PageResult)>> = BTreeMap::new();
    for Finished { job, done } in done {
        if let Some(result) = done {
            runs.entry((&job.team_id, &job.payload.crawl)).or_default().push((&job.id, result));
        }
    }
    let copies = runs.values().flatten().filter_map(|(_, result)| result.copy.as_deref()).collect();
    for pages in runs.into_values() {
        record(app, conn, &pages).await?;
    }
    write_copies(conn, copies).await
}

/// Fail point `commit_poison`: pages with `poison` in their URL cannot be written down. `return` fails for ever, as a
/// ledger does that refuses; `return(transient)` fails as a database does that is short of something.
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

/// Writes down that a page was given up: with the same consequences as a page that could not be scraped. Nothing happens
/// when something is written of it already.
pub(super) async fn give_up(app: &App, conn: &mut Conn, run: &str, page: &str, error: &str) -> Result<(), StoreError> {
    let is_open = runs::lock(conn, run).await?.is_some();
    let row = runs::find(conn, run).await?;
    // Of a private run nothing is kept, and of one that is gone there is nothing to do again.
    if row.as_ref().is_none_or(|row| row.private) {
        jobs::forget_one(conn, page).await?;
    }
    let Some(row) = row.filter(|_| is_open) else { return Ok(()) };
    if !runs::is_queued(conn, page).await? {
        return Ok(());
    }
    tracing::warn!(run, page, error, "page given up");
    let context = app.contexts().of(conn, &row).await?;
    let (code, error) = ("UNKNOWN_ERROR".to_owned(), "the page could not be processed".to_owned());
    let result = PageResult::without(Arc::clone(&context), Outcome::Failed { code, error });
    record(app, conn, &[(page, &result)]).await
}

/// Tells the bodies among the blobs what the transaction has decided.
pub(super) fn settled<'a>(done: impl Iterator<Item = &'a PageResult>) {
    done.filter_map(deposit).for_each(Deposit::settle);
}

fn deposit(result: &PageResult) -> Option<&Deposit> {
    match &result.outcome {
        Outcome::Document(packed) => packed.deposit.as_ref(),
        _ => None,
    }
}

/// Writes down what pages of one run became, given by their ids, with all that follows from it. Nothing, when the run has
/// ended.
pub(super) async fn record(app: &App, conn: &mut Conn, results: &[(&str, &PageResult)]) -> Result<(), StoreError> {
    results.iter().filter_map(|(_, result)| deposit(result)).for_each(Deposit::look);
    let Some((_, first)) = results.first() else { return Ok(()) };
    let Some(progress) = runs::lock(conn, &first.context.id).await? else { return Ok(()) };
    let known = &first.context.known;
    // It has all its pages, and enough spare ones: further ones need not be looked at.
    let is_full = progress.is_full();
    known.set_full(is_full);
    let unsure = results.iter().flat_map(|(_, result)| result.keys(!is_full));
    let unsure = unsure.filter(|key| !known.contains(key)).collect();
    let known = runs::known_keys(conn, &first.context.id, unsure).await?;
    let mut record =
        Record { app, context: &first.context, progress, is_full, known, rows: Vec::new(), now: app.now() };
    record.write(conn, results).await?;
    if record.progress.is_open {
        first.learnt.set(record.known.into_iter().collect());
    } else {
        first.context.known.clear();
        app.contexts().forget(&first.context.id);
    }
    Ok(())
}

/// The pages of one run that are written down together.
struct Record<'a> {
    app: &'a App,
    context: &'a Context,
    progress: Progress,
    /// Whether it was full before: then nothing is known of the pages that the links of the results lead to.
    is_full: bool,
    /// Those of the keys of the results that the run knows, besides those that it is certain to know.
    known: HashSet<Vec<u8>>,
    /// Pages that it knows from now on.
    rows: Vec<PageRow>,
    now: Timestamp,
}

/// A page that became a document.
type Kept<'a> = (&'a str, &'a PageResult, &'a Packed);

impl Record<'_> {
    async fn write(&mut self, conn: &mut Conn, results: &[(&str, &PageResult)]) -> Result<(), StoreError> {
        let (mut ended, mut kept, mut links) = (Vec::new(), Vec::new(), Links::default());
        let (mut credits, mut surcharges) = (0, Vec::new());
        for (id, result) in results {
            self.progress.pending -= 1;
            links.take(&result.links);
            let page = self.settle(id, result);
            if page.state != PageState::Alias {
                credits += result.credits;
                surcharges.extend(&result.surcharge);
                if let Outcome::Document(packed) = &result.outcome {
                    kept.push((*id, *result, packed.as_ref()));
                }
            }
            ended.push(page);
        }
        if let Some(landed) = results.iter().rev().find_map(|(_, result)| result.landed.as_deref()) {
            runs::set_landed(conn, &self.context.id, landed).await?;
        }
        if let Some(status) = results.iter().find_map(|(_, result)| result.start_status) {
            runs::warn(conn, &self.context.id, &format!("the start page answered {status}")).await?;
        }
        self.charge(conn, results.first().map_or("", |(id, _)| *id), credits, &surcharges).await?;
        let documents = self.keep(conn, &kept).await?;
        runs::end_pages(conn, &ended, documents, self.now).await?;
        self.tell(conn, &kept, &ended).await?;
        self.follow(conn, links).await?;
        end::save(self.app, conn, self.context.kind, &mut self.progress).await
    }

    /// Decides what a page counts as: an alias, when the run has it under another address.
    fn settle<'r>(&mut self, id: &'r str, result: &'r PageResult) -> EndedPage<'r> {
        let (state, reason) = match &result.outcome {
            Outcome::Document(_) => match &result.alias {
                Some(alias) if self.knows(&alias.key) => (PageState::Alias, None),
                alias => {
                    let row = |page: &NewPage| PageRow::new(&self.context.id, page.clone(), PageState::Alias);
                    self.known.extend(alias.as_ref().map(|page| page.key.clone()));
                    self.rows.extend(alias.as_ref().map(row));
                    (PageState::Done, None)
                }
            },
            Outcome::Failed { code, error } => (PageState::Failed, Some((code.as_str(), error.as_str()))),
            Outcome::Blocked => (PageState::Blocked, Some(("ROBOTS_BLOCKED", "robots.txt forbids the page"))),
            Outcome::LeftScope(reason) => (PageState::External, Some((reason.code(), reason.message()))),
        };
        match state {
            PageState::Done => self.progress.done += 1,
            PageState::Failed => self.progress.failed += 1,
            _ => {}
        }
        EndedPage { id, state, reason }
    }

    /// Charges what the run has set aside for its pages, and what single pages have set aside for themselves.
    async fn charge(
        &mut self,
        conn: &mut Conn,
        first: &str,
        credits: i64,
        surcharges: &[&Surcharge],
    ) -> Result<(), StoreError> {
        if credits == 0 {
            return Ok(());
        }
        for surcharge in surcharges {
            surcharge.settle(conn, self.now).await?;
        }
        let of_run = credits - surcharges.iter().map(|surcharge| surcharge.amount).sum::<i64>();
        // A page is recorded once only, so its id makes the key unique.
        let key = format!("pages:{first}");
        let (team, api_key) = (self.context.caller.team.id.as_str(), self.context.caller.key.as_deref());
        let booking = Booking { key: &key, team, api_key, at: self.now };
        match &self.progress.reservation {
            Some(reservation) => ledger::post(conn, &booking, reservation, of_run).await?,
            None => ledger::charge(conn, &booking, of_run).await?,
        };
        self.progress.credits += credits;
        metrics::charged(credits);
        Ok(())
    }

    /// The rows of the documents, which get the numbers behind those that are there.
    async fn keep(&self, conn: &mut Conn, kept: &[Kept<'_>]) -> Result<Vec<NewDocument>, StoreError> {
        let likenesses: Vec<(u64, u64)> = kept.iter().filter_map(|(_, result, _)| result.likeness).collect();
        runs::enter_templates(conn, &self.context.id, &likenesses, links::longer).await?;
        let before = self.progress.done - i64::try_from(kept.len()).unwrap_or(0);
        let rows = (before + 1..).zip(kept).map(|(seq, (id, _, packed))| {
            packed.deposit.iter().for_each(Deposit::keep);
            let site = packed.site().filter(|_| !self.context.is_private());
            packed.row((&self.context.id, seq), id, &self.context.caller.team.id, site)
        });
        Ok(rows.collect())
    }

    /// Tells the receiver of each document, and of each page that failed.
    async fn tell(&self, conn: &mut Conn, kept: &[Kept<'_>], ended: &[EndedPage<'_>]) -> Result<(), StoreError> {
        let Some(hook) = &self.context.hook else { return Ok(()) };
        let page = self.context.kind.events.event(WebhookEvent::Page);
        let mut events: Vec<Event<'_>> = kept.iter().map(|(.., packed)| Event::new(page).with(&packed.json)).collect();
        let failed: Vec<&EndedPage<'_>> = ended.iter().filter(|page| page.state == PageState::Failed).collect();
        if !failed.is_empty() {
            let ids: Vec<&str> = failed.iter().map(|page| page.id).collect();
            let urls: BTreeMap<String, String> = runs::urls_of(conn, &ids).await?.into_iter().collect();
            for EndedPage { id, reason, .. } in failed {
                let url = urls.get(*id).map(|url| wire::without_userinfo(url)).unwrap_or_default();
                let error = reason.map_or("", |(_, error)| error);
                events.extend(Event::failed_page(page, &url, error));
            }
        }
        let source = Source { team: &self.context.caller.team.id, job: &self.context.id };
        emit_all(conn, hook, source, &events, self.now).await
    }

    /// Queues the pages that links lead to, unless they are traps, and notes those that are left alone.
    async fn follow(&mut self, conn: &mut Conn, links: Links) -> Result<(), StoreError> {
        let Links { mut found, external, blocked } = links;
        if self.is_full {
            found.clear();
        }
        let found = self.unknown(found, |found| &found.page.key);
        let pages = links::without_traps(conn, &self.context.id, found).await?;
        let (mut fresh, spare) = runs::take_on(&mut self.progress, pages);
        self.add(fresh.iter().cloned(), PageState::Queued);
        self.add(spare.into_iter(), PageState::Spare);
        for (state, reason, pages) in
            [(PageState::External, links::EXTERNAL, external), (PageState::Blocked, links::BLOCKED, blocked)]
        {
            let mut pages = self.unknown(pages, |page| &page.key);
            if pages.is_empty() {
                continue;
            }
            pages.truncate(runs::list_room(conn, &self.context.id, state).await?);
            self.known.extend(pages.iter().map(|page| page.key.clone()));
            let reason = (reason.0, reason.1.message());
            let row = |page| PageRow::listed(&self.context.id, page, state, reason, self.now);
            self.rows.extend(pages.into_iter().map(row));
        }
        runs::insert_pages(conn, std::mem::take(&mut self.rows)).await?;
        fresh.extend(runs::promote_spare(conn, &mut self.progress).await?);
        if fresh.is_empty() {
            return Ok(());
        }
        let lane = self.context.lanes.pages(&self.context.id, &self.context.caller.team.id);
        jobs::enqueue(conn, &lane, &jobs_of(&self.context.id, &fresh, self.now)?, self.now).await?;
        Ok(())
    }

    /// Those that the run does not know, each once, in their order.
    fn unknown<T>(&self, found: Vec<T>, key: impl Fn(&T) -> &[u8]) -> Vec<T> {
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        let mut is_new = |key: &[u8]| !self.knows(key) && seen.insert(key.to_vec());
        found.into_iter().filter(|found| is_new(key(found))).collect()
    }

    fn knows(&self, key: &[u8]) -> bool {
        self.known.contains(key) || self.context.known.contains(key)
    }

    fn add(&mut self, pages: impl Iterator<Item = NewPage>, state: PageState) {
        for page in pages {
            self.known.insert(page.key.clone());
            self.rows.push(PageRow::new(&self.context.id, page, state));
        }
    }
}

//! Recording of page results: documents, credits, links, counters and events are written in the transaction that
//! removes the page jobs, so that each page counts exactly once even after a crash.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base::Timestamp;
use cache::write_copies;
use queue::Finished;
use store::ledger::{self, Booking};
use store::runs::{self, EndedPage, NewDocument, NewPage, PageState, Progress, Run, Standing, Waiting, Way};
use store::{Conn, StoreError, jobs};
use webhooks::Event;
use wire::WebhookEvent;

use super::context::Context;
use super::copies::{self, Copies, Judgement, Reason};
use super::deposit::Deposit;
use super::document::{Packed, Place};
use super::end;
use super::handle::Runs;
use super::links::{self, Found, Links};
use super::page::{Outcome, Page, PagePayload, PageResult};
use super::walk::Walk;
use crate::scrape::Surcharge;
use crate::webhooks::{Source, emit_all};
use crate::{crawl, metrics};

type Done = Finished<PagePayload, Option<PageResult>>;

/// Records results of pages of several runs. Their jobs are already removed, and the teams' rows are locked.
pub(super) async fn commit(runs: &Runs, conn: &mut Conn, done: &[&Done]) -> Result<(), StoreError> {
    spoil(done)?;
    // Ordered by team, as jobs lock them, and by run id, so that two workers cannot deadlock.
    let mut by_run: BTreeMap<(&str, &str), Vec<Page<'_>>> = BTreeMap::new();
    for Finished { job, done } in done {
        if let Some(result) = done {
            by_run.entry((&job.team_id, &job.payload.crawl)).or_default().push(Page { id: &job.id, result });
        }
    }
    let copies = by_run.values().flatten().filter_map(|page| page.result.copy.as_deref()).collect();
    for pages in by_run.into_values() {
        record(runs, conn, &pages).await?;
    }
    write_copies(conn, copies).await
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
pub(super) async fn record(runs: &Runs, conn: &mut Conn, pages: &[Page<'_>]) -> Result<(), StoreError> {
    pages.iter().filter_map(|page| deposit(page.result)).for_each(Deposit::look);
    let Some(Page { result: first, .. }) = pages.first() else { return Ok(()) };
    let Some(mut progress) = runs::lock(conn, &first.context.id).await? else { return Ok(()) };
    if let Some(run) = first.context.crawl() {
        run.known.set_full(progress.is_full());
    }
    let keys = pages.iter().flat_map(|page| page.result.keys(!progress.is_full()));
    let keys: Vec<Vec<u8>> = keys.map(<[u8]>::to_vec).collect();
    let keys = keys.iter().map(Vec::as_slice);
    let mut walk = Walk::begin(conn, &first.context, &progress, keys, runs.app().now()).await?;
    let depths = depths(conn, &first.context, pages).await?;
    // Some canonical pages are known only through the links of their copies, which wait for them.
    walk.take_on_first(conn, &mut progress, canonical(pages, &depths)).await?;
    let copies = Copies::of(conn, &first.context.id, pages).await?;
    let mut record = Record { runs, context: &first.context, walk, progress, copies, now: runs.app().now() };
    record.write(conn, pages, &depths).await?;
    if record.progress.is_open {
        first.learnt.set(record.walk.into_known());
    } else {
        first.context.crawl().into_iter().for_each(|run| run.known.clear());
        runs.forget(&first.context.id);
    }
    Ok(())
}

/// Releases the pages of a run that wait for these ended pages, given by their ids. The team's row is locked.
pub(super) async fn release(runs: &Runs, conn: &mut Conn, row: &Run, ended: Vec<String>) -> Result<(), StoreError> {
    let Some(progress) = runs::lock(conn, &row.id).await? else { return Ok(()) };
    let context = runs.context_of(conn, row).await?;
    let walk = Walk::begin(conn, &context, &progress, std::iter::empty(), runs.app().now()).await?;
    let copies = Copies::of(conn, &row.id, &[]).await?;
    let mut record = Record { runs, context: &context, walk, progress, copies, now: runs.app().now() };
    record.release(conn, ended).await?;
    record.walk.bring_near(conn, &mut record.progress, HashMap::new()).await?;
    end::save(runs, conn, context.kind, &mut record.progress).await?;
    if !record.progress.is_open {
        context.crawl().into_iter().for_each(|run| run.known.clear());
        runs.forget(&context.id);
    }
    Ok(())
}

/// Returns the pages that these name as canonical and also link to.
fn canonical(pages: &[Page<'_>], depths: &HashMap<String, i32>) -> Vec<Found> {
    let named = pages.iter().filter_map(|Page { id, result }| {
        let canonical = result.canonical.as_deref()?;
        result.links.find(canonical, depths.get(*id).copied())
    });
    named.collect()
}

/// Returns the current depths of these pages; empty where the crawl has no depth limit.
async fn depths(conn: &mut Conn, context: &Context, pages: &[Page<'_>]) -> Result<HashMap<String, i32>, StoreError> {
    match context.has_max_depth() {
        true => runs::depths(conn, &pages.iter().map(|page| page.id).collect::<Vec<_>>()).await,
        false => Ok(HashMap::new()),
    }
}

/// Pages of one run that are recorded in one transaction.
struct Record<'a> {
    runs: &'a Runs,
    context: &'a Context,
    walk: Walk<'a>,
    /// Locked progress of the run.
    progress: Progress,
    copies: Copies,
    now: Timestamp,
}

/// Page that became a document.
struct KeptPage<'a> {
    page: Page<'a>,
    packed: &'a Packed,
}

impl Record<'_> {
    async fn write(
        &mut self,
        conn: &mut Conn,
        pages: &[Page<'_>],
        depths: &HashMap<String, i32>,
    ) -> Result<(), StoreError> {
        let (mut ended, mut kept, mut links) = (Vec::new(), Vec::new(), Links::default());
        let (mut credits, mut surcharges) = (0, Vec::new());
        for page in copies::last(pages) {
            let result = page.result;
            links.take(&result.links, depths.get(page.id).copied());
            let Some(settled) = self.settle(conn, page).await? else { continue };
            self.progress.pending -= 1;
            if settled.state == PageState::Done || !matches!(result.outcome, Outcome::Document(_)) {
                credits += result.credits;
                surcharges.extend(&result.surcharge);
                if let Outcome::Document(packed) = &result.outcome {
                    kept.push(KeptPage { page, packed });
                }
            }
            ended.push(settled);
        }
        self.see_start(conn, pages).await?;
        self.charge(conn, ended.first().map_or("", |page| page.id), credits, &surcharges).await?;
        let documents = self.keep(conn, &kept).await?;
        runs::end_pages(conn, &ended, documents, self.now).await?;
        self.tell(conn, &kept, &ended).await?;
        for Page { id, result } in pages {
            if let Some(way_on) = &result.way_on {
                runs::keep_links(conn, &self.context.id, id, way_on).await?;
            }
        }
        if self.context.frontier().is_some() {
            self.release(conn, ended.iter().map(|page| page.id.to_owned()).collect()).await?;
        }
        self.walk.follow(conn, &mut self.progress, links).await?;
        self.bring_near(conn, pages).await?;
        end::save(self.runs, conn, self.context.kind, &mut self.progress).await
    }

    /// Records where the start was redirected to and what it answered, if it is among the pages.
    async fn see_start(&mut self, conn: &mut Conn, pages: &[Page<'_>]) -> Result<(), StoreError> {
        if let Some(landed) = pages.iter().rev().find_map(|page| page.result.landed.as_deref())
            // A start that waited for another page is recorded twice.
            && runs::landed(conn, &self.context.id).await?.as_deref() != Some(landed)
        {
            runs::set_landed(conn, &self.context.id, landed).await?;
            crawl::look_where_it_led(conn, &mut self.progress, &self.context.lanes, self.now).await?;
        }
        if let Some(status) = pages.iter().find_map(|page| page.result.start_status) {
            runs::warn(conn, &self.context.id, &format!("the start page answered {status}")).await?;
        }
        Ok(())
    }

    /// Releases the pages that wait for these ended pages: those that are duplicates now are left out, the others are
    /// fetched again.
    async fn release(&mut self, conn: &mut Conn, mut ended: Vec<String>) -> Result<(), StoreError> {
        // A page that is left out may be awaited by further pages, hence the loop.
        while !ended.is_empty() {
            let ids: Vec<&str> = ended.iter().map(String::as_str).collect();
            let (mut copies, mut again) = (Vec::new(), Vec::new());
            for waiting in runs::waiting_for(conn, &ids).await? {
                match copies::reason_of(&waiting) {
                    Some(reason) => copies.push((waiting, reason)),
                    None => again.push(waiting.page),
                }
            }
            self.read_again(conn, again).await?;
            self.leave_out(conn, &copies).await?;
            ended = copies.into_iter().map(|(waiting, _)| waiting.page.id).collect();
        }
        Ok(())
    }

    async fn read_again(&mut self, conn: &mut Conn, pages: Vec<NewPage>) -> Result<(), StoreError> {
        let ids: Vec<&str> = pages.iter().map(|page| page.id.as_str()).collect();
        runs::read_again(conn, &ids).await?;
        pages.into_iter().for_each(|page| self.walk.read_again(page));
        Ok(())
    }

    async fn leave_out(&mut self, conn: &mut Conn, copies: &[(Waiting, Reason)]) -> Result<(), StoreError> {
        if copies.is_empty() {
            return Ok(());
        }
        let ended = copies.iter().map(|(waiting, reason)| EndedPage {
            id: &waiting.page.id,
            state: PageState::External,
            reason: Some(*reason),
            content: Some(waiting.other.content.unwrap_or_default()),
        });
        let ended: Vec<EndedPage<'_>> = ended.collect();
        self.progress.pending -= i64::try_from(ended.len()).unwrap_or(0);
        runs::end_pages(conn, &ended, Vec::new(), self.now).await
    }

    /// With a depth limit, the target of a redirect is at most as deep as the page that redirects to it.
    async fn bring_near(&mut self, conn: &mut Conn, pages: &[Page<'_>]) -> Result<(), StoreError> {
        let mut nearer: HashMap<Vec<u8>, Way> = HashMap::new();
        for Page { result, .. } in pages.iter().filter(|_| self.context.has_max_depth()) {
            let (Some(alias), Some(way)) = (&result.alias, &result.way) else { continue };
            let is_nearest = nearer.get(&alias.key).is_none_or(|other| way.depth < other.depth);
            if is_nearest && self.walk.is_further(&alias.key, way.depth) {
                nearer.insert(alias.key.clone(), way.clone());
            }
        }
        match nearer.is_empty() {
            true => Ok(()),
            false => self.walk.bring_near(conn, &mut self.progress, nearer).await,
        }
    }

    /// Decides the final state of a page: left out when the run has it under another address, `None` when it waits.
    async fn settle<'r>(&mut self, conn: &mut Conn, page: Page<'r>) -> Result<Option<EndedPage<'r>>, StoreError> {
        let Page { id, result } = page;
        let (state, reason) = match &result.outcome {
            Outcome::Document(_) => match self.copies.judge(conn, page).await? {
                Judgement::Waits => return Ok(None),
                Judgement::Copy(reason) => (PageState::External, Some(reason)),
                Judgement::Own(led_to) => {
                    self.adopt(conn, page, led_to).await?;
                    (PageState::Done, None)
                }
            },
            Outcome::Failed { code, error } => (PageState::Failed, Some((code.as_str(), error.as_str()))),
            Outcome::Left { state, code, message } => (*state, Some((*code, *message))),
        };
        match state {
            PageState::Done => self.progress.done += 1,
            PageState::Failed => self.progress.failed += 1,
            _ => {}
        }
        let content = match (&result.outcome, state) {
            // A page without text has been read as well.
            (Outcome::Document(_), PageState::External) => Some(result.content.unwrap_or_default()),
            _ => result.content,
        };
        Ok(Some(EndedPage { id, state, reason, content }))
    }

    /// Marks the address that a document was redirected to as read, so that no other page yields the same text.
    async fn adopt(
        &mut self,
        conn: &mut Conn,
        Page { id, result }: Page<'_>,
        led_to: Option<Standing>,
    ) -> Result<(), StoreError> {
        if let Some(alias) = result.alias.as_ref().filter(|alias| !self.walk.knows(&alias.key)) {
            self.walk.note_alias(alias.clone(), id, result.content);
        }
        // A page that is still to come has a text of its own.
        let is_over = |page: &Standing| !matches!(page.state, PageState::Queued | PageState::Waiting);
        let Some(page) = led_to.filter(is_over) else { return Ok(()) };
        if page.state == PageState::Spare {
            self.progress.spare -= 1;
        }
        runs::set_read(conn, &page, id, result.content.unwrap_or_default()).await
    }

    /// Charges the run's reservation, and the surcharges that single pages have reserved.
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
        // Each page is recorded once, so its id makes the key unique.
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

    /// Builds the rows of the documents, numbered after the existing ones.
    async fn keep(&self, conn: &mut Conn, kept: &[KeptPage<'_>]) -> Result<Vec<NewDocument>, StoreError> {
        let likenesses: Vec<(u64, u64)> = kept.iter().filter_map(|kept| kept.page.result.likeness).collect();
        runs::enter_templates(conn, &self.context.id, &likenesses, links::longer).await?;
        let before = self.progress.done - i64::try_from(kept.len()).unwrap_or(0);
        let rows = (before + 1..).zip(kept).map(|(seq, KeptPage { page, packed })| {
            packed.deposit.iter().for_each(Deposit::keep);
            let site = packed.site().filter(|_| !self.context.is_private());
            packed.row(Place { team: &self.context.caller.team.id, run: &self.context.id, seq, page: page.id }, site)
        });
        Ok(rows.collect())
    }

    /// Emits a webhook event for each document and each failed page.
    async fn tell(&self, conn: &mut Conn, kept: &[KeptPage<'_>], ended: &[EndedPage<'_>]) -> Result<(), StoreError> {
        let Some(hook) = &self.context.hook else { return Ok(()) };
        let page = self.context.kind.events.event(WebhookEvent::Page);
        let mut events: Vec<Event<'_>> = kept.iter().map(|kept| Event::new(page).with(&kept.packed.json)).collect();
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
}

//! Recording of the pages of a crawl: which of them are documents and which are copies, what their links add, and where
//! the start has led. Runs inside the transaction that records the pages.

#[cfg(test)]
pub(super) mod tests;

use std::collections::HashMap;

use ::runs::{KeptPage, Left, Outcome, Page, PageRecord, PageResult, Recording};
use async_trait::async_trait;
use crawl_frontier::Run as Streak;
use store::runs::{self as rows, EndedPage, NewPage, PageState, Progress, Standing, Waiting, Way};
use store::{Conn, StoreError};

use super::copies::{self, Copies, Judgement, Reason};
use super::frontier::CrawlRun;
use super::links::{self, Found, Links};
use super::look::{CrawlPage, found};
use super::start::look_where_it_led;
use super::walk::Walk;

/// Pages of a crawl that are recorded in one transaction.
pub(super) struct CrawlRecord<'a> {
    run: &'a CrawlRun,
    recording: Recording<'a>,
    walk: Walk<'a>,
    copies: Copies,
    /// Links of the pages that have been settled.
    links: Links,
    /// Current depths of the pages; empty without a depth limit.
    depths: HashMap<String, i32>,
}

/// Data of a transaction for the work after its commit.
pub(super) struct CrawlLeft {
    /// Keys that the crawl knows from then on, with their depths.
    pub(super) keys: Vec<(Vec<u8>, i32)>,
    /// Whether the start was among the pages and has been redirected.
    pub(super) has_landed: bool,
}

impl<'a> CrawlRecord<'a> {
    /// Begins with the state of all pages that these refer to. The caller holds the lock on the run's progress.
    pub(super) async fn begin(
        conn: &mut Conn,
        run: &'a CrawlRun,
        progress: &mut Progress,
        recording: Recording<'a>,
    ) -> Result<Self, StoreError> {
        let Recording { context, pages, now } = recording;
        run.known.set_full(progress.is_full());
        let named = pages.iter().filter_map(found).flat_map(|page| page.keys(!progress.is_full()));
        let keys: Vec<&[u8]> = named.collect();
        let mut walk = Walk::begin(conn, context, progress, keys, now).await?;
        let depths = depths(conn, run, pages).await?;
        // Some canonical pages are known only through the links of their copies, which wait for them.
        walk.take_on_first(conn, progress, canonical(pages, &depths)).await?;
        let copies = Copies::of(conn, &context.id, pages).await?;
        Ok(Self { run, recording, walk, copies, links: Links::default(), depths })
    }

    /// Releases the pages that wait for these ended pages, given by their ids: those that are duplicates now are left
    /// out, the others are fetched again.
    pub(super) async fn release(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        mut ended: Vec<String>,
    ) -> Result<(), StoreError> {
        // A page that is left out may be awaited by further pages, hence the loop.
        while !ended.is_empty() {
            let ids: Vec<&str> = ended.iter().map(String::as_str).collect();
            let (mut copies, mut again) = (Vec::new(), Vec::new());
            for waiting in rows::waiting_for(conn, &ids).await? {
                match copies::reason_of(&waiting) {
                    Some(reason) => copies.push((waiting, reason)),
                    None => again.push(waiting.page),
                }
            }
            self.read_again(conn, again).await?;
            self.leave_out(conn, progress, &copies).await?;
            ended = copies.into_iter().map(|(waiting, _)| waiting.page.id).collect();
        }
        Ok(())
    }

    /// Queues what has been released.
    pub(super) async fn enqueue(&mut self, conn: &mut Conn, progress: &mut Progress) -> Result<(), StoreError> {
        self.walk.bring_near(conn, progress, HashMap::new()).await
    }

    async fn read_again(&mut self, conn: &mut Conn, pages: Vec<NewPage>) -> Result<(), StoreError> {
        let ids: Vec<&str> = pages.iter().map(|page| page.id.as_str()).collect();
        rows::read_again(conn, &ids).await?;
        pages.into_iter().for_each(|page| self.walk.read_again(page));
        Ok(())
    }

    async fn leave_out(
        &self,
        conn: &mut Conn,
        progress: &mut Progress,
        copies: &[(Waiting, Reason)],
    ) -> Result<(), StoreError> {
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
        progress.pending -= i64::try_from(ended.len()).unwrap_or(0);
        rows::end_pages(conn, &ended, Vec::new(), self.recording.now).await
    }

    /// Decides whether a document counts; `None` while it waits.
    async fn judge(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        id: &str,
        page: &CrawlPage,
    ) -> Result<Option<Verdict>, StoreError> {
        match self.copies.judge(conn, id, page).await? {
            Judgement::Waits => Ok(None),
            Judgement::Copy(reason) => Ok(Some(Verdict::Copy(reason))),
            Judgement::Own(led_to) => {
                if let Some(alias) = page.alias.as_ref().filter(|alias| !self.walk.knows(&alias.key)) {
                    self.walk.note_alias(alias.clone(), id, page.content);
                }
                adopt(conn, progress, Adopted { id, content: page.content }, led_to).await?;
                Ok(Some(Verdict::Document))
            }
        }
    }

    /// Records where the start was redirected to and what it answered, if it is among the pages.
    async fn see_start(&self, conn: &mut Conn, progress: &mut Progress) -> Result<(), StoreError> {
        let Recording { context, pages, now } = self.recording;
        if let Some(landed) = pages.iter().rev().filter_map(found).find_map(|page| page.landed.as_deref())
            // A start that waited for another page is recorded twice.
            && rows::landed(conn, &context.id).await?.as_deref() != Some(landed)
        {
            rows::set_landed(conn, &context.id, landed).await?;
            look_where_it_led(conn, progress, &context.lanes, now).await?;
        }
        if let Some(status) = pages.iter().filter_map(found).find_map(|page| page.start_status) {
            rows::warn(conn, &context.id, &format!("the start page answered {status}")).await?;
        }
        Ok(())
    }

    /// With a depth limit, the target of a redirect is at most as deep as the page that redirects to it.
    async fn bring_near(&mut self, conn: &mut Conn, progress: &mut Progress) -> Result<(), StoreError> {
        if !self.run.has_max_depth() {
            return Ok(());
        }
        let mut nearer: HashMap<Vec<u8>, Way> = HashMap::new();
        for CrawlPage { alias, way, .. } in self.recording.pages.iter().filter_map(found) {
            let Some(alias) = alias else { continue };
            let is_nearest = nearer.get(&alias.key).is_none_or(|other| way.depth < other.depth);
            if is_nearest && self.walk.is_further(&alias.key, way.depth) {
                nearer.insert(alias.key.clone(), way.clone());
            }
        }
        match nearer.is_empty() {
            true => Ok(()),
            false => self.walk.bring_near(conn, progress, nearer).await,
        }
    }
}

/// Outcome of a document that does not wait.
enum Verdict {
    Document,
    Copy(Reason),
}

/// Document whose text is that of a redirect target.
struct Adopted<'a> {
    id: &'a str,
    content: Option<u64>,
}

/// Marks the address that a document was redirected to as read, so that no other page yields the same text.
async fn adopt(
    conn: &mut Conn,
    progress: &mut Progress,
    document: Adopted<'_>,
    led_to: Option<Standing>,
) -> Result<(), StoreError> {
    // A page that is still to come has a text of its own.
    let is_over = |page: &Standing| !matches!(page.state, PageState::Queued | PageState::Waiting);
    let Some(page) = led_to.filter(is_over) else { return Ok(()) };
    if page.state == PageState::Spare {
        progress.spare -= 1;
    }
    rows::set_read(conn, &page, document.id, document.content.unwrap_or_default()).await
}

#[async_trait]
impl PageRecord for CrawlRecord<'_> {
    /// Pages that name a canonical page come last: that page may be among the others.
    fn is_last(&self, page: &PageResult) -> bool {
        page.found::<CrawlPage>().is_some_and(|page| page.canonical.is_some())
    }

    async fn settle<'r>(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        page: Page<'r>,
    ) -> Result<Option<EndedPage<'r>>, StoreError> {
        let ended = page.ended();
        let Some(read) = found(&page) else { return Ok(Some(ended)) };
        self.links.take(&read.links, self.depths.get(page.id).copied());
        let Outcome::Document(_) = &page.result.outcome else { return Ok(Some(ended)) };
        Ok(self.judge(conn, progress, page.id, read).await?.map(|verdict| match verdict {
            Verdict::Document => EndedPage { content: read.content, ..ended },
            // A page without text has been read as well.
            Verdict::Copy(reason) => EndedPage {
                state: PageState::External,
                reason: Some(reason),
                content: Some(read.content.unwrap_or_default()),
                ..ended
            },
        }))
    }

    async fn record(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        kept: &[KeptPage<'_>],
    ) -> Result<(), StoreError> {
        self.see_start(conn, progress).await?;
        let likenesses = kept.iter().filter_map(|kept| found(&kept.page)?.likeness);
        let likenesses: Vec<(u64, u64)> = likenesses.collect();
        let longer = |(hash, length), content| {
            let streak = links::longer(Streak { hash, length }, content);
            (streak.hash, streak.length)
        };
        rows::enter_templates(conn, &self.recording.context.id, &likenesses, longer).await
    }

    async fn follow(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        ended: &[EndedPage<'_>],
    ) -> Result<(), StoreError> {
        let Recording { context, pages, .. } = self.recording;
        for page in pages {
            if let Some(way_on) = found(page).and_then(|read| read.way_on.as_deref()) {
                rows::keep_links(conn, &context.id, page.id, way_on).await?;
            }
        }
        // Without its scope, the crawl was read in a transaction that gives a page up: upkeep releases what waits for it.
        if self.run.frontier.is_some() {
            self.release(conn, progress, ended.iter().map(|page| page.id.to_owned()).collect()).await?;
        }
        let links = std::mem::take(&mut self.links);
        self.walk.follow(conn, progress, links).await?;
        self.bring_near(conn, progress).await
    }

    fn finish(self: Box<Self>, is_open: bool) -> Option<Left> {
        let Self { run, recording, walk, .. } = *self;
        if !is_open {
            run.known.clear();
            return None;
        }
        let has_landed = recording.pages.iter().filter_map(found).any(|page| page.landed.is_some());
        Some(Box::new(CrawlLeft { keys: walk.into_known(), has_landed }))
    }
}

/// Returns the pages that these name as canonical and also link to.
fn canonical(pages: &[Page<'_>], depths: &HashMap<String, i32>) -> Vec<Found> {
    let named = pages.iter().filter_map(|page| {
        let read = found(page)?;
        read.links.find(read.canonical.as_deref()?, depths.get(page.id).copied())
    });
    named.collect()
}

/// Returns the current depths of these pages; empty where the crawl has no depth limit.
async fn depths(conn: &mut Conn, run: &CrawlRun, pages: &[Page<'_>]) -> Result<HashMap<String, i32>, StoreError> {
    match run.has_max_depth() {
        true => rows::depths(conn, &pages.iter().map(|page| page.id).collect::<Vec<_>>()).await,
        false => Ok(HashMap::new()),
    }
}

//! Recording of the pages of a check, in the transaction that records them as pages of a run: their results, what the
//! target knows of them from then on, and their events.

use std::collections::HashMap;

use ::runs::webhooks::{Source, emit_all};
use ::runs::{Context, KeptPage, Left, Outcome, Page as RunPage, PageRecord, PageResult, Recording};
use async_trait::async_trait;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use store::monitors::{self as rows, Check, Known, NewPage, Page};
use store::runs::{self, EndedPage, PageState, Progress};
use store::{Conn, StoreError, jobs};
use url::Url;
use webhooks::Event;
use wire::{CheckPageStatus, EventType};

use crate::events;
use crate::link::About;
use crate::look::{Compared, Content, Seen};
use crate::payload::{JUDGE, JudgePayload};
use crate::progress::{count, progressed};
use crate::quiet::Memory;

/// Number of pages of a target; the places of the next target follow.
pub(crate) const PLACES: i64 = 1_000_000;
/// States of an address that a target knows.
pub(crate) const PRESENT: &str = "present";
const HIDDEN: &str = "hidden";
const REMOVED: &str = "removed";

/// Pages of a check that are recorded in one transaction.
pub(crate) struct CheckRecord<'a> {
    /// Record of the kind that the run stands on.
    lower: Box<dyn PageRecord + 'a>,
    recording: Recording<'a>,
    about: &'a About,
    judges: bool,
    /// Credits of the run before.
    credits: i64,
}

/// Result of a page, before it is a row.
struct Recorded<'a> {
    id: &'a str,
    url: String,
    key: String,
    status_code: Option<i32>,
    compared: Compared,
    is_hidden: bool,
    metadata: Map<String, Value>,
    content: Option<&'a Content>,
    /// Memory of the page from now on, if it changes.
    memory: Option<&'a Memory>,
    /// Whether the page has answered.
    has_answer: bool,
}

/// Row of a page with its diff.
struct Row<'a> {
    page: Page,
    content: Option<&'a Content>,
    is_judged: bool,
}

impl<'a> CheckRecord<'a> {
    /// Locks the rows that come first in the order of locks.
    pub(crate) async fn lock(conn: &mut Conn, recording: Recording<'_>, judges: bool) -> Result<(), StoreError> {
        if judges {
            jobs::lock_team(conn, JUDGE.name, &recording.context.caller.team.id).await?;
        }
        Ok(())
    }

    pub(crate) fn new(
        lower: Box<dyn PageRecord + 'a>,
        recording: Recording<'a>,
        about: &'a About,
        judges: bool,
        credits: i64,
    ) -> Self {
        Self { lower, recording, about, judges, credits }
    }

    /// Writes the pages that have ended to the check.
    async fn write(&self, conn: &mut Conn, progress: &Progress, ended: &[EndedPage<'_>]) -> Result<(), StoreError> {
        let link = &self.about.link;
        let Some(mut check) = rows::lock_check(conn, &link.check).await? else { return Ok(()) };
        let results = self.results(conn, ended).await?;
        let keys: Vec<&str> = results.iter().map(|result| result.key.as_str()).collect();
        let known = rows::known(conn, &link.target, &keys).await?;
        let known: HashMap<&str, &Known> = known.iter().map(|known| (known.key.as_str(), known)).collect();
        let mut written = Vec::new();
        let is_judged = self.judges && is_paid(&check, self.recording.context);
        for result in &results {
            let before = known.get(result.key.as_str()).copied();
            let status = status_of(&result.compared, before);
            written.push(self.row(result, before, status, is_judged));
            if let Some(now) = self.known(result, before) {
                rows::set_known(conn, &now).await?;
                if let Some(memory) = result.memory {
                    rows::set_memory(conn, &now.target_id, &now.key, memory.stored().as_deref()).await?;
                }
            }
        }
        let new: Vec<NewPage<'_>> = written
            .iter()
            .map(|row| NewPage { row: &row.page, content: row.content.map(|content| content.packed.as_slice()) })
            .collect();
        let added = rows::add_pages(conn, &new).await?;
        written.retain(|row| added.contains(&row.page.id));
        count(&mut check, written.iter().map(|row| row.page.status.as_str()));
        check.open_judgments += i64::try_from(written.iter().filter(|row| row.is_judged).count()).unwrap_or(0);
        check.actual_credits = Some(check.actual_credits.unwrap_or(0) + progress.credits - self.credits);
        self.judge(conn, &written).await?;
        progressed(&mut check, self.recording.now);
        rows::save_check(conn, &check).await?;
        self.tell(conn, &written).await
    }

    /// Returns the results of the pages that have ended as pages of the run, in their order.
    async fn results(&self, conn: &mut Conn, ended: &[EndedPage<'_>]) -> Result<Vec<Recorded<'a>>, StoreError> {
        let pages: HashMap<&str, RunPage<'a>> = self.recording.pages.iter().map(|page| (page.id, *page)).collect();
        let counts = |page: &&EndedPage<'_>| matches!(page.state, PageState::Done | PageState::Failed);
        let ended: Vec<RunPage<'a>> =
            ended.iter().filter(counts).filter_map(|ended| pages.get(ended.id).copied()).collect();
        let unread = ended.iter().filter(|page| page.result.found::<Seen>().is_none()).map(|page| page.id);
        let unread: Vec<&str> = unread.collect();
        let urls: HashMap<String, String> = match unread.is_empty() {
            true => HashMap::new(),
            false => runs::urls_of(conn, &unread).await?.into_iter().collect(),
        };
        Ok(ended.into_iter().map(|page| result_of(page, urls.get(page.id))).collect())
    }

    /// Builds the row of a page.
    fn row(&self, result: &Recorded<'a>, before: Option<&Known>, status: CheckPageStatus, is_judged: bool) -> Row<'a> {
        let link = &self.about.link;
        let error = match (&result.compared, status) {
            (Compared::Unreadable(error), _) => Some(error.clone()),
            (Compared::Gone, CheckPageStatus::Error) => Some("the page does not exist".to_owned()),
            _ => None,
        };
        let is_judged = is_judged && status == CheckPageStatus::Changed;
        let page = Page {
            id: result.id.to_owned(),
            check_id: link.check.clone(),
            target_id: link.target.clone(),
            key: result.key.clone(),
            seq: i64::from(link.position) * PLACES,
            url: result.url.clone(),
            status: status.as_str().to_owned(),
            previous_scrape_id: before.and_then(|before| before.scrape_id.clone()),
            current_scrape_id: result.has_answer.then(|| result.id.to_owned()),
            status_code: result.status_code,
            error,
            metadata: Some(Value::Object(result.metadata.clone()).to_string()),
            judgment: None,
            bytes: result.content.map_or(0, |content| content.bytes),
            created_at: self.recording.now,
        };
        Row { page, content: result.content, is_judged }
    }

    /// Returns what the target knows of the page from now on; `None` if it learnt nothing.
    fn known(&self, result: &Recorded<'_>, before: Option<&Known>) -> Option<Known> {
        let link = &self.about.link;
        let (state, scrape_id) = match &result.compared {
            Compared::Unreadable(_) => return None,
            Compared::Gone => (REMOVED, before?.scrape_id.clone()),
            _ if result.is_hidden => (HIDDEN, Some(result.id.to_owned())),
            _ => (PRESENT, Some(result.id.to_owned())),
        };
        Some(Known {
            target_id: link.target.clone(),
            key: result.key.clone(),
            monitor_id: link.monitor.clone(),
            url: result.url.clone(),
            state: state.to_owned(),
            scrape_id,
            check_id: link.check.clone(),
            seen_at: self.recording.now,
        })
    }

    /// Queues the judgments of changed pages.
    async fn judge(&self, conn: &mut Conn, written: &[Row<'_>]) -> Result<(), StoreError> {
        let link = &self.about.link;
        let pages: Vec<&str> = written.iter().filter(|row| row.is_judged).map(|row| row.page.id.as_str()).collect();
        JudgePayload::enqueue(conn, &self.recording.context.caller.team.id, link, &pages, self.recording.now).await
    }

    /// Emits the events of the pages. Those that are judged tell when they are.
    async fn tell(&self, conn: &mut Conn, written: &[Row<'_>]) -> Result<(), StoreError> {
        let Some(hook) = &self.about.hook else { return Ok(()) };
        let link = &self.about.link;
        let told = written.iter().filter(|row| !row.is_judged);
        let event = |row: &Row<'_>| {
            let diff: Option<&RawValue> = row.content.and_then(|content| content.diff.as_deref());
            events::page(&link.monitor, &row.page, diff)
        };
        let events: Vec<Event<'_>> = told.map(event).collect::<Result<_, _>>()?;
        let source = Source { team: &self.recording.context.caller.team.id, job: &link.check };
        emit_all(conn, hook, source, &events, self.recording.now).await
    }
}

/// Returns the result of a page. `url` is that of a page that could not be read.
fn result_of<'a>(page: RunPage<'a>, url: Option<&String>) -> Recorded<'a> {
    if let Some(seen) = page.result.found::<Seen>() {
        let Seen { url, key, status_code, compared, is_hidden, metadata, content, memory } = seen;
        return Recorded {
            id: page.id,
            url: url.clone(),
            key: key.clone(),
            status_code: Some(i32::from(*status_code)),
            compared: compared.clone(),
            is_hidden: *is_hidden,
            metadata: metadata.clone(),
            content: content.as_deref(),
            memory: memory.as_ref(),
            has_answer: true,
        };
    }
    let url = url.map(|url| wire::without_userinfo(url)).unwrap_or_default();
    let error = match &page.result.outcome {
        Outcome::Failed { error, .. } => error.clone(),
        Outcome::Left { message, .. } => (*message).to_owned(),
        Outcome::Document(_) => "the page was not compared".to_owned(),
    };
    let key = Url::parse(&url).map_or_else(|_| url.clone(), |url| cache::page_key(&url));
    let metadata = Map::from_iter([("creditsUsed".to_owned(), page.result.credits.into())]);
    Recorded {
        id: page.id,
        url,
        key,
        status_code: None,
        compared: Compared::Unreadable(error),
        is_hidden: false,
        metadata,
        content: None,
        memory: None,
        has_answer: false,
    }
}

/// Whether the judgments of a check are covered: a check that began without a model has reserved nothing for them.
fn is_paid(check: &Check, context: &Context) -> bool {
    context.caller.team.unlimited || check.reservation.is_some()
}

/// Decides the status of a page by what its target knew of it. A page that is gone is removed once.
fn status_of(compared: &Compared, before: Option<&Known>) -> CheckPageStatus {
    let was_there = before.is_some_and(|before| before.state != REMOVED);
    match compared {
        Compared::Unreadable(_) => CheckPageStatus::Error,
        Compared::Gone if before.is_none() => CheckPageStatus::Error,
        Compared::Gone if was_there => CheckPageStatus::Removed,
        Compared::Gone => CheckPageStatus::Same,
        Compared::New | Compared::Same | Compared::Changed if !was_there => CheckPageStatus::New,
        // Its version was lost, so it cannot be said to be the same.
        Compared::New | Compared::Changed => CheckPageStatus::Changed,
        Compared::Same => CheckPageStatus::Same,
    }
}

#[async_trait]
impl PageRecord for CheckRecord<'_> {
    fn is_last(&self, page: &PageResult) -> bool {
        self.lower.is_last(page)
    }

    async fn settle<'r>(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        page: RunPage<'r>,
    ) -> Result<Option<EndedPage<'r>>, StoreError> {
        self.lower.settle(conn, progress, page).await
    }

    async fn record(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        kept: &[KeptPage<'_>],
    ) -> Result<(), StoreError> {
        self.lower.record(conn, progress, kept).await
    }

    fn page_event<'e>(&self, event: EventType, page: &KeptPage<'e>) -> Event<'e> {
        self.lower.page_event(event, page)
    }

    async fn follow(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        ended: &[EndedPage<'_>],
    ) -> Result<(), StoreError> {
        self.lower.follow(conn, progress, ended).await?;
        self.write(conn, progress, ended).await
    }

    fn finish(self: Box<Self>, is_open: bool) -> Option<Left> {
        self.lower.finish(is_open)
    }
}

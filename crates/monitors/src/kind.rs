//! Kinds of run that carry out a check: one for the pages of a list, one for those of a crawl. Each page is recorded by the
//! kind that the run stands on, and then by the check.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::runs::{
    Draining, Kind, Left, Opening, PageKind, PagePlan, PageRecord, PageRun, PageSpec, Plain, PlannedPage, Recording,
    RunKind, Runs, Secrets, Terms, Visit, nothing_more, page_lanes,
};
use ::scrape::Reviewer;
use async_trait::async_trait;
use base::Timestamp;
use chrono::TimeDelta;
use crawls::crawl;
use kernel::{AppError, Refused};
use serde_json::Value;
use store::monitors::{self as rows, PagesWanted};
use store::runs::{self, PageState, Progress, Run};
use store::{Conn, StoreError};
use tokio::sync::OnceCell;
use wire::{ChangeTrackingFormat, Format, ScrapeOptions, event};

use crate::end;
use crate::link::{About, Link};
use crate::look::CheckLook;
use crate::quiet::{Memory, Watch};
use crate::record::CheckRecord;

/// Kind of run for the pages of a list.
pub static PAGES: Kind = Kind {
    name: "monitor",
    noun: "check",
    events: &event::MONITOR,
    endpoint: None,
    lanes: page_lanes,
    // A page that cannot be read is part of the result of its check.
    verdict: |_| Ok(()),
    explain: |_| None,
    total,
    drained: nothing_more,
    closed: end::closed,
    // All of it is in the rows of the check.
    retention: TimeDelta::zero(),
    owns_reservation: false,
};

/// Kind of run for the pages of a crawl.
pub static CRAWL: Kind = Kind {
    name: "monitor_crawl",
    noun: "check",
    events: &event::MONITOR,
    endpoint: None,
    lanes: page_lanes,
    verdict: |_| Ok(()),
    explain: |_| None,
    total,
    drained: ask_for_unmet,
    closed: end::closed,
    retention: TimeDelta::zero(),
    owns_reservation: false,
};

/// Maximum number of pages with errors that are looked at to find one of a target.
const MAX_ERRORS: i64 = 10_000;

fn total(progress: &Progress) -> i64 {
    progress.done + progress.pending
}

/// Returns both kinds, for a service whose changes are judged by a model or not.
#[must_use]
pub fn kinds(has_model: bool) -> Vec<RunKind> {
    let crawls = CheckedPages { lower: crawl::Pages::default(), has_model };
    vec![RunKind::of_pages(&PAGES, CheckedPages { lower: Listed, has_model }), RunKind::of_pages(&CRAWL, crawls)]
}

/// Adds the pages that a crawl knows from its checks before and has not met. Only a complete crawl speaks of them: one
/// that a page, robots.txt or its limit has cut short may just have missed the links to them.
fn ask_for_unmet<'a>(conn: &'a mut Conn, progress: &'a mut Progress, now: Timestamp) -> Draining<'a> {
    Box::pin(async move {
        if progress.room() <= 0 || progress.failed > 0 || progress.done == 0 {
            return Ok(());
        }
        if !runs::listed(conn, &progress.run_id, PageState::Blocked, "", 1).await?.is_empty() {
            return Ok(());
        }
        let Some(row) = runs::find(conn, &progress.run_id).await? else { return Ok(()) };
        let link = Link::of(&row)?;
        let errors = PagesWanted { status: Some("error"), skip: 0, limit: MAX_ERRORS };
        if rows::pages(conn, &link.check, &errors).await?.iter().any(|page| page.target_id == link.target) {
            return Ok(());
        }
        crawl::add_hidden_of(conn, progress, now, Some(rows::tag(&link.target))).await
    })
}

/// Pages of a check, which stand on those of another kind.
struct CheckedPages<K> {
    lower: K,
    has_model: bool,
}

/// Pages of a list: the spec has their options.
struct Listed;

impl PageKind for Listed {
    fn read(&self, mut spec: Value, secrets: Secrets) -> Result<(Terms, Box<dyn PageSpec>), AppError> {
        let mut options = wire::decode_options(spec["options"].take()).map_err(AppError::internal)?;
        secrets.put_back(&mut options.headers, None);
        let terms = Terms { options, zero_data_retention: false, max_concurrency: None, delay: None, webhook: None };
        Ok((terms, Box::new(Plain)))
    }
}

impl<K: PageKind> PageKind for CheckedPages<K> {
    fn read(&self, spec: Value, secrets: Secrets) -> Result<(Terms, Box<dyn PageSpec>), AppError> {
        let (mut terms, lower) = self.lower.read(spec, secrets)?;
        mark(&mut terms.options);
        Ok((terms, Box::new(Spec { lower, has_model: self.has_model })))
    }

    fn bare(&self) -> Arc<dyn PageRun> {
        Arc::new(CheckRun::new(self.lower.bare(), None, self.has_model))
    }
}

/// Turns the tag of a spec, the id of a target, into that of its series, which no request can name.
fn mark(options: &mut ScrapeOptions) {
    for format in &mut options.formats {
        if let Format::ChangeTracking(tracking) = format {
            tracking.tag = tracking.tag.as_deref().map(rows::tag);
        }
    }
}

struct Spec {
    lower: Box<dyn PageSpec>,
    has_model: bool,
}

#[async_trait]
impl PageSpec for Spec {
    async fn open(self: Box<Self>, opening: Opening<'_>) -> Result<Arc<dyn PageRun>, AppError> {
        let Self { lower, has_model } = *self;
        let mut conn = opening.runs.app().conn().await?;
        let about: Result<About, StoreError> =
            conn.reads(async |conn: &mut Conn| About::read(conn, opening.row).await).await;
        let about = about?;
        drop(conn);
        Ok(Arc::new(CheckRun::new(lower.open(opening).await?, Some(about), has_model)))
    }

    fn unopened(self: Box<Self>) -> Arc<dyn PageRun> {
        let Self { lower, has_model } = *self;
        Arc::new(CheckRun::new(lower.unopened(), None, has_model))
    }
}

/// Run of a check at work.
pub(crate) struct CheckRun {
    lower: Arc<dyn PageRun>,
    about: OnceCell<About>,
    has_started: AtomicBool,
    /// Whether this service has a model that judges.
    has_model: bool,
}

impl CheckRun {
    fn new(lower: Arc<dyn PageRun>, about: Option<About>, has_model: bool) -> Self {
        Self { lower, about: OnceCell::new_with(about), has_started: AtomicBool::new(false), has_model }
    }

    /// Returns what is known of the monitor; reads it if the run was not opened.
    async fn about(&self, conn: &mut Conn, run: &str) -> Result<&About, StoreError> {
        let read = async {
            let row: Option<Run> = runs::find(conn, run).await?;
            About::read(conn, &row.ok_or_else(|| StoreError::Inconsistent("a page without its run".to_owned()))?).await
        };
        self.about.get_or_try_init(|| read).await
    }

    /// Returns what is known of the monitor, outside of a transaction.
    async fn opened(&self, service: &Runs, run: &str) -> Result<&About, AppError> {
        match self.about.get() {
            Some(about) => Ok(about),
            None => Ok(self.about(&mut service.app().conn().await?, run).await?),
        }
    }

    /// Returns a watch over a page; `None` if its target leaves nothing out and chooses no parts of it.
    async fn watch(&self, service: &Runs, page: &PlannedPage<'_>) -> Result<Option<Arc<Watch>>, AppError> {
        let About { link, quiet, .. } = self.opened(service, &page.context.id).await?;
        let options = &page.context.options;
        let has_selectors = !options.include_tags.is_empty() || !options.exclude_tags.is_empty();
        if !has_selectors && !quiet.leaves_out() {
            return Ok(None);
        }
        let key = cache::page_key(page.url);
        let memory = rows::memory(&mut service.app().conn().await?, &link.target, &key).await?;
        let selectors: BTreeSet<&String> = options.include_tags.iter().chain(&options.exclude_tags).collect();
        let selectors = selectors.into_iter().cloned().collect();
        Ok(Some(Arc::new(Watch::new(Arc::clone(quiet), selectors, Memory::read(memory.as_deref())))))
    }

    /// Notes that the check has started, with its first page.
    async fn start(&self, service: &Runs, run: &str) -> Result<(), AppError> {
        if self.has_started.load(Ordering::Relaxed) {
            return Ok(());
        }
        let check = &self.opened(service, run).await?.link.check;
        let now = service.app().now();
        rows::start_check(&mut service.app().conn().await?, check, now).await?;
        self.has_started.store(true, Ordering::Relaxed);
        Ok(())
    }
}

#[async_trait]
impl PageRun for CheckRun {
    fn bytes(&self) -> usize {
        self.lower.bytes()
    }

    async fn plan(&self, service: &Runs, page: PlannedPage<'_>) -> Result<PagePlan, Refused> {
        self.start(service, &page.context.id).await?;
        let watch = self.watch(service, &page).await?;
        let (url, format) = (page.url.clone(), tracking(&page.context.options));
        Ok(match self.lower.plan(service, page).await? {
            PagePlan::Scrape(visit) => {
                let reviewer = watch.clone().map(|watch| watch as Arc<dyn Reviewer>);
                let visit = *visit;
                let look = CheckLook { lower: visit.look, url, format, watch };
                PagePlan::Scrape(Box::new(Visit { reviewer, look: Box::new(look), ..visit }))
            }
            PagePlan::End(outcome) => PagePlan::End(outcome),
        })
    }

    async fn begin<'a>(
        &'a self,
        conn: &mut Conn,
        progress: &mut Progress,
        recording: Recording<'a>,
    ) -> Result<Box<dyn PageRecord + 'a>, StoreError> {
        let about = self.about(conn, &recording.context.id).await?;
        let judges = self.has_model && about.wants_judge;
        CheckRecord::lock(conn, recording, judges).await?;
        let lower = self.lower.begin(conn, progress, recording).await?;
        Ok(Box::new(CheckRecord::new(lower, recording, about, judges, progress.credits)))
    }

    fn lower(&self) -> Option<&dyn PageRun> {
        Some(&*self.lower)
    }

    fn committed(&self, left: Left) -> bool {
        self.lower.committed(left)
    }
}

/// Returns the format that tracks changes; the runs of a check have it.
fn tracking(options: &ScrapeOptions) -> ChangeTrackingFormat {
    let found = options.formats.iter().find_map(|format| match format {
        Format::ChangeTracking(tracking) => Some(tracking.clone()),
        _ => None,
    });
    found.unwrap_or_else(|| ChangeTrackingFormat { modes: Vec::new(), schema: None, prompt: None, tag: None })
}

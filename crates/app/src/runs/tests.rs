//! Tests of a minimal kind of run, and of the number of statements that recording pages takes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use base::Timestamp;
use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use parking_lot::Mutex;
use queue::{Failure, Finished, Handler, Lane, NewJob, Payload, Queue, Running, Worker};
use serde::{Deserialize, Serialize};
use store::runs::{self, NewPage};
use store::{Conn, StoreError, jobs};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::{EventFamily, JobStatus, ResultsQuery};

use super::links::{Found, Links};
use super::page::{Outcome, Page, PageResult};
use super::*;
use crate::auth::Caller;
use crate::idempotency::fingerprint;
use crate::scraper::tests::scraper_of;
pub(crate) use crate::service::tests::app;
use crate::{App, AppError};

/// Returns the runs of this app.
pub(crate) fn runs(app: &App) -> Runs {
    let kinds = crate::operations::kinds();
    Runs::new(scraper_of(app), kinds.into_iter().chain([RunKind::of_steps(&COUNTING)]).collect())
}

/// Kind of run whose items are steps, one job each.
static COUNTING: Kind = Kind {
    name: "count",
    noun: "count",
    events: EventFamily::Crawl,
    endpoint: None,
    lanes: |run| vec![(STEPS, run.to_owned())],
    verdict: |progress| if progress.failed == 0 { Ok(()) } else { Err("a step has failed") },
    explain: |_| None,
    total: |progress| progress.done + progress.pending,
    drained: nothing_more,
};

const STEPS: Queue = Queue { name: "steps", slots: 4 };

/// Payload of a step.
#[derive(Serialize, Deserialize)]
struct StepPayload {
    run: String,
    fails: bool,
}

impl Payload for StepPayload {
    const KIND: &'static str = "count.step";
    const QUEUE: Queue = STEPS;
}

/// Handler of steps.
struct StepHandler {
    runs: Runs,
}

impl Handler for StepHandler {
    type Payload = StepPayload;
    type Done = ();

    async fn run(&self, job: &Running<StepPayload>) -> Result<(), Failure> {
        if job.payload.fails { Err(Failure::Dead { error: "on purpose".to_owned() }) } else { Ok(()) }
    }

    async fn commit(&self, conn: &mut Conn, done: &[&Finished<StepPayload, ()>]) -> Result<(), StoreError> {
        for finished in done {
            let Some(mut progress) = runs::lock(conn, &finished.job.payload.run).await? else { continue };
            progress.pending -= 1;
            progress.done += 1;
            save(&self.runs, conn, &COUNTING, &mut progress).await?;
        }
        Ok(())
    }

    async fn give_up(&self, conn: &mut Conn, job: &Running<StepPayload>, _: &str) -> Result<(), StoreError> {
        let Some(mut progress) = runs::lock(conn, &job.payload.run).await? else { return Ok(()) };
        progress.pending -= 1;
        progress.failed += 1;
        save(&self.runs, conn, &COUNTING, &mut progress).await
    }

    fn after_commit(&self, done: &[&Finished<StepPayload, ()>]) {
        done.iter().for_each(|finished| self.runs.changed(&finished.job.payload.run));
    }
}

/// Start of a run of this kind: one job per step.
struct Steps {
    team: String,
    fail: Vec<bool>,
}

impl Begin for Steps {
    async fn begin(self, conn: &mut Conn, progress: &mut runs::Progress, now: Timestamp) -> Result<(), StoreError> {
        let job = |fails: &bool| {
            NewJob::of(base::new_id(), &StepPayload { run: progress.run_id.clone(), fails: *fails }, now)
        };
        let new: Vec<NewJob> = self.fail.iter().map(job).collect::<Result<_, _>>()?;
        progress.pending = progress.max_items;
        let (id, team_id) = (progress.run_id.as_str(), self.team.as_str());
        let lane = Lane { queue: STEPS.name, id, team_id, cap: 2, team_cap: 4, delay: Duration::ZERO };
        jobs::enqueue(conn, &lane, &new, now).await?;
        Ok(())
    }
}

/// Starts a run of this kind.
async fn count(runs: &Runs, caller: &Caller, fail: Vec<bool>, key: Option<&str>) -> Result<Uuid, AppError> {
    let max_items = fail.len() as i64;
    let new = Submission {
        kind: &COUNTING,
        subject: None,
        spec: r#"{"webhook":"http://hook.test/"}"#.to_owned(),
        secrets: None,
        private: false,
        webhook: Some(wire::WebhookConfig::new("http://hook.test/".parse().unwrap())),
        idempotency_key: key.map(str::to_owned),
        fingerprint: fingerprint(&format!("{fail:?}")),
        max_items,
        worst: max_items,
        warning: None,
    };
    submit(runs, caller, new, Steps { team: caller.team.id.clone(), fail }).await
}

async fn events_of(app: &App, caller: &Caller, run: Uuid) -> Vec<String> {
    let mut conn = app.conn().await.unwrap();
    let mut all = store::webhooks::list(&mut conn, &caller.team.id, None, None, 100).await.unwrap();
    all.retain(|logged| logged.job_id == run.to_string());
    all.into_iter().rev().map(|logged| logged.event).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_kind_of_run_begins_is_read_ends_and_is_cancelled() {
    let (app, caller, _folder) = app().await;
    let runs = runs(&app);
    let good = count(&runs, &caller, vec![false; 3], Some("k")).await.unwrap();
    assert_eq!(count(&runs, &caller, vec![false; 3], Some("k")).await.unwrap(), good);
    assert!(matches!(count(&runs, &caller, vec![false], Some("k")).await, Err(AppError::DuplicateRequest)));
    let bad = count(&runs, &caller, vec![false, true], None).await.unwrap();
    let idle = count(&runs, &caller, vec![false], None).await.unwrap();
    cancel(&runs, &caller, &COUNTING, idle).await.unwrap();
    let stop = CancellationToken::new();
    let worker = Worker::new(app.store().clone(), app.clock().clone(), queue::Settings::default());
    let worker = worker.woken_by(app.waker().clone()).with(StepHandler { runs: runs.clone() });
    let working = tokio::spawn(worker.run(stop.clone()));
    for (run, expect, done, error) in [
        (good, JobStatus::Completed, 3, None),
        (bad, JobStatus::Failed, 1, Some("a step has failed")),
        (idle, JobStatus::Cancelled, 0, Some("cancelled by its owner")),
    ] {
        let mut changes = runs.watch(run);
        let progress = loop {
            let progress = status(&runs, &caller, &COUNTING, run, ResultsQuery::default()).await.unwrap();
            if progress.status.is_final() {
                break progress;
            }
            let _ = tokio::time::timeout(Duration::from_millis(100), changes.changed()).await;
        };
        assert_eq!((progress.status, progress.completed, progress.error.as_deref()), (expect, done, error));
        let end = if error.is_none() { "crawl.completed" } else { "crawl.failed" };
        assert_eq!(events_of(&app, &caller, run).await, ["crawl.started", end]);
        assert!(matches!(cancel(&runs, &caller, &COUNTING, run).await, Err(RunsError::JobFinished)));
        let other = status(&runs, &caller, &crate::crawl::KIND, run, ResultsQuery::default()).await;
        assert!(matches!(other, Err(AppError::NotFound("crawl"))));
    }
    stop.cancel();
    working.await.unwrap();
}

/// Statements of all connections of this process.
static STATEMENTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Listener;

impl Instrumentation for Listener {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            STATEMENTS.lock().push(query.to_string());
        }
    }
}

pub(super) fn page(name: &str) -> NewPage {
    new_page(format!("http://a.test/{name}").parse().unwrap(), digest(name), 1)
}

pub(super) fn document(context: &Arc<Context>) -> PageResult {
    let packed = document::Packed::of(&wire::Document::default(), net::Room::default()).unwrap();
    PageResult { credits: 1, ..PageResult::without(Arc::clone(context), Outcome::Document(Box::new(packed))) }
}

/// Returns ten pages of a crawl: documents with links, other spellings of known and new pages, failed pages, and a
/// disallowed one.
fn results(context: &Arc<Context>) -> Vec<PageResult> {
    let mut all: Vec<PageResult> = (0..10).map(|_| document(context)).collect();
    for (n, result) in all.iter_mut().enumerate() {
        let found = (0..9).map(|link| Found::plain(page(&format!("{n}-{link}"))));
        result.links = Links {
            found: found.collect(),
            external: vec![page(&format!("external{n}"))],
            blocked: vec![page(&format!("blocked{n}"))],
        };
        result.likeness = Some((n as u64 % 3, 7));
    }
    // "new" is unknown until the first of the two results adds it.
    for (result, name) in all.iter_mut().zip(["new", "new"]) {
        result.alias = Some(page(name));
    }
    for result in &mut all[3..6] {
        result.outcome = Outcome::Failed { code: "X".to_owned(), error: "broken".to_owned() };
    }
    all[6].outcome = Outcome::blocked();
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_pages_take_few_statements() {
    set_default_instrumentation(|| Some(Box::new(Listener))).unwrap();
    let (app, caller, _folder) = app().await;
    let runs = runs(&app);
    let request = wire::decode_crawl(serde_json::json!({"url": "http://a.test/", "limit": 60})).unwrap();
    let id = crate::crawl::start(&runs, &caller, request, None).await.unwrap().to_string();
    let context = runs.context(&id).await.unwrap().unwrap();
    let mut conn = app.conn().await.unwrap();
    // Ten pages that were added earlier.
    let known: Vec<NewPage> = ["start"].into_iter().map(page).chain((0..9).map(|n| page(&n.to_string()))).collect();
    let written: Result<(), StoreError> = conn
        .tx(async |conn: &mut Conn| {
            let mut progress = runs::lock(conn, &id).await?.unwrap();
            runs::add_pages(conn, &mut progress, known.clone()).await?;
            runs::save(conn, &progress).await
        })
        .await;
    written.unwrap();
    let results = results(&context);
    let done: Vec<Page<'_>> = known.iter().zip(&results).map(|(page, result)| Page { id: &page.id, result }).collect();
    STATEMENTS.lock().clear();
    let recorded: Result<(), StoreError> =
        conn.tx(async |conn: &mut Conn| pages::record(&runs, conn, &done).await).await;
    recorded.unwrap();
    let statements = std::mem::take(&mut *STATEMENTS.lock());
    let of_run = |text: &&&str| text.contains("run_page") || text.contains("run_progress");
    // SQLite inserts rows one by one, with a statement that is compiled once.
    let different: BTreeSet<&str> = statements.iter().filter_map(|text| text.split(" -- binds").next()).collect();
    // One of them reads the state of the pages that others are copies of, another reads which pages wait for these.
    assert_eq!(different.iter().filter(of_run).count(), 9, "{statements:#?}");
    assert!(different.len() <= 30, "{}: {statements:#?}", different.len());
    // Every page references that key: setting it would make the database check each of them.
    let sets_key = |text: &&str| text.starts_with("UPDATE `run_progress`") && text.contains("SET `run_id`");
    assert!(!different.iter().any(sets_key), "{statements:#?}");
    let (row, progress) = runs::read(&mut conn, &id).await.unwrap().unwrap();
    // Ten of the eleven pending pages are done; the second "new" is a copy.
    assert_eq!((progress.done, progress.failed, progress.credits), (5, 3, 9), "{progress:?}");
    assert_eq!((progress.pending, progress.spare, row.is_open()), (55, 36, true), "{progress:?}");
    // The copy is listed with the links to other sites.
    for (state, count) in
        [(runs::PageState::External, 11), (runs::PageState::Blocked, 11), (runs::PageState::Failed, 3)]
    {
        assert_eq!(runs::listed(&mut conn, &id, state, "", 100).await.unwrap().len(), count, "{state:?}");
    }
}

/// Links of pages of a full crawl are ignored, and links to known pages do no harm.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_that_has_all_its_pages_takes_no_more() {
    let (app, caller, _folder) = app().await;
    let runs = runs(&app);
    let request = wire::decode_crawl(serde_json::json!({"url": "http://a.test/", "limit": 3})).unwrap();
    let id = crate::crawl::start(&runs, &caller, request, None).await.unwrap().to_string();
    let context = runs.context(&id).await.unwrap().unwrap();
    let mut conn = app.conn().await.unwrap();
    let pages: Vec<NewPage> = (0..1002).map(|n| page(&n.to_string())).collect();
    let added: Result<Vec<NewPage>, StoreError> = conn
        .tx(async |conn: &mut Conn| {
            let mut progress = runs::lock(conn, &id).await?.unwrap();
            let taken = runs::add_pages(conn, &mut progress, pages.clone()).await?;
            runs::save(conn, &progress).await?;
            Ok(taken)
        })
        .await;
    assert_eq!(added.unwrap().len(), 2, "beside the start");
    let mut result =
        PageResult::without(Arc::clone(&context), Outcome::Failed { code: "X".to_owned(), error: "broken".to_owned() });
    result.links.found = (0..5).chain(5000..5005).map(|n| Found::plain(page(&n.to_string()))).collect();
    let recorded: Result<(), StoreError> = conn
        .tx(async |conn: &mut Conn| pages::record(&runs, conn, &[Page { id: &pages[0].id, result: &result }]).await)
        .await;
    recorded.unwrap();
    assert!(context.crawl().unwrap().known.is_full());
    let (_, progress) = runs::read(&mut conn, &id).await.unwrap().unwrap();
    // A spare page has replaced the failed one.
    assert_eq!((progress.pending, progress.failed, progress.spare), (3, 1, 999), "{progress:?}");
    let unknown: Vec<&[u8]> = result.links.found[5..].iter().map(|found| found.page.key.as_slice()).collect();
    assert!(runs::known_keys(&mut conn, &id, unknown).await.unwrap().is_empty());
}

/// The context of a run is dropped from memory when the run ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_its_pages_have_in_common_ends_with_a_run() {
    let (app, caller, _folder) = app().await;
    let runs = runs(&app);
    let request =
        wire::decode_crawl(serde_json::json!({"url": "http://a.test/", "limit": 2, "sitemap": "skip"})).unwrap();
    let id = crate::crawl::start(&runs, &caller, request, None).await.unwrap().to_string();
    let context = runs.context(&id).await.unwrap().unwrap();
    assert!(runs.has_context(&id));
    let mut conn = app.conn().await.unwrap();
    let ended: Result<(), StoreError> = conn
        .tx(async |conn: &mut Conn| {
            let mut progress = runs::lock(conn, &id).await?.unwrap();
            let last = runs::add_pages(conn, &mut progress, vec![page("last")]).await?;
            // Its sitemaps are read, and all other pages are done.
            (progress.preparing, progress.pending) = (false, 1);
            runs::save(conn, &progress).await?;
            let result = PageResult::without(context.clone(), Outcome::blocked());
            pages::record(&runs, conn, &[Page { id: &last[0].id, result: &result }]).await
        })
        .await;
    ended.unwrap();
    assert!(!runs::read(&mut conn, &id).await.unwrap().unwrap().0.is_open());
    assert!(!runs.has_context(&id));
}

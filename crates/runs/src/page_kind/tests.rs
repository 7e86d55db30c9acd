//! A kind of run with rows, a page event and a last page of its own.

use std::collections::BTreeSet;
use std::time::Duration;

use fetch::{Engine, HttpEngine};
use queue::Worker;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use store::{runs as rows, teams, webhooks as deliveries};
use testkit::Site;
use tokio_util::sync::CancellationToken;
use wire::{JobStatus, ResultsQuery, ScrapeOptions, event};

use super::*;
use crate::fixture::{app, scraper_with};
use crate::{
    Begin, Draining, Kind, Lanes, PageHandler, RETENTION, RunKind, Submission, add_pages, digest, new_page,
    nothing_then, page_lanes, status, submit,
};

/// Kind of run that notes the titles of its pages, and reads `/last` after all others.
static TITLES: Kind = Kind {
    name: "titles",
    noun: "list of titles",
    events: &event::BATCH_SCRAPE,
    endpoint: None,
    lanes: page_lanes,
    verdict: |_| Ok(()),
    explain: |_| None,
    total: |progress| progress.done + progress.pending,
    drained: add_last,
    closed: nothing_then,
    retention: RETENTION,
    owns_reservation: true,
};

/// Adds the last page of a run. The run knows it from then on, so it is added once.
fn add_last<'a>(conn: &'a mut Conn, progress: &'a mut Progress, now: Timestamp) -> Draining<'a> {
    Box::pin(async move {
        let Some(run) = rows::find(conn, &progress.run_id).await? else { return Ok(()) };
        let team = teams::find(conn, &run.team_id).await?.ok_or(StoreError::UnknownTeam)?;
        let url = run.subject.as_deref().and_then(|url| Url::parse(url).ok());
        let last = url.map(|url| new_page(url, digest("last"), 0)).into_iter().collect();
        add_pages(conn, progress, &Lanes::new(&team, None, None), last, now).await
    })
}

/// Titles of pages.
struct Titles;

/// Title of a page, as the receiver of the webhook gets it.
struct Title(Box<RawValue>);

impl PageKind for Titles {
    fn read(&self, mut spec: Value, _: Secrets) -> Result<(Terms, Box<dyn PageSpec>), AppError> {
        let terms = Terms {
            options: ScrapeOptions::default(),
            zero_data_retention: false,
            max_concurrency: None,
            delay: None,
            webhook: Some(wire::decode_webhook(&event::BATCH_SCRAPE, spec["webhook"].take())?),
        };
        Ok((terms, Box::new(Self)))
    }
}

impl PageSpec for Titles {
    fn unopened(self: Box<Self>) -> Arc<dyn PageRun> {
        Arc::new(*self)
    }
}

#[async_trait]
impl PageRun for Titles {
    async fn plan(&self, _: &Runs, _: PlannedPage<'_>) -> Result<PagePlan, Refused> {
        Ok(PagePlan::Scrape(Box::new(Visit { look: Box::new(Self), ..Visit::plain() })))
    }

    async fn begin<'a>(
        &'a self,
        _: &mut Conn,
        _: &mut Progress,
        _: Recording<'a>,
    ) -> Result<Box<dyn PageRecord + 'a>, StoreError> {
        Ok(Box::new(Self))
    }
}

impl Look for Titles {
    fn look(self: Box<Self>, page: &mut Scraped, _: &Stop) -> Result<Looked, AppError> {
        let title = json!({ "title": page.document.metadata.page.get("title") });
        let title = Title(to_raw_value(&title).map_err(AppError::internal)?);
        Ok(Looked::Keep(Some(Box::new(title))))
    }
}

#[async_trait]
impl PageRecord for Titles {
    /// Uses a table of the batches, whose rows are a text by run and key.
    async fn record(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        kept: &[KeptPage<'_>],
    ) -> Result<(), StoreError> {
        for KeptPage { page, .. } in kept {
            let title = page.result.found::<Title>().map_or("", |title| title.0.get());
            rows::remember_append(conn, &progress.run_id, page.id, title).await?;
        }
        Ok(())
    }

    fn page_event<'e>(&self, event: EventType, page: &KeptPage<'e>) -> Event<'e> {
        let event = Event::new(event);
        match page.page.result.found::<Title>() {
            Some(title) => event.with_json(&title.0),
            None => event,
        }
    }
}

/// First pages of a run.
struct Start {
    lanes: Lanes,
    pages: Vec<store::runs::NewPage>,
}

impl Begin for Start {
    async fn begin(self, conn: &mut Conn, progress: &mut Progress, now: Timestamp) -> Result<(), StoreError> {
        add_pages(conn, progress, &self.lanes, self.pages, now).await
    }
}

/// Starts a run on `/a` and `/b` of this site.
async fn start(runs: &Runs, caller: &Caller, site: &Site) -> String {
    let spec = json!({ "webhook": "http://hook.test/" });
    let new = Submission {
        kind: &TITLES,
        subject: Some(site.url("/last").to_string()),
        spec: spec.to_string(),
        secrets: None,
        private: false,
        webhook: Some(wire::decode_webhook(&event::BATCH_SCRAPE, spec["webhook"].clone()).unwrap()),
        idempotency_key: None,
        fingerprint: String::new(),
        max_items: 3,
        worst: 3,
        warning: None,
    };
    let pages = ["/a", "/b"].map(|path| new_page(site.url(path), digest(path), 0)).to_vec();
    let lanes = Lanes::new(&caller.team, None, None);
    submit(runs, caller, new, Start { lanes, pages }).await.unwrap().to_string()
}

/// Returns the names and data of a run's events.
async fn events_of(runs: &Runs, run: &str, team: &str) -> BTreeSet<(String, String)> {
    let mut conn = runs.app().conn().await.unwrap();
    let mut events = BTreeSet::new();
    for logged in deliveries::list(&mut conn, team, None, None, 100).await.unwrap() {
        assert_eq!(logged.job_id, run);
        let (sent, _) = deliveries::for_attempt(&mut conn, &logged.id, runs.app().now()).await.unwrap().unwrap();
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        events.insert((logged.event, body["data"].to_string()));
    }
    events
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_that_read_a_run_at_once_share_its_context() {
    let (app, caller, _folder) = app().await;
    let site = Site::start().await;
    let runs = Runs::new(scraper_with(&app, Vec::new()), vec![RunKind::of_pages(&TITLES, Titles)]);
    let id = start(&runs, &caller, &site).await;
    assert!(!runs.has_context(&id));
    let (one, other) = tokio::join!(runs.context(&id), runs.context(&id));
    assert!(Arc::ptr_eq(&one.unwrap().unwrap(), &other.unwrap().unwrap()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_has_rows_an_event_and_a_last_page_of_its_own() {
    let (app, caller, _folder) = app().await;
    let site = Site::start().await;
    for name in ["a", "b", "last"] {
        site.html(&format!("/{name}"), format!("<title>{name}</title><p>text"));
    }
    let egress = net::Egress { allow: vec![net::Allow::Address(site.addr())], ..net::Egress::default() };
    let client = net::Client::new(net::Config { egress, ..net::Config::default() }).unwrap();
    let engine: Arc<dyn Engine> = Arc::new(HttpEngine::new(client));
    let kinds = vec![RunKind::of_pages(&TITLES, Titles)];
    let runs = Runs::new(scraper_with(&app, vec![engine]), kinds);

    let id = start(&runs, &caller, &site).await;
    let stop = CancellationToken::new();
    let worker = Worker::new(app.store().clone(), app.clock().clone(), queue::Settings::default());
    let worker = worker.woken_by(app.waker().clone()).with_polite(PageHandler { runs: runs.clone() });
    let working = tokio::spawn(worker.run(stop.clone()));
    let run = id.parse().unwrap();
    let mut changes = runs.watch(run);
    let ended = loop {
        let progress = status(&runs, &caller, &TITLES, run, ResultsQuery::default()).await.unwrap();
        if progress.status.is_final() {
            break progress;
        }
        let _ = tokio::time::timeout(Duration::from_millis(100), changes.changed()).await;
    };
    stop.cancel();
    working.await.unwrap();

    assert_eq!((ended.status, ended.completed), (JobStatus::Completed, 3));
    let mut conn = app.conn().await.unwrap();
    let mut titles = BTreeSet::new();
    for document in &ended.documents {
        let document: Value = serde_json::from_str(document.get()).unwrap();
        let page = document["metadata"]["scrapeId"].as_str().unwrap();
        titles.extend(rows::append_by_key(&mut conn, &id, page).await.unwrap());
    }
    let expected = ["a", "b", "last"].map(|name| json!({ "title": name }).to_string());
    assert_eq!(titles, expected.clone().into());
    let mut events: BTreeSet<(String, String)> =
        expected.map(|title| ("batch_scrape.page".to_owned(), format!("[{title}]"))).into();
    events.extend(["started", "completed"].map(|word| (format!("batch_scrape.{word}"), "[]".to_owned())));
    assert_eq!(events_of(&runs, &id, &caller.team.id).await, events);
}

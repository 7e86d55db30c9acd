//! Crawls and batches with a worker: pages, bodies and long lists when things go wrong.

mod private;

use std::time::Duration;

use app::auth::Caller;
use app::runs::{self, Kind, RunStatus};
use app::{CrawlsError, QUEUES, WorkerSettings, batch, crawl, maintain_once, worker};
use base::{Clock, SystemClock};
use chrono::TimeDelta;
use serde_json::{Value, json};
use store::jobs::{self, Claim, Filter, Lane, NewJob};
use store::runs::{EndedPage, PageState};
use testkit::Reply;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::{GivenFields, JobStatus, ResultsQuery, TeamFlags};

use crate::log;
use crate::world::World;

/// World with a team and, once it is started, a worker.
struct Jobs {
    world: World,
    caller: Caller,
    stop: CancellationToken,
    working: Option<JoinHandle<()>>,
}

impl Jobs {
    async fn new(credits: i64) -> Self {
        let world = World::start().await;
        // Bodies get their time from the system clock.
        world.clock.set(SystemClock.now());
        let flags = TeamFlags { zero_data_retention: true, ..TeamFlags::default() };
        let caller = world.team_with(Some(credits), flags).await;
        Self { world, caller, stop: CancellationToken::new(), working: None }
    }

    fn work(&mut self) {
        let (lease, drain) = (Duration::from_secs(60), Duration::from_millis(100));
        let slots = [("pages", 16), ("hooks", 16)].map(|(queue, slots)| (queue.to_owned(), slots)).into();
        let settings = WorkerSettings { slots, per_host: 16, lease, drain };
        self.working = Some(tokio::spawn(worker(&self.world.operations, settings).run(self.stop.clone())));
    }

    async fn end(mut self) -> World {
        self.stop.cancel();
        if let Some(working) = self.working.take() {
            working.await.unwrap();
        }
        self.world
    }

    fn url(&self, path: &str) -> String {
        self.world.site.url(path).to_string()
    }

    async fn batch(&self, body: Value) -> Result<Uuid, CrawlsError> {
        let given = GivenFields::of(&body);
        let request = wire::decode_batch(body).unwrap();
        batch::start(&self.world.runs, &self.caller, request, &given, None).await.map(|started| started.id)
    }

    async fn crawl(&self, body: Value) -> Uuid {
        let request = wire::decode_crawl(body).unwrap();
        crawl::start(&self.world.runs, &self.caller, request, &wire::GivenFields::default(), None).await.unwrap()
    }

    async fn status(&self, kind: &'static Kind, id: Uuid) -> RunStatus {
        runs::status(&self.world.runs, &self.caller, kind, id, ResultsQuery::default()).await.unwrap()
    }

    async fn ended(&self, kind: &'static Kind, id: Uuid) -> RunStatus {
        for look in 1..6000 {
            let progress = self.status(kind, id).await;
            if progress.status != JobStatus::Scraping {
                return progress;
            }
            // Advances the clock for pages that wait for the page that they duplicate.
            if look % 100 == 0 {
                self.world.clock.advance(Duration::from_secs(2));
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("still at work: {:?}", self.status(kind, id).await);
    }

    /// Returns the document bodies in the blob store.
    fn bodies(&self) -> Vec<std::path::PathBuf> {
        let is_document = |path: &std::path::PathBuf| path.parent().is_some_and(|folder| folder.ends_with("documents"));
        self.world.bodies().into_iter().filter(is_document).collect()
    }

    /// Waits until this many bodies are left.
    async fn bodies_become(&self, count: usize) {
        for _ in 0..500 {
            if self.bodies().len() == count {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("not {count}, but {:?}", self.bodies());
    }

    async fn reserved(&self) -> i64 {
        self.world.balance(&self.caller).await.reserved
    }

    /// Returns the ids of the queued page jobs.
    async fn waiting(&self, id: Uuid) -> Vec<String> {
        let (lane, mut conn) = (id.to_string(), self.world.parts.store.conn().await.unwrap());
        let filter = Filter { queue: Some("pages"), lane: Some(&lane), ..Filter::default() };
        jobs::list(&mut conn, filter, None, 10_000).await.unwrap().into_iter().map(|job| job.id).collect()
    }
}

fn html(body: &str) -> Reply {
    Reply { body: body.to_owned().into(), ..Reply::default() }.header("content-type", "text/html")
}

/// Returns a page that is large even when compressed.
fn large(seed: u64, head: &str) -> Reply {
    let mut state = seed.wrapping_mul(2) + 1;
    let mut words = String::with_capacity(400_000);
    while words.len() < 400_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        words.push_str(&format!("{:x} ", state >> 16));
    }
    html(&format!("<html><head>{head}</head><body><main><p>{words}</p></main></body></html>"))
}

fn markdown(documents: &[Box<serde_json::value::RawValue>]) -> Vec<Value> {
    documents.iter().map(|document| serde_json::from_str(document.get()).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_can_never_be_written_down_end_their_job() {
    log::expect_errors();
    fail::cfg("commit_poison", "return").unwrap();
    let mut jobs = Jobs::new(100).await;
    jobs.world.site.others(|seen| (seen.path != "/hook").then(|| html("<p>words")));
    jobs.world.site.respond("/hook", Reply::default());
    let urls: Vec<String> = (0..6).map(|n| jobs.url(&format!("/{}{n}", ["poison", "good"][n % 2]))).collect();
    let hook = json!({"url": jobs.url("/hook"), "events": ["page", "completed"]});
    let id = jobs.batch(json!({"urls": urls, "webhook": hook})).await.unwrap();
    jobs.work();
    let ended = jobs.ended(&batch::KIND, id).await;
    assert_eq!((ended.status, ended.completed, ended.credits_used), (JobStatus::Completed, 3, 3));
    let errors = runs::errors(&jobs.world.runs, &jobs.caller, &batch::KIND, id, None).await.unwrap().errors.errors;
    assert!(errors.len() == 3 && errors.iter().all(|error| error.url.contains("poison")), "{errors:?}");
    let asked = jobs.world.site.requests().into_iter().filter(|seen| seen.path != "/hook").count();
    assert_eq!(asked, 6, "none was asked twice");
    for _ in 0..500 {
        if jobs.hooked().len() == 7 {
            break;
        }
        sleep(Duration::from_millis(10)).await;
    }
    let failed = jobs.hooked().iter().filter(|body| body["success"] == json!(false)).count();
    assert_eq!((jobs.hooked().len(), failed), (7, 3), "the receiver hears of those that were given up");
    assert_eq!(jobs.reserved().await, 0);
    jobs.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_given_up_leaves_its_place_to_another() {
    log::expect_errors();
    fail::cfg("commit_poison", "return").unwrap();
    let mut jobs = Jobs::new(100).await;
    jobs.world.site.others(|seen| match seen.path.as_str() {
        "/" => Some(html("<p>start <a href='/poison'>1</a> <a href='/a'>2</a> <a href='/b'>3</a>")),
        "/robots.txt" | "/sitemap.xml" => None,
        path => Some(html(&format!("<p>words of {path}"))),
    });
    let id = jobs.crawl(json!({"url": jobs.url("/"), "limit": 3, "sitemap": "skip"})).await;
    jobs.work();
    let ended = jobs.ended(&crawl::KIND, id).await;
    assert_eq!((ended.status, ended.completed), (JobStatus::Completed, 3), "the spare page took its place");
    assert_eq!(jobs.reserved().await, 0);
    jobs.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_whose_job_cannot_be_read_does_not_keep_its_batch_open() {
    log::expect_errors();
    let mut jobs = Jobs::new(100).await;
    jobs.world.site.others(|_| Some(html("<p>words")));
    let id = jobs.batch(json!({"urls": [jobs.url("/a"), jobs.url("/b")]})).await.unwrap();
    let (lane, waiting, now) = (id.to_string(), jobs.waiting(id).await, jobs.world.clock.now());
    let mut conn = jobs.world.parts.store.conn().await.unwrap();
    jobs::cancel(&mut conn, "pages", &lane, now).await.unwrap();
    let team = &jobs.caller.team.id;
    let lane = Lane { queue: "pages", id: &lane, team_id: team, cap: 9, team_cap: 9, delay: Duration::ZERO };
    let unread = waiting.iter().map(|id| NewJob {
        id: id.clone(),
        kind: "crawl.page",
        phase: 0,
        priority: 0,
        run_at: now,
        max_attempts: 5,
        host: None,
        payload: r#"["from another version"]"#.to_owned(),
        unique_key: None,
    });
    jobs::enqueue(&mut conn, &lane, &unread.collect::<Vec<_>>(), now).await.unwrap();
    drop(conn);
    jobs.work();
    let ended = jobs.ended(&batch::KIND, id).await;
    assert_eq!((ended.status, ended.completed, ended.total), (JobStatus::Completed, 0, 0));
    assert_eq!(jobs.reserved().await, 0);
    jobs.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_comes_back_unless_it_is_counted_as_failed() {
    let jobs = Jobs::new(100).await;
    jobs.world.leaves_jobs();
    jobs.batch(json!({"urls": [jobs.url("/a"), jobs.url("/b")]})).await.unwrap();
    let (app, now) = (&jobs.world.app, jobs.world.clock.now());
    let mut conn = jobs.world.parts.store.conn().await.unwrap();
    let lease_until = now + TimeDelta::minutes(1);
    let want = Claim { queue: "pages", most: 9, token: "t", now, lease_until, per_host: 9, worker: None };
    let claimed = jobs::claim(&mut conn, &want).await.unwrap();
    let [counted, lost] = &claimed[..] else { panic!("two pages: {claimed:?}") };
    for job in &claimed {
        assert!(jobs::bury(&mut conn, &job.held(None), "its worker is gone", now).await.unwrap());
    }
    let reason = Some(("UNKNOWN_ERROR", "it could not be processed"));
    let failed = EndedPage { id: &counted.id, state: PageState::Failed, reason, content: None };
    store::runs::end_pages(&mut conn, &[failed], Vec::new(), now).await.unwrap();
    assert!(!app::jobs::redrive(app, &counted.id).await.unwrap());
    assert!(app::jobs::redrive(app, &lost.id).await.unwrap());
    assert!(!app::jobs::redrive(app, &lost.id).await.unwrap(), "it is back already");
    let waiting = app::jobs::list(app, None, None, 9).await.unwrap();
    assert_eq!(waiting.iter().map(|job| &job.id).collect::<Vec<_>>(), [&lost.id]);
    let dead = app::jobs::dead(app, None, 9).await.unwrap();
    assert_eq!(dead.iter().map(|job| &job.id).collect::<Vec<_>>(), [&counted.id]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_worker_serves_every_queue() {
    let world = World::start().await;
    let (lease, drain) = (Duration::from_secs(60), Duration::from_millis(100));
    let settings = WorkerSettings { slots: [("hooks".to_owned(), 0)].into(), per_host: 4, lease, drain };
    let served = worker(&world.operations, settings).queues();
    assert_eq!(served.len(), QUEUES.len());
    for queue in QUEUES {
        let slots = if queue.name == "hooks" { 0 } else { queue.slots };
        assert!(served.contains(&(queue, slots)), "{} in {served:?}", queue.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_are_not_kept_go() {
    let mut jobs = Jobs::new(100).await;
    // Five addresses that all name the same page as canonical.
    jobs.world.site.others(|seen| match seen.path.as_str() {
        "/robots.txt" | "/sitemap.xml" => None,
        "/" => {
            let links: String = (0..5).map(|n| format!("<a href='/p{n}'>{n}</a>")).collect();
            Some(html(&format!("<p>start {links}")))
        }
        _ => Some(large(7, "<link rel='canonical' href='/p0'>")),
    });
    let body = json!({"url": jobs.url("/"), "sitemap": "skip", "limit": 10});
    let id = jobs.crawl(body.clone()).await;
    jobs.work();
    let ended = jobs.ended(&crawl::KIND, id).await;
    assert_eq!(ended.completed, 2, "the start and one of the five");
    jobs.bodies_become(1).await;
    // A private crawl never stores bodies as blobs.
    let mut private = body;
    private["zeroDataRetention"] = json!(true);
    let id = jobs.crawl(private).await;
    assert_eq!(jobs.ended(&crawl::KIND, id).await.documents.len(), 2);
    assert_eq!(jobs.bodies().len(), 1);
    jobs.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_of_stopped_and_poisoned_pages_go() {
    log::expect_errors();
    fail::cfg("commit_poison", "return").unwrap();
    let mut jobs = Jobs::new(100).await;
    jobs.world.site.others(|seen| Some(large(seen.path.len() as u64, "")));
    let urls: Vec<String> = (0..4).map(|n| jobs.url(&format!("/poison{}", "x".repeat(n)))).collect();
    let id = jobs.batch(json!({"urls": urls})).await.unwrap();
    jobs.work();
    assert_eq!(jobs.ended(&batch::KIND, id).await.completed, 0);
    jobs.bodies_become(0).await;
    jobs.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_no_document_knows_are_swept() {
    let mut jobs = Jobs::new(100).await;
    jobs.world.site.others(|_| Some(large(1, "")));
    let id = jobs.batch(json!({"urls": [jobs.url("/a")]})).await.unwrap();
    jobs.work();
    assert_eq!(jobs.ended(&batch::KIND, id).await.completed, 1);
    // Bodies left by a process that was killed before the commit, of this version and of earlier ones.
    for name in [base::new_id().to_string(), "old".to_owned()] {
        jobs.world.parts.blobs.put(&format!("documents/{name}"), "body".into()).await.unwrap();
    }
    assert_eq!(maintain_once(&jobs.world.operations).await.unwrap()["orphans"], 0, "they may be on their way");
    jobs.world.clock.advance(Duration::from_secs(2 * 60 * 60));
    assert_eq!(maintain_once(&jobs.world.operations).await.unwrap()["orphans"], 2);
    assert_eq!(jobs.bodies().len(), 1);
    assert!(markdown(&jobs.status(&batch::KIND, id).await.documents)[0]["markdown"].is_string());
    jobs.world.clock.advance(Duration::from_secs(23 * 60 * 60));
    assert_eq!(maintain_once(&jobs.world.operations).await.unwrap()["runs"], 1);
    assert_eq!(jobs.bodies().len(), 0);
    jobs.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_body_costs_its_document_only() {
    let mut jobs = Jobs::new(100).await;
    jobs.world.site.others(|seen| Some(large(seen.path.len() as u64, "")));
    let urls: Vec<String> = (1..=4).map(|n| jobs.url(&format!("/{}", "p".repeat(n)))).collect();
    let id = jobs.batch(json!({"urls": urls})).await.unwrap();
    jobs.work();
    jobs.ended(&batch::KIND, id).await;
    let bodies = jobs.bodies();
    assert_eq!(bodies.len(), 4);
    std::fs::remove_file(&bodies[0]).unwrap();
    std::fs::write(&bodies[1], "no zstd").unwrap();
    let torn = std::fs::read(&bodies[2]).unwrap();
    std::fs::write(&bodies[2], &torn[..torn.len() / 2]).unwrap();
    for _ in 0..2 {
        let documents = markdown(&jobs.status(&batch::KIND, id).await.documents);
        let (lost, whole): (Vec<_>, Vec<_>) =
            documents.iter().partition(|document| document["metadata"]["error"].is_string());
        assert_eq!((lost.len(), whole.len()), (3, 1));
        assert!(
            lost.iter().all(|document| urls.iter().any(|url| document["metadata"]["url"] == json!(url))),
            "{lost:?}"
        );
        assert!(whole[0]["markdown"].is_string());
    }
    jobs.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_batch_is_accepted_whole_and_taken_on_in_pieces() {
    let mut jobs = Jobs::new(2000).await;
    // These addresses are refused without a connection, and each is a host of its own, so that the pages fail fast.
    let hosts = |net: u8, count: usize| (0..count).map(move |n| format!("http://10.{net}.{}.{}/", n / 250, n % 250));
    let urls: Vec<String> = hosts(0, 700).collect();
    let id = jobs.batch(json!({"urls": urls})).await.unwrap();
    assert_eq!((jobs.waiting(id).await.len(), jobs.status(&batch::KIND, id).await.total), (0, 700));
    assert_eq!(jobs.reserved().await, 700);
    let more: Vec<String> = hosts(1, 600).collect();
    assert_eq!(jobs.batch(json!({"urls": more, "appendToId": id})).await.unwrap(), id);
    assert_eq!((jobs.status(&batch::KIND, id).await.total, jobs.reserved().await), (1300, 1300));
    jobs.work();
    let ended = jobs.ended(&batch::KIND, id).await;
    assert_eq!((ended.status, ended.total, jobs.reserved().await), (JobStatus::Completed, 0, 0));
    let errors = runs::errors(&jobs.world.runs, &jobs.caller, &batch::KIND, id, None).await.unwrap().errors.errors;
    let found: std::collections::BTreeSet<String> = errors.into_iter().map(|error| error.url).collect();
    assert_eq!(found, urls.into_iter().chain(more).collect(), "every page once");
    jobs.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_batch_can_be_stopped_before_and_behind_its_pieces() {
    let jobs = Jobs::new(2000).await;
    let urls: Vec<String> = (0..1300).map(|n| format!("http://10.0.0.1/{n}")).collect();
    let small = jobs.batch(json!({"urls": urls[..400]})).await.unwrap();
    let long = jobs.batch(json!({"urls": urls})).await.unwrap();
    for id in [small, long] {
        runs::cancel(&jobs.world.runs, &jobs.caller, &batch::KIND, id).await.unwrap();
        assert_eq!(jobs.status(&batch::KIND, id).await.status, JobStatus::Cancelled);
        assert!(jobs.waiting(id).await.is_empty());
    }
    assert_eq!(jobs.reserved().await, 0);
    let mut conn = jobs.world.parts.store.conn().await.unwrap();
    assert_eq!(jobs::list(&mut conn, Filter::default(), None, 9).await.unwrap(), []);
    assert_eq!(jobs::inconsistencies(&mut conn).await.unwrap(), Vec::<String>::new());
}

impl Jobs {
    /// Returns the bodies of the events delivered to the receiver.
    fn hooked(&self) -> Vec<Value> {
        let seen = self.world.site.requests().into_iter().filter(|seen| seen.path == "/hook");
        seen.map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_costs_one_trip_to_a_thread() {
    let mut jobs = Jobs::new(100).await;
    jobs.world.site.html("/", "<a href=/a>a</a> <a href=/b>b</a>");
    jobs.world.site.html("/a", "<p>a");
    jobs.world.site.html("/b", "<p>b");
    jobs.work();
    let trips = |jobs: &Jobs| jobs.world.scraper.tools().cpu.trips();
    let crawl = jobs.crawl(json!({ "url": jobs.url("/"), "sitemap": "skip", "limit": 10 })).await;
    assert_eq!((jobs.ended(&crawl::KIND, crawl).await.completed, trips(&jobs)), (3, 3));
    // A cache hit does not fetch either.
    let batch = jobs.batch(json!({ "urls": [jobs.url("/a"), jobs.url("/b")] })).await.unwrap();
    assert_eq!((jobs.ended(&batch::KIND, batch).await.completed, trips(&jobs)), (2, 5));
    jobs.world.scrape(&jobs.caller, "/a").await.unwrap();
    assert_eq!(trips(&jobs), 6);
    jobs.end().await;
}

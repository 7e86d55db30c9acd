//! Storage limits: of the cache, and of the disk.

use std::time::{Duration, Instant};

use app::{
    AppError, CacheSettings, CrawlsError, Operations, Settings, WorkerSettings, batch, crawl, maintain_once, worker,
};
use serde_json::json;
use store::cache as rows;
use store::jobs;
use store::runs::{self, PageState};
use tokio_util::sync::CancellationToken;
use wire::{CacheState, ScrapeOptions};

use crate::world::{DAY, World, large};

const HIT: Option<CacheState> = Some(CacheState::Hit);
const MISS: Option<CacheState> = Some(CacheState::Miss);

fn short() -> Settings {
    Settings { min_free: u64::MAX, folders: vec![std::env::temp_dir()], ..Settings::default() }
}

/// Timeout of a test's wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// Settings of a worker that processes one page at a time.
fn slow() -> WorkerSettings {
    WorkerSettings {
        slots: [("pages".to_owned(), 1), ("hooks".to_owned(), 1)].into(),
        per_host: 1,
        lease: Duration::from_secs(60),
        drain: Duration::from_secs(1),
    }
}

/// Runs a worker until the condition is true.
async fn work_until(operations: &Operations, is_so: impl AsyncFn() -> bool) {
    let (stop, began) = (CancellationToken::new(), Instant::now());
    let work = tokio::spawn(worker(operations, slow()).run(stop.clone()));
    while !is_so().await {
        assert!(began.elapsed() < PATIENCE, "it never is");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stop.cancel();
    work.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_copies_give_way_and_a_flood_is_not_kept() {
    let cache = CacheSettings { max_bytes: Some(10_000), ..CacheSettings::default() };
    let world = World::with_cache(Settings::default(), cache).await;
    let team = world.team(None).await;
    let page = |number: usize| format!("/{number}");
    for number in 0..12 {
        world.site.html(&page(number), format!("<p>{number:03}{}</p>", "x".repeat(1050 - 10)));
        world.scrape(&team, &page(number)).await.unwrap();
    }
    assert_eq!(world.cached_bytes().await, 10 * 1050, "a tenth over the size, no more is kept");
    assert_eq!(maintain_once(&world.operations).await.unwrap()["cache"], 2);
    assert_eq!(world.cached_bytes().await, 8 * 1050);
    assert_eq!(maintain_once(&world.operations).await.unwrap()["cache"], 0);
    let state = async |number| world.scrape(&team, &page(number)).await.unwrap().metadata.cache_state;
    assert_eq!(state(2).await, HIT, "younger than those that went");
    assert_eq!((state(0).await, state(0).await), (MISS, HIT), "there is room again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_nearly_full_takes_nothing_more() {
    let world = World::with(short()).await;
    let team = world.team(Some(100)).await;
    world.site.html("/", "<p>x</p>");
    for _ in 0..2 {
        assert_eq!(world.scrape(&team, "/").await.unwrap().metadata.cache_state, MISS);
    }
    assert_eq!(world.cached_bytes().await, 0);
    let url = world.site.url("/");
    let request = wire::decode_crawl(json!({ "url": url })).unwrap();
    assert!(matches!(
        crawl::start(&world.runs, &team, request, &wire::GivenFields::default(), None).await,
        Err(CrawlsError::App(AppError::StorageFull))
    ));
    let request = wire::decode_batch(json!({ "urls": [url] })).unwrap();
    assert!(matches!(
        batch::start(&world.runs, &team, request, &wire::GivenFields::default(), None).await,
        Err(CrawlsError::App(AppError::StorageFull))
    ));
    assert_eq!((world.balance(&team).await.reserved, world.balance(&team).await.spent), (0, 2));
}

/// A batch was accepted while there was room: its page then waits for a day.
#[tokio::test(flavor = "multi_thread")]
async fn pages_wait_for_room_and_then_fail_with_the_reason() {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    world.site.html("/", "<p>x</p>");
    let request = wire::decode_batch(json!({ "urls": [world.site.url("/")] })).unwrap();
    let id =
        batch::start(&world.runs, &team, request, &wire::GivenFields::default(), None).await.unwrap().id.to_string();
    let (full, stop) = (world.another(short()).await, CancellationToken::new());
    let work = tokio::spawn(worker(&full, slow()).run(stop.clone()));
    let mut conn = world.parts.store.conn().await.unwrap();
    let began = Instant::now();
    let mut waited = 0;
    let failed = loop {
        let failed = runs::listed(&mut conn, &id, PageState::Failed, "", 10).await.unwrap();
        if !failed.is_empty() {
            break failed;
        }
        assert!(began.elapsed() < PATIENCE, "the page does not fail");
        waited += 1;
        world.clock.advance(if waited == 50 { DAY } else { Duration::from_secs(10) });
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(waited > 50, "more than eight minutes without room are no reason to give up");
    assert_eq!((failed.len(), failed[0].code.as_deref()), (1, Some("STORAGE_FULL")));
    stop.cancel();
    work.await.unwrap();
    assert_eq!((world.asked(), world.balance(&team).await.available), (0, 10));
}

/// A page whose job is older than a day is not failed at the first moment without room.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_page_outlives_a_short_outage() {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    world.site.html("/", "<p>x</p>");
    let request = wire::decode_batch(json!({ "urls": [world.site.url("/")] })).unwrap();
    batch::start(&world.runs, &team, request, &wire::GivenFields::default(), None).await.unwrap();
    world.clock.advance(2 * DAY);
    let is_put_back = async || {
        let mut conn = world.parts.store.conn().await.unwrap();
        let left = jobs::list(&mut conn, jobs::Filter::default(), None, 10).await.unwrap();
        left.iter().any(|job| !job.is_running && job.attempt == 1)
    };
    work_until(&world.another(short()).await, is_put_back).await;
    world.clock.advance(Duration::from_secs(60));
    work_until(&world.operations, async || world.balance(&team).await.spent == 1).await;
    assert_eq!((world.asked(), world.balance(&team).await.available), (1, 9));
}

/// The sweep has decided to delete a body, and the same page is fetched before the deletion.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_comes_back_while_its_body_goes_is_whole_or_not_there() {
    let world = World::start().await;
    let team = world.team(None).await;
    world.site.html("/", large("same"));
    let conn = async || world.parts.store.conn().await.unwrap();
    let lockdown = || ScrapeOptions { lockdown: true, ..ScrapeOptions::default() };
    world.scrape(&team, "/").await.unwrap();
    let body = world.bodies().remove(0);

    // Fetched again between the expiry of the copy and the decision: the body stays.
    world.clock.advance(31 * DAY);
    assert_eq!(rows::expired(&mut conn().await, base::Clock::now(&world.clock), 9).await.unwrap().rows, 1);
    assert_eq!(world.scrape(&team, "/").await.unwrap().metadata.cache_state, MISS);
    assert_eq!(maintain_once(&world.operations).await.unwrap()["cache"], 0);
    assert_eq!(world.scrape_with(&team, "/", lockdown()).await.unwrap().metadata.cache_state, HIT);

    // Between the decision and the deletion no copy may refer to the body.
    world.clock.advance(31 * DAY);
    assert_eq!(rows::expired(&mut conn().await, base::Clock::now(&world.clock), 9).await.unwrap().rows, 1);
    let going = rows::delete_next(&mut conn().await, 9).await.unwrap();
    assert_eq!(going.len(), 1);
    assert_eq!(world.scrape(&team, "/").await.unwrap().metadata.cache_state, MISS);
    assert_eq!(rows::bytes(&mut conn().await).await.unwrap(), 0);
    std::fs::remove_file(&body).unwrap();
    rows::deleted(&mut conn().await, &going).await.unwrap();

    // After the deletion the page is cached as usual.
    assert_eq!(world.scrape(&team, "/").await.unwrap().metadata.cache_state, MISS);
    assert_eq!(world.scrape_with(&team, "/", lockdown()).await.unwrap().metadata.cache_state, HIT);
    assert!(body.exists());
}

/// A process is killed between its decision to delete bodies and the deletion.
#[tokio::test(flavor = "multi_thread")]
async fn bodies_of_a_sweep_that_was_broken_off_are_deleted_later() {
    let world = World::start().await;
    let team = world.team(None).await;
    world.site.html("/", large("x"));
    world.scrape(&team, "/").await.unwrap();
    world.clock.advance(31 * DAY);
    let mut conn = world.parts.store.conn().await.unwrap();
    rows::expired(&mut conn, base::Clock::now(&world.clock), 9).await.unwrap();
    assert_eq!(rows::delete_next(&mut conn, 9).await.unwrap().len(), 1);
    assert_eq!(world.bodies().len(), 1);
    assert_eq!(maintain_once(&world.operations).await.unwrap()["cache"], 1);
    assert!(world.bodies().is_empty());
}

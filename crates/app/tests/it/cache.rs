//! Cache hits, and the permitted age of copies.

use std::time::Duration;

use app::scrape::read;
use app::{AppError, CacheSettings, Refusal as _, ScrapingError, Settings};
use wire::{CacheState, Format, ScrapeOptions};

use crate::world::{DAY, World};

fn options() -> ScrapeOptions {
    ScrapeOptions::default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_serves_other_formats_without_a_fetch() {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    world.site.html("/page", "<title>T</title><main><h1>Hello</h1><a href='/x'>x</a></main>");
    let first = world.scrape(&team, "/page").await.unwrap();
    assert_eq!(first.metadata.cache_state, Some(CacheState::Miss));
    assert_eq!(first.metadata.cached_at, None);
    world.clock.advance(Duration::from_secs(90));
    let formats = vec![Format::Html, Format::Links];
    let second = world.scrape_with(&team, "/page", ScrapeOptions { formats, ..options() }).await.unwrap();
    assert_eq!(second.metadata.cache_state, Some(CacheState::Hit));
    assert_eq!(second.metadata.cached_at.as_deref(), Some("2026-01-01T00:00:00.000Z"));
    assert!(second.markdown.is_none() && second.html.unwrap().contains("Hello"));
    assert_eq!(second.links.unwrap(), [world.site.url("/x").to_string()]);
    assert_eq!((world.asked(), world.balance(&team).await.spent), (1, 2));
    assert_eq!(first.metadata.content_type, second.metadata.content_type);
    assert_ne!(first.metadata.scrape_id, second.metadata.scrape_id);
    assert_eq!((first.metadata.credits_used, second.metadata.credits_used), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scrape_can_be_read_for_a_day_while_its_copy_is_there() {
    let cache = |hours: u64| CacheSettings { retention: Duration::from_secs(hours * 3600), ..CacheSettings::default() };
    let world = World::with_cache(Settings::default(), cache(48)).await;
    let team = world.team(Some(10)).await;
    world.site.html("/page", "<title>T</title><main><h1>Hello</h1></main>");
    let first = world.scrape(&team, "/page").await.unwrap();
    world.clock.advance(Duration::from_secs(3600));
    let second = world.scrape(&team, "/page").await.unwrap();
    let again = async |document: &wire::Document| {
        let id = document.metadata.scrape_id.parse().unwrap();
        read(&world.scraper, &team, id).await.map(|(document, _)| document).map_err(|error| error.code())
    };
    assert_eq!(again(&first).await, Ok(first.clone()));
    assert_eq!(again(&second).await, Ok(second.clone()), "made from the copy of the first");
    world.clock.advance(Duration::from_secs(23 * 3600));
    assert_eq!(again(&first).await, Err(wire::Code::NotFound));
    assert_eq!(again(&second).await, Ok(second.clone()));
    assert_eq!((world.asked(), world.balance(&team).await.spent), (1, 2));

    let world = World::with_cache(Settings::default(), cache(1)).await;
    let team = world.team(None).await;
    world.site.html("/page", "<p>x</p>");
    let document = world.scrape(&team, "/page").await.unwrap();
    let id = document.metadata.scrape_id.parse().unwrap();
    assert_eq!(read(&world.scraper, &team, id).await.unwrap().0, document);
    world.clock.advance(Duration::from_secs(3601));
    app::maintain_once(&world.operations).await.unwrap();
    assert!(matches!(read(&world.scraper, &team, id).await, Err(ScrapingError::App(AppError::NotFound(_)))));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_copy_does_not_do() {
    let world = World::start().await;
    let team = world.team(None).await;
    world.site.html("/", "<p>x</p>");
    let state = async |max_age: Option<u64>| {
        let document = world.scrape_with(&team, "/", ScrapeOptions { max_age, ..options() }).await.unwrap();
        document.metadata.cache_state
    };
    assert_eq!(state(None).await, Some(CacheState::Miss));
    world.clock.advance(DAY);
    assert_eq!(state(None).await, Some(CacheState::Hit));
    assert_eq!(state(Some(3_600_000)).await, Some(CacheState::Miss));
    assert_eq!(state(Some(3_600_000)).await, Some(CacheState::Hit));
    world.clock.advance(3 * DAY);
    assert_eq!(state(None).await, Some(CacheState::Miss));
    // maxAge 0 does not read the cache, but the page is cached.
    world.clock.advance(3 * DAY);
    assert_eq!(state(Some(0)).await, None);
    assert_eq!(state(None).await, Some(CacheState::Hit));
    assert_eq!(world.asked(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn min_age_never_fetches() {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    world.site.html("/", "<p>x</p>");
    let at_least = |min_age| ScrapeOptions { min_age: Some(min_age), ..options() };
    let missing = world.scrape_with(&team, "/", at_least(1)).await;
    assert!(matches!(missing, Err(ScrapingError::NoCachedData)));
    assert_eq!((world.asked(), world.balance(&team).await.spent), (0, 0));
    world.scrape(&team, "/").await.unwrap();
    world.clock.advance(Duration::from_secs(10));
    assert!(matches!(world.scrape_with(&team, "/", at_least(20_000)).await, Err(ScrapingError::NoCachedData)));
    world.scrape_with(&team, "/", at_least(5_000)).await.unwrap();
    // minAge 1 accepts any copy, including one older than the default maxAge.
    world.clock.advance(10 * DAY);
    let old = world.scrape_with(&team, "/", at_least(1)).await.unwrap();
    assert_eq!(old.metadata.cache_state, Some(CacheState::Hit));
    let window = ScrapeOptions { max_age: Some(1000), ..at_least(1) };
    assert!(matches!(world.scrape_with(&team, "/", window).await, Err(ScrapingError::NoCachedData)));
    assert_eq!((world.asked(), world.balance(&team).await.available), (1, 7));
    // The value that the Python client adds, and an empty range, set no bound.
    for max_age in [14_400_000, 0, 1] {
        let both = ScrapeOptions { max_age: Some(max_age), ..at_least(1) };
        let old = world.scrape_with(&team, "/", both).await.unwrap();
        assert_eq!(old.metadata.cache_state, Some(CacheState::Hit), "{max_age}");
    }
    assert_eq!(world.asked(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn lockdown_pays_for_hits_and_misses() {
    let cache = CacheSettings { retention: 800 * DAY, ..CacheSettings::default() };
    let world = World::with_cache(Settings::default(), cache).await;
    let team = world.team(Some(20)).await;
    world.site.html("/", "<p>x</p>");
    let lockdown = || ScrapeOptions { lockdown: true, ..options() };
    assert!(matches!(world.scrape_with(&team, "/", lockdown()).await, Err(ScrapingError::LockdownMiss)));
    assert_eq!((world.asked(), world.balance(&team).await.spent), (0, 1));
    world.scrape(&team, "/").await.unwrap();
    world.clock.advance(700 * DAY);
    let hit = world.scrape_with(&team, "/", lockdown()).await.unwrap();
    assert_eq!(hit.metadata.credits_used, 5);
    let none = ScrapeOptions { max_age: Some(0), ..lockdown() };
    assert!(matches!(world.scrape_with(&team, "/", none).await, Err(ScrapingError::LockdownMiss)));
    assert_eq!((world.asked(), world.balance(&team).await.spent), (1, 1 + 1 + 5 + 1));
    assert_eq!(world.balance(&team).await.reserved, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn spellings_share_a_copy_and_variants_do_not() {
    let world = World::start().await;
    let team = world.team(None).await;
    for path in ["/a", "/a/", "/a/index.html"] {
        world.site.html(path, "<p>x</p>");
    }
    let state = async |path: &str, options: ScrapeOptions| {
        world.scrape_with(&team, path, options).await.unwrap().metadata.cache_state
    };
    assert_eq!(state("/a", options()).await, Some(CacheState::Miss));
    assert_eq!(state("/a/", options()).await, Some(CacheState::Hit));
    assert_eq!(state("/a/index.html#part", options()).await, Some(CacheState::Hit));
    let mobile = ScrapeOptions { mobile: true, ..options() };
    assert_eq!(state("/a", mobile.clone()).await, Some(CacheState::Miss));
    assert_eq!(state("/a", mobile).await, Some(CacheState::Hit));
    let plain = ScrapeOptions { only_main_content: false, timeout: 5000, ..options() };
    assert_eq!(state("/a", plain).await, Some(CacheState::Hit));
    assert_eq!(world.asked(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_sees_its_own_copies_unless_they_are_shared() {
    for (shared, expect) in [(false, 2), (true, 1)] {
        let cache = CacheSettings { shared, ..CacheSettings::default() };
        let world = World::with_cache(Settings::default(), cache).await;
        world.site.html("/", "<p>x</p>");
        for caller in [world.team(None).await, world.team(None).await] {
            world.scrape(&caller, "/").await.unwrap();
        }
        assert_eq!(world.asked(), expect, "shared: {shared}");
        assert_eq!(world.cached_bytes().await, 8, "one body serves all rows");
    }
}

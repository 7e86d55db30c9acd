//! Rules for what is cached, and the handling of damaged copies.

use app::{CacheSettings, Settings};
use testkit::{Reply, Script};
use wire::{CacheState, ScrapeOptions, ScrapeRequest};

use crate::world::{World, large};

async fn states(world: &World, options: &ScrapeOptions) -> [Option<CacheState>; 2] {
    let team = world.team(None).await;
    let mut states = [None; 2];
    for state in &mut states {
        *state = world.scrape_with(&team, "/", options.clone()).await.unwrap().metadata.cache_state;
    }
    states
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_kept_against_the_callers_will() {
    let world = World::start().await;
    world.site.html("/", "<p>x</p>");
    let miss = Some(CacheState::Miss);
    let unkept = ScrapeOptions { store_in_cache: false, ..Default::default() };
    assert_eq!(states(&world, &unkept).await, [miss, miss]);
    let headers = ScrapeOptions { headers: [("x-a".into(), "1".into())].into(), ..Default::default() };
    assert_eq!(states(&world, &headers).await, [None, None]);
    assert_eq!(world.cached_bytes().await, 0);
    assert_eq!(world.asked(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cache_can_be_off() {
    let cache = CacheSettings { enabled: false, ..CacheSettings::default() };
    let world = World::with_cache(Settings::default(), cache).await;
    world.site.html("/", "<p>x</p>");
    assert_eq!(states(&world, &ScrapeOptions::default()).await, [None, None]);
    assert_eq!(world.cached_bytes().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_in_the_url_are_used_and_never_kept() {
    let world = World::start().await;
    let team = world.team(None).await;
    world.site.html("/secret", "<p>x</p>");
    let mut url = world.site.url("/secret");
    url.set_username("me").unwrap();
    url.set_password(Some("URLPASS33")).unwrap();
    for _ in 0..2 {
        let document = app::scrape::scrape(&world.scraper, &team, ScrapeRequest::new(url.clone())).await.unwrap();
        assert_eq!(document.metadata.source_url, world.site.url("/secret").as_str());
        assert_eq!(document.metadata.cache_state, None);
    }
    let seen = world.site.requests();
    assert_eq!((seen.len(), seen[0].header("authorization")), (2, "Basic bWU6VVJMUEFTUzMz"));
    assert!(!world.stored("URLPASS33") && !crate::log::contains("URLPASS33"));
    assert_eq!(world.cached_bytes().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn passing_failures_are_not_repeated_and_lasting_ones_do_not_outvote_at_once() {
    let world = World::start().await;
    let team = world.team(None).await;
    let reply = |status| Script::Reply(Reply { status, body: "<p>x</p>".to_owned().into(), ..Reply::default() });
    world.site.script("/", [500, 200, 404, 404, 404, 500].map(reply).into());
    let status = async |max_age| {
        let options = ScrapeOptions { max_age, ..Default::default() };
        world.scrape_with(&team, "/", options).await.unwrap().metadata.status_code
    };
    assert_eq!(status(None).await, 500);
    assert_eq!(status(None).await, 200);
    for _ in 0..2 {
        assert_eq!(status(Some(0)).await, 404);
        assert_eq!(status(None).await, 200, "two errors do not outvote a good copy");
    }
    assert_eq!(status(Some(0)).await, 404);
    assert_eq!(status(None).await, 404, "three do");
    assert_eq!(world.asked(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_body_is_a_miss() {
    let world = World::start().await;
    world.site.html("/", large("x"));
    let team = world.team(None).await;
    world.scrape(&team, "/").await.unwrap();
    std::fs::remove_file(&world.bodies()[0]).unwrap();
    let again = world.scrape(&team, "/").await.unwrap();
    assert_eq!(again.metadata.cache_state, Some(CacheState::Miss));
    let third = world.scrape(&team, "/").await.unwrap();
    assert_eq!(third.metadata.cache_state, Some(CacheState::Hit));
    assert_eq!(world.asked(), 2);
}

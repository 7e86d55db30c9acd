//! Conditional requests: the site is asked whether the page of a stale copy has changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use app::auth::Caller;
use app::scrape::read;
use testkit::{Reply, Script, Seen, Site};
use wire::{CacheState, Document, ScrapeOptions};

use crate::world::{World, large};

const DATE: &str = "Mon, 02 Nov 2026 10:00:00 GMT";
const MINUTE: Duration = Duration::from_secs(60);

fn page(status: u16, body: &str) -> Reply {
    Reply { status, body: body.to_owned().into(), ..Reply::default() }.header("content-type", "text/html")
}

/// Serves `/` in versions, each with its `ETag`; the returned number sets the current one.
fn in_versions(site: &Site) -> Arc<AtomicUsize> {
    let version = Arc::new(AtomicUsize::new(1));
    let present = Arc::clone(&version);
    site.others(move |seen| {
        let number = present.load(Ordering::Relaxed);
        let etag = format!("\"v{number}\"");
        let reply = match seen.header("if-none-match") == etag {
            true => page(304, ""),
            false => page(200, &format!("<p>Version {number}</p>")),
        };
        Some(reply.header("etag", &etag))
    });
    version
}

async fn scrape(world: &World, team: &Caller, max_age: Option<u64>) -> Document {
    let options = ScrapeOptions { max_age, ..ScrapeOptions::default() };
    world.scrape_with(team, "/", options).await.unwrap()
}

/// Returns the path and the validator of each request.
fn conditions(world: &World) -> Vec<(String, String)> {
    let condition = |seen: &Seen| (seen.path.clone(), seen.header("if-none-match").to_owned());
    world.site.requests().iter().map(condition).collect()
}

fn told(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(path, etag)| ((*path).to_owned(), (*etag).to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_page_is_not_sent_again() {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    let version = in_versions(&world.site);
    let first = scrape(&world, &team, None).await;
    assert_eq!((first.markdown.as_deref(), first.metadata.cache_state), (Some("Version 1"), Some(CacheState::Miss)));

    world.clock.advance(MINUTE);
    let fresh = scrape(&world, &team, Some(30_000)).await;
    assert_eq!((fresh.markdown.as_deref(), fresh.metadata.cache_state), (Some("Version 1"), Some(CacheState::Miss)));
    assert_eq!((fresh.metadata.status_code, fresh.metadata.credits_used), (200, 1));
    assert_eq!((&fresh.metadata.cached_at, &fresh.warning), (&None, &first.warning));
    assert_eq!(fresh.metadata.content_type, first.metadata.content_type);
    let id = fresh.metadata.scrape_id.parse().unwrap();
    assert_eq!(read(&world.scraper, &team, id).await.unwrap().0, fresh);

    // The age of a revalidated copy counts from the 304.
    world.clock.advance(Duration::from_secs(10));
    let hit = scrape(&world, &team, Some(30_000)).await;
    assert_eq!(hit.metadata.cache_state, Some(CacheState::Hit));
    assert_eq!(hit.metadata.cached_at.as_deref(), Some("2026-01-01T00:01:00.000Z"));

    world.clock.advance(MINUTE);
    let still = scrape(&world, &team, Some(30_000)).await;
    assert_eq!((still.markdown.as_deref(), still.metadata.cache_state), (Some("Version 1"), Some(CacheState::Miss)));
    version.store(2, Ordering::Relaxed);
    world.clock.advance(MINUTE);
    let changed = scrape(&world, &team, Some(30_000)).await;
    assert_eq!((changed.markdown.as_deref(), changed.metadata.status_code), (Some("Version 2"), 200));
    let known = ("/", "\"v1\"");
    assert_eq!(conditions(&world), told(&[("/", ""), known, known, known]));
    assert_eq!(world.balance(&team).await.spent, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_date_alone_does() {
    let world = World::start().await;
    let team = world.team(None).await;
    let replies = [page(200, "<p>Dated</p>").header("last-modified", DATE), page(304, "")];
    world.site.script("/", replies.map(Script::Reply).into());
    for _ in 0..3 {
        world.clock.advance(MINUTE);
        let document = scrape(&world, &team, Some(30_000)).await;
        assert_eq!((document.markdown.as_deref(), document.metadata.status_code), (Some("Dated"), 200));
    }
    let dates: Vec<String> =
        world.site.requests().iter().map(|seen| seen.header("if-modified-since").to_owned()).collect();
    assert_eq!(dates, ["", DATE, DATE], "the date stays though a 304 has none");
    assert!(conditions(&world).iter().all(|(_, etag)| etag.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_copy_cannot_be_read_is_fetched() {
    let world = World::start().await;
    let team = world.team(None).await;
    let page = |status, body: &str| Script::Reply(page(status, body).header("etag", "\"v1\""));
    let body = large("Long");
    world.site.script("/", vec![page(200, &body), page(304, ""), page(200, &body)]);
    scrape(&world, &team, None).await;
    std::fs::remove_file(&world.bodies()[0]).unwrap();
    world.clock.advance(MINUTE);
    let document = scrape(&world, &team, Some(30_000)).await;
    assert!(document.metadata.status_code == 200 && document.markdown.unwrap().starts_with("Long"));
    assert_eq!(conditions(&world), told(&[("/", ""), ("/", "\"v1\""), ("/", "")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_go_to_the_address_of_the_copy_alone() {
    let world = World::start().await;
    let team = world.team(None).await;
    let to_other = page(302, "").header("location", "/other");
    // A copy whose page was redirected.
    world.site.respond("/away", to_other.clone());
    let tagged = page(200, "<p>Other</p>").header("etag", "\"o1\"");
    world.site.script("/other", [tagged.clone(), tagged, page(304, "")].map(Script::Reply).into());
    let fresh = || {
        world.clock.advance(MINUTE);
        ScrapeOptions { max_age: Some(1000), ..ScrapeOptions::default() }
    };
    for _ in 0..2 {
        world.scrape_with(&team, "/away", fresh()).await.unwrap();
    }
    let round = [("/away", ""), ("/other", "")];
    assert_eq!(conditions(&world), told(&[round, round].concat()));
    // A page that has moved since: the redirect target was not asked with the validator, so its 304 is the page itself.
    let page = page(200, "<p>Here</p>").header("etag", "\"h1\"");
    world.site.script("/here", [page, to_other].map(Script::Reply).into());
    world.scrape_with(&team, "/here", fresh()).await.unwrap();
    let moved = world.scrape_with(&team, "/here", fresh()).await.unwrap();
    assert_eq!(moved.metadata.status_code, 304);
    assert_ne!(moved.markdown.as_deref(), Some("Here"));
    assert_eq!(conditions(&world)[4..], told(&[("/here", ""), ("/here", "\"h1\""), ("/other", "")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_nothing_to_do_with_the_cache_asks_for_the_page() {
    let world = World::start().await;
    let (team, other) = (world.team(None).await, world.team(None).await);
    in_versions(&world.site);
    let fresh = || {
        world.clock.advance(MINUTE);
        ScrapeOptions { max_age: Some(1000), ..ScrapeOptions::default() }
    };
    world.scrape_with(&team, "/", fresh()).await.unwrap();
    for options in [
        ScrapeOptions { max_age: Some(0), ..fresh() },
        ScrapeOptions { max_age: Some(0), store_in_cache: false, ..fresh() },
        ScrapeOptions { headers: [("x-a".into(), "1".into())].into(), ..fresh() },
        ScrapeOptions { mobile: true, ..fresh() },
    ] {
        world.scrape_with(&team, "/", options).await.unwrap();
    }
    world.scrape_with(&other, "/", fresh()).await.unwrap();
    assert_eq!(conditions(&world), told(&[("/", ""); 6]));
    // A copy that may be read, though the result is not cached again.
    world.clock.advance(MINUTE);
    let unkept = || ScrapeOptions { store_in_cache: false, max_age: Some(1000), ..ScrapeOptions::default() };
    for _ in 0..2 {
        let document = world.scrape_with(&team, "/", unkept()).await.unwrap();
        assert_eq!((document.markdown.as_deref(), document.metadata.status_code), (Some("Version 1"), 200));
    }
    assert_eq!(conditions(&world)[6..], told(&[("/", "\"v1\""); 2]));
}

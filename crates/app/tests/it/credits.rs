//! Cost of scrapes: no credits are lost or charged twice.

use std::time::Duration;

use ::scrape::ScrapeError;
use app::{AppError, ScrapingError, scrape::scrape};
use billing::Balance;
use futures_util::future::join_all;
use testkit::Reply;
use url::Url;
use wire::{ScrapeOptions, ScrapeRequest};

use crate::world::World;

fn slow(delay: Duration) -> Reply {
    Reply { delay, body: "<p>x</p>".to_owned().into(), ..Reply::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_scrapes_on_ten_credits() {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    world.site.respond("/", slow(Duration::from_millis(50)));
    let results = join_all((0..64).map(|_| world.scrape(&team, "/"))).await;
    let ok = results.iter().filter(|result| result.is_ok()).count();
    let refused = |result: &&Result<_, _>| {
        matches!(result, Err(ScrapingError::App(AppError::InsufficientCredits { needed: 1, .. })))
    };
    assert_eq!((ok, results.iter().filter(refused).count()), (10, 54));
    assert_eq!(world.balance(&team).await, Balance { available: 0, reserved: 0, spent: 10, granted: 10 });
    assert!(world.asked() <= 10, "a refused scrape fetches nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_cost_nothing() {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    world.site.respond("/slow", slow(Duration::from_secs(30)));
    world.site.respond("/zip", Reply { body: "PK\u{3}\u{4}zip".to_owned().into(), ..Reply::default() });
    let quick = ScrapeOptions { timeout: 1000, ..Default::default() };
    let late = world.scrape_with(&team, "/slow", quick).await;
    assert!(matches!(late, Err(ScrapingError::App(AppError::Timeout))), "{late:?}");
    let file = world.scrape(&team, "/zip").await;
    assert!(matches!(file, Err(ScrapingError::Scrape(ScrapeError::UnsupportedFile { .. }))), "{file:?}");
    let blocked = ScrapeRequest::new(Url::parse("http://127.0.0.1:1/").unwrap());
    let blocked = scrape(&world.scraper, &team, blocked).await;
    assert!(matches!(blocked, Err(ScrapingError::Scrape(ScrapeError::Fetch(_)))), "{blocked:?}");
    assert_eq!(world.balance(&team).await, Balance { available: 10, reserved: 0, spent: 0, granted: 10 });
    assert_eq!(world.parts.active.total(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_page_is_a_page() {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    let missing = world.scrape(&team, "/nowhere").await.unwrap();
    assert_eq!((missing.metadata.status_code, missing.metadata.credits_used), (404, 1));
    assert_eq!(world.balance(&team).await.spent, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_pays_nothing() {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    world.site.respond("/slow", slow(Duration::from_secs(30)));
    let running = tokio::spawn({
        let (scraper, team, request) = (world.scraper.clone(), team.clone(), world.request("/slow"));
        async move { scrape(&scraper, &team, request).await }
    });
    while world.asked() == 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let held = world.balance(&team).await;
    assert_eq!((held.available, held.reserved, world.parts.active.count(&team.team.id)), (9, 1, 1));
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    world.app.drain().await;
    assert_eq!(world.balance(&team).await, Balance { available: 10, reserved: 0, spent: 0, granted: 10 });
    assert_eq!(world.parts.active.total(), 0);
    assert!(matches!(world.scrape(&team, "/").await, Err(ScrapingError::App(AppError::ShuttingDown))));
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_up_at_any_moment_leaves_the_books_balanced() {
    let world = World::start().await;
    let team = world.team(Some(1000)).await;
    world.site.respond("/", slow(Duration::from_millis(3)));
    let cut = |after: u64| tokio::time::timeout(Duration::from_micros(after), world.scrape(&team, "/"));
    let done = join_all((0..80).map(|step| cut(step * 400))).await.into_iter().filter(Result::is_ok).count();
    world.app.drain().await;
    let balance = world.balance(&team).await;
    assert_eq!((balance.reserved, balance.available + balance.spent), (0, 1000));
    assert!(balance.spent >= i64::try_from(done).unwrap(), "{done} answers, {balance:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_without_limit_is_charged_all_the_same() {
    let world = World::start().await;
    let team = world.team(None).await;
    world.site.html("/", "<p>x</p>");
    assert_eq!(world.scrape(&team, "/").await.unwrap().metadata.credits_used, 1);
    assert_eq!(world.balance(&team).await, Balance { available: 0, reserved: 0, spent: 1, granted: 1 });
    let gone = ScrapeOptions { min_age: Some(u64::MAX), ..Default::default() };
    assert!(world.scrape_with(&team, "/", gone).await.is_err());
    assert_eq!(world.balance(&team).await.spent, 1);
}

/// Waiting bookings are written in groups, and one by one when a group cannot be written.
#[tokio::test(flavor = "multi_thread")]
async fn bookings_of_many_requests_are_all_written() {
    let world = World::start().await;
    let (limited, unlimited) = (world.team(Some(1000)).await, world.team(None).await);
    world.site.html("/", "<p>x</p>");
    for point in ["off", "return"] {
        fail::cfg("bookings_together", point).unwrap();
        let scrapes = (0..40).map(|number| world.scrape(if number % 2 == 0 { &limited } else { &unlimited }, "/"));
        let failed: Vec<_> = join_all(scrapes).await.into_iter().filter_map(Result::err).collect();
        assert!(failed.is_empty(), "{point}: {failed:?}");
    }
    fail::remove("bookings_together");
    assert_eq!(world.balance(&limited).await, Balance { available: 960, reserved: 0, spent: 40, granted: 1000 });
    assert_eq!(world.balance(&unlimited).await, Balance { available: 0, reserved: 0, spent: 40, granted: 40 });
}

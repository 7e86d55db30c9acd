//! Tests of the numbers of browsers and visits.

use std::time::Duration;

use browser::{BrowserError, Settings, Visit};
use testkit::{Reply, Script};
use tokio::time::Instant;

use crate::world::{World, group, plain, within};

fn slow(milliseconds: u64) -> Vec<Script> {
    let reply = Reply { body: "<p>slow".into(), delay: Duration::from_millis(milliseconds), ..Reply::default() };
    vec![Script::Reply(reply.header("content-type", "text/html"))]
}

#[tokio::test]
async fn no_browser_is_started_before_it_is_needed_or_kept_after() {
    let world = World::with(Settings { idle: Duration::from_secs(1), ..Settings::default() }).await;
    assert_eq!(world.browser.counts(), browser::Counts::default());
    world.page("<p>x").await.unwrap();
    let leader = world.browser.pids()[0];
    assert_eq!(world.browser.counts().processes, 1);
    within(6, || world.browser.counts().processes == 0).await;
    within(3, || group(leader).is_empty()).await;
    world.page("<p>x").await.unwrap();
    assert_eq!(world.browser.counts().launched, 2);
}

#[tokio::test]
async fn places_are_bounded_and_waiting_is_told() {
    let world = World::with(Settings { contexts: 1, waiting: 1, ..Settings::default() }).await;
    world.site.html("/warm", "<p>x");
    world.path("/warm").await.unwrap();
    world.quiet().await;
    world.site.script("/slow", slow(1000));
    let url = world.url("/slow");
    let visit = plain(&url);
    let third = async {
        within(5, || world.browser.counts().waiting == 1).await;
        world.visit(&visit).await.err().unwrap()
    };
    let (one, two, error) = tokio::join!(world.visit(&visit), world.visit(&visit), third);
    assert!(matches!(error, BrowserError::Unavailable { .. }), "{error}");
    let waited = [one, two].map(|visited| visited.unwrap().rendered.waited);
    assert!(waited.iter().any(|time| *time > Duration::from_millis(700)), "{waited:?}");
    assert!(waited.iter().any(|time| *time < Duration::from_millis(300)), "{waited:?}");
    assert_eq!(world.browser.counts().launched, 1);
}

#[tokio::test]
async fn waiting_counts_into_the_deadline() {
    let world = World::with(Settings { contexts: 1, ..Settings::default() }).await;
    world.site.script("/slow", slow(4000));
    let url = world.url("/slow");
    let visit = plain(&url);
    let hurried = async {
        within(5, || world.asked() == ["/slow"]).await;
        let began = Instant::now();
        let visit = Visit { deadline: began + Duration::from_millis(500), ..plain(&url) };
        (world.visit(&visit).await.err().unwrap(), began.elapsed())
    };
    let (_, (error, took)) = tokio::join!(world.visit(&visit), hurried);
    assert!(matches!(error, BrowserError::Timeout) && took < Duration::from_secs(1), "{error} {took:?}");
}

#[tokio::test]
async fn a_visit_that_is_dropped_leaves_nothing() {
    let world = World::start().await;
    world.site.script("/hang", vec![Script::Hang(Duration::from_secs(60))]);
    world.page("<p>x").await.unwrap();
    let leader = world.browser.pids()[0];
    world.quiet().await;
    let url = world.url("/hang");
    // Dropped at several stages: while the context is created, and later.
    for milliseconds in [0, 1, 3, 10, 30, 100, 300, 600] {
        let visit = plain(&url);
        let visits = (0..4).map(|_| world.visit(&visit));
        let all = futures_util::future::join_all(visits);
        let _ = tokio::time::timeout(Duration::from_millis(milliseconds), all).await;
    }
    world.quiet().await;
    let renderers = || group(leader).iter().filter(|(_, line)| line.contains("--type=renderer")).count();
    within(5, || renderers() <= 1).await;
    assert!(world.page("<p>x").await.is_ok());
    assert_eq!(world.browser.counts().launched, 1);
}

#[tokio::test]
async fn browsers_are_replaced_after_so_many_pages() {
    let world = World::with(Settings { max_pages: 3, contexts: 2, ..Settings::default() }).await;
    world.site.html("/page", "<p>x");
    for _ in 0..7 {
        world.path("/page").await.unwrap();
    }
    assert_eq!(world.browser.counts().launched, 3);
    world.quiet().await;
    assert!(world.browser.counts().processes <= 1);
}

/// The memory is checked within a browser's first second; a limit of 0 taken literally would end it.
#[tokio::test]
async fn without_a_limit_of_memory_a_browser_lasts() {
    let world = World::with(Settings { max_memory: 0, ..Settings::default() }).await;
    world.page("<p>x").await.unwrap();
    tokio::time::sleep(Duration::from_secs(4)).await;
    world.page("<p>x").await.unwrap();
    assert_eq!(world.browser.counts().launched, 1);
}

#[tokio::test]
async fn more_browsers_when_there_may_be_more() {
    let world = World::with(Settings { processes: 2, contexts: 1, ..Settings::default() }).await;
    world.site.script("/slow", slow(2000));
    let url = world.url("/slow");
    let visit = plain(&url);
    let both = futures_util::future::join_all((0..2).map(|_| world.visit(&visit))).await;
    assert!(both.iter().all(Result::is_ok));
    assert_eq!(world.browser.counts().processes, 2);
}

//! Tests of pages that stay open after their visits.

use std::sync::Arc;
use std::time::Duration;

use browser::{OwnHeaders, Settings};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::world::{World, plain, within};

const PAGE: &str = "<title>Held</title><p>A page that is held, and found again as it was left.</p>";

async fn keep(world: &World, name: &str) {
    world.site.html("/held", PAGE);
    let (url, headers): (_, OwnHeaders) = (world.url("/held"), Arc::new(|_| Vec::new()));
    world.browser.visit_and_keep(&plain(&url), headers, name).await.unwrap();
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

#[tokio::test]
async fn a_held_page_is_found_once_and_outlives_its_hold() {
    let world = World::with(Settings { hold: Duration::from_secs(2), ..Settings::default() }).await;
    keep(&world, "a").await;
    assert!(world.browser.resume("b", later()).is_none());
    let session = world.browser.resume("a", later()).unwrap();
    assert!(world.browser.resume("a", later()).is_none(), "it is somebody's");
    assert_eq!(world.browser.counts().contexts, 0, "it waits in no line and takes no place");
    let hands = session.hands().await.unwrap();
    let count = json!({ "code": "() => { window.n = (window.n ?? 0) + 1; return window.n; }", "function": true });
    assert_eq!(hands.call("evaluate", &count, later()).await.unwrap(), 1);
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(session.hands().await.unwrap().call("evaluate", &count, later()).await.unwrap(), 2);
    assert_eq!(world.asked(), ["/held"], "nothing was asked for again");
    // Later requests still use the proxy of the visit.
    world.site.html("/next", "<title>Next</title>");
    let next = json!({ "url": world.url("/next").as_str() });
    hands.call("goto", &next, later()).await.unwrap();
    assert_eq!(hands.call("title", &json!({}), later()).await.unwrap(), "Next");
    session.close().await;
    assert!(hands.call("title", &json!({}), later()).await.is_err());
    world.page("<p>The browser goes on.").await.unwrap();
    assert_eq!(world.browser.counts().launched, 1);
}

#[tokio::test]
async fn a_hold_ends_with_its_time() {
    let world = World::with(Settings { hold: Duration::from_secs(1), ..Settings::default() }).await;
    keep(&world, "a").await;
    assert_eq!(world.browser.counts().contexts, 1);
    within(4, || world.browser.counts().contexts == 0).await;
    assert!(world.browser.resume("a", later()).is_none());
    let none = World::with(Settings { hold: Duration::ZERO, ..Settings::default() }).await;
    keep(&none, "a").await;
    none.quiet().await;
    assert!(none.browser.resume("a", later()).is_none());
}

#[tokio::test]
async fn a_held_page_gives_way() {
    let world = World::with(Settings { contexts: 1, ..Settings::default() }).await;
    keep(&world, "a").await;
    let visited = world.page("<p>Another page.").await.unwrap();
    assert!(visited.rendered.waited < Duration::from_secs(2), "{:?}", visited.rendered.waited);
    assert!(world.browser.resume("a", later()).is_none());
    // A resumed page is not evicted, and holds no slot.
    keep(&world, "b").await;
    let session = world.browser.resume("b", later()).unwrap();
    world.page("<p>Another page.").await.unwrap();
    let title = session.hands().await.unwrap().call("title", &Value::Object(serde_json::Map::new()), later()).await;
    assert_eq!(title.unwrap(), "Held");
}

//! Change tracking: what is kept, for how long, and extracted values.

use std::sync::Arc;

use app::auth::Caller;
use app::{Operations, maintain_once, scrape::scrape};
use async_trait::async_trait;
use scrape::{Extract, Question};
use serde_json::{Value, json};
use wire::{ChangeStatus, ChangeTracking, Document, ScrapeOptions, ScrapeRequest};

use crate::world::{DAY, World, large};

fn options(format: Value) -> ScrapeOptions {
    let mut format = format;
    format["type"] = json!("changeTracking");
    wire::decode_options(json!({ "formats": ["markdown", format] })).unwrap()
}

async fn track(world: &World, caller: &Caller, path: &str) -> ChangeStatus {
    let document = world.scrape_with(caller, path, options(json!({}))).await.unwrap();
    document.change_tracking.unwrap().unwrap().change_status
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_leave_with_their_bodies() {
    let world = World::start().await;
    let team = world.team(None).await;
    for path in ["/a", "/b"] {
        world.site.html(path, large(path));
        assert_eq!(track(&world, &team, path).await, ChangeStatus::New);
    }
    assert_eq!((world.bodies().len(), world.cached_bytes().await), (2, 0), "they are none of the cache");
    world.clock.advance(300 * DAY);
    assert_eq!(track(&world, &team, "/a").await, ChangeStatus::Same);
    world.clock.advance(66 * DAY);
    let removed = maintain_once(&world.operations).await.unwrap();
    assert_eq!((removed["versions"], world.bodies().len()), (1, 1));
    assert_eq!(track(&world, &team, "/a").await, ChangeStatus::Same);
    assert_eq!(track(&world, &team, "/b").await, ChangeStatus::New);
    world.site.html("/a", large("another"));
    assert_eq!(track(&world, &team, "/a").await, ChangeStatus::Changed);
    maintain_once(&world.operations).await.unwrap();
    assert_eq!(world.bodies().len(), 2, "only those of the latest versions");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_scrapes_leave_the_series_alone() {
    let world = World::start().await;
    let team = world.team(None).await;
    world.site.html("/a", "<p>one");
    assert_eq!(track(&world, &team, "/a").await, ChangeStatus::New);
    let broken = testkit::Script::Raw("this is not HTTP".into());
    world.site.script("/a", vec![broken]);
    assert!(world.scrape_with(&team, "/a", options(json!({}))).await.is_err());
    world.site.html("/a", "<p>one");
    assert_eq!(track(&world, &team, "/a").await, ChangeStatus::Same);
    // A team without credits left is refused.
    let poor = world.team(Some(1)).await;
    assert_eq!(track(&world, &poor, "/a").await, ChangeStatus::New);
    assert!(world.scrape_with(&poor, "/a", options(json!({}))).await.is_err());
}

/// Returns the number behind `price` in the page.
struct Prices;

#[async_trait]
impl Extract for Prices {
    async fn extract(&self, question: &Question<'_>) -> Result<Value, String> {
        let price = question.page.markdown.split("price ").nth(1).and_then(|rest| rest.split_whitespace().next());
        price.map(|price| json!({ "price": price })).ok_or_else(|| "the page has no price".to_owned())
    }
}

async fn extract(operations: &Operations, caller: &Caller, request: ScrapeRequest) -> (Document, ChangeTracking) {
    let format = json!({ "modes": ["json"], "schema": { "type": "object" } });
    let request = ScrapeRequest { options: options(format), ..request };
    let mut document = scrape(&operations.scraper, caller, request).await.unwrap();
    let tracking = document.change_tracking.take().unwrap().unwrap();
    (document, tracking)
}

#[tokio::test(flavor = "multi_thread")]
async fn extracted_values_are_kept_and_compared() {
    let world = World::start().await;
    let operations = world.extracting(Arc::new(Prices)).await;
    let team = world.team(Some(100)).await;
    let check = async |text: &str, status: ChangeStatus, json: Option<Value>| {
        world.site.html("/a", format!("<p>{text}"));
        let (document, tracking) = extract(&operations, &team, world.request("/a")).await;
        assert_eq!((tracking.change_status, tracking.json), (status, json), "{text}");
        document.warning.unwrap_or_default()
    };
    check("price 12", ChangeStatus::New, None).await;
    let changed = json!({ "price": { "previous": "12", "current": "21" } });
    check("price 21", ChangeStatus::Changed, Some(changed)).await;
    check("The price 21", ChangeStatus::Changed, Some(json!({}))).await;
    check("The price 21", ChangeStatus::Same, None).await;
    let warning = check("Sold out", ChangeStatus::Changed, None).await;
    assert!(warning.contains("the page has no price"), "{warning}");
}

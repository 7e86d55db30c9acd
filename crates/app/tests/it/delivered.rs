//! The price of a document is that of what was delivered: an extra without a result is not charged.
//!
//! The services of these tests claim to have models, media and redaction, so they accept requests for extras that they
//! then cannot deliver.

use std::time::Duration;

use app::auth::Caller;
use app::{Operations, QUEUES, WorkerSettings, batch, parse, runs, scrape::scrape, worker};
use billing::Balance;
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use wire::Capability::{Answers, Injection, Media, Model, Redaction};
use wire::{GivenFields, JobStatus, ResultsQuery, ScrapeBody};

use crate::world::World;

/// Requested extras of 4 credits each.
const EXTRAS: i64 = 5;

fn formats() -> Value {
    json!(["markdown", "links", { "type": "json", "prompt": "?" }, { "type": "question", "question": "?" }, { "type": "highlights", "query": "?" }])
}

async fn start() -> (World, Operations, Caller) {
    let world = World::start().await;
    let team = world.team(Some(100)).await;
    world.site.html("/", "<h1>Granite</h1>");
    let operations = world.able([Answers, Injection, Media, Model, Redaction].into_iter().collect()).await;
    (world, operations, team)
}

async fn check_spent(world: &World, team: &Caller, spent: i64) {
    assert_eq!(world.balance(team).await, Balance { available: 100 - spent, reserved: 0, spent, granted: 100 });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scrape_costs_what_it_delivers() {
    let (world, operations, team) = start().await;
    let body =
        json!({ "url": world.site.url("/"), "formats": formats(), "redactPII": true, "checkPromptInjection": true });
    let ScrapeBody::Page(request) = wire::decode_scrape(body).unwrap() else { panic!("a page") };
    assert_eq!(billing::quote(&request.options), 1 + 4 * EXTRAS);
    let document = scrape(&operations.scraper, &team, *request).await.unwrap();
    assert_eq!(document.markdown.as_deref(), Some("# Granite"));
    assert_eq!((document.json, document.metadata.credits_used), (None, 1));
    check_spent(&world, &team, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_a_batch_costs_what_it_delivers() {
    let (world, operations, team) = start().await;
    let urls = [world.site.url("/"), world.site.url("/?2")];
    let body = json!({ "urls": urls, "formats": formats(), "redactPII": true, "checkPromptInjection": true });
    let (request, given) = (wire::decode_batch(body.clone()).unwrap(), GivenFields::of(&body));
    let id = batch::start(&operations.runs, &team, request, &given, None).await.unwrap().id;
    assert_eq!(world.balance(&team).await.reserved, 2 * (1 + 4 * EXTRAS));
    let slots = QUEUES.iter().map(|queue| (queue.name.to_owned(), 4)).collect();
    let settings = WorkerSettings { slots, per_host: 4, lease: Duration::from_secs(60), drain: Duration::ZERO };
    let stop = CancellationToken::new();
    let working = tokio::spawn(worker(&operations, settings).run(stop.clone()));
    let ended = loop {
        let status = runs::status(&operations.runs, &team, &batch::KIND, id, ResultsQuery::default()).await.unwrap();
        if status.status != JobStatus::Scraping {
            break status;
        }
        sleep(Duration::from_millis(10)).await;
    };
    stop.cancel();
    working.await.unwrap();
    assert_eq!((ended.completed, ended.credits_used), (2, 2));
    let documents: Vec<Value> = ended.documents.iter().map(|raw| serde_json::from_str(raw.get()).unwrap()).collect();
    assert!(documents.iter().all(|document| document["metadata"]["creditsUsed"] == 1), "{documents:?}");
    check_spent(&world, &team, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parsed_file_costs_what_it_delivers() {
    let (world, operations, team) = start().await;
    let request = wire::decode_parse(json!({ "formats": formats() })).unwrap();
    assert_eq!(billing::quote(&request.options), 13);
    let upload = parse::Upload {
        name: "stone.md".to_owned(),
        content_type: None,
        bytes: "# Granite".into(),
        room: net::Room::default(),
    };
    let (document, _room) = parse::parse(&operations.scraper, &team, request, upload).await.unwrap();
    assert_eq!(document.markdown.as_deref(), Some("# Granite"));
    assert_eq!(document.metadata.credits_used, 1);
    check_spent(&world, &team, 1).await;
}

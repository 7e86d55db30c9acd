//! `appendToId`: added pages are scraped, charged and deduplicated by the rules of the batch.

use boot::config::AuthMode;
use e2e::{Answer, Client, TestApp};
use http::Method;
use serde_json::{Value, json};

/// Starts a service without workers, so that every batch stays open.
async fn idle() -> TestApp {
    TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        config.worker.embedded = false;
    })
    .await
}

async fn start(team: &Client, body: Value) -> String {
    let started = team.post("/v2/batch/scrape", &body).await;
    assert_eq!(started.status, 200, "{}", started.body);
    started.body["id"].as_str().unwrap().to_owned()
}

async fn total(team: &Client, id: &str) -> i64 {
    team.get(&format!("/v2/batch/scrape/{id}")).await.body["total"].as_i64().unwrap()
}

async fn left(team: &Client) -> Value {
    team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].clone()
}

async fn keyed(team: &Client, key: &str, body: &Value) -> Answer {
    let request = team.request(Method::POST, "/v2/batch/scrape").header("x-idempotency-key", key);
    let request = request.header("content-type", "application/json");
    team.send(request, body.to_string().into()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_differs_from_the_batch_is_refused_by_name() {
    let app = idle().await;
    let team = app.team(Some(100), json!({"zeroDataRetention": true})).await;
    let batch = json!({
        "urls": [app.page("/a")], "formats": ["html"], "maxConcurrency": 3, "webhook": app.page("/hook"),
        "onlyMainContent": false, "maxAge": 5000,
    });
    let id = start(&team, batch.clone()).await;
    for (field, value) in [
        ("lockdown", json!(true)),
        ("zeroDataRetention", json!(true)),
        ("formats", json!(["markdown"])),
        ("onlyMainContent", json!(true)),
        ("maxAge", json!(172_800_000)),
        ("headers", json!({"Cookie": "x"})),
        ("webhook", json!("http://other.test/hook")),
        ("maxConcurrency", json!(4)),
        ("storeInCache", json!(false)),
    ] {
        let mut more = json!({"urls": [app.page("/b")], "appendToId": id});
        more[field] = value;
        let refused = team.post("/v2/batch/scrape", &more).await;
        assert_eq!((refused.status, refused.code()), (400, "BAD_REQUEST"), "{more}: {}", refused.body);
        assert_eq!(refused.body["details"][0]["path"], field, "{}", refused.body);
    }
    assert_eq!((total(&team, &id).await, left(&team).await), (1, json!(99)), "nothing was added or paid");
    let mut same = batch;
    same["urls"] = json!([app.page("/b")]);
    same["appendToId"] = json!(id);
    let plain = json!({"urls": [app.page("/c")], "appendToId": id, "origin": "python-sdk@4", "integration": null});
    for more in [same, plain] {
        let added = team.post("/v2/batch/scrape", &more).await;
        assert_eq!((added.status, added.body["id"].as_str()), (200, Some(id.as_str())), "{}", added.body);
    }
    assert_eq!((total(&team, &id).await, left(&team).await), (3, json!(97)));
    assert_eq!(team.delete(&format!("/v2/batch/scrape/{id}")).await.status, 200);
    assert_eq!(left(&team).await, 100);
    // Its events are never delivered.
    app.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_cost_what_the_batch_makes_of_them() {
    let app = idle().await;
    let team = app.team(Some(12), json!({})).await;
    let id = start(&team, json!({"urls": [app.page("/a")], "lockdown": true})).await;
    let more = |pages: usize| {
        let urls: Vec<String> = (0..pages).map(|n| app.page(&format!("/{n}"))).collect();
        json!({"urls": urls, "appendToId": id})
    };
    assert_eq!(left(&team).await, 7);
    assert_eq!(team.post("/v2/batch/scrape", &more(1)).await.status, 200);
    assert_eq!(left(&team).await, 2, "a page of a lockdown batch may cost 5, whatever the request says");
    let refused = team.post("/v2/batch/scrape", &more(3)).await;
    assert_eq!((refused.status, refused.code()), (402, "insufficient_credits"));
    let said = refused.body["error"].as_str().unwrap();
    assert!(said.contains("needs 15 and the team has 2"), "the new pages alone: {said}");
    assert_eq!((total(&team, &id).await, left(&team).await), (2, json!(2)));
    assert_eq!(team.delete(&format!("/v2/batch/scrape/{id}")).await.status, 200);
    assert_eq!(left(&team).await, 12);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_call_adds_nothing() {
    let app = TestApp::with_keys().await;
    app.site.others(|_| Some(crate::crawl::page("<p>words")));
    // The batch stays open until this is dropped.
    let held = app.site.hold("/slow", crate::crawl::page("<p>slow"));
    let (team, other) = (app.team(Some(100), json!({})).await, app.team(Some(100), json!({})).await);
    let id = start(&team, json!({"urls": [app.page("/slow")]})).await;
    let more = json!({"urls": [app.page("/a"), "no url"], "appendToId": id});
    let both = tokio::join!(keyed(&team, "k", &more), keyed(&team, "k", &more));
    for added in [both.0, both.1, keyed(&team, "k", &more).await] {
        assert_eq!((added.status, added.body["id"].as_str()), (200, Some(id.as_str())), "{}", added.body);
        assert_eq!(added.body["invalidURLs"], json!(["no url"]));
    }
    assert_eq!((total(&team, &id).await, left(&team).await), (2, json!(98)));
    let different = json!({"urls": [app.page("/b")], "appendToId": id});
    assert_eq!(keyed(&team, "k", &different).await.code(), "duplicate_request");
    assert_eq!(keyed(&other, "k", &more).await.status, 404, "it is not theirs");
    assert_eq!(keyed(&team, "second", &different).await.status, 200);
    drop(held);
    let ended = team.ended(&format!("/v2/batch/scrape/{id}")).await.body;
    assert_eq!((&ended["total"], &ended["completed"], &ended["creditsUsed"]), (&json!(3), &json!(3), &json!(3)));
    assert_eq!(keyed(&team, "k", &more).await.status, 200, "the answer of then, also after the end");
    assert_eq!(keyed(&team, "third", &more).await.code(), "JOB_FINISHED");
}

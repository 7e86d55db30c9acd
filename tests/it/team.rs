//! What a team can read about itself.

use e2e::TestApp;
use serde_json::json;

use crate::ARTICLE;

#[tokio::test]
async fn usage_follows_what_was_scraped() {
    let app = TestApp::with_keys().await;
    app.site.html("/stone", ARTICLE);
    let team = app.team(Some(100), json!({})).await;
    for _ in 0..3 {
        assert_eq!(team.scrape(&json!({"url": app.page("/stone"), "maxAge": 0})).await.status, 200);
    }
    let usage = team.get("/v2/team/credit-usage").await.body;
    assert_eq!(usage["data"]["remainingCredits"], 97);
    assert!(team.get("/v2/team/token-usage").await.body["data"]["remainingTokens"].is_i64());
    let history = team.get("/v2/team/credit-usage/historical").await.body;
    assert_eq!(
        history["periods"].as_array().unwrap().iter().map(|p| p["creditsUsed"].as_i64().unwrap()).sum::<i64>(),
        3
    );
    let by_key = team.get("/v2/team/credit-usage/historical?byApiKey=true").await.body;
    assert_eq!(by_key["periods"][0]["creditsUsed"], 3, "{by_key}");
    assert!(by_key["periods"][0]["apiKey"].is_string(), "{by_key}");
    assert!(team.get("/v2/team/token-usage/historical").await.body["periods"].is_array());
}

#[tokio::test]
async fn queue_and_concurrency_are_told_at_the_top_level() {
    let app = TestApp::start().await;
    let queue = app.anonymous().get("/v2/team/queue-status").await.body;
    assert_eq!(
        (&queue["success"], &queue["jobsInQueue"], &queue["activeJobsInQueue"]),
        (&json!(true), &json!(0), &json!(0))
    );
    assert!(queue["maxConcurrency"].as_i64().unwrap() >= 1);
    let concurrency = app.anonymous().get("/v2/concurrency-check").await.body;
    assert_eq!(concurrency["concurrency"], 0);
    assert!(concurrency["maxConcurrency"].as_i64().unwrap() >= 1);
}

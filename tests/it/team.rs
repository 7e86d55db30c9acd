//! Usage, limits and activity of a team.

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

#[tokio::test]
async fn what_a_team_has_done_is_listed() {
    let app = TestApp::with_keys().await;
    app.site.html("/stone", ARTICLE);
    let (team, others) = (app.team(Some(100), json!({})).await, app.team(Some(100), json!({})).await);
    let (page, fails) = (app.page("/stone"), "http://nowhere.test/");
    assert_eq!(team.scrape(&json!({ "url": page })).await.status, 200);
    assert_eq!(team.scrape(&json!({ "url": fails })).await.status, 400);
    let crawl = team.start("/v2/crawl", &json!({ "url": page, "limit": 1, "sitemap": "skip" })).await;
    let batch = team.start("/v2/batch/scrape", &json!({ "urls": [page] })).await;
    for job in [&crawl, &batch] {
        team.ended(job).await;
    }
    let id = |path: &str| path.rsplit_once('/').unwrap().1.to_owned();
    let all = team.get("/v2/team/activity").await;
    assert_eq!((all.status, &all.body["has_more"], &all.body["cursor"]), (200, &json!(false), &json!(null)));
    let told: Vec<_> = all.body["data"].as_array().unwrap().iter().map(|e| (&e["endpoint"], &e["target"])).collect();
    let (scrape, batched) = (json!("scrape"), json!("batch_scrape"));
    let expect =
        [(&batched, &json!(null)), (&json!("crawl"), &json!(page)), (&scrape, &json!(fails)), (&scrape, &json!(page))];
    assert_eq!(told, expect);
    let newest = &all.body["data"][0];
    assert_eq!((&newest["id"], &newest["api_version"]), (&json!(id(&batch)), &json!("v2")));
    assert!(newest["created_at"].as_str().unwrap().ends_with('Z'), "{newest}");

    // Page by page, while more activity is added.
    let (mut path, mut seen) = ("/v2/team/activity?limit=1".to_owned(), Vec::new());
    loop {
        let piece = team.get(&path).await.body;
        seen.extend(piece["data"].as_array().unwrap().clone());
        let Some(cursor) = piece["cursor"].as_str() else { break };
        assert_eq!(piece["has_more"], true);
        path = format!("/v2/team/activity?limit=1&cursor={cursor}");
        assert_eq!(team.scrape(&json!({ "url": page })).await.status, 200);
    }
    assert_eq!(json!(seen), all.body["data"]);
    let crawls = team.get("/v2/team/activity?endpoint=crawl").await.body;
    assert_eq!((crawls["data"].as_array().unwrap().len(), &crawls["data"][0]["id"]), (1, &json!(id(&crawl))));
    assert_eq!(others.get("/v2/team/activity").await.body["data"], json!([]));
    for (query, field) in
        [("limit=0", "limit"), ("limit=101", "limit"), ("cursor=x", "cursor"), ("endpoint=nothing", "endpoint")]
    {
        let refused = team.get(&format!("/v2/team/activity?{query}")).await;
        assert_eq!((refused.status, &refused.body["details"][0]["path"]), (400, &json!(field)), "{}", refused.body);
    }
}

#[tokio::test]
async fn what_leaves_no_trace_is_not_told() {
    let app = TestApp::with_keys().await;
    app.site.html("/stone", ARTICLE);
    let team = app.team(Some(100), json!({ "zeroDataRetention": true })).await;
    let page = app.page("/stone");
    assert_eq!(team.scrape(&json!({ "url": page, "zeroDataRetention": true })).await.status, 200);
    let private = json!({ "url": page, "limit": 1, "sitemap": "skip", "zeroDataRetention": true });
    let crawl = team.start("/v2/crawl", &private).await;
    team.ended(&crawl).await;
    let told = team.get("/v2/team/activity").await.body;
    assert_eq!((told["data"].as_array().unwrap().len(), &told["data"][0]["target"]), (1, &json!(null)), "{told}");
    assert!(!told.to_string().contains("stone"), "{told}");
}

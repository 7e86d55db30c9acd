//! Rate limits and concurrency limits.

use std::time::Duration;

use e2e::TestApp;
use serde_json::json;
use testkit::Reply;

#[tokio::test]
async fn a_team_over_its_rate_is_told_when_to_return() {
    let app = TestApp::with_keys().await;
    let made = app.operator().post("/admin/teams", &json!({"name": "slow", "credits": 10, "rateLimit": 2})).await;
    let team = app.bearer(made.body["apiKey"].as_str().unwrap());
    let first = team.get("/v2/team/credit-usage").await;
    assert_eq!(first.status, 200);
    assert!(
        !first.header("ratelimit").is_empty() && !first.header("x-ratelimit-remaining").is_empty(),
        "{:?}",
        first.headers
    );
    let mut last = first;
    for _ in 0..5 {
        last = team.get("/v2/team/credit-usage").await;
    }
    assert_eq!((last.status, &last.body["success"]), (429, &json!(false)), "{}", last.body);
    assert!(last.header("retry-after").parse::<u64>().unwrap() >= 1);
}

#[tokio::test]
async fn a_team_at_its_concurrency_is_refused_and_then_served() {
    let app = TestApp::with_keys().await;
    let held = app.site.hold("/slow", Reply { body: "<p>slow".into(), ..Reply::default() });
    let made = app
        .operator()
        .post("/admin/teams", &json!({"name": "one", "credits": 10, "concurrency": 1, "rateLimit": 0}))
        .await;
    let team = app.bearer(made.body["apiKey"].as_str().unwrap());
    let body = json!({"url": app.page("/slow"), "maxAge": 0});
    let (first, second) = tokio::join!(team.scrape(&body), async {
        while app.site.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let second = team.scrape(&body).await;
        drop(held);
        second
    });
    assert_eq!((first.status, second.status), (200, 429), "{} {}", first.body, second.body);
    assert!(!second.header("retry-after").is_empty());
    assert_eq!(team.scrape(&body).await.status, 200);
}

#[tokio::test]
async fn keyless_callers_are_limited_by_address() {
    let app = TestApp::with(|config| config.limits.keyless_per_minute = 3).await;
    let mut statuses = Vec::new();
    for _ in 0..5 {
        statuses.push(app.anonymous().get("/v2/team/credit-usage").await.status);
    }
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 2, "{statuses:?}");
}

//! Tests of feedback on calls.

use boot::config::AuthMode;
use e2e::{Answer, Client, TestApp};
use serde_json::{Value, json};

use crate::ARTICLE;

const UNKNOWN: &str = "01890000-0000-7000-8000-00000000beef";

async fn on_search(client: &Client, id: &str, body: Value) -> Answer {
    client.post(&format!("/v2/search/{id}/feedback"), &body).await
}

async fn left(team: &Client) -> i64 {
    team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn feedback_is_stored_once_for_each_call() {
    let app = TestApp::with_keys().await;
    let team = app.team(Some(10), json!({})).await;
    let body = json!({"rating": "good", "valuableSources": [{"url": "https://example.com"}], "origin": "js-sdk@4"});
    let first = on_search(&team, UNKNOWN, body.clone()).await;
    assert_eq!((first.status, &first.body["success"]), (200, &json!(true)), "{}", first.body);
    assert_eq!((&first.body["creditsRefunded"], first.body.get("alreadySubmitted")), (&json!(0), None));
    let again = on_search(&team, UNKNOWN, body.clone()).await;
    assert_eq!((again.status, &again.body["alreadySubmitted"]), (200, &json!(true)), "{}", again.body);
    assert_eq!(again.body["feedbackId"], first.body["feedbackId"]);
    let same = json!({"endpoint": "search", "jobId": UNKNOWN, "rating": "bad"});
    assert_eq!(team.post("/v2/feedback", &same).await.body["alreadySubmitted"], true, "the same call");
    let other = app.team(Some(10), json!({})).await;
    let theirs = on_search(&other, UNKNOWN, body).await;
    assert!(theirs.body["feedbackId"] != first.body["feedbackId"] && theirs.body.get("alreadySubmitted").is_none());
    let tools = json!({
        "endpoint": "alexandria", "rationale": "x", "rating": "partial",
        "requestedWebsite": {"url": "https://example.com", "requestedFunctionality": "y"},
        "providerFeedback": [{"name": "a", "issue": "b", "why": "c"}],
    });
    assert_eq!(team.post("/v2/feedback", &tools).await.status, 200);
    let wrong = on_search(&team, UNKNOWN, json!({"rating": "great"})).await;
    assert_eq!((wrong.status, wrong.code()), (400, "BAD_REQUEST"), "{}", wrong.body);
    assert_eq!(on_search(&team, "no-uuid", json!({"rating": "good"})).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credits_come_back_where_the_operator_gives_them() {
    let app = TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        (config.feedback.credits_per_day, config.feedback.max_per_day) = (2, 5);
    })
    .await;
    app.site.html("/", ARTICLE);
    let team = app.team(Some(10), json!({})).await;
    let give = async |job: &str| {
        team.post("/v2/feedback", &json!({"endpoint": "scrape", "jobId": job, "rating": "partial", "issues": ["x"]}))
            .await
    };
    let unknown = give(UNKNOWN).await.body;
    assert_eq!((&unknown["creditsRefunded"], &unknown["dailyRefundCap"]), (&json!(0), &json!(2)), "{unknown}");
    for (refunded, today, is_full) in [(1, 1, false), (1, 2, true), (0, 2, true)] {
        let page = team.scrape(&json!({"url": app.page("/")})).await;
        let before = left(&team).await;
        let given = give(page.body["data"]["metadata"]["scrapeId"].as_str().unwrap()).await.body;
        assert_eq!(given["creditsRefunded"], refunded, "{given}");
        assert_eq!((&given["creditsRefundedToday"], &given["dailyCapReached"]), (&json!(today), &json!(is_full)));
        assert_eq!(left(&team).await, before + refunded);
    }
    let another = "01890000-0000-7000-8000-00000000be01";
    assert_eq!(give(another).await.status, 200);
    let refused = give("01890000-0000-7000-8000-00000000be02").await;
    assert_eq!((refused.status, refused.code()), (429, "RATE_LIMITED"), "{}", refused.body);
    assert_eq!(refused.body["feedbackErrorCode"], "DAILY_LIMIT");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_may_store_none() {
    let app = TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        config.feedback.max_per_day = 0;
    })
    .await;
    let team = app.team(Some(10), json!({})).await;
    let refused = on_search(&team, UNKNOWN, json!({"rating": "good"})).await;
    assert_eq!(
        (refused.status, &refused.body["feedbackErrorCode"]),
        (403, &json!("TEAM_OPTED_OUT")),
        "{}",
        refused.body
    );
}

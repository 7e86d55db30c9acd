//! Credits of scrapes.

use e2e::{Client, TestApp};
use serde_json::json;

use crate::ARTICLE;

async fn remaining(team: &Client) -> i64 {
    team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_scrapes_on_ten_credits_give_ten_pages() {
    let app = TestApp::with_keys().await;
    app.site.html("/stone", ARTICLE);
    let team = app.team(Some(10), json!({})).await;
    let body = json!({"url": app.page("/stone"), "maxAge": 0});
    let calls: Vec<_> = (0..64)
        .map(|_| (team.clone(), body.clone()))
        .map(|(team, body)| tokio::spawn(async move { team.scrape(&body).await }))
        .collect();
    let mut statuses = Vec::new();
    for call in calls {
        let answer = call.await.unwrap();
        assert!(answer.status == 200 || answer.code() == "insufficient_credits", "{} {}", answer.status, answer.body);
        statuses.push(answer.status);
    }
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 10);
    assert_eq!(statuses.iter().filter(|status| **status == 402).count(), 54);
    assert_eq!(remaining(&team).await, 0);
}

#[tokio::test]
async fn what_fails_costs_nothing() {
    let app = TestApp::with_keys().await;
    let team = app.team(Some(10), json!({})).await;
    for body in [
        json!({"url": "http://nowhere.test/"}),
        json!({"url": "http://10.0.0.1/"}),
        json!({"url": app.page("/"), "timeout": 1}),
        json!({"url": app.page("/"), "formats": ["screenshot"]}),
        json!({"url": app.page("/"), "minAge": 1}),
    ] {
        assert!((400..500).contains(&team.scrape(&body).await.status));
    }
    assert_eq!(remaining(&team).await, 10);
    app.site.html("/stone", ARTICLE);
    team.scrape(&json!({"url": app.page("/stone")})).await;
    team.scrape(&json!({"url": app.page("/stone")})).await;
    assert_eq!(remaining(&team).await, 8, "a page and a cached page cost one each");
}

#[tokio::test]
async fn a_caller_who_leaves_is_not_charged() {
    let app = TestApp::with_keys().await;
    app.site
        .respond("/slow", testkit::Reply { delay: std::time::Duration::from_secs(30), ..testkit::Reply::default() });
    let team = app.team(Some(10), json!({})).await;
    let body = json!({"url": app.page("/slow"), "maxAge": 0});
    assert!(tokio::time::timeout(std::time::Duration::from_millis(300), team.scrape(&body)).await.is_err());
    let mut left = (0, 0);
    for _ in 0..200 {
        let queue = team.get("/v2/team/queue-status").await.body;
        left = (remaining(&team).await, queue["activeJobsInQueue"].as_i64().unwrap());
        if left == (10, 0) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("still reserved or running: {left:?}");
}

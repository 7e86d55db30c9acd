//! Tests of GET /v2/scrape/{id}.

use e2e::TestApp;
use serde_json::{Value, json};

use crate::ARTICLE;

/// Scrapes a page, and returns the path for reading it again and the answer.
async fn scrape(app: &TestApp, options: Value) -> (String, Value) {
    let mut body = json!({"url": app.page("/stone")});
    body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let answer = app.anonymous().scrape(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    (format!("/v2/scrape/{}", answer.body["data"]["metadata"]["scrapeId"].as_str().unwrap()), answer.body)
}

#[tokio::test]
async fn a_scrape_reads_as_it_was_answered() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    let attributes = json!({"type": "attributes", "selectors": [{"selector": "img", "attribute": "alt"}]});
    let mut scrapes = Vec::new();
    for options in [
        json!({}),
        json!({"formats": ["html", "links", attributes], "onlyMainContent": false, "excludeTags": ["ul"]}),
        json!({"formats": ["rawHtml"], "maxAge": 0, "location": {"country": "DE"}}),
        json!({"waitFor": 10, "mobile": true, "parsers": []}),
    ] {
        scrapes.push(scrape(&app, options).await);
    }
    app.site.html("/stone", "<p>Something else.");
    let asked = app.site.requests().len();
    for (path, answered) in scrapes {
        let read = app.anonymous().get(&path).await;
        assert_eq!((read.status, &read.body), (200, &answered));
    }
    assert_eq!(app.site.requests().len(), asked, "the site is not asked again");
}

#[tokio::test]
async fn reading_is_free_and_for_its_team_only() {
    let app = TestApp::with_keys().await;
    app.site.html("/stone", ARTICLE);
    let (team, other) = (app.team(Some(5), json!({})).await, app.team(Some(5), json!({})).await);
    let answer = team.scrape(&json!({"url": app.page("/stone")})).await;
    let path = format!("/v2/scrape/{}", answer.body["data"]["metadata"]["scrapeId"].as_str().unwrap());
    assert_eq!(team.get(&path).await.body, answer.body);
    assert_eq!(team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"], 4);
    let strange = other.get(&path).await;
    assert_eq!((strange.status, strange.code()), (404, "NOT_FOUND"), "{}", strange.body);
    assert_eq!(app.anonymous().get(&path).await.status, 401);
    assert_eq!(team.delete(&path).await.status, 405);
}

#[tokio::test]
async fn what_was_not_kept_is_not_found() {
    let app = TestApp::with_keys().await;
    app.site.html("/stone", ARTICLE);
    let team = app.team(None, json!({"zeroDataRetention": true})).await;
    let url = app.page("/stone");
    assert_eq!(team.scrape(&json!({"url": url})).await.status, 200);
    for body in [
        json!({"url": url, "maxAge": 0, "storeInCache": false}),
        json!({"url": url, "headers": {"Cookie": "a=1"}}),
        json!({"url": url, "zeroDataRetention": true}),
        json!({"url": url, "lockdown": true}),
        json!({"url": url.replace("http://", "http://user:pw@")}),
    ] {
        let answer = team.scrape(&body).await;
        assert_eq!(answer.status, 200, "{body}: {}", answer.body);
        let id = answer.body["data"]["metadata"]["scrapeId"].as_str().unwrap();
        let read = team.get(&format!("/v2/scrape/{id}")).await;
        assert_eq!((read.status, read.code()), (404, "NOT_FOUND"), "{body}: {}", read.body);
    }
    let unknown = team.get("/v2/scrape/019a8f6c-0000-7000-8000-000000000000").await;
    assert_eq!((unknown.status, unknown.code()), (404, "NOT_FOUND"));
    for id in ["x", "019a8f6c", "..%2f..%2fhealth"] {
        assert_eq!(team.get(&format!("/v2/scrape/{id}")).await.status, 400, "{id}");
    }
}

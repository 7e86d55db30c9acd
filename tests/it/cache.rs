//! The page cache as callers see it.

use e2e::TestApp;
use serde_json::{Value, json};

use crate::ARTICLE;

async fn state(app: &TestApp, options: Value) -> Value {
    let mut body = json!({"url": app.page("/stone")});
    body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let answer = app.anonymous().scrape(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body["data"]["metadata"]["cacheState"].clone()
}

#[tokio::test]
async fn the_second_scrape_is_a_hit_and_any_format_comes_from_it() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    assert_eq!(state(&app, json!({})).await, "miss");
    assert_eq!(state(&app, json!({"formats": ["links", "html"]})).await, "hit");
    assert_eq!(app.site.requests().len(), 1);
    assert_eq!(state(&app, json!({"mobile": true})).await, "miss");
    assert_eq!(state(&app, json!({"maxAge": 0})).await, Value::Null, "the cache was not asked");
    assert_eq!(app.site.requests().len(), 3);
}

#[tokio::test]
async fn headers_and_store_in_cache_keep_a_page_out() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    for _ in 0..2 {
        state(&app, json!({"storeInCache": false})).await;
        state(&app, json!({"headers": {"X-A": "b"}})).await;
    }
    assert_eq!(app.site.requests().len(), 4);
}

#[tokio::test]
async fn min_age_and_lockdown_only_ask_the_cache() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    let missing = app.anonymous().scrape(&json!({"url": app.page("/stone"), "minAge": 1})).await;
    assert_eq!((missing.status, missing.code()), (404, "SCRAPE_NO_CACHED_DATA"));
    let locked = app.anonymous().scrape(&json!({"url": app.page("/stone"), "lockdown": true})).await;
    assert_eq!((locked.status, locked.code()), (404, "SCRAPE_LOCKDOWN_CACHE_MISS"));
    assert_eq!((app.site.requests().len(), app.dns.queries().len()), (0, 0));

    state(&app, json!({})).await;
    // As soon as the copy is a millisecond old.
    let old = json!({"url": app.page("/stone"), "minAge": 1});
    while app.anonymous().scrape(&old).await.code() == "SCRAPE_NO_CACHED_DATA" {}
    assert_eq!(state(&app, json!({"minAge": 1})).await, "hit");
    let hit = app.anonymous().scrape(&json!({"url": app.page("/stone"), "lockdown": true})).await;
    assert_eq!((hit.status, &hit.body["data"]["metadata"]["creditsUsed"]), (200, &json!(5)), "{}", hit.body);
    assert_eq!(app.site.requests().len(), 1);
}

#[tokio::test]
async fn teams_do_not_see_each_others_copies() {
    let app = TestApp::with_keys().await;
    app.site.html("/stone", ARTICLE);
    let (one, two) = (app.team(None, json!({})).await, app.team(None, json!({})).await);
    let body = json!({"url": app.page("/stone")});
    assert_eq!(one.scrape(&body).await.body["data"]["metadata"]["cacheState"], "miss");
    let probe = two.scrape(&json!({"url": app.page("/stone"), "lockdown": true})).await;
    assert_eq!(probe.code(), "SCRAPE_LOCKDOWN_CACHE_MISS");
    assert_eq!(one.scrape(&body).await.body["data"]["metadata"]["cacheState"], "hit");
}

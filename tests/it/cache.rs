//! The page cache as callers see it.

use e2e::TestApp;
use serde_json::{Value, json};
use testkit::Reply;

use crate::ARTICLE;
use crate::crawl::page;

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
    // Succeeds as soon as the copy is a millisecond old.
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_asks_whether_its_pages_have_changed() {
    let app = TestApp::start().await;
    app.site.others(|seen| {
        let words = match seen.path.as_str() {
            "/" => "<p>The first page.</p><a href=/a>a</a>",
            "/a" => "<p>The other page.</p>",
            _ => return None,
        };
        let reply = match seen.header("if-none-match") == "\"v1\"" {
            true => Reply { status: 304, ..Reply::default() },
            false => page(words),
        };
        Some(reply.header("etag", "\"v1\""))
    });
    let client = app.anonymous();
    let body = json!({"url": app.page("/"), "limit": 5, "sitemap": "skip", "scrapeOptions": {"maxAge": 1}});
    for is_known in [false, true] {
        drop(app.site.take_requests());
        let job = client.start("/v2/crawl", &body).await;
        assert_eq!(client.ended(&job).await.body["status"], "completed");
        let documents = client.documents(&job).await;
        let is_page = |document: &Value| {
            let words = document["markdown"].as_str().unwrap();
            document["metadata"]["statusCode"] == 200 && words.contains("page.")
        };
        assert!(documents.len() == 2 && documents.iter().all(is_page), "{documents:?}");
        let asked = app.site.take_requests();
        let pages = asked.iter().filter(|seen| matches!(seen.path.as_str(), "/" | "/a"));
        let known: Vec<bool> = pages.map(|seen| !seen.header("if-none-match").is_empty()).collect();
        assert_eq!(known, [is_known; 2]);
    }
}

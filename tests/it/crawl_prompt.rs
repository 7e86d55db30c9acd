//! Tests of crawl prompts and `POST /v2/crawl/params-preview`.

use std::collections::BTreeSet;

use bytes::Bytes;
use e2e::{Client, TestApp};
use http::Method;
use serde_json::{Value, json};
use testkit::{Asked, ModelFault, ModelServer, Reply};
use tokio::sync::watch;

use crate::crawl::page;

const BLOG: &str = "(?i)(^|/)(blogs?)([/.]|$)";

/// Serves a front page with a blog, docs and a shop.
fn site(app: &TestApp) {
    app.site.others(|seen| shown(&seen.path));
}

fn shown(path: &str) -> Option<Reply> {
    let links =
        |paths: &[&str]| -> String { paths.iter().map(|path| format!("<a href=\"{path}\">{path}</a> ")).collect() };
    let body = match path {
        "/" => links(&["/blog/", "/docs/", "/shop/", "/ignoreRobotsTxt-true-limit-99999"]),
        "/blog/" => links(&["/blog/a", "/blog/b", "/blog/drafts/c", "/"]),
        "/docs/" => links(&["/docs/x", "/docs/changelog", "/blog/"]),
        "/blog/a" | "/blog/b" | "/blog/drafts/c" | "/docs/x" | "/docs/changelog" | "/shop/" => links(&["/"]),
        _ => return None,
    };
    Some(page(&format!("<h1>{path}</h1><p>Words of the page.</p>{body}")))
}

/// Holds back a page of every crawl, which is thus still open when its options are read, until the result is dropped.
fn hold(app: &TestApp) -> watch::Sender<()> {
    app.site.hold("/blog/", shown("/blog/").unwrap())
}

/// Starts a service with the site, and with a model that answers by `rule`.
async fn site_with_model(rule: impl Fn(&Asked) -> String + Send + Sync + 'static) -> (TestApp, ModelServer) {
    let model = ModelServer::start(rule).await;
    let app = TestApp::with_model(&model, |_| ()).await;
    site(&app);
    (app, model)
}

async fn preview(caller: &Client, url: &str, prompt: &str) -> Value {
    let answer = caller.post("/v2/crawl/params-preview", &json!({ "url": url, "prompt": prompt })).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

async fn crawled(caller: &Client, job: &str) -> BTreeSet<String> {
    let ended = caller.ended(job).await.body;
    assert_eq!(ended["status"], "completed", "{ended}");
    let documents = caller.documents(job).await;
    let path = |document: &Value| {
        let url = document["metadata"]["url"].as_str().unwrap();
        let (_, path) = url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).unwrap();
        format!("/{path}")
    };
    documents.iter().map(path).collect()
}

fn set(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

/// Returns the options of the only open crawl.
async fn options(caller: &Client) -> Value {
    caller.get("/v2/crawl/active").await.body["crawls"][0]["options"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_wishes_are_understood_without_a_model() {
    let app = TestApp::start().await;
    site(&app);
    let caller = app.anonymous();
    let body = preview(&caller, &app.page("/"), "Only the blog, first 50 pages. Wait 2 seconds between pages").await;
    assert_eq!(body["success"], true);
    assert_eq!(
        body["data"],
        json!({
            "url": app.page("/"), "includePaths": [BLOG, "^/$"], "excludePaths": [], "limit": 50, "sitemap": "include",
            "crawlEntireDomain": false, "allowExternalLinks": false, "allowSubdomains": false, "ignoreQueryParameters": false,
            "deduplicateSimilarURLs": true, "regexOnFullURL": false, "delay": 2,
        })
    );
    assert_eq!(body["warning"], "The start URL is crawled too, since its links lead to the pages.");
    assert_eq!(app.site.requests().len(), 0);
    let job = caller.start("/v2/crawl", &json!({ "url": app.page("/"), "prompt": "only the blog" })).await;
    assert_eq!(crawled(&caller, &job).await, set(&["/", "/blog/", "/blog/a", "/blog/b", "/blog/drafts/c"]));
    let wish = json!({ "url": app.page("/docs/"), "prompt": "everything under /docs except the changelog" });
    let job = caller.start("/v2/crawl", &wish).await;
    assert_eq!(crawled(&caller, &job).await, set(&["/docs/", "/docs/x"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn explicit_options_win_over_the_prompt() {
    let app = TestApp::start().await;
    site(&app);
    let caller = app.anonymous();
    let held = hold(&app);
    let wish = json!({ "url": app.page("/"), "prompt": "only the docs, first 50 pages", "limit": 2, "includePaths": ["^/(blog/)?$"] });
    let job = caller.start("/v2/crawl", &wish).await;
    let shown = options(&caller).await;
    assert_eq!((&shown["limit"], &shown["includePaths"]), (&json!(2), &json!(["^/(blog/)?$"])), "{shown}");
    drop(held);
    assert_eq!(crawled(&caller, &job).await, set(&["/", "/blog/"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_plain_is_refused_before_anything_is_fetched() {
    let app = TestApp::start().await;
    site(&app);
    let caller = app.anonymous();
    for prompt in ["pages that mention prices", "only the blog and what is new", "ignore robots.txt", "all"] {
        let request = json!({ "url": app.page("/"), "prompt": prompt });
        for (path, code) in [
            ("/v2/crawl/params-preview", "CRAWL_PARAMS_PREVIEW_NOT_SUPPORTED"),
            ("/v2/crawl", "CRAWL_PROMPT_NOT_SUPPORTED"),
        ] {
            let answer = caller.post(path, &request).await;
            assert_eq!((answer.status, answer.code()), (400, code), "{prompt}: {}", answer.body);
            assert!(answer.body["error"].as_str().unwrap().contains("`llm.url`"), "{}", answer.body);
            assert_eq!(answer.body["details"][0]["path"], "prompt", "{}", answer.body);
        }
    }
    let unclear = json!({ "url": app.page("/"), "prompt": "first 5 pages, whatever is new" });
    let answer = caller.post("/v2/crawl/params-preview", &unclear).await;
    assert!(answer.body["error"].as_str().unwrap().ends_with("not understood: \"whatever is new\""), "{}", answer.body);
    assert_eq!(app.site.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_sees_the_site_and_fills_the_options() {
    let (app, model) = site_with_model(|_| {
        json!({
            "includePaths": ["^/blog/", "(?=bad)"], "excludePaths": ["/drafts/"], "limit": 20, "ignoreRobotsTxt": true,
            "webhook": "https://evil.test/", "scrapeOptions": { "formats": ["html"], "headers": { "X": "y" } },
        })
        .to_string()
    })
    .await;
    let caller = app.anonymous();
    let body = preview(&caller, &app.page("/"), "the articles, but no drafts").await;
    let data = &body["data"];
    assert_eq!(
        (&data["includePaths"], &data["excludePaths"]),
        (&json!(["^/blog/", "^/$"]), &json!(["/drafts/"])),
        "{body}"
    );
    assert_eq!((&data["limit"], &data["scrapeOptions"]), (&json!(20), &json!({ "formats": ["html"] })));
    assert!(data.get("webhook").is_none() && data.get("ignoreRobotsTxt").is_none() && data.get("headers").is_none());
    assert!(body["warning"].as_str().unwrap().contains("look-around"), "{body}");
    let asked = &model.asked()[0];
    assert!(asked.user.contains("\n/docs/\n") && asked.user.contains("the articles, but no drafts"), "{}", asked.user);
    let held = hold(&app);
    let job =
        caller.start("/v2/crawl", &json!({ "url": app.page("/"), "prompt": "the articles, but no drafts" })).await;
    let shown = options(&caller).await;
    assert_eq!((&shown["limit"], &shown["prompt"]), (&json!(20), &json!("the articles, but no drafts")), "{shown}");
    assert_eq!((&shown["ignoreRobotsTxt"], &shown["scrapeOptions"]["headers"]), (&json!(false), &json!({})), "{shown}");
    drop(held);
    assert_eq!(crawled(&caller, &job).await, set(&["/", "/blog/", "/blog/a", "/blog/b"]));
    assert_eq!(model.asked().len(), 2, "one question for the preview, one for the crawl");
    let documents = caller.documents(&job).await;
    assert!(documents.iter().all(|document| document["html"].is_string() && document.get("markdown").is_none()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_start_asks_no_model_again() {
    let (app, model) = site_with_model(|_| json!({ "limit": 1 }).to_string()).await;
    let caller = app.anonymous();
    let body = Bytes::from(json!({ "url": app.page("/"), "prompt": "just a little" }).to_string());
    let request = || {
        let request = caller.request(Method::POST, "/v2/crawl").header("content-type", "application/json");
        caller.send(request.header("x-idempotency-key", "k1"), body.clone())
    };
    let (first, second) = (request().await, request().await);
    assert_eq!((first.status, &first.body["id"]), (200, &second.body["id"]), "{}", second.body);
    assert_eq!(model.asked().len(), 1);
    let job = format!("/v2/crawl/{}", first.body["id"].as_str().unwrap());
    assert_eq!(crawled(&caller, &job).await, set(&["/"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_fails_is_told_or_replaced_by_plain_wishes() {
    let (app, model) = site_with_model(|_| json!({ "limit": 7 }).to_string()).await;
    let caller = app.anonymous();
    model.fail_with(vec![ModelFault::Status(500), ModelFault::Status(500)]);
    let plain = preview(&caller, &app.page("/"), "first 5 pages").await;
    assert_eq!(plain["data"]["limit"], 5);
    assert!(plain["warning"].as_str().unwrap().contains("without the language model"), "{plain}");
    let request = json!({ "url": app.page("/"), "prompt": "a few pages" });
    let answer = caller.post("/v2/crawl/params-preview", &request).await;
    assert_eq!((answer.status, answer.code()), (503, "MODEL_UNAVAILABLE"), "{}", answer.body);
    assert_eq!(preview(&caller, &app.page("/"), "a few pages").await["data"]["limit"], 7);
    app.logs_errors();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn zero_retention_shows_a_model_nothing() {
    let (app, model) = site_with_model(|_| json!({ "limit": 7 }).to_string()).await;
    let team = app.team(None, json!({ "zeroDataRetention": true })).await;
    let request = json!({ "url": app.page("/"), "prompt": "a few pages", "zeroDataRetention": true });
    let answer = team.post("/v2/crawl", &request).await;
    assert_eq!((answer.status, answer.code()), (400, "CRAWL_PROMPT_NOT_SUPPORTED"), "{}", answer.body);
    assert!(model.asked().is_empty() && app.site.requests().is_empty());
}

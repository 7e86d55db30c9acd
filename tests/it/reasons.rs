//! `warning` and `error` in the status of jobs that ended without documents or without their start page.

use client::Message;
use e2e::{Client, TestApp};
use serde_json::{Value, json};
use testkit::{Reply, Script};
use wire::{CrawlRequest, ResultsQuery};

use crate::crawl::page;

/// Runs the job of this body to its end, and returns its status.
async fn ended(client: &Client, path: &str, body: &Value) -> Value {
    let job = client.start(path, body).await;
    client.ended(&job).await.body
}

async fn crawl(app: &TestApp, body: Value) -> Value {
    let mut body = body;
    if body.get("url").is_none() {
        body["url"] = app.page("/").into();
    }
    body["limit"] = 10.into();
    ended(&app.anonymous(), "/v2/crawl", &body).await
}

fn check(ended: &Value, status: &str, completed: u64, warning: &str) {
    assert_eq!((&ended["status"], &ended["completed"]), (&json!(status), &json!(completed)), "{ended}");
    assert_eq!(ended["warning"], warning, "{ended}");
    let error = if status == "failed" { json!(warning) } else { Value::Null };
    assert_eq!(ended.get("error").cloned().unwrap_or_default(), error, "{ended}");
}

fn robots(app: &TestApp, rules: &str) {
    app.site.respond("/robots.txt", Reply { body: rules.to_owned().into(), ..Reply::default() });
}

fn sitemap(app: &TestApp, path: &str) {
    let location = app.page(path);
    let body = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{location}</loc></url></urlset>"
    );
    app.site
        .respond("/sitemap.xml", Reply { body: body.into(), ..Reply::default() }.header("content-type", "text/xml"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_robots_txt_forbids() {
    let app = TestApp::start().await;
    robots(&app, "User-agent: *\nDisallow: /$\n");
    app.site.html("/", "<p>words");
    check(&crawl(&app, json!({})).await, "completed", 0, "no page could be scraped: robots.txt forbids the start page");
    sitemap(&app, "/listed");
    app.site.html("/listed", "<p>words");
    check(&crawl(&app, json!({})).await, "completed", 1, "robots.txt forbids the start page");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_fails() {
    let app = TestApp::start().await;
    app.site.script("/", vec![Script::Raw("this is not HTTP".into()); 8]);
    let failed = crawl(&app, json!({})).await;
    let reason = "no page could be scraped: the start page failed with SCRAPE_SITE_ERROR: the site could not be reached \
                  or sent an invalid response: ";
    let warning = failed["warning"].as_str().unwrap().to_owned();
    assert!(warning.starts_with(reason), "{failed}");
    check(&failed, "failed", 0, &warning);
    let unknown = crawl(&app, json!({"url": "http://nowhere.test/"})).await;
    let reason = "no page could be scraped: the start page failed with SCRAPE_DNS_RESOLUTION_ERROR: the host name nowhere.test \
                  could not be resolved";
    check(&unknown, "failed", 0, reason);
    let refused = crawl(&app, json!({"url": "http://127.0.0.1:1/"})).await;
    let reason = "no page could be scraped: the start page failed with SCRAPE_TARGET_BLOCKED: 127.0.0.1 may not be reached from \
                  this service: an address of it is not public; the operator can admit it with egress.allow";
    check(&refused, "failed", 0, reason);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_answers_an_error_is_named() {
    let app = TestApp::start().await;
    app.site.respond("/", Reply { status: 404, ..page("<p>gone <a href=/a>a</a>") });
    app.site.html("/a", "<p>words");
    check(&crawl(&app, json!({})).await, "completed", 2, "the start page answered 404");
    let fine = crawl(&app, json!({"url": app.page("/a")})).await;
    assert!(fine.get("warning").is_none() && fine.get("error").is_none(), "{fine}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_the_patterns_leave_out() {
    let app = TestApp::start().await;
    app.site.html("/", "<a href=/blog/a>a</a>");
    let left_out = "the start page is left out: the URL matches no pattern of includePaths";
    let nothing = crawl(&app, json!({"includePaths": ["^/blog/"]})).await;
    let expect = format!("no page could be scraped: {left_out}; no sitemap lists a page that the options let through");
    check(&nothing, "completed", 0, &expect);
    let skipped = crawl(&app, json!({"excludePaths": ["."], "sitemap": "skip"})).await;
    let expect = "no page could be scraped: the start page is left out: the URL matches a pattern of excludePaths; sitemap is \
                  `skip`, so there is no other page";
    check(&skipped, "completed", 0, expect);
    sitemap(&app, "/blog/a");
    app.site.html("/blog/a", "<p>words");
    check(&crawl(&app, json!({"includePaths": ["^/blog/"]})).await, "completed", 1, left_out);
    let other = TestApp::start().await;
    robots(&other, "User-agent: *\nDisallow: /blog/\n");
    sitemap(&other, "/blog/a");
    let expect = format!("no page could be scraped: {left_out}; robots.txt forbids the pages that sitemaps list");
    check(&crawl(&other, json!({"includePaths": ["^/blog/"]})).await, "completed", 0, &expect);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_without_a_page() {
    let app = TestApp::start().await;
    app.site.html("/a", "<p>words");
    let urls = |urls: Value| json!({"urls": urls});
    let nothing = urls(json!(["http://nowhere.test/1", "http://127.0.0.1:1/"]));
    let ended_with = ended(&app.anonymous(), "/v2/batch/scrape", &nothing).await;
    let warning = ended_with["warning"].as_str().unwrap().to_owned();
    assert!(warning.starts_with("no page could be scraped; the first failed with SCRAPE_"), "{ended_with}");
    check(&ended_with, "completed", 0, &warning);
    let some =
        ended(&app.anonymous(), "/v2/batch/scrape", &urls(json!([app.page("/a"), "http://nowhere.test/"]))).await;
    assert!(some.get("warning").is_none() && some.get("error").is_none(), "{some}");
}

/// The reason of a private job contains only the code, because its pages are stored nowhere else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_private_crawl_tells_the_code_alone() {
    let app = TestApp::start().await;
    let ended = crawl(&app, json!({"url": "http://nowhere.test/", "zeroDataRetention": true})).await;
    let reason = "no page could be scraped: the start page failed with SCRAPE_DNS_RESOLUTION_ERROR";
    check(&ended, "failed", 0, reason);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_own_client_reads_both() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let client = anonymous.typed();
    let run = client.crawl(&CrawlRequest::new("http://nowhere.test/".parse().unwrap())).await.unwrap();
    let mut status = client.status(run, ResultsQuery::default()).await.unwrap();
    while !status.status.is_final() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        status = client.status(run, ResultsQuery::default()).await.unwrap();
    }
    let reason = "no page could be scraped: the start page failed with SCRAPE_DNS_RESOLUTION_ERROR: ";
    assert!(status.warning.as_ref().is_some_and(|warning| warning.starts_with(reason)), "{status:?}");
    assert_eq!(status.error, status.warning);
    // The watcher gets the same.
    let mut watcher = client.watch(run).await.unwrap();
    match watcher.next().await.unwrap() {
        Some(Message::Catchup(progress)) => {
            assert_eq!((progress.error, progress.warning), (status.error, status.warning))
        }
        other => panic!("{other:?}"),
    }
}

//! Limits of a crawl against hostile sites and callers: patterns, rules of robots.txt, links; and a temporary site
//! outage.

use std::time::{Duration, Instant};

use e2e::TestApp;
use serde_json::json;
use testkit::{Reply, Script};

use crate::crawl::page;

/// Far above the measured times, for slow machines; without limits each of these takes many times as long.
const BOUND: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patterns_have_one_budget_and_the_refusal_names_the_one_at_fault() {
    let app = TestApp::start().await;
    let client = app.anonymous();
    let started = Instant::now();
    for (pattern, place) in [("[a-z]{900}", 48), (r"\p{L}{9}", 0), (r"(?u)\w{14}\d", 0)] {
        let patterns = vec![pattern; 1000];
        let answer = client.post("/v2/crawl", &json!({"url": app.page("/"), "excludePaths": patterns})).await;
        assert_eq!((answer.status, answer.code()), (400, "BAD_REQUEST"), "{}", answer.body);
        let text = answer.body.to_string();
        assert!(text.contains("excludePaths[") && text.contains("too large"), "{text}");
        assert!(place == 0 || text.contains(&format!("excludePaths[{place}]")), "{text}");
    }
    assert!(started.elapsed() < BOUND, "{:?}", started.elapsed());
    // Long lists of simple patterns are still accepted.
    app.site.html("/", "<a href=/a1>1</a><a href=/casino-7-x>2</a>");
    app.site.html("/a1", "<p>Words.</p>");
    let words: Vec<String> = (0..1000).map(|number| format!("casino-{number}")).collect();
    let job = client.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 9, "excludePaths": words})).await;
    assert_eq!(client.ended(&job).await.body["completed"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_of_robots_txt_times_links_are_bounded() {
    let app = TestApp::start().await;
    let rules = format!("Disallow: /*{}b\n", "a".repeat(30)).repeat(11_000);
    app.site.respond("/robots.txt", Reply { body: format!("User-agent: *\n{rules}").into(), ..Reply::default() });
    let long = "a".repeat(7900);
    let links: String = (0..400).map(|number| format!("<a href=/{number}/{long}>{number}</a> ")).collect();
    app.site.respond("/", page(&format!("<h1>Links</h1>{links}")));
    let client = app.anonymous();
    let started = Instant::now();
    let job = client.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 2})).await;
    let ended = client.ended(&job).await.body;
    assert_eq!(ended["status"], "completed", "{ended}");
    assert!(started.elapsed() < BOUND, "{:?}", started.elapsed());
    let blocked = client.get(&format!("{job}/errors")).await.body["robotsBlocked"].as_array().map_or(0, Vec::len);
    assert!((200..300).contains(&blocked), "two mebibytes of links are looked at, not all: {blocked}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patterns_times_links_are_bounded() {
    let app = TestApp::start().await;
    // Each of them matches one of the patterns.
    let long = "abbabaabbb".repeat(790);
    let links: String = (0..400).map(|number| format!("<a href=/{number}/{long}c>{number}</a> ")).collect();
    app.site.respond("/", page(&format!("<h1>Links</h1>{links}")));
    let client = app.anonymous();
    let patterns: Vec<String> = (900..908).map(|count| format!("[ab]*a[ab]{{{count}}}c")).collect();
    let started = Instant::now();
    let request = json!({"url": app.page("/"), "limit": 2, "excludePaths": patterns});
    let job = client.start("/v2/crawl", &request).await;
    let ended = client.ended(&job).await.body;
    assert_eq!(ended["status"], "completed", "{ended}");
    assert!(started.elapsed() < BOUND, "{:?}", started.elapsed());
    assert_eq!(
        app.site.requests().iter().filter(|seen| seen.path.len() > 1000).count(),
        0,
        "what may be excluded is not fetched"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_was_down_for_a_moment_is_not_lost() {
    let app = TestApp::start().await;
    app.site.html("/", "<p>Words.</p>");
    app.site.script("/robots.txt", vec![Script::Raw("".into())]);
    let client = app.anonymous();
    let request = json!({"url": app.page("/"), "limit": 2, "sitemap": "skip"});
    let job = client.start("/v2/crawl", &request).await;
    assert_eq!(client.ended(&job).await.body["status"], "failed");
    app.site.respond("/robots.txt", Reply { status: 404, ..Reply::default() });
    // The failure is cached for some seconds, so that not every crawl requests robots.txt of a site that is down.
    let started = Instant::now();
    loop {
        let job = client.start("/v2/crawl", &request).await;
        if client.ended(&job).await.body["status"] == "completed" {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "the site is still lost");
    }
}

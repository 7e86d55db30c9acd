//! Tests of POST /v2/map.

use std::time::Duration;

use e2e::TestApp;
use serde_json::{Value, json};
use testkit::{Body, Canary, Reply, Script};

async fn map(app: &TestApp, body: &Value) -> e2e::Answer {
    app.anonymous().post("/v2/map", body).await
}

fn text(body: &str) -> Reply {
    Reply { body: body.to_owned().into(), ..Reply::default() }
}

#[tokio::test]
async fn a_site_becomes_a_list_of_addresses() {
    let app = TestApp::start().await;
    app.site.html("/", "<title>Home</title><a href=/a>a</a><a href=/a#part>b</a><a href='https://else.test/'>c</a>");
    let pages = [app.page("/b"), app.page("/a"), "https://else.test/x".to_owned()];
    let urls: String = pages.iter().map(|page| format!("<url><loc>{page}</loc></url>")).collect();
    app.site.respond("/sitemap.xml", text(&format!("<urlset>{urls}</urlset>")));
    let answer = map(&app, &json!({"url": app.page("/"), "origin": "e2e", "integration": "cli"})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.body["success"], true);
    assert_eq!(answer.body["id"].as_str().map(str::len), Some(36));
    let links = json!([{"url": app.page("/"), "title": "Home"}, {"url": app.page("/a")}, {"url": app.page("/b")}]);
    assert_eq!(answer.body["links"], links);
    assert!(answer.body.get("warning").is_none() && answer.body.get("data").is_none());
    let best = map(&app, &json!({"url": app.page("/"), "search": "b", "limit": 1})).await;
    assert_eq!(best.body["links"], json!([{"url": app.page("/b")}]));
}

#[tokio::test]
async fn a_map_costs_one_credit_and_a_failed_one_none() {
    let app = TestApp::with_keys().await;
    app.site.html("/", "<a href=/a>a</a>");
    app.site.script("/slow", vec![Script::Hang(Duration::from_secs(30))]);
    let team = app.team(Some(2), json!({})).await;
    let left = async || team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].clone();
    assert_eq!(team.post("/v2/map", &json!({"url": app.page("/")})).await.status, 200);
    assert_eq!(left().await, 1);
    for (body, status, code) in [
        (json!({"url": app.page("/slow"), "timeout": 300}), 408, "MAP_TIMEOUT"),
        (json!({"url": "http://nowhere.test/"}), 400, "SCRAPE_DNS_RESOLUTION_ERROR"),
        (json!({"url": "http://127.0.0.1:9/"}), 403, "SCRAPE_TARGET_BLOCKED"),
        (json!({"url": app.page("/"), "zeroDataRetention": true}), 403, "FORBIDDEN"),
        (
            json!({"url": app.page("/"), "threatProtection": {"mode": "normal"}}),
            400,
            "SCRAPE_THREAT_PROTECTION_NOT_SUPPORTED",
        ),
        (json!({"url": app.page("/"), "limit": 100_001}), 400, "BAD_REQUEST"),
    ] {
        let answer = team.post("/v2/map", &body).await;
        assert_eq!((answer.status, answer.code()), (status, code), "{}", answer.body);
        let is_late = answer.body["error"].as_str().unwrap().contains("The map operation timed out");
        assert_eq!(is_late, status == 408, "{}", answer.body);
    }
    assert_eq!(left().await, 1);
    assert_eq!(team.post("/v2/map", &json!({"url": app.page("/")})).await.status, 200);
    assert_eq!(team.post("/v2/map", &json!({"url": app.page("/")})).await.status, 402);
}

#[tokio::test]
async fn a_path_that_leads_nowhere_comes_with_the_domain_to_map_instead() {
    let app = TestApp::start().await;
    app.site.html("/docs", "<title>Docs</title><p>Nothing here.");
    app.site.html("/", "<p>Nothing here either.");
    let answer = map(&app, &json!({"url": app.page("/docs"), "useIndex": false, "ignoreCache": true})).await;
    assert_eq!(answer.body["links"], json!([{"url": app.page("/docs"), "title": "Docs"}]), "{}", answer.body);
    let host = app.page("/").replace("http://", "").replace('/', "");
    let advice = "Only 1 result(s) found. For broader coverage, try mapping the base domain: ";
    assert_eq!((answer.status, &answer.body["warning"]), (200, &json!(format!("{advice}{host}"))));
    let front = map(&app, &json!({"url": app.page("/")})).await;
    assert!(front.body.get("warning").is_none(), "{}", front.body);
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let app = TestApp::start().await;
    let answer = map(&app, &json!({"url": app.page("/"), "maxDepth": 2})).await;
    assert_eq!(answer.body["error"], "Unrecognized key in body: `maxDepth`");
    assert_eq!(map(&app, &json!({"search": "x"})).await.body["error"], "`url` is required");
    assert_eq!(app.anonymous().get("/v2/map").await.status, 405);
    assert!(app.site.requests().is_empty());
}

#[tokio::test]
async fn sitemaps_and_robots_txt_lead_nobody_inside() {
    let app = TestApp::start().await;
    let canary = Canary::start().await;
    let inside = format!("http://{}/x", canary.addr());
    app.site.html("/", format!("<a href={inside}>x</a><link rel=canonical href={inside}>"));
    app.site.respond("/robots.txt", text(&format!("Sitemap: {inside}\nSitemap: /index.xml")));
    app.site
        .respond("/index.xml", text(&format!("<sitemapindex><sitemap><loc>{inside}</loc></sitemap></sitemapindex>")));
    let moved = Reply { status: 302, ..Reply::default() }.header("location", inside.as_str());
    app.site.respond("/sitemap.xml", moved.clone());
    let answer = map(&app, &json!({"url": app.page("/")})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.body["links"], json!([{"url": app.page("/")}]));
    app.site.respond("/moved", moved);
    assert_eq!(map(&app, &json!({"url": app.page("/moved"), "sitemap": "skip"})).await.status, 403);
    assert_eq!(canary.connects(), 0);
}

#[tokio::test]
async fn a_hundred_thousand_addresses_need_little_memory() {
    let app = TestApp::start().await;
    app.site.html("/", "<p>x");
    let names: String = ["/large.xml", "/1.xml", "/2.xml"].map(|name| format!("Sitemap: {name}\n")).concat();
    app.site.respond("/robots.txt", text(&names));
    for number in 1..=2 {
        let urls: String = (0..50_000).map(|page| format!("<url><loc>/{number}/{page}</loc></url>")).collect();
        app.site.respond(&format!("/{number}.xml"), text(&urls));
    }
    // 41 MB of one repeated URL.
    let unit = format!("<url><loc>/{}</loc></url>", "long".repeat(200));
    let body = Body::repeat("<urlset>", &unit, 50_000, "</urlset>");
    app.site.respond("/large.xml", Reply { body, ..Reply::default() });
    let before = resident();
    let answer = map(&app, &json!({"url": app.page("/"), "limit": 100_000})).await;
    assert_eq!(answer.status, 200, "{}", &answer.body.to_string()[..300]);
    assert_eq!(answer.body["links"].as_array().map(Vec::len), Some(100_000));
    // The client's copy of the answer is included.
    let grown = resident().saturating_sub(before) >> 20;
    assert!(grown < 160, "{grown} MiB more");
}

/// Returns the resident memory of this process, which includes the service, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = status.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096
}

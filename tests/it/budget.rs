//! Limits on the impact of one request on others: selectors, CPU time, memory.

use std::time::{Duration, Instant};

use e2e::TestApp;
use serde_json::json;
use testkit::Reply;

#[tokio::test]
async fn selectors_that_search_texts_are_refused_by_name() {
    let app = TestApp::start().await;
    app.site.html("/", "<p>x");
    for (key, selector) in [
        ("excludeTags", "*:contains(\"z\")"),
        ("includeTags", "div:has-text('z')"),
        ("excludeTags", "*:is(p, :contains('z'))"),
        ("includeTags", ":not(:has(:contains('z')))"),
    ] {
        let answer = app.anonymous().scrape(&json!({"url": app.page("/"), key: ["p", selector]})).await;
        assert_eq!((answer.status, &answer.body["code"]), (400, &json!("BAD_REQUEST")), "{}", answer.body);
        assert_eq!(answer.body["details"][0]["path"], format!("{key}[1]"), "{}", answer.body);
    }
    let format = json!({"type": "attributes", "selectors": [{"selector": "a:contains('z')", "attribute": "href"}]});
    let answer = app.anonymous().scrape(&json!({"url": app.page("/"), "formats": [format]})).await;
    assert_eq!(answer.status, 400, "{}", answer.body);
}

#[tokio::test]
async fn selectors_of_one_request_are_limited_together() {
    let app = TestApp::start().await;
    app.site.html("/", "<p>x<b>y</b>");
    let many: Vec<String> = (0..250).map(|n| format!("div.a{n} > p.b{n}")).collect();
    let answer = app.anonymous().scrape(&json!({"url": app.page("/"), "excludeTags": many})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let long = ":not(.a)".repeat(200);
    let answer = app.anonymous().scrape(&json!({"url": app.page("/"), "excludeTags": vec![long; 60]})).await;
    assert_eq!((answer.status, &answer.body["code"]), (400, &json!("BAD_REQUEST")), "{}", answer.body);
    assert!(answer.body["error"].as_str().unwrap().contains("use fewer"), "{}", answer.body);
}

#[tokio::test]
async fn selectors_that_cost_too_much_on_a_page_fail_and_are_free() {
    let app = TestApp::with_keys().await;
    let team = app.team(Some(10), json!({})).await;
    app.site.html("/crowd", format!("<p>{}", "<i>x</i>".repeat(40_000)));
    app.site.html("/", "<p>x");
    let body = json!({"url": app.page("/crowd"), "excludeTags": ["b ~ i"], "timeout": 120_000});
    let answer = team.scrape(&body).await;
    assert_eq!((answer.status, &answer.body["code"]), (400, &json!("BAD_REQUEST")), "{}", answer.body);
    assert!(answer.body["error"].as_str().unwrap().contains("excludeTags"), "{}", answer.body);
    assert_eq!(team.scrape(&json!({"url": app.page("/")})).await.status, 200);
    let usage = team.get("/v2/team/credit-usage").await;
    assert_eq!(usage.body["data"]["remainingCredits"], 9, "{}", usage.body);
}

#[tokio::test]
async fn costly_pages_of_one_team_do_not_hold_up_its_small_ones() {
    let app = TestApp::start().await;
    app.site.html("/crowd", format!("<p>{}", "<i>x</i>".repeat(60_000)));
    app.site.html("/", "<p>x");
    let nested = "*:has(~ i:not(b):nth-last-child(2n + 1))";
    let selectors: Vec<&str> = ["b ~ i", "i ~ b ~ i", nested].into_iter().cycle().take(30).collect();
    let bomb = json!({"url": app.page("/crowd"), "excludeTags": selectors, "timeout": 3000, "maxAge": 0});
    let client = app.anonymous();
    let innocent = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let mut longest = Duration::ZERO;
        for _ in 0..10 {
            let began = Instant::now();
            let answer = client.scrape(&json!({"url": app.page("/"), "maxAge": 0})).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            longest = longest.max(began.elapsed());
        }
        longest
    };
    let (first, second, longest) = tokio::join!(client.scrape(&bomb), client.scrape(&bomb), innocent);
    for answer in [first, second] {
        assert!(matches!(answer.status, 400 | 408), "{}", answer.body);
    }
    assert!(longest < Duration::from_millis(1500), "{longest:?}");
}

#[tokio::test]
async fn large_pages_take_turns_and_small_ones_never_wait() {
    let app = TestApp::with(|config| {
        config.fetch.max_decoded = 10 << 20;
        config.fetch.max_in_flight = 40 << 20;
    })
    .await;
    let large = format!("<title>large</title><pre>{}", "0123456789abcdef\u{1}\"é\n".repeat((8 << 20) / 21));
    app.site.respond("/large", Reply { body: large.clone().into(), ..Reply::default() });
    app.site.html("/", "<p>x");
    let client = app.anonymous();
    let body = json!({"url": app.page("/large"), "formats": ["rawHtml"], "maxAge": 0, "storeInCache": false, "timeout": 120_000});
    let all = futures_util::future::join_all((0..8).map(|_| client.scrape(&body)));
    let small = async {
        for _ in 0..20 {
            let began = Instant::now();
            let answer = client.scrape(&json!({"url": app.page("/"), "maxAge": 0})).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        }
    };
    let (all, ()) = tokio::join!(all, small);
    for answer in all {
        assert_eq!(answer.status, 200);
        assert!(answer.body["data"]["rawHtml"] == large.as_str(), "the page is not what was sent");
        assert_eq!(answer.body["data"]["metadata"]["title"], "large");
    }
}

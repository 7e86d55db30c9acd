//! Certificates, and the caller's credentials on connections without certificate verification.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use e2e::TestApp;
use serde_json::{Value, json};
use testkit::Seen;

use crate::ARTICLE;

/// Serves a page of the site over TLS, with a self-signed certificate, and returns its URL.
fn secure(app: &TestApp, path: &str) -> String {
    app.page(path).replace("http://", "https://")
}

fn with(mut body: Value, more: &Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Returns the requests to the site since `begin`.
fn since(app: &TestApp, begin: usize) -> Vec<Seen> {
    app.site.requests().split_off(begin)
}

fn now(app: &TestApp) -> usize {
    app.site.requests().len()
}

/// Returns the values of a header in the requests of `path`.
fn arrived(seen: &[Seen], path: &str, header: &str) -> Vec<String> {
    seen.iter().filter(|seen| seen.path == path).map(|seen| seen.header(header).to_owned()).collect()
}

/// Tests either engine: `formats` decides which one.
async fn credentials_need_a_certificate(app: &TestApp, formats: Value) {
    app.site.html("/stone", ARTICLE);
    let client = app.anonymous();
    let body = json!({ "url": secure(app, "/stone"), "formats": formats, "maxAge": 0 });
    let plain = client.scrape(&body).await;
    assert_eq!(plain.status, 200, "{}", plain.body);
    for (name, value) in [("authorization", "Bearer t-1"), ("cookie", "login=t-2"), ("x-token", "t-3")] {
        let begin = now(app);
        let body = with(body.clone(), &json!({ "headers": { name: value } }));
        let refused = client.scrape(&body).await;
        assert_eq!((refused.status, refused.code()), (422, "SCRAPE_SSL_ERROR"), "{name}: {}", refused.body);
        let error = refused.body["error"].as_str().unwrap();
        assert!(error.contains("certificate") && error.contains("`skipTlsVerification: true`"), "{error}");
        assert_eq!(now(app), begin, "{name}");
        let said = client.scrape(&with(body.clone(), &json!({ "skipTlsVerification": true }))).await;
        assert_eq!(said.status, 200, "{name}: {}", said.body);
        let sent = arrived(&since(app, begin), "/stone", name);
        assert!(!sent.is_empty() && sent.iter().all(|sent| sent == value), "{name}: {sent:?}");
        let strict = client.scrape(&with(body, &json!({ "skipTlsVerification": false }))).await;
        assert_eq!((strict.status, strict.code()), (422, "SCRAPE_SSL_ERROR"), "{name}: {}", strict.body);
    }
    let begin = now(app);
    let url = secure(app, "/stone").replace("https://", "https://me:pw@");
    let body = with(body, &json!({ "url": url }));
    assert_eq!(client.scrape(&body).await.code(), "SCRAPE_SSL_ERROR");
    assert_eq!(now(app), begin);
    assert_eq!(client.scrape(&with(body, &json!({ "skipTlsVerification": true }))).await.status, 200);
    let basic = format!("Basic {}", STANDARD.encode("me:pw"));
    assert!(arrived(&since(app, begin), "/stone", "authorization").contains(&basic));
}

#[tokio::test]
async fn the_plain_engine_sends_credentials_over_verified_connections_only() {
    let app = TestApp::start().await;
    credentials_need_a_certificate(&app, json!(["markdown"])).await;
    // Plain http has no certificate.
    let body = json!({ "url": app.page("/stone"), "headers": { "Cookie": "login=t-4" }, "maxAge": 0 });
    assert_eq!(app.anonymous().scrape(&body).await.status, 200);
    assert!(arrived(&since(&app, 0), "/stone", "cookie").contains(&"login=t-4".to_owned()));
}

#[tokio::test]
async fn the_browser_sends_credentials_over_verified_connections_only() {
    let app = TestApp::with_browser().await;
    credentials_need_a_certificate(&app, json!(["screenshot"])).await;
    let click =
        json!({ "url": secure(&app, "/stone"), "actions": [{ "type": "wait", "milliseconds": 1 }], "maxAge": 0 });
    assert_eq!(app.anonymous().scrape(&click).await.code(), "SCRAPE_SSL_ERROR");
    assert_eq!(app.anonymous().scrape(&with(click, &json!({ "skipTlsVerification": true }))).await.status, 200);
}

#[tokio::test]
async fn a_crawl_and_a_batch_verify_where_they_carry_credentials() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    let client = app.anonymous();
    let personal = json!({ "headers": { "Authorization": "Bearer t-5" } });
    let said = with(personal.clone(), &json!({ "skipTlsVerification": true }));
    let url = secure(&app, "/stone");
    for (options, completed) in [(json!({}), 1), (personal, 0), (said, 1)] {
        let begin = now(&app);
        let fresh = with(options.clone(), &json!({ "maxAge": 0 }));
        let crawl = json!({ "url": url, "limit": 1, "sitemap": "skip", "scrapeOptions": fresh });
        let batch = with(json!({ "urls": [url] }), &fresh);
        for (path, body) in [("/v2/crawl", crawl), ("/v2/batch/scrape", batch)] {
            let job = client.start(path, &body).await;
            let ended = client.ended(&job).await;
            assert_eq!(ended.body["completed"], completed, "{path} {options}: {}", ended.body);
            let errors = client.get(&format!("{job}/errors")).await.body;
            if completed == 0 {
                assert_eq!(errors["errors"][0]["code"], "SCRAPE_SSL_ERROR", "{path}: {errors}");
                let why = errors["errors"][0]["error"].as_str().unwrap();
                assert!(why.contains("`skipTlsVerification: true`"), "{path}: {why}");
            }
        }
        let seen = since(&app, begin);
        let sent = arrived(&seen, "/stone", "authorization");
        let expect = if options.get("headers").is_some() { "Bearer t-5" } else { "" };
        assert!(sent.len() == usize::from(completed == 1) * 2 && sent.iter().all(|sent| sent == expect), "{sent:?}");
        assert!(arrived(&seen, "/robots.txt", "authorization").iter().all(String::is_empty));
    }
}

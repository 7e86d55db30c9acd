//! Formats of POST /v2/scrape.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use e2e::TestApp;
use serde_json::json;
use testkit::Reply;

use crate::ARTICLE;

#[tokio::test]
async fn a_page_becomes_markdown_by_default() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    let answer = app.anonymous().scrape(&json!({"url": app.page("/stone")})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.body["success"], true);
    let markdown = answer.markdown();
    assert!(markdown.starts_with("# Granite\n\nGranite is a **hard** stone"), "{markdown}");
    assert!(markdown.contains(&format!("[many places]({})", app.page("/places"))), "{markdown}");
    assert!(
        !markdown.contains("NAVIGATION") && !markdown.contains("FOOTER") && !markdown.contains("hidden"),
        "{markdown}"
    );
    let metadata = &answer.body["data"]["metadata"];
    assert_eq!(metadata["title"], "Granite");
    assert_eq!(metadata["description"], "On granite.");
    assert_eq!(metadata["ogTitle"], "OG Granite");
    assert_eq!(metadata["language"], "en");
    assert_eq!(metadata["statusCode"], 200);
    assert_eq!(metadata["creditsUsed"], 1);
    assert_eq!(metadata["cacheState"], "miss");
    assert_eq!(metadata["proxyUsed"], "basic");
    assert_eq!(metadata["url"], json!(app.page("/stone")));
    assert_eq!(metadata["sourceURL"], json!(app.page("/stone")));
    assert_eq!(metadata["scrapeId"].as_str().map(str::len), Some(36));
}

#[tokio::test]
async fn every_format_comes_from_the_same_page() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    let formats = json!(["markdown", "html", "rawHtml", "links", "images",
        {"type": "attributes", "selectors": [{"selector": "img", "attribute": "alt"}]}]);
    let answer = app.anonymous().scrape(&json!({"url": app.page("/stone"), "formats": formats})).await;
    let data = &answer.body["data"];
    assert_eq!(data["rawHtml"], ARTICLE);
    let html = data["html"].as_str().unwrap();
    assert!(html.contains("<h1>Granite</h1>") && !html.contains("<script") && !html.contains("NAVIGATION"), "{html}");
    assert_eq!(data["links"], json!([app.page("/home"), app.page("/places")]));
    assert_eq!(data["images"], json!([app.page("/granite.png")]));
    assert_eq!(data["attributes"], json!([{"selector": "img", "attribute": "alt", "values": ["a block"]}]));
}

#[tokio::test]
async fn only_what_was_asked_for_is_answered() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    let answer = app.anonymous().scrape(&json!({"url": app.page("/stone"), "formats": ["links"]})).await;
    let mut keys: Vec<_> = answer.body["data"].as_object().unwrap().keys().cloned().collect();
    keys.sort();
    assert_eq!(keys, ["links", "metadata"]);
}

#[tokio::test]
async fn raw_base64_is_the_body_as_it_came() {
    let app = TestApp::start().await;
    let body = [0_u8, 159, 146, 150, 255];
    app.site.respond(
        "/data",
        Reply { body: body.to_vec().into(), ..Reply::default() }.header("content-type", "application/octet-stream"),
    );
    let answer = app.anonymous().scrape(&json!({"url": app.page("/data"), "formats": ["rawBase64"]})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(BASE64_STANDARD.decode(answer.body["data"]["rawBase64"].as_str().unwrap()).unwrap(), body);
    assert_eq!(answer.body["data"]["metadata"]["contentType"], "application/octet-stream");
    assert!(answer.body["data"].get("markdown").is_none());
}

#[tokio::test]
async fn a_page_that_answers_404_is_a_scrape() {
    let app = TestApp::start().await;
    app.site.respond(
        "/gone",
        Reply { status: 404, body: ARTICLE.into(), ..Reply::default() }.header("content-type", "text/html"),
    );
    let answer = app.anonymous().scrape(&json!({"url": app.page("/gone")})).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body["data"]["metadata"]["statusCode"], 404);
    assert_eq!(answer.body["data"]["metadata"]["error"], "Not Found");
    assert!(answer.markdown().contains("Granite"));
}

#[tokio::test]
async fn redirects_are_followed_and_the_last_address_is_told() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    app.site.respond("/old", Reply { status: 301, ..Reply::default() }.header("location", "/stone"));
    let answer = app.anonymous().scrape(&json!({"url": app.page("/old")})).await;
    assert_eq!(answer.body["data"]["metadata"]["url"], json!(app.page("/stone")));
    assert_eq!(answer.body["data"]["metadata"]["sourceURL"], json!(app.page("/old")));
}

#[tokio::test]
async fn json_and_text_bodies_are_kept_readable() {
    let app = TestApp::start().await;
    app.site.respond(
        "/a.json",
        Reply { body: r#"{"hello":"world"}"#.into(), ..Reply::default() }.header("content-type", "application/json"),
    );
    app.site.respond(
        "/a.txt",
        Reply { body: "# as it is\n".into(), ..Reply::default() }.header("content-type", "text/plain"),
    );
    let json = app.anonymous().scrape(&json!({"url": app.page("/a.json")})).await;
    assert_eq!(json.markdown(), "```json\n{\"hello\":\"world\"}\n```");
    let text = app.anonymous().scrape(&json!({"url": app.page("/a.txt")})).await;
    assert_eq!(text.markdown().trim(), "# as it is");
}

#[tokio::test]
async fn what_cannot_be_fetched_has_a_code_of_its_own() {
    let app = TestApp::start().await;
    app.site.respond(
        "/a.zip",
        Reply { body: b"PK\x03\x04rest".to_vec().into(), ..Reply::default() }.header("content-type", "application/zip"),
    );
    app.site.respond("/slow", Reply { delay: std::time::Duration::from_secs(5), ..Reply::default() });
    let cases = [
        ("http://nowhere.test/".to_owned(), 400, "SCRAPE_DNS_RESOLUTION_ERROR"),
        ("http://127.0.0.1:9/".to_owned(), 403, "SCRAPE_TARGET_BLOCKED"),
        ("http://169.254.169.254/latest/meta-data/".to_owned(), 403, "SCRAPE_TARGET_BLOCKED"),
        (app.page("/a.zip"), 422, "SCRAPE_UNSUPPORTED_FILE_ERROR"),
        (app.page("/slow"), 408, "SCRAPE_TIMEOUT"),
    ];
    for (url, status, code) in cases {
        let timeout = if code == "SCRAPE_TIMEOUT" { 1000 } else { 30_000 };
        let answer = app.anonymous().scrape(&json!({"url": url, "timeout": timeout, "maxAge": 0})).await;
        assert_eq!((answer.status, answer.code()), (status, code), "{url}: {}", answer.body);
        assert_eq!(answer.body["success"], false);
        assert!(!answer.body["error"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_signed_is_taken_unless_it_matters() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    let url = app.page("/stone").replace("http://", "https://");
    let strict = app.anonymous().scrape(&json!({"url": url, "skipTlsVerification": false, "maxAge": 0})).await;
    assert_eq!((strict.status, strict.code()), (422, "SCRAPE_SSL_ERROR"), "{}", strict.body);
    let lenient = app.anonymous().scrape(&json!({"url": url, "maxAge": 0})).await;
    assert!(lenient.markdown().contains("# Granite"), "{}", lenient.body);
}

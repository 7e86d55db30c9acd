//! Formats of requests and answers that clients rely on.

use bytes::Bytes;
use e2e::TestApp;
use http::Method;
use serde_json::json;

#[tokio::test]
async fn bad_bodies_get_the_error_envelope() {
    let app = TestApp::start().await;
    let cases: Vec<(Bytes, u16, &str)> = vec![
        ("{".into(), 400, "BAD_REQUEST_INVALID_JSON"),
        ("".into(), 400, "BAD_REQUEST_INVALID_JSON"),
        ("[".repeat(100_000).into(), 400, "BAD_REQUEST_INVALID_JSON"),
        (b"{\"url\":\"\xff\xfe\"}".to_vec().into(), 400, "BAD_REQUEST_INVALID_JSON"),
        ("[]".into(), 400, "BAD_REQUEST"),
        ("{}".into(), 400, "BAD_REQUEST"),
        (format!("{{\"url\":\"{}\"}}", "a".repeat(11 << 20)).into(), 413, "PAYLOAD_TOO_LARGE"),
    ];
    for (body, status, code) in cases {
        let start = String::from_utf8_lossy(&body[..body.len().min(20)]).into_owned();
        let answer = app.anonymous().post_raw("/v2/scrape", body).await;
        assert_eq!((answer.status, answer.code()), (status, code), "{start}: {}", answer.body);
        assert_eq!(answer.body["success"], false);
        assert!(answer.body["error"].is_string());
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_answer_json() {
    let app = TestApp::start().await;
    let missing = app.anonymous().get("/v2/crawl/00000000-0000-0000-0000-000000000000").await;
    assert_eq!((missing.status, missing.code()), (404, "NOT_FOUND"));
    let wrong = app.anonymous().get("/v2/scrape").await;
    assert_eq!((wrong.status, wrong.code()), (405, "METHOD_NOT_ALLOWED"));
}

#[tokio::test]
async fn request_ids_come_back() {
    let app = TestApp::start().await;
    let request = app.anonymous().request(Method::GET, "/health").header("x-request-id", "my-id:1");
    assert_eq!(app.anonymous().send(request, Bytes::new()).await.header("x-request-id"), "my-id:1");
    assert!(!app.anonymous().get("/health").await.header("x-request-id").is_empty());
}

#[tokio::test]
async fn tool_calls_need_the_catalog() {
    let app = TestApp::with_keys().await;
    let body = json!({"alexandria": {"provider": "firecrawl", "capability": "find-tools"}});
    let without = app.team(Some(1), json!({})).await.scrape(&body).await;
    assert_eq!((without.status, without.code()), (403, "FORBIDDEN"), "{}", without.body);
    let with = app.team(Some(1), json!({"catalog": true})).await.scrape(&body).await;
    assert_eq!(with.status, 400);
    assert!(with.code().ends_with("_NOT_SUPPORTED"), "{}", with.body);
    let mixed = json!({"alexandria": {"provider": "p", "capability": "c"}, "url": "https://example.com"});
    assert_eq!(app.team(Some(1), json!({"catalog": true})).await.scrape(&mixed).await.code(), "BAD_REQUEST");
}

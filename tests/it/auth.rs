//! Authentication.

use bytes::Bytes;
use e2e::TestApp;
use http::Method;
use serde_json::json;

#[tokio::test]
async fn open_mode_takes_callers_as_they_come() {
    let app = TestApp::start().await;
    for client in [app.anonymous(), app.bearer("undefined"), app.bearer(""), app.bearer("fc-anything")] {
        assert_eq!(client.get("/v2/team/credit-usage").await.status, 200);
    }
}

#[tokio::test]
async fn keys_mode_wants_a_key_that_it_made() {
    let app = TestApp::with_keys().await;
    for client in [app.anonymous(), app.bearer("undefined"), app.bearer(""), app.bearer("fc-0000")] {
        for path in ["/v2/team/credit-usage", "/v2/crawl/x", "/v2/nothing"] {
            let answer = client.get(path).await;
            assert_eq!((answer.status, answer.code()), (401, "UNAUTHORIZED"), "{path}: {}", answer.body);
        }
    }
    let team = app.team(Some(5), json!({})).await;
    assert_eq!(team.get("/v2/team/credit-usage").await.status, 200);
    assert_eq!(team.get("/v2/nothing").await.status, 404);
}

#[tokio::test]
async fn two_keys_at_once_are_refused() {
    let app = TestApp::with_keys().await;
    let team = app.team(Some(5), json!({})).await;
    let request = team.request(Method::GET, "/v2/team/credit-usage").header("authorization", "Bearer x");
    assert_eq!(team.send(request, Bytes::new()).await.status, 400);
}

#[tokio::test]
async fn a_basic_scheme_is_no_key() {
    let app = TestApp::with_keys().await;
    let request = app.anonymous().request(Method::GET, "/v2/team/credit-usage").header("authorization", "Basic e30=");
    assert_eq!(app.anonymous().send(request, Bytes::new()).await.status, 401);
}

//! What machines that watch read.

use e2e::{TestApp, openapi};
use serde_json::json;

#[tokio::test]
async fn health_ready_metrics_and_the_document_answer() {
    let app = TestApp::start().await;
    for path in ["/health", "/health/live", "/health/ready"] {
        assert_eq!(app.anonymous().get(path).await.status, 200, "{path}");
    }
    // This server has nothing that not every server has.
    assert_eq!(app.anonymous().get("/health").await.body["capabilities"], json!([]));
    assert!(app.anonymous().get("/health/live").await.body.get("capabilities").is_none());
    app.site.html("/a", "<p>some words");
    app.anonymous().scrape(&json!({"url": app.page("/a")})).await;
    let metrics = app.anonymous().get("/metrics").await;
    assert!(metrics.body.as_str().unwrap().contains("# TYPE"), "{}", metrics.body);
    let document = app.anonymous().get("/openapi.json").await.body;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert!(document["paths"]["/v2/scrape"]["post"].is_object());
    assert!(openapi::operations().contains(&"POST /v2/scrape".to_owned()));
}

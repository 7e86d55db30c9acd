//! Options of POST /v2/scrape, each by its effect.

use e2e::TestApp;
use serde_json::{Value, json};

use crate::ARTICLE;

async fn markdown_with(app: &TestApp, options: Value) -> String {
    let mut body = json!({"url": app.page("/stone"), "maxAge": 0});
    body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let answer = app.anonymous().scrape(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.markdown().to_owned()
}

#[tokio::test]
async fn content_options_choose_what_stays() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    let whole = markdown_with(&app, json!({"onlyMainContent": false})).await;
    assert!(whole.contains("NAVIGATION") && whole.contains("FOOTER"), "{whole}");
    let included = markdown_with(&app, json!({"includeTags": [".aside"]})).await;
    assert!(included.contains("bridges") && !included.contains("coarse"), "{included}");
    let excluded = markdown_with(&app, json!({"excludeTags": [".aside"]})).await;
    assert!(!excluded.contains("bridges") && excluded.contains("coarse"), "{excluded}");
}

#[tokio::test]
async fn base64_images_leave_a_placeholder() {
    let app = TestApp::start().await;
    app.site.html("/stone", "<main><p>A picture of a stone, drawn by hand:</p><img alt='dot' src='data:image/png;base64,iVBORw0KGgo='></main>");
    let removed = markdown_with(&app, json!({})).await;
    assert!(removed.contains("![dot](<Base64-Image-Removed>)"), "{removed}");
    let kept = markdown_with(&app, json!({"removeBase64Images": false})).await;
    assert!(kept.contains("data:image/png;base64,iVBORw0KGgo="), "{kept}");
}

#[tokio::test]
async fn headers_language_and_device_reach_the_site() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    markdown_with(&app, json!({"headers": {"X-Own": "yes-42"}, "mobile": true, "location": {"country": "DE", "languages": ["de", "en"]}})).await;
    let seen = app.site.requests().pop().unwrap();
    assert_eq!(seen.header("x-own"), "yes-42");
    assert!(seen.header("user-agent").contains("Mobile"), "{}", seen.header("user-agent"));
    assert!(seen.header("accept-language").starts_with("de,en"), "{}", seen.header("accept-language"));
    assert_eq!(seen.flaw, None);
}

#[tokio::test]
async fn a_wait_that_cannot_be_had_is_said() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    let answer = app.anonymous().scrape(&json!({"url": app.page("/stone"), "waitFor": 10})).await;
    assert_eq!(answer.status, 200);
    assert!(answer.body["data"]["warning"].as_str().unwrap().contains("waitFor"), "{}", answer.body);
}

#[tokio::test]
async fn bad_options_are_refused_by_name() {
    let app = TestApp::start().await;
    let cases = [
        (json!({"timeout": 999}), "timeout"),
        (json!({"timeout": "5000"}), "timeout"),
        (json!({"formats": ["rawBase64", "markdown"]}), "formats"),
        (json!({"formats": ["parchment"]}), "formats"),
        (json!({"location": {"country": "germany"}}), "location.country"),
        (json!({"includeTags": ["p[["]}), "includeTags"),
        (json!({"headers": {"Host": "internal"}}), "headers"),
        (json!({"onlyMainContents": true}), "onlyMainContents"),
        (json!({"waitFor": 3000, "timeout": 5000}), "waitFor must not exceed half of timeout"),
    ];
    for (options, field) in cases {
        let mut body = json!({"url": app.page("/stone")});
        body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let answer = app.anonymous().scrape(&body).await;
        assert_eq!(answer.status, 400, "{options}: {}", answer.body);
        assert!(answer.body.to_string().contains(field), "{options}: {}", answer.body);
    }
    assert_eq!(app.site.requests().len(), 0);
}

#[tokio::test]
async fn what_has_no_engine_yet_is_refused_with_its_own_code() {
    let app = TestApp::start().await;
    let cases = [
        (json!({"formats": ["screenshot"]}), "SCREENSHOT_NOT_SUPPORTED"),
        (json!({"formats": [{"type": "json", "prompt": "x"}]}), "JSON_NOT_SUPPORTED"),
        (json!({"formats": ["audio"]}), "AUDIO_NOT_SUPPORTED"),
        (json!({"actions": [{"type": "wait", "milliseconds": 10}]}), "ACTIONS_NOT_SUPPORTED"),
    ];
    for (options, code) in cases {
        let mut body = json!({"url": app.page("/stone")});
        body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let answer = app.anonymous().scrape(&body).await;
        assert_eq!((answer.status, answer.code().ends_with(code)), (400, true), "{options}: {}", answer.body);
    }
    let body = json!({"url": app.page("/stone"), "actions": [{"type": "scrape"}]});
    let answer = app.anonymous().scrape(&body).await;
    assert!(answer.body["error"].as_str().unwrap().contains("Actions are not supported"), "{}", answer.body);
}

#[tokio::test]
async fn trials_of_others_are_accepted_and_ignored() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    let plain = markdown_with(&app, json!({})).await;
    assert_eq!(markdown_with(&app, json!({"__experimental_cache": true, "__experimental_x": {"y": 1}})).await, plain);
}

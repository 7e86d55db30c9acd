//! Failures that all APIs have in common, and those that each tells in its own way.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Body, Reply};

use super::{Double, KEY, query};
use crate::error::EngineError;
use crate::operators::Words;
use crate::settings::{EngineName, Limit};

const ALL: [EngineName; 5] =
    [EngineName::Searxng, EngineName::Brave, EngineName::Serper, EngineName::Google, EngineName::Tavily];

fn status(status: u16) -> Reply {
    Reply { status, body: b"<h1>no</h1>".to_vec().into(), ..Reply::default() }
}

fn of(status: u16, body: &Value) -> Reply {
    Reply { status, ..super::json(body) }
}

async fn fails(name: EngineName, reply: Reply) -> EngineError {
    let double = Double::start(name).await;
    double.replies(reply);
    let error = double.search(&query(&Words::parse("granite"))).await.unwrap_err();
    assert!(!error.to_string().contains(KEY), "{error}");
    assert_eq!(double.paths().len(), 1, "a failure is not repeated");
    error
}

fn setting(name: EngineName) -> &'static str {
    match name {
        EngineName::Brave => "search.brave_key",
        EngineName::Serper => "search.serper_key",
        EngineName::Google => "search.google_key",
        EngineName::Tavily => "search.tavily_key",
        EngineName::Searxng | EngineName::Index => "search.searxng_url",
    }
}

#[tokio::test]
async fn statuses() {
    for name in ALL {
        let unauthorized = |status| EngineError::Unauthorized { status, setting: setting(name) };
        let forbidden = if name == EngineName::Searxng { EngineError::JsonOff } else { unauthorized(403) };
        let wait = Some(Duration::from_secs(7));
        for (reply, expect) in [
            (status(401), unauthorized(401)),
            (status(403), forbidden),
            (status(429), EngineError::RateLimited { retry_after: None }),
            (status(429).header("retry-after", "7"), EngineError::RateLimited { retry_after: wait }),
            (status(402), EngineError::Quota),
            (status(400), EngineError::Rejected { status: 400 }),
            (status(500), EngineError::Upstream { status: 500 }),
            (status(503), EngineError::Upstream { status: 503 }),
            (status(504), EngineError::Timeout),
            (status(302).header("location", "http://127.0.0.1:1/"), EngineError::Redirected),
        ] {
            let shown = reply.status;
            assert_eq!(fails(name, reply).await, expect, "{} {shown}", name.as_str());
        }
    }
}

#[tokio::test]
async fn answers_that_are_no_answers() {
    for name in ALL {
        let cut = Reply { body: b"{\"results\": [{\"url\": \"http://a.te".to_vec().into(), ..Reply::default() };
        let page = status(200);
        let short = Reply { body: b"{}".to_vec().into(), ..Reply::default() }.header("content-length", "50");
        let deep = Reply { body: "[".repeat(100_000).into_bytes().into(), ..Reply::default() };
        let elsewhere = super::json(&json!({ "results": 5, "web": { "results": 5 }, "organic": 5, "items": 5 }));
        for reply in [cut, page, deep, elsewhere, super::json(&json!([1]))] {
            let error = fails(name, reply).await;
            assert!(matches!(error, EngineError::Invalid(_)), "{}: {error:?}", name.as_str());
        }
        let error = fails(name, short).await;
        assert!(matches!(error, EngineError::Invalid(_)), "{}: {error:?}", name.as_str());
    }
}

#[tokio::test]
async fn slow_and_large_answers() {
    for name in ALL {
        let slow = Reply { delay: Duration::from_secs(3), ..super::json(&json!({})) };
        assert_eq!(fails(name, slow).await, EngineError::Timeout, "{}", name.as_str());
        let unit = b"          ".to_vec().into();
        let body = Body::Repeat { prefix: Vec::new().into(), unit, bytes: Some(6 << 20), suffix: Vec::new().into() };
        let error = fails(name, Reply { body, ..Reply::default() }).await;
        assert!(matches!(error, EngineError::Invalid(_)), "{}: {error:?}", name.as_str());
    }
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let double = Double::start(EngineName::Searxng).await;
    let Double { site, engine } = double;
    drop(site);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let words = Words::parse("granite");
    let error = crate::engine::SearchEngine::search(&engine, &query(&words)).await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable(_)), "{error:?}");
}

#[tokio::test]
async fn each_api_in_its_own_way() {
    let brave = |code: &str| json!({ "type": "ErrorResponse", "error": { "code": code, "status": 422 } });
    let google = |reason: &str| json!({ "error": { "code": 429, "errors": [{ "reason": reason }], "status": "X" } });
    let invalid_key = json!({ "error": { "code": 400, "details": [{ "reason": "API_KEY_INVALID" }] } });
    let unauthorized = |status, name| EngineError::Unauthorized { status, setting: setting(name) };
    let limited = EngineError::RateLimited { retry_after: None };
    for (name, reply, expect) in [
        (EngineName::Brave, of(422, &brave("SUBSCRIPTION_TOKEN_INVALID")), unauthorized(422, EngineName::Brave)),
        (EngineName::Brave, of(422, &brave("VALIDATION")), EngineError::Rejected { status: 422 }),
        (EngineName::Brave, of(429, &brave("QUOTA_LIMITED")), EngineError::Quota),
        (EngineName::Brave, of(429, &brave("RATE_LIMITED")), limited.clone()),
        (EngineName::Google, of(400, &invalid_key), unauthorized(400, EngineName::Google)),
        (EngineName::Google, of(429, &google("dailyLimitExceeded")), EngineError::Quota),
        (EngineName::Google, of(429, &google("rateLimitExceeded")), limited),
        (EngineName::Serper, of(400, &json!({ "message": "Not enough credits" })), EngineError::Quota),
        (EngineName::Serper, of(400, &json!({ "message": "Missing query" })), EngineError::Rejected { status: 400 }),
        (EngineName::Tavily, of(432, &json!({ "detail": { "error": "limit" } })), EngineError::Quota),
        (EngineName::Tavily, of(433, &json!({})), EngineError::Quota),
    ] {
        assert_eq!(fails(name, reply).await, expect, "{}", name.as_str());
    }
}

#[tokio::test]
async fn limits_are_kept() {
    let double = Double::limited(EngineName::Searxng, Limit { per_second: 0, per_month: 2 }).await;
    double.answers(|_| json!({ "results": [{ "url": "https://a.test/", "title": "A" }] }));
    let words = Words::parse("granite");
    let mut query = query(&words);
    query.limit = 1;
    for _ in 0..2 {
        double.search(&query).await.unwrap();
    }
    assert_eq!(double.search(&query).await, Err(EngineError::MonthUsed { most: 2 }));
    assert_eq!(double.paths().len(), 2);
}

#[tokio::test]
async fn an_engine_that_asks_for_a_pause_gets_it() {
    let double = Double::start(EngineName::Brave).await;
    double.replies(status(429).header("retry-after", "7"));
    let words = Words::parse("granite");
    for _ in 0..2 {
        let error = double.search(&query(&words)).await.unwrap_err();
        let EngineError::RateLimited { retry_after: Some(wait) } = error else { panic!("{error:?}") };
        assert!(wait <= Duration::from_secs(7) && wait > Duration::from_secs(5), "{wait:?}");
    }
    assert_eq!(double.paths().len(), 1);
}

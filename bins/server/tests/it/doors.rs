//! Access control and refusals.

use boot::config::AuthMode;

use crate::caller::OPERATOR;
use crate::{Answer, call, service};

fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.code().as_str()), (status, code), "{answer:?}");
    let body = answer.json();
    assert_eq!(body["success"], false);
    assert!(body["error"].as_str().is_some_and(|error| !error.is_empty()));
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_paths_and_methods_are_json() {
    let (running, _folder) = service(|_| ()).await;
    for path in ["/nothing", "/v2", "/v2/", "/v2/nothing", "/v2/crawl/../../admin"] {
        refused(&call(&running, &format!("GET {path}"), &[], b"").await, 404, "NOT_FOUND");
    }
    refused(&call(&running, "GET /v1/scrape", &[], b"").await, 404, "ENDPOINT_NOT_AVAILABLE");
    for id in [
        "%2e%2e%2fadmin",
        "%00",
        "1",
        "%ff",
        "0193b0c1b2d37e4f8a9b0c1d2e3f4a5b",
        "%7B0193b0c1-b2d3-7e4f-8a9b-0c1d2e3f4a5b%7D",
        "urn:uuid:0193b0c1-b2d3-7e4f-8a9b-0c1d2e3f4a5b",
        "0193b0c1-b2d3-7e4f-8a9b-0c1d2e3f4a5g",
    ] {
        for path in ["crawl", "batch/scrape"] {
            for line in [
                format!("GET /v2/{path}/{id}"),
                format!("GET /v2/{path}/{id}/errors"),
                format!("DELETE /v2/{path}/{id}"),
            ] {
                let answer = call(&running, &line, &[], b"").await;
                refused(&answer, 400, "BAD_REQUEST");
                assert_eq!(answer.json()["error"], "Invalid job ID format. Job ID must be a valid UUID.");
            }
        }
    }
    let known = call(&running, "GET /v2/crawl/0193B0C1-b2d3-7e4f-8a9b-0c1d2e3f4a5b", &[], b"").await;
    refused(&known, 404, "NOT_FOUND");
    let answer = call(&running, "GET /v2/scrape", &[], b"").await;
    refused(&answer, 405, "METHOD_NOT_ALLOWED");
    assert_eq!(answer.header("allow"), Some("post"), "{}", answer.head);
    let here = ["Host: 127.0.0.1:80"];
    refused(&call(&running, "CONNECT 127.0.0.1:80", &here, b"").await, 404, "NOT_FOUND");
    refused(&call(&running, "GET http://127.0.0.1:80/x", &here, b"").await, 404, "NOT_FOUND");
    let about = call(&running, "GET /", &["Host: 127.0.0.1:80"], b"").await.json();
    assert_eq!(about["documentation"], "http://127.0.0.1/openapi.json");
    assert!(about["name"].is_string() && about["version"].is_string(), "{about}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_nothing_under_v2_is_told() {
    let (running, _folder) = service(|config| config.auth.mode = AuthMode::Keys).await;
    for header in [
        "X: y",
        "Authorization: Basic e30=",
        "Authorization: Bearer ",
        "Authorization: Bearer undefined",
        "Authorization: Bearer fc-0",
    ] {
        for line in ["GET /v2/team/credit-usage", "POST /v2/crawl", "GET /v2/scrape", "POST /v2/scrape?api_key=fc-1"] {
            refused(&call(&running, line, &[header], b"{}").await, 401, "UNAUTHORIZED");
        }
    }
    let two = ["Authorization: Bearer a", "Authorization: Bearer b"];
    refused(&call(&running, "GET /v2/team/credit-usage", &two, b"").await, 400, "BAD_REQUEST");
    for path in ["/health", "/health/live", "/health/ready", "/openapi.json", "/"] {
        assert_eq!(call(&running, &format!("GET {path}"), &["Host: any.example"], b"").await.status, 200, "{path}");
    }
    refused(&call(&running, "GET /metrics", &[], b"").await, 401, "UNAUTHORIZED");
    refused(&call(&running, "GET /metrics", &["Authorization: Bearer wrong"], b"").await, 401, "UNAUTHORIZED");
    let operator = format!("Authorization: Bearer {OPERATOR}");
    assert_eq!(call(&running, "GET /metrics", &[&operator, "Host: any.example"], b"").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_makes_teams_that_can_call() {
    let (running, _folder) = service(|config| config.auth.mode = AuthMode::Keys).await;
    let operator = format!("Authorization: Bearer {OPERATOR}");
    refused(&call(&running, "GET /admin/teams", &[], b"").await, 401, "UNAUTHORIZED");
    refused(&call(&running, "GET /admin/teams", &["Authorization: Bearer wrong"], b"").await, 401, "UNAUTHORIZED");
    refused(&call(&running, "GET /admin/nothing", &[&operator], b"").await, 404, "NOT_FOUND");
    refused(&call(&running, "GET /admin/teams/1", &[&operator], b"").await, 404, "NOT_FOUND");
    refused(&call(&running, "GET /admin/teams/%ff", &[&operator], b"").await, 404, "NOT_FOUND");
    let made =
        call(&running, "POST /admin/teams", &[&operator], br#"{"name":"a","credits":5,"rateLimit":3}"#).await.json();
    let key = format!("Authorization: Bearer {}", made["apiKey"].as_str().unwrap());
    let usage = call(&running, "GET /v2/team/credit-usage", &[&key], b"").await;
    assert_eq!(usage.json()["data"]["remainingCredits"], 5);
    assert_eq!(usage.header("ratelimit"), Some("\"team\";r=2;t=20"), "{}", usage.head);
    let list =
        call(&running, &format!("GET /admin/teams/{}/keys", made["teamId"].as_str().unwrap()), &[&operator], b"").await;
    let id = list.json()["data"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(call(&running, &format!("DELETE /admin/keys/{id}"), &[&operator], b"").await.json()["success"], true);
    refused(&call(&running, "GET /v2/team/credit-usage", &[&key], b"").await, 401, "UNAUTHORIZED");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_there_is_no_operator_api() {
    let (running, _folder) = service(|config| config.admin.token = base::Secret::default()).await;
    for header in ["X: y", "Authorization: Bearer ", "Authorization: Bearer x"] {
        refused(&call(&running, "GET /admin/teams", &[header], b"").await, 404, "NOT_FOUND");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keyless_calls_are_counted_by_address() {
    let (running, _folder) = service(|config| {
        config.limits.keyless_per_minute = 2;
        config.server.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    })
    .await;
    let from = async |address: &str| {
        let header = format!("X-Forwarded-For: {address}");
        call(&running, "GET /v2/concurrency-check", &[&header], b"").await
    };
    assert_eq!(from("192.0.2.1").await.status, 200);
    assert_eq!(from("192.0.2.1").await.status, 200);
    let answer = from("192.0.2.1").await;
    refused(&answer, 429, "RATE_LIMITED");
    assert_eq!(answer.header("retry-after"), Some("30"), "{}", answer.head);
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("0"));
    assert_eq!(from("192.0.2.2").await.status, 200);
    assert_eq!(call(&running, "GET /health", &[], b"").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_calls_are_refused_in_their_order() {
    let (running, _folder) = service(|_| ()).await;
    let body = br#"{"alexandria":{"provider":"p","capability":"find-tools"}}"#;
    for id in ["", "a b", "a/b", "\u{e9}", &"x".repeat(129)] {
        let answer = call(&running, "POST /v2/scrape", &[&format!("x-request-id: {id}")], body).await;
        refused(&answer, 400, "BAD_REQUEST");
    }
    let answer = call(&running, "POST /v2/scrape", &["x-request-id: ok:1._-Z"], body).await;
    refused(&answer, 403, "FORBIDDEN");
    assert_eq!(answer.json()["error"], "This endpoint is not enabled for this team.");
    assert_eq!(answer.header("x-request-id"), Some("ok:1._-z"));
}

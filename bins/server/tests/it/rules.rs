//! What a key may call, where from, and what is answered without one. What becomes of the calls is not looked at.

use boot::config::{AuthMode, Config, Keyless};
use quarry_server::Running;
use serde_json::{Value, json};

use crate::caller::OPERATOR;
use crate::{Answer, call, service};

const PROXY: &str = "127.0.0.1/32";

fn refused(answer: &Answer, status: u16, code: &str, part: &str) {
    assert_eq!((answer.status, answer.code().as_str()), (status, code), "{answer:?}");
    let error = answer.json()["error"].as_str().unwrap_or_default().to_owned();
    assert!(error.contains(part), "{error}");
}

async fn operator(running: &Running, line: &str, body: Value) -> Value {
    let operator = format!("Authorization: Bearer {OPERATOR}");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = call(running, line, &[&operator], body.as_bytes()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// A team, its key and the header that shows it.
struct Team {
    id: String,
    key: String,
    bearer: String,
}

impl Team {
    async fn new(running: &Running) -> Self {
        let made = operator(running, "POST /admin/teams", json!({"name": "a", "credits": 5})).await;
        let id = made["teamId"].as_str().unwrap().to_owned();
        let keys = operator(running, &format!("GET /admin/teams/{id}/keys"), Value::Null).await;
        let key = keys["data"][0]["id"].as_str().unwrap().to_owned();
        Self { id, key, bearer: format!("Authorization: Bearer {}", made["apiKey"].as_str().unwrap()) }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_have_endpoints_and_formats() {
    let (running, _folder) = service(|config| config.auth.mode = AuthMode::Keys).await;
    let team = Team::new(&running).await;
    let line = format!("PATCH /admin/keys/{}", team.key);
    let rules = json!({"endpoints": ["scrape", "team"], "formats": ["markdown", "links"]});
    let shown = operator(&running, &line, rules.clone()).await;
    assert_eq!((&shown["data"]["endpoints"], &shown["data"]["formats"]), (&rules["endpoints"], &rules["formats"]));
    let sentence =
        "this key may not use endpoints of the group crawl; it is limited to scrape, team (key rule `endpoints`)";
    for line in ["POST /v2/crawl", "GET /v2/crawl/active", "GET /v2/crawl/0193b0c1-b2d3-7e4f-8a9b-0c1d2e3f4a5b"] {
        refused(&call(&running, line, &[&team.bearer], b"{}").await, 403, "KEY_NOT_ALLOWED", sentence);
    }
    let own = call(&running, "POST /admin/teams", &[&team.bearer], b"{}").await;
    refused(&own, 401, "UNAUTHORIZED", "operator");
    assert_eq!(call(&running, "GET /v2/team/credit-usage", &[&team.bearer], b"").await.status, 200);
    refused(&call(&running, "GET /v2/nothing", &[&team.bearer], b"").await, 404, "NOT_FOUND", "");
    refused(&call(&running, "POST /v2/scrape", &[&team.bearer], b"{}").await, 400, "BAD_REQUEST", "`url`");
    let body = br#"{"url": "https://example.com", "formats": ["markdown", "screenshot"]}"#;
    let sentence = "this key may not use format screenshot; it is limited to markdown, links (key rule `formats`)";
    refused(&call(&running, "POST /v2/scrape", &[&team.bearer], body).await, 403, "KEY_NOT_ALLOWED", sentence);
    let usage = call(&running, "GET /v2/team/credit-usage", &[&team.bearer], b"").await.json();
    assert_eq!(usage["data"]["remainingCredits"], 5);
    operator(&running, &line, json!({"endpoints": []})).await;
    assert_eq!(call(&running, "GET /v2/crawl/active", &[&team.bearer], b"").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn teams_have_networks() {
    let (running, _folder) = service(|config| {
        config.auth.mode = AuthMode::Keys;
        config.server.trusted_proxies = vec![PROXY.parse().unwrap()];
    })
    .await;
    let team = Team::new(&running).await;
    let from = async |address: &str| {
        let header = format!("X-Forwarded-For: {address}");
        call(&running, "GET /v2/team/credit-usage", &[&team.bearer, &header], b"").await
    };
    assert_eq!(from("198.51.100.9").await.status, 200);
    let line = format!("PATCH /admin/teams/{}", team.id);
    let shown = operator(&running, &line, json!({"addresses": ["192.0.2.0/24", "2001:db8:5::/48"]})).await;
    assert_eq!(shown["data"]["addresses"], json!(["192.0.2.0/24", "2001:db8:5::/48"]));
    for inside in ["192.0.2.255", "2001:db8:5:9::1", "::ffff:192.0.2.3"] {
        assert_eq!(from(inside).await.status, 200, "{inside}");
    }
    for outside in ["198.51.100.9", "192.0.3.0", "2001:db8:6::1", "::1"] {
        let sentence = format!("calls of this team may not come from {outside} (team rule `addresses`)");
        refused(&from(outside).await, 403, "ADDRESS_NOT_ALLOWED", &sentence);
    }
    operator(&running, &line, json!({"addresses": []})).await;
    assert_eq!(from("198.51.100.9").await.status, 200);
}

fn keyless(config: &mut Config) {
    config.auth.mode = AuthMode::Keys;
    config.auth.keyless = vec![Keyless::Scrape];
    config.auth.keyless_team = app::DEFAULT_TEAM.parse().ok();
    config.auth.keyless_per_minute = 2;
    config.auth.keyless_per_day = 3;
    config.server.trusted_proxies = vec![PROXY.parse().unwrap()];
}

#[tokio::test(flavor = "multi_thread")]
async fn scrapes_without_a_key_are_let_in_by_address() {
    let (running, _folder) = service(keyless).await;
    let from = async |address: &str, line: &str, header: &str| {
        call(&running, line, &[&format!("X-Forwarded-For: {address}"), header], b"{}").await
    };
    // Let in, and told what is wrong with it.
    for header in ["X: y", "Authorization: Bearer undefined"] {
        refused(&from("192.0.2.1", "POST /v2/scrape", header).await, 400, "BAD_REQUEST", "`url`");
    }
    let answer = from("192.0.2.1", "POST /v2/scrape", "X: y").await;
    refused(&answer, 429, "RATE_LIMITED", "2 a minute are answered; try again in");
    let (body, wait) = (answer.json(), answer.header("retry-after").unwrap().to_owned());
    assert_eq!((&body["reason"], body["retry_after_seconds"].to_string()), (&json!("requests"), wait));
    assert_eq!(answer.header("ratelimit-policy"), Some("\"address\";q=2;w=60"), "{}", answer.head);
    refused(&from("2001:db8::1", "POST /v2/scrape", "X: y").await, 400, "BAD_REQUEST", "`url`");
    for line in ["GET /v2/scrape", "POST /v2/crawl", "GET /v2/team/credit-usage", "POST /v2/nothing"] {
        let answer = from("192.0.2.2", line, "X: y").await;
        refused(&answer, 401, "UNAUTHORIZED", "without one only POST /v2/scrape is answered: send a key");
    }
    let wrong = from("192.0.2.2", "POST /v2/scrape", "Authorization: Bearer fc-0").await;
    refused(&wrong, 401, "UNAUTHORIZED", "this API key is not known");
    for header in ["Host: rebound.example", "Origin: https://elsewhere.example", "Sec-Fetch-Site: cross-site"] {
        refused(&from("192.0.2.2", "POST /v2/scrape", header).await, 403, "FORBIDDEN", "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_does_not_start_without_the_team_of_such_calls() {
    let start = async |team: Option<&str>| {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        keyless(&mut config);
        config.server.listen = "127.0.0.1:0".parse().unwrap();
        config.data.dir = folder.path().to_owned();
        config.auth.keyless_team = team.and_then(|team| team.parse().ok());
        quarry_server::start(config).await.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let unnamed = start(None).await;
    assert!(unnamed.contains("AUTH__KEYLESS_TEAM") && unnamed.contains("teams create keyless"), "{unnamed}");
    let missing = start(Some("0193b0c1-b2d3-7e4f-8a9b-0c1d2e3f4a5b")).await;
    assert!(missing.contains("there is no team 0193b0c1") && missing.contains("teams list"), "{missing}");
}

//! Calls that `auth.keyless` admits without a key.

use std::time::{Duration, Instant};

use boot::config::{AuthMode, Config, Keyless};
use bytes::Bytes;
use e2e::{Answer, Client, TestApp};
use http::Method;
use serde_json::{Value, json};
use testkit::Reply;

use crate::ARTICLE;
use crate::browser::asked;

/// Hint about API keys in refusals.
const GET_A_KEY: &str = "send an API key (Authorization: Bearer <key>), which the operator of this service issues";

/// Starts a service that answers scrapes without a key, as the default team, behind a proxy on loopback.
async fn service(change: impl FnOnce(&mut Config)) -> TestApp {
    let app = TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        config.auth.keyless = vec![Keyless::Scrape];
        config.auth.keyless_team = app::DEFAULT_TEAM.parse().ok();
        config.server.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
        change(config);
    })
    .await;
    app.site.html("/", ARTICLE);
    app
}

async fn scrape_with(client: &Client, headers: &[(&str, &str)], body: Value) -> Answer {
    let request = client.request(Method::POST, "/v2/scrape").header("content-type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    client.send(request, body.to_string().into()).await
}

/// Changes the team of such calls.
async fn change_team(app: &TestApp, change: Value) {
    let changed = app.operator().patch(&format!("/admin/teams/{}", app::DEFAULT_TEAM), &change).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
}

fn refused(answer: &Answer, status: u16, code: &str, part: &str) {
    assert_eq!((answer.status, answer.code()), (status, code), "{}", answer.body);
    assert!(answer.body["error"].as_str().unwrap().contains(part), "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scrapes_are_answered_without_a_key_and_nothing_else_is() {
    let app = service(|_| ()).await;
    let body = json!({"url": app.page("/"), "maxAge": 0});
    for client in [app.anonymous(), app.bearer("undefined")] {
        let answer = client.scrape(&body).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.markdown().starts_with("# Granite"));
        assert_eq!(answer.header("ratelimit-policy"), "\"address\";q=10;w=60");
    }
    let stranger = app.anonymous();
    refused(&stranger.scrape(&json!({})).await, 400, "BAD_REQUEST", "`url`");
    for (method, path) in [
        (Method::POST, "/v2/crawl"),
        (Method::POST, "/v2/batch/scrape"),
        (Method::POST, "/v2/map"),
        (Method::POST, "/v2/parse"),
        (Method::POST, "/v2/browser"),
        (Method::GET, "/v2/browser"),
        (Method::GET, "/v2/scrape"),
        (Method::GET, "/v2/crawl/active"),
        (Method::GET, "/v2/team/credit-usage"),
        (Method::GET, "/v2/scrape/01890000-0000-7000-8000-00000000beef"),
        (Method::POST, "/v2/scrape/01890000-0000-7000-8000-00000000beef/interact"),
        (Method::POST, "/v2/nothing"),
    ] {
        let request = stranger.request(method, path).header("content-type", "application/json");
        let answer = stranger.send(request, body.to_string().into()).await;
        refused(&answer, 401, "UNAUTHORIZED", &format!("only POST /v2/scrape is available without one: {GET_A_KEY}"));
    }
    // An invalid key is refused: its caller does not want the limits of calls without a key.
    refused(&app.bearer("fc-wrong").scrape(&body).await, 401, "UNAUTHORIZED", "this API key is not known");
    let team = app.team(Some(10), json!({})).await;
    assert_eq!(team.scrape(&body).await.status, 200);
    assert_eq!(team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"], 9);
    let spent = app.operator().get(&format!("/admin/teams/{}", app::DEFAULT_TEAM)).await.body["data"]["spent"].take();
    assert_eq!(spent, 2, "the operator's team pays");

    let off = TestApp::with_keys().await;
    let answer = off.anonymous().scrape(&json!({"url": off.page("/")})).await;
    refused(&answer, 401, "UNAUTHORIZED", "an API key is needed: Authorization: Bearer <key>");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn such_a_scrape_leaves_nothing_behind() {
    let app = service(|_| ()).await;
    let key = app.operator().post(&format!("/admin/teams/{}/keys", app::DEFAULT_TEAM), &json!({"name": "own"})).await;
    let team = app.bearer(key.body["apiKey"].as_str().unwrap());
    let body = json!({"url": app.page("/")});
    let (own, strange) = (team.scrape(&body).await.body, app.anonymous().scrape(&body).await.body);
    // Neither reads the cache of the other.
    assert_eq!(app.anonymous().scrape(&body).await.status, 200);
    assert_eq!(app.site.requests().iter().filter(|seen| seen.path == "/").count(), 3);
    let read = async |scrape: &Value| {
        team.get(&format!("/v2/scrape/{}", scrape["data"]["metadata"]["scrapeId"].as_str().unwrap())).await.status
    };
    assert_eq!((read(&own).await, read(&strange).await), (200, 404));
    let lockdown = app.anonymous().scrape(&json!({"url": app.page("/"), "lockdown": true})).await;
    refused(&lockdown, 404, "SCRAPE_LOCKDOWN_CACHE_MISS", "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_is_used_without_files_profiles_and_pages_that_stay() {
    let app = service(|config| config.browser.enabled = true).await;
    let stranger = app.anonymous();
    let actions = json!([{"type": "wait", "milliseconds": 10}]);
    let answer = stranger.scrape(&json!({"url": app.page("/"), "formats": ["screenshot"], "actions": actions})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let picture = answer.body["data"]["screenshot"].as_str().unwrap();
    assert!(picture.starts_with("data:image/"), "{picture:.60}");
    let profile = json!({"url": app.page("/"), "profile": {"name": "shop"}});
    refused(&stranger.scrape(&profile).await, 401, "UNAUTHORIZED", "`profile` needs an API key");
    let key = app.operator().post(&format!("/admin/teams/{}/keys", app::DEFAULT_TEAM), &json!({"name": "own"})).await;
    let team = app.bearer(key.body["apiKey"].as_str().unwrap());
    let id = answer.body["data"]["metadata"]["scrapeId"].as_str().unwrap();
    let interact = json!({"code": "1", "language": "node"});
    assert_eq!(team.post(&format!("/v2/scrape/{id}/interact"), &interact).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_address_has_its_minute_and_its_day() {
    let app = service(|config| (config.auth.keyless_per_minute, config.auth.keyless_per_day) = (3, 4)).await;
    let stranger = app.anonymous();
    let from = async |address: &str| {
        scrape_with(&stranger, &[("x-forwarded-for", address)], json!({"url": app.page("/")})).await
    };
    for _ in 0..3 {
        assert_eq!(from("192.0.2.1").await.status, 200);
    }
    let answer = from("192.0.2.1").await;
    refused(
        &answer,
        429,
        "RATE_LIMITED",
        "too many calls without an API key from this address: the limit is 3 a minute",
    );
    assert!(answer.body["error"].as_str().unwrap().contains("send an API key (Authorization: Bearer <key>)"));
    let wait = answer.body["retry_after_seconds"].as_u64().unwrap();
    assert_eq!((&answer.body["reason"], answer.header("retry-after")), (&json!("requests"), wait.to_string().as_str()));
    assert!((1..=20).contains(&wait), "{wait}");
    assert_eq!(answer.header("ratelimit-policy"), "\"address\";q=3;w=60");
    assert_eq!(from("192.0.2.2").await.status, 200, "another address");
    assert_eq!(from("2001:db8::1").await.status, 200);

    let app = service(|config| (config.auth.keyless_per_minute, config.auth.keyless_per_day) = (0, 1)).await;
    let stranger = app.anonymous();
    assert_eq!(stranger.scrape(&json!({"url": app.page("/")})).await.status, 200);
    refused(&stranger.scrape(&json!({"url": app.page("/")})).await, 429, "RATE_LIMITED", "the limit is 1 a day");
    // A call with a key has the limits of its team instead.
    let team = app.team(Some(10), json!({})).await;
    for _ in 0..3 {
        assert_eq!(team.scrape(&json!({"url": app.page("/")})).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_credits_of_the_team_end_it_without_a_word_of_them() {
    let app = service(|_| ()).await;
    change_team(&app, json!({"unlimited": false, "addCredits": 1})).await;
    let stranger = app.anonymous();
    assert_eq!(stranger.scrape(&json!({"url": app.page("/")})).await.status, 200);
    let answer = stranger.scrape(&json!({"url": app.page("/")})).await;
    refused(&answer, 429, "RATE_LIMITED", "the credits for calls without an API key are used up; send an API key");
    assert_eq!(answer.body["reason"], "credits");
}

/// Returns the limit headers of an answer.
fn limits_told(answer: &Answer) -> Vec<&str> {
    let names = answer.headers.keys().map(http::HeaderName::as_str);
    names.filter(|name| name.contains("ratelimit")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_of_the_team_ends_it_without_a_number_of_it() {
    let app = service(|_| ()).await;
    change_team(&app, json!({"rateLimit": 1})).await;
    let (stranger, body) = (app.anonymous(), json!({"url": app.page("/")}));
    let answer = stranger.scrape(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.header("ratelimit-policy"), "\"address\";q=10;w=60");
    assert!(answer.header("ratelimit").starts_with("\"address\";r=9;"), "{:?}", answer.headers);
    let answer = stranger.scrape(&body).await;
    let wait = answer.body["retry_after_seconds"].as_u64().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    let sentence = format!("too many calls without an API key at the moment; try again in {wait} s, or {GET_A_KEY}");
    refused(&answer, 429, "RATE_LIMITED", &sentence);
    assert_eq!((&answer.body["error"], &answer.body["reason"]), (&json!(sentence), &json!("requests")));
    assert_eq!(answer.header("retry-after"), wait.to_string());
    assert!(limits_told(&answer).is_empty(), "{:?}", answer.headers);
    // A call with a key of the team gets them.
    let key = app.operator().post(&format!("/admin/teams/{}/keys", app::DEFAULT_TEAM), &json!({"name": "own"})).await;
    let answer = app.bearer(key.body["apiKey"].as_str().unwrap()).scrape(&body).await;
    assert_eq!((answer.status, answer.header("ratelimit-policy")), (429, "\"team\";q=1;w=60"), "{}", answer.body);

    // Without limits per address no limit headers are sent.
    let app = service(|config| (config.auth.keyless_per_minute, config.auth.keyless_per_day) = (0, 0)).await;
    change_team(&app, json!({"rateLimit": 1})).await;
    let (stranger, body) = (app.anonymous(), json!({"url": app.page("/")}));
    for status in [200, 429] {
        let answer = stranger.scrape(&body).await;
        assert!(answer.status == status && limits_told(&answer).is_empty(), "{:?} {}", answer.headers, answer.body);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_concurrency_of_the_team_is_not_told_either() {
    let app = service(|_| ()).await;
    change_team(&app, json!({"concurrency": 1})).await;
    let slow = Reply { delay: Duration::from_secs(3), body: "<p>slow".into(), ..Reply::default() };
    app.site.respond("/slow", slow.header("content-type", "text/html"));
    let (stranger, body) = (app.anonymous(), json!({"url": app.page("/slow")}));
    let (first, second) = tokio::join!(stranger.scrape(&body), async {
        let started = Instant::now();
        while asked(&app, "/slow") == 0 {
            assert!(started.elapsed() < Duration::from_secs(30), "the first call does not reach the site");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stranger.scrape(&body).await
    });
    assert_eq!(first.status, 200, "{}", first.body);
    let sentence = format!("too many calls without an API key are running; try again shortly, or {GET_A_KEY}");
    refused(&second, 429, "CONCURRENCY_LIMITED", &sentence);
    assert_eq!((&second.body["error"], second.header("retry-after")), (&json!(sentence), "1"));
    assert_eq!(second.header("ratelimit-policy"), "\"address\";q=10;w=60");
    assert_eq!(stranger.scrape(&json!({"url": app.page("/")})).await.status, 200);
}

/// The protection against web pages in open mode applies here too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_web_page_calls_without_a_key() {
    let app = service(|config| config.server.hosts = vec!["api.quarry.example".to_owned()]).await;
    let (stranger, body) = (app.anonymous(), json!({"url": app.page("/")}));
    for headers in [
        [("host", "rebound.example"), ("x-quiet", "1")],
        [("origin", "https://elsewhere.example"), ("x-quiet", "1")],
        [("sec-fetch-site", "cross-site"), ("x-quiet", "1")],
    ] {
        let answer = scrape_with(&stranger, &headers, body.clone()).await;
        assert_eq!((answer.status, answer.code()), (403, "FORBIDDEN"), "{headers:?}: {}", answer.body);
    }
    assert_eq!(scrape_with(&stranger, &[("host", "api.quarry.example")], body.clone()).await.status, 200);
    let request = stranger.request(Method::POST, "/v2/scrape").header("content-type", "text/plain");
    assert_eq!(stranger.send(request, Bytes::from(body.to_string())).await.status, 415);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_does_not_start_without_the_team() {
    let start = async |team: Option<&str>| {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.server.listen = "127.0.0.1:0".parse().unwrap();
        config.data.dir = folder.path().to_owned();
        (config.browser.enabled, config.documents.enabled) = (false, false);
        config.auth.mode = AuthMode::Keys;
        config.auth.keyless = vec![Keyless::Scrape];
        config.auth.keyless_team = team.map(|team| team.parse().unwrap());
        match quarry_server::start(config).await {
            Ok(running) => {
                running.stop().await;
                String::new()
            }
            Err(error) => error.to_string(),
        }
    };
    let unnamed = start(None).await;
    assert!(unnamed.contains("AUTH__KEYLESS_TEAM") && unnamed.contains("teams create keyless"), "{unnamed}");
    let missing = start(Some("01890000-0000-7000-8000-00000000beef")).await;
    assert!(missing.contains("team 01890000") && missing.contains("teams list"), "{missing}");
    assert_eq!(start(Some(app::DEFAULT_TEAM)).await, "");
}

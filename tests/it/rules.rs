//! Restrictions of keys, and allowed networks of teams.

use bytes::Bytes;
use e2e::{Answer, Client, TestApp};
use http::Method;
use serde_json::{Value, json};

use crate::ARTICLE;
use crate::crawl::{linked_site, page};
use crate::sessions::session;

/// A team with the operator's access to it.
pub(crate) struct Team {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) client: Client,
}

impl Team {
    pub(crate) async fn new(app: &TestApp) -> Self {
        let made = app.operator().post("/admin/teams", &json!({"name": "limited", "credits": 100})).await.body;
        let id = made["teamId"].as_str().unwrap().to_owned();
        let keys = app.operator().get(&format!("/admin/teams/{id}/keys")).await.body;
        let key = keys["data"][0]["id"].as_str().unwrap().to_owned();
        Self { id, key, client: app.bearer(made["apiKey"].as_str().unwrap()) }
    }

    /// Changes the rules of the key.
    async fn limit(&self, app: &TestApp, rules: Value) -> Value {
        let answer = app.operator().patch(&format!("/admin/keys/{}", self.key), &rules).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body["data"].clone()
    }

    /// Sets the networks from which the team may be called.
    async fn only_from(&self, app: &TestApp, addresses: Value) -> Value {
        let path = format!("/admin/teams/{}", self.id);
        let answer = app.operator().patch(&path, &json!({"addresses": addresses})).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body["data"]["addresses"].clone()
    }

    async fn remaining(&self) -> i64 {
        self.client.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].as_i64().unwrap()
    }
}

fn refused(answer: &Answer, code: &str, sentence: &str) {
    assert_eq!((answer.status, answer.code()), (403, code), "{}", answer.body);
    assert_eq!(answer.body["error"], sentence);
}

/// Starts a service behind a proxy on loopback, which reports the client addresses. After four refusals in a minute an
/// address gets 429.
async fn behind_a_proxy(browser: bool) -> TestApp {
    TestApp::with(|config| {
        config.auth.mode = boot::config::AuthMode::Keys;
        config.browser.enabled = browser;
        config.limits.refused_per_minute = 4;
        config.server.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    })
    .await
}

async fn from(client: &Client, address: &str, method: Method, path: &str, body: Value) -> Answer {
    let request = client.request(method, path).header("x-forwarded-for", address);
    let request = request.header("content-type", "application/json");
    client.send(request, if body.is_null() { Bytes::new() } else { body.to_string().into() }).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_limited_to_groups_of_endpoints() {
    let app = TestApp::with_keys().await;
    app.site.html("/", ARTICLE);
    let team = Team::new(&app).await;
    let (url, client) = (app.page("/"), &team.client);
    let seen = team.limit(&app, json!({"endpoints": ["map", "batch"]})).await;
    assert_eq!((&seen["endpoints"], &seen["formats"]), (&json!(["map", "batch"]), &json!([])));
    let sentence = |group: &str| {
        format!(
            "this key may not use endpoints of the group {group}; it is limited to batch, map (key rule `endpoints`)"
        )
    };
    for (method, path, group) in [
        (Method::POST, "/v2/scrape", "scrape"),
        (Method::GET, "/v2/scrape/01890000-0000-7000-8000-00000000beef", "scrape"),
        (Method::POST, "/v2/scrape/01890000-0000-7000-8000-00000000beef/interact", "interact"),
        (Method::POST, "/v2/crawl", "crawl"),
        (Method::GET, "/v2/crawl/active", "crawl"),
        (Method::DELETE, "/v2/crawl/01890000-0000-7000-8000-00000000beef", "crawl"),
        (Method::POST, "/v2/parse", "parse"),
        (Method::POST, "/v2/parse/upload-url", "parse"),
        (Method::POST, "/v2/browser", "browser"),
        (Method::GET, "/v2/browser", "browser"),
        (Method::GET, "/v2/team/credit-usage", "team"),
        (Method::GET, "/v2/concurrency-check", "team"),
    ] {
        let request = client.request(method, path).header("content-type", "application/json");
        let answer = client.send(request, json!({"url": url}).to_string().into()).await;
        refused(&answer, "KEY_NOT_ALLOWED", &sentence(group));
    }
    assert_eq!(app.site.requests().len(), 0, "nothing was fetched");
    assert_eq!(client.post("/v2/map", &json!({"url": url})).await.status, 200);
    let job = client.start("/v2/batch/scrape", &json!({"urls": [url]})).await;
    assert_eq!(client.ended(&job).await.body["status"], "completed");
    assert_eq!(client.get("/v2/nothing").await.status, 404);
    // Another key of the team is not limited, and an empty list removes the rule.
    let other = app.operator().post(&format!("/admin/teams/{}/keys", team.id), &json!({"name": "other"})).await.body;
    let other = app.bearer(other["apiKey"].as_str().unwrap());
    assert_eq!(other.scrape(&json!({"url": url})).await.status, 200);
    team.limit(&app, json!({"endpoints": []})).await;
    assert_eq!(client.scrape(&json!({"url": url})).await.status, 200);
    assert_eq!(team.remaining().await, 100 - 1 - 1 - 1 - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_limited_to_formats_everywhere() {
    let app = TestApp::with_keys().await;
    app.site.html("/", ARTICLE);
    let team = Team::new(&app).await;
    let (url, client) = (app.page("/"), &team.client);
    team.limit(&app, json!({"formats": ["links", "markdown"]})).await;
    let sentence =
        |what: &str| format!("this key may not use {what}; it is limited to markdown, links (key rule `formats`)");
    let html = sentence("format html");
    for (path, body) in [
        ("/v2/scrape", json!({"url": url, "formats": ["markdown", "html"]})),
        ("/v2/crawl", json!({"url": url, "scrapeOptions": {"formats": ["html"]}})),
        ("/v2/batch/scrape", json!({"urls": [url], "formats": ["links", {"type": "html"}]})),
    ] {
        refused(&client.post(path, &body).await, "KEY_NOT_ALLOWED", &html);
    }
    let place = client.post("/v2/parse/upload-url", &json!({"filename": "a.html"})).await.body["data"].take();
    let body = json!({"uploadRef": place["uploadRef"], "formats": ["html"]});
    refused(&client.post("/v2/parse", &body).await, "KEY_NOT_ALLOWED", &html);
    let picture = json!({"url": url, "formats": [{"type": "screenshot", "fullPage": true}]});
    refused(&client.scrape(&picture).await, "KEY_NOT_ALLOWED", &sentence("format screenshot"));
    let action = json!({"url": url, "actions": [{"type": "screenshot"}]});
    let what = "the action screenshot, which returns the same as format screenshot";
    refused(&client.scrape(&action).await, "KEY_NOT_ALLOWED", &sentence(what));
    assert_eq!((app.site.requests().len(), team.remaining().await), (0, 100), "nothing was fetched or charged");

    let allowed = client.scrape(&json!({"url": url, "formats": ["links", "markdown"]})).await;
    assert_eq!(allowed.status, 200, "{}", allowed.body);
    assert_eq!(client.scrape(&json!({"url": url})).await.status, 200, "markdown is what nobody has to ask for");
    assert_eq!(client.post("/v2/map", &json!({"url": url})).await.status, 200, "a map has no formats");
    team.limit(&app, json!({"formats": ["links"]})).await;
    assert_eq!(client.scrape(&json!({"url": url})).await.status, 403);
    team.limit(&app, json!({"formats": []})).await;
    assert_eq!(client.scrape(&json!({"url": url, "formats": ["html"]})).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_key_has_started_goes_on_under_a_new_rule() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 6);
    // The batch stays open until this is dropped.
    let held = app.site.hold("/p/0", page("<p>slow"));
    let team = Team::new(&app).await;
    let body = json!({"urls": [app.page("/p/0"), app.page("/p/1"), app.page("/p/2")], "formats": ["html"]});
    let job = team.client.start("/v2/batch/scrape", &body).await;
    team.limit(&app, json!({"formats": ["markdown"], "endpoints": ["batch"]})).await;
    let more = json!({"urls": [app.page("/p/3")], "appendToId": job.rsplit('/').next().unwrap()});
    let sentence = "this key may not use format html; it is limited to markdown (key rule `formats`)";
    refused(&team.client.post("/v2/batch/scrape", &more).await, "KEY_NOT_ALLOWED", sentence);
    drop(held);
    assert_eq!(team.client.ended(&job).await.body["status"], "completed");
    let documents = team.client.documents(&job).await;
    assert_eq!(documents.len(), 3);
    assert!(documents.iter().all(|document| document["html"].is_string()), "{documents:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_team_calls_from_its_networks() {
    let app = behind_a_proxy(false).await;
    app.site.html("/", ARTICLE);
    let team = Team::new(&app).await;
    let scrape = async |address: &str| {
        from(&team.client, address, Method::POST, "/v2/scrape", json!({"url": app.page("/")})).await
    };
    assert_eq!(scrape("198.51.100.9").await.status, 200);
    let kept = team.only_from(&app, json!(["192.0.2.0/24", "198.51.100.7", "2001:db8:5::/48"])).await;
    assert_eq!(kept, json!(["192.0.2.0/24", "198.51.100.7/32", "2001:db8:5::/48"]));
    for inside in ["192.0.2.255", "198.51.100.7", "2001:db8:5:9::1", "::ffff:192.0.2.3", "6.6.6.6, 192.0.2.1"] {
        assert_eq!(scrape(inside).await.status, 200, "{inside}");
    }
    for outside in ["198.51.100.9", "192.0.3.0", "2001:db8:6::1", "::1", "192.0.2.1, 6.6.6.6"] {
        let seen = outside.rsplit(", ").next().unwrap();
        let sentence = format!("calls of this team may not come from {seen} (team rule `addresses`)");
        refused(&scrape(outside).await, "ADDRESS_NOT_ALLOWED", &sentence);
        let read = from(&team.client, outside, Method::GET, "/v2/team/credit-usage", Value::Null).await;
        refused(&read, "ADDRESS_NOT_ALLOWED", &sentence);
    }
    // The watcher of a job is refused too.
    let headers = [
        ("authorization", format!("Bearer {}", team.client.token().unwrap())),
        ("x-forwarded-for", "6.6.6.6".to_owned()),
    ];
    match crate::watch::open(&app, "/v2/crawl/01890000-0000-7000-8000-00000000beef", &headers).await {
        Err(tokio_tungstenite::tungstenite::Error::Http(answer)) => assert_eq!(answer.status(), 403),
        other => panic!("{other:?}"),
    }
    let bad = json!({"addresses": ["10.1.2.3/8"]});
    let bad = app.operator().patch(&format!("/admin/teams/{}", team.id), &bad).await;
    assert_eq!(bad.status, 400, "{}", bad.body);
    assert!(bad.body["error"].as_str().unwrap().contains("10.1.2.3 is a host in 10.0.0.0/8"), "{}", bad.body);
    team.only_from(&app, json!([])).await;
    assert_eq!(scrape("198.51.100.9").await.status, 200);
}

/// Opens a path like a browser at `address`, and returns the answer.
async fn shown_from(address: &str, app: &TestApp, path: &str) -> ::client::Raw {
    let stranger = app.anonymous();
    let request = stranger.request(Method::GET, path).header("x-forwarded-for", address).header("accept", "text/html");
    stranger.typed().execute(request, Bytes::new()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_addresses_of_a_session_open_to_the_networks_of_its_team() {
    let app = behind_a_proxy(true).await;
    let team = Team::new(&app).await;
    let started = session(&team.client, json!({"ttl": 60})).await;
    team.only_from(&app, json!(["192.0.2.0/24"])).await;
    let own = format!("http://{}", app.address());
    let view = started["liveViewUrl"].as_str().unwrap().strip_prefix(&own).unwrap().to_owned();
    let cdp = started["cdpUrl"].as_str().unwrap().replacen("ws", "http", 1);
    let cdp = format!("{}/json/version", cdp.strip_prefix(&own).unwrap());
    let stranger = app.anonymous();
    for path in [&view, &cdp] {
        assert_eq!(from(&stranger, "192.0.2.9", Method::GET, path, Value::Null).await.status, 200, "{path}");
        let outside = from(&stranger, "198.51.100.9", Method::GET, path, Value::Null).await;
        refused(
            &outside,
            "ADDRESS_NOT_ALLOWED",
            "calls of this team may not come from 198.51.100.9 (team rule `addresses`)",
        );
    }
    let wrong = format!("{}/{}", view.rsplit_once('/').unwrap().0, "0".repeat(32));
    assert_eq!(from(&stranger, "198.51.100.9", Method::GET, &wrong, Value::Null).await.status, 404);
    // The refusal is a web page for a browser, and counts like a wrong token. Allowed addresses are not affected.
    let shown = shown_from("198.51.100.9", &app, &view).await;
    assert!(shown.status == 403 && shown.text().contains("Not allowed from here"), "{}", shown.text());
    let mut last = shown;
    for _ in 0..6 {
        last = shown_from("198.51.100.9", &app, &view).await;
    }
    assert!(last.status == 429 && last.text().contains("Too many requests"), "{}", last.text());
    team.only_from(&app, json!([])).await;
    assert_eq!(from(&stranger, "198.51.100.9", Method::GET, &view, Value::Null).await.status, 200);
    let path = format!("/v2/browser/{}", started["id"].as_str().unwrap());
    assert_eq!(from(&team.client, "192.0.2.9", Method::DELETE, &path, Value::Null).await.status, 200);
}

#[tokio::test]
async fn bad_rules_are_refused_by_field() {
    let app = TestApp::start().await;
    let team = Team::new(&app).await;
    let operator = app.operator();
    for (body, field) in [
        (json!({"endpoints": ["agents"]}), "endpoints[0]"),
        (json!({"formats": ["markdown", "pdf"]}), "formats[1]"),
        (json!({"formats": "markdown"}), "formats"),
        (json!({"addresses": []}), "addresses"),
    ] {
        let answer = operator.patch(&format!("/admin/keys/{}", team.key), &body).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        assert!(answer.body["error"].as_str().unwrap().contains(&format!("`{field}`")), "{}", answer.body);
    }
    let nobody = "/admin/keys/00000000-0000-0000-0000-000000000000";
    assert_eq!(operator.patch(nobody, &json!({"formats": []})).await.status, 404);
    assert_eq!(team.client.patch(nobody, &json!({"formats": []})).await.status, 401);
}

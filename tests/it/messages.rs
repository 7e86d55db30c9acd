//! Error messages: they name the field, the limit or the setting that helps.

use e2e::TestApp;
use serde_json::{Value, json};
use testkit::Reply;

#[tokio::test]
async fn what_cannot_be_paid_is_told_by_its_field() {
    let app = TestApp::with_keys().await;
    let team = app.team(Some(52), json!({})).await;
    let refused = team.post("/v2/crawl", &json!({"url": app.page("/")})).await;
    assert_eq!((refused.status, refused.code()), (402, "insufficient_credits"));
    assert_eq!(
        refused.body["error"],
        "insufficient credits: a crawl with a `limit` of 10000 pages needs 10000 and the team has 52; they cover a `limit` of 52"
    );
    let details = json!([{"path": "limit", "message": "may say at most 52 with these credits"}]);
    assert_eq!(refused.body["details"], details);
    let options = json!({"redactPII": false, "lockdown": true});
    let refused = team.post("/v2/crawl", &json!({"url": app.page("/"), "limit": 11, "scrapeOptions": options})).await;
    assert_eq!(
        refused.body["error"],
        "insufficient credits: a crawl with a `limit` of 11 pages needs 55 and the team has 52; they cover a `limit` of 10"
    );
    let urls: Vec<String> = (0..60).map(|number| app.page(&format!("/{number}"))).collect();
    let refused = team.post("/v2/batch/scrape", &json!({"urls": urls})).await;
    assert_eq!(refused.body["error"], "insufficient credits: 60 `urls` need 60 and the team has 52; they cover 52");
}

#[tokio::test]
async fn a_refused_address_names_the_setting() {
    let app = TestApp::start().await;
    let check = async |url: &str, why: &str| {
        let refused = app.anonymous().scrape(&json!({"url": url, "maxAge": 0})).await;
        assert_eq!((refused.status, refused.code()), (403, "SCRAPE_TARGET_BLOCKED"), "{url}: {}", refused.body);
        assert_eq!(refused.body["error"], why, "{url}");
    };
    let advice = "; the operator can admit it with egress.allow";
    check("http://10.1.2.3/", &format!("10.1.2.3 may not be reached from this service: private network{advice}")).await;
    check("http://localhost:81/", &format!("localhost may not be reached from this service: loopback{advice}")).await;
    let own = app.address().port();
    let why = "127.0.0.1 may not be reached from this service: own listen address";
    check(&format!("http://127.0.0.1:{own}/"), why).await;
    app.site.respond("/away", Reply { status: 302, ..Reply::default() }.header("location", "http://192.168.0.9/"));
    let why = format!("192.168.0.9 may not be reached from this service: private network{advice}");
    check(&app.page("/away"), &why).await;
}

/// The site of the test listens on 127.0.0.1, which the test admits.
#[tokio::test]
async fn localhost_leads_to_what_is_admitted_of_it() {
    let app = TestApp::start().await;
    app.site.html("/", "<p>words of this machine");
    let port = app.site.addr().port();
    for host in ["localhost", "LOCALHOST", "a.localhost"] {
        let page = app.anonymous().scrape(&json!({"url": format!("http://{host}:{port}/"), "maxAge": 0})).await;
        assert_eq!(page.status, 200, "{host}: {}", page.body);
        assert!(page.body["data"]["markdown"].as_str().unwrap().contains("words of this machine"), "{host}");
    }
    // DNS is not asked for `localhost`.
    app.dns.set("localhost", std::net::IpAddr::from([10, 0, 0, 1]).into());
    let page = app.anonymous().scrape(&json!({"url": format!("http://localhost:{port}/x"), "maxAge": 0})).await;
    assert_eq!(page.status, 200, "{}", page.body);
    let own = app.anonymous().scrape(&json!({"url": format!("http://localhost:{}/", app.address().port())})).await;
    assert_eq!(own.code(), "SCRAPE_TARGET_BLOCKED", "{}", own.body);
}

#[tokio::test]
async fn what_needs_a_browser_says_what_to_install() {
    let app = TestApp::start().await;
    let install = "Its operator can install Chromium (the package `chromium-headless-shell` or `chromium`) and restart the server";
    for (options, begin) in [
        (
            json!({"formats": ["screenshot"]}),
            "The format `screenshot` needs a browser, which this server does not have. ",
        ),
        (
            json!({"actions": [{"type": "scrape"}]}),
            "Actions are not supported: they need a browser, which this server does not have. ",
        ),
        (json!({"profile": {"name": "x"}}), "`profile` needs a browser, which this server does not have. "),
    ] {
        let mut body = options;
        body["url"] = app.page("/").into();
        let refused = app.anonymous().scrape(&body).await;
        assert_eq!((refused.status, &refused.body["error"]), (400, &json!(format!("{begin}{install}"))));
    }
    let refused = app.anonymous().post("/v2/browser", &json!({})).await;
    assert_eq!(refused.status, 503);
    assert!(refused.body["error"].as_str().unwrap().contains("chromium-headless-shell"), "{}", refused.body);
}

#[tokio::test]
async fn a_path_that_is_not_here_says_whether_it_could_be() {
    let app = TestApp::with_keys().await;
    let team = app.team(None, json!({})).await;
    let agent = team.post("/v2/agent", &json!({"prompt": "x"})).await;
    assert_eq!((agent.status, agent.code()), (404, "ENDPOINT_NOT_AVAILABLE"));
    assert_eq!(agent.body["error"], "The agent is not available on this server; GET /openapi.json lists what is");
    assert_eq!(team.get("/v2/research/search-papers").await.code(), "ENDPOINT_NOT_AVAILABLE");
    let old = team.post("/v1/scrape", &json!({"url": "https://example.com"})).await;
    assert_eq!((old.status, old.code()), (404, "ENDPOINT_NOT_AVAILABLE"));
    assert_eq!(old.body["error"], "this server implements only version 2 of the API: use paths that begin with /v2");
    assert_eq!(team.get("/v2/nope").await.code(), "NOT_FOUND");
    let twice = team.post("/v2/v2/scrape", &json!({})).await;
    assert_eq!((twice.status, twice.code()), (404, "NOT_FOUND"));
    // Without a key the paths below /v2 are not revealed.
    assert_eq!(app.anonymous().post("/v2/agent", &json!({})).await.status, 401);
}

#[tokio::test]
async fn a_misspelt_key_and_malformed_json_are_told() {
    let app = TestApp::start().await;
    let body = json!({"url": app.page("/"), "fromats": ["html"], "max_age": 1, "zzz": 1});
    let refused = app.anonymous().scrape(&body).await;
    assert_eq!(refused.status, 400);
    assert_eq!(
        refused.body["error"],
        "Unrecognized keys in body: `fromats` (did you mean `formats`?), `max_age` (did you mean `maxAge`?), `zzz`"
    );
    let fault = json!({"path": "fromats", "message": "is not a known key, did you mean `formats`?"});
    assert_eq!(refused.body["details"][0], fault);
    let nested = json!({"url": app.page("/"), "scrapeOptions": {"onlyMainContents": true}});
    let refused = app.anonymous().post("/v2/crawl", &nested).await;
    assert_eq!(
        refused.body["error"],
        "Unrecognized key in body: `scrapeOptions.onlyMainContents` (did you mean `onlyMainContent`?)"
    );
    let text = "{\"url\": \"https://a.test/?secret\",\n  \"formats\": [\"html\",]}";
    let refused = app.anonymous().post_raw("/v2/scrape", text).await;
    assert_eq!(refused.code(), "BAD_REQUEST_INVALID_JSON");
    assert_eq!(
        refused.body["error"],
        "Bad request, malformed JSON: trailing comma at line 2 column 22, after the key `formats`"
    );
    let port = app.anonymous().scrape(&json!({"url": "localhost:4831"})).await;
    assert_eq!(port.body["error"], "`url` must begin with http:// or https://, as in http://localhost:3000/");
}

#[tokio::test]
async fn a_refused_rate_says_how_long() {
    let app = TestApp::with_keys().await;
    let made = app.operator().post("/admin/teams", &json!({"name": "slow", "credits": 10, "rateLimit": 1})).await;
    let team = app.bearer(made.body["apiKey"].as_str().unwrap());
    let mut last = team.get("/v2/team/credit-usage").await;
    for _ in 0..3 {
        last = team.get("/v2/team/credit-usage").await;
    }
    assert_eq!((last.status, last.code()), (429, "RATE_LIMITED"));
    let seconds = last.header("retry-after");
    assert!((1..=60).contains(&seconds.parse::<u64>().unwrap()), "{seconds}");
    assert_eq!(last.body["error"], Value::from(format!("too many requests, try again in {seconds} s")));
}

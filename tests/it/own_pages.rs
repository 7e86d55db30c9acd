//! Tests of POST /v2/search over the pages that the service has read, without any setting.

use std::time::{Duration, Instant};

use boot::config::{AuthMode, Keyless};
use e2e::{Answer, Client, TestApp};
use serde_json::{Value, json};
use testkit::Pdf;

use crate::documents::file;

/// Time until a page that was read is found.
const SOON: Duration = Duration::from_secs(60);

fn page(title: &str, body: &str) -> String {
    let filler = "The page goes on with plain sentences, so that it has a body to be read. ".repeat(4);
    format!(
        "<html lang=en><head><title>{title}</title><meta name=description content='{title}, a page for tests'></head>\
         <body><main><article><h1>{title}</h1>{body}<p>{filler}</p></article></main></body></html>"
    )
}

/// Starts a service with two teams, and a site of three pages.
async fn started() -> (TestApp, Client, Client) {
    let app = TestApp::with_keys().await;
    let links = "<a href=/slabs>Slabs</a> <a href=/weather>Weather</a>";
    app.site.html("/", page("A quarry", &format!("<p>Granite and basalt.</p>{links}")));
    let sentence = "Granite of this quarry is sawn into slabs of two centimetres.";
    app.site.html("/slabs", page("Slabs", &format!("<p>We are open on Mondays.</p><p>{sentence}</p>")));
    let data = r#"<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle",
        "headline":"Weather","datePublished":"2026-11-20T08:00:00Z"}</script>"#;
    let image = "<img src=/map.png width=320 height=200 alt='Weather map of the coast'>";
    app.site.html("/weather", page("Weather for the coast", &format!("{data}<p>Showers by noon.</p>{image}")));
    let (one, other) = (app.team(Some(1000), json!({})).await, app.team(Some(1000), json!({})).await);
    (app, one, other)
}

async fn search(client: &Client, body: &Value) -> Answer {
    let answer = client.post("/v2/search", body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

/// Searches until this URL is the first result of a source.
async fn found(client: &Client, body: &Value, source: &str, url: &str) -> Value {
    let started = Instant::now();
    loop {
        let answer = search(client, body).await.body;
        if answer["data"][source][0]["url"] == url {
            return answer;
        }
        assert!(started.elapsed() < SOON, "{url} is not the first: {answer}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_a_crawl_are_found_by_their_team() {
    let (app, team, other) = started().await;
    let nothing = search(&team, &json!({"query": "granite slabs"})).await.body;
    assert_eq!((&nothing["data"], &nothing["creditsUsed"]), (&json!({"web": []}), &json!(0)));
    assert!(nothing["warning"].as_str().unwrap().contains("search.engines"), "{nothing}");

    let crawl = team.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 10})).await;
    assert_eq!(team.ended(&crawl).await.body["completed"], 3);
    let answer = found(&team, &json!({"query": "granite slabs"}), "web", &app.page("/slabs")).await;
    let first = &answer["data"]["web"][0];
    assert_eq!((&first["url"], &first["title"]), (&json!(app.page("/slabs")), &json!("Slabs")), "{answer}");
    let sentence = "Granite of this quarry is sawn into slabs of two centimetres.";
    assert_eq!((&first["description"], &first["position"]), (&json!(sentence), &json!(1)));
    assert_eq!(answer["creditsUsed"], 2);
    let plain = search(&team, &json!({"query": "granite slabs", "highlights": false})).await.body;
    assert_eq!(plain["data"]["web"][0]["description"], "Slabs, a page for tests");

    let body = json!({"query": "weather", "sources": ["web", "news", "images"]});
    let all = found(&team, &body, "news", &app.page("/weather")).await;
    let news = &all["data"]["news"][0];
    assert_eq!((&news["url"], &news["date"]), (&json!(app.page("/weather")), &json!("2026-11-20T08:00:00Z")), "{all}");
    let image = &all["data"]["images"][0];
    assert_eq!(
        (&image["imageUrl"], &image["title"]),
        (&json!(app.page("/map.png")), &json!("Weather map of the coast"))
    );
    assert_eq!((&image["imageWidth"], &image["url"]), (&json!(320), &json!(app.page("/weather"))));

    let theirs = search(&other, &json!({"query": "granite slabs", "sources": ["web", "news", "images"]})).await.body;
    assert_eq!(theirs["data"], json!({"web": [], "news": [], "images": []}), "another team");
    let developer =
        team.post("/v2/search/developer", &json!({"query": "granite slabs", "sources": ["site.test"]})).await;
    assert_eq!(developer.body["sources"], json!([{"source": "site.test", "indexed": true}]), "{}", developer.body);
    assert_eq!(developer.body["results"][0]["passages"][0]["text"], sentence);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operators_and_domains_narrow_what_is_found() {
    let (app, team, _) = started().await;
    let crawl = team.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 10})).await;
    team.ended(&crawl).await;
    for (query, path) in [("granite slabs", "/slabs"), ("granite -sawn", "/"), ("weather intitle:coast", "/weather")] {
        found(&team, &json!({"query": query}), "web", &app.page(path)).await;
    }
    let urls = async |body: Value| -> Vec<String> {
        let answer = search(&team, &body).await.body;
        answer["data"]["web"].as_array().unwrap().iter().map(|item| item["url"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(urls(json!({"query": "granite -sawn"})).await, [app.page("/")]);
    assert_eq!(urls(json!({"query": "quarry intitle:slabs"})).await, [app.page("/slabs")]);
    assert!(urls(json!({"query": "granite", "includeDomains": ["other.test"]})).await.is_empty());
    assert!(urls(json!({"query": "granite site:other.test"})).await.is_empty());
    assert!(urls(json!({"query": "granite", "categories": ["pdf"]})).await.is_empty());
    assert!(!urls(json!({"query": "granite", "includeDomains": ["site.test"]})).await.is_empty());
    assert_eq!(urls(json!({"query": "weather", "tbs": "cdr:1,cd_min:11/1/2026,cd_max:11/30/2026"})).await.len(), 1);
    assert!(urls(json!({"query": "weather", "tbs": "cdr:1,cd_min:1/1/2020,cd_max:1/1/2021"})).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_without_a_key_see_the_pages_of_no_team() {
    let app = TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        config.auth.keyless = vec![Keyless::Search];
        config.auth.keyless_team = app::DEFAULT_TEAM.parse().ok();
    })
    .await;
    app.site.html("/", page("Granite", "<p>Granite is a hard stone of this quarry.</p>"));
    let keys = format!("/admin/teams/{}/keys", app::DEFAULT_TEAM);
    let key = app.operator().post(&keys, &json!({"name": "own"})).await;
    let team = app.bearer(key.body["apiKey"].as_str().unwrap());
    assert_eq!(team.scrape(&json!({"url": app.page("/")})).await.status, 200);
    found(&team, &json!({"query": "granite stone"}), "web", &app.page("/")).await;
    let strange = search(&app.anonymous(), &json!({"query": "granite stone"})).await.body;
    assert_eq!(strange["data"], json!({"web": []}), "{strange}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_found_by_their_text() {
    let app = TestApp::with_documents().await;
    app.site.respond("/files/annual.pdf", file("application/pdf", Pdf::Report(2).bytes()));
    app.site.respond("/files/note", file("application/rtf", r"{\rtf1\ansi Gneiss is a {\b banded} stone.}"));
    let team = app.team(Some(1000), json!({})).await;
    for path in ["/files/annual.pdf", "/files/note"] {
        let scraped = team.scrape(&json!({"url": app.page(path)})).await;
        assert_eq!(scraped.status, 200, "{}", scraped.body);
    }
    let body = json!({"query": "\"page 2 of the report\"", "categories": ["pdf"]});
    let answer = found(&team, &body, "web", &app.page("/files/annual.pdf")).await;
    let first = &answer["data"]["web"][0];
    assert_eq!((&first["url"], &first["title"]), (&json!(app.page("/files/annual.pdf")), &json!("Report")), "{answer}");
    assert!(first["description"].as_str().unwrap().contains("Page 2 of the report."), "{answer}");
    let answer = found(&team, &json!({"query": "banded gneiss"}), "web", &app.page("/files/note")).await;
    assert_eq!(answer["data"]["web"][0]["url"], app.page("/files/note"), "{answer}");
}

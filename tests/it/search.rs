//! Tests of POST /v2/search with an engine of the web: a double of `SearXNG` on loopback.

use std::time::Duration;

use boot::config::{AuthMode, Config, Keyless};
use e2e::{Answer, Client, TestApp};
use serde_json::{Value, json};
use testkit::{Reply, Script, Seen, Site};

use crate::privacy::files_with;

const MARKER: &str = "SEARCHMARKER4417";

/// A `SearXNG` at an address that pages may not be fetched from, and a service that asks it alone.
struct Web {
    searx: Site,
    app: TestApp,
}

impl Web {
    async fn start() -> Self {
        Self::with(|_| ()).await
    }

    async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let searx = Site::start().await;
        let url = searx.url("/");
        let app = TestApp::with(|config| {
            config.auth.mode = AuthMode::Keys;
            config.search.engines = vec![::search::EngineName::Searxng];
            config.search.searxng_url = Some(url);
            change(config);
        })
        .await;
        let pages = app.page("");
        searx.others(move |seen| Some(answer(seen, &pages)));
        Self { searx, app }
    }

    /// Returns the queries that the engine was asked.
    fn asked(&self) -> Vec<String> {
        self.searx.requests().iter().map(|seen| parameter(seen, "q")).collect()
    }
}

fn parameter(seen: &Seen, name: &str) -> String {
    let url = url::Url::parse("http://searx.test").unwrap().join(&seen.path).unwrap();
    let found = url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    found.unwrap_or_default()
}

/// Answers a query as `SearXNG` does. Its first word says what comes out.
fn answer(seen: &Seen, pages: &str) -> Reply {
    let (query, page) = (parameter(seen, "q"), parameter(seen, "pageno"));
    let first = query.split_whitespace().next().unwrap_or_default().to_owned();
    let (mut results, mut unresponsive) = (Vec::new(), json!([]));
    let categories = parameter(seen, "categories");
    let is_first = page.is_empty() || page == "1";
    match first.as_str() {
        "nothing" => {}
        "evil" => results = evil(pages),
        "html" => results.push(json!({
            "url": format!("{pages}/html"), "title": "<b>Slabs</b> &amp; blocks<script>alert(1)</script>",
            "content": "A <em>text</em>&nbsp;with &lt;tags&gt;",
        })),
        "twice" => {
            let spellings = [
                format!("{pages}/p"),
                format!("{pages}/p/"),
                format!("{pages}/p?utm_source=z"),
                format!("{pages}/p#x"),
            ];
            results = spellings.iter().map(|url| json!({ "url": url, "title": "One page" })).collect();
        }
        "partly" => {
            results.push(json!({ "url": format!("{pages}/partly"), "title": "Partly" }));
            unresponsive = json!([["b", "access denied"]]);
        }
        "many" => {
            let first = 20 * page.parse::<usize>().unwrap_or(1).saturating_sub(1);
            let result =
                |number| json!({ "url": format!("{pages}/many/{number}"), "title": format!("Result {number}") });
            results = (first..first.saturating_add(20).min(45)).map(result).collect();
        }
        "silent" => unresponsive = json!([["a", "timeout"], ["b", "CAPTCHA"]]),
        _ if !is_first => {}
        _ => {
            for number in 1..=12 {
                let mut result = json!({
                    "url": format!("{pages}/{first}/{number}"),
                    "title": format!("{first} {number}"),
                    "content": format!("About {first}, number {number}."),
                    "engine": "a", "engines": ["a"], "positions": [number], "score": 1.0, "category": "general",
                });
                if categories.contains("news") {
                    result["publishedDate"] = json!(format!("2026-11-{:02}T08:00:00", number));
                }
                if categories.contains("images") {
                    result["img_src"] = json!(format!("{pages}/{first}/{number}.png"));
                    result["resolution"] = json!("640 x 480");
                }
                results.push(result);
            }
        }
    }
    let body = json!({
        "query": query, "number_of_results": results.len(), "results": results, "answers": [], "corrections": [],
        "infoboxes": [], "suggestions": [], "unresponsive_engines": unresponsive,
    });
    Reply { body: body.to_string().into(), ..Reply::default() }.header("content-type", "application/json")
}

/// Results that no caller may get, and one that is fine.
fn evil(pages: &str) -> Vec<Value> {
    let urls = [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http://169.254.169.254/latest/",
        "http://user:pass@host.test/",
        "data:text/html,x",
        "http://[::1]/",
        "http://10.0.0.1/admin",
        "not a url",
    ];
    let url = |url: &str| json!({ "url": url, "title": "Evil", "content": "Evil." });
    let fine = format!("{pages}/fine");
    urls.into_iter().chain([fine.as_str()]).map(url).collect()
}

async fn search(client: &Client, body: Value) -> Answer {
    client.post("/v2/search", &body).await
}

async fn left(team: &Client) -> i64 {
    team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].as_i64().unwrap()
}

fn check(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.code()), (status, code), "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_source_has_its_list() {
    let web = Web::start().await;
    let team = web.app.team(Some(100), json!({})).await;
    let page = |number: u32| web.app.page(&format!("/granite/{number}"));
    let found =
        search(&team, json!({"query": "granite", "limit": 2, "sources": ["web", {"type": "news"}, "images"]})).await;
    check(&found, 200, "");
    let body = &found.body;
    assert_eq!((&body["success"], body["id"].as_str().map(str::len)), (&json!(true), Some(36)));
    assert_eq!((body["creditsUsed"].as_i64(), left(&team).await), (Some(2), 98));
    let text = |number: u32| (format!("granite {number}"), format!("About granite, number {number}."));
    let expect = |number: u32| {
        let (title, description) = text(number);
        json!({"url": page(number), "title": title, "description": description, "position": number})
    };
    assert_eq!(body["data"]["web"], json!([expect(1), expect(2)]));
    let news = &body["data"]["news"][1];
    assert_eq!((&news["title"], &news["url"], &news["position"]), (&json!("granite 2"), &json!(page(2)), &json!(2)));
    assert!(news["date"].as_str().unwrap().starts_with("2026-11-02T08:00:00"), "{news}");
    let image = &body["data"]["images"][0];
    assert_eq!(image["imageUrl"], format!("{}.png", page(1)));
    assert_eq!(
        (&image["imageWidth"], &image["imageHeight"], &image["url"]),
        (&json!(640), &json!(480), &json!(page(1)))
    );
    assert!(body.get("warning").is_none() && body["data"].get("tools").is_none(), "{body}");
    let many = search(&team, json!({"query": "granite", "limit": 11})).await;
    assert_eq!(many.body["data"]["web"].as_array().map(Vec::len), Some(11));
    assert_eq!((many.body["creditsUsed"].as_i64(), left(&team).await), (Some(4), 94), "two started tens");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_finds_nothing_or_fails_costs_nothing() {
    let web = Web::start().await;
    let team = web.app.team(Some(100), json!({})).await;
    let nothing = search(&team, json!({"query": "nothing", "sources": ["web", "news"]})).await;
    check(&nothing, 200, "");
    assert_eq!(nothing.body["data"], json!({"web": [], "news": []}));
    assert_eq!(nothing.body["creditsUsed"], 0);
    let silent = search(&team, json!({"query": "silent"})).await;
    check(&silent, 503, "SEARCH_UNAVAILABLE");
    let details = &silent.body["details"][0];
    assert_eq!((&details["engine"], &details["source"]), (&json!("searxng"), &json!("web")), "{}", silent.body);
    assert!(details["reason"].as_str().unwrap().contains("none of its engines has answered"), "{details}");
    for (script, part) in [
        (Reply { status: 403, ..Reply::default() }, "does not answer in JSON"),
        (Reply { status: 500, ..Reply::default() }, "failed"),
        (Reply { body: "{\"results\": [".into(), ..Reply::default() }, "cannot be used"),
    ] {
        web.searx.respond("/search", script);
        let down = search(&team, json!({"query": "granite", "sources": ["web", "news"]})).await;
        check(&down, 503, "SEARCH_UNAVAILABLE");
        assert!(down.body["error"].as_str().unwrap().contains(part), "{part}: {}", down.body);
        assert!(!down.body.to_string().contains("granite"), "{}", down.body);
    }
    web.searx.script("/search", vec![Script::Hang(Duration::from_secs(20))]);
    let late = search(&team, json!({"query": "granite", "timeout": 1000})).await;
    check(&late, 408, "SEARCH_TIMEOUT");
    assert_eq!(left(&team).await, 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_it_may_cost_is_there_before_anything_is_asked() {
    let web = Web::start().await;
    let team = web.app.team(Some(5), json!({})).await;
    check(&search(&team, json!({"query": "granite", "limit": 30})).await, 402, "insufficient_credits");
    let pages = json!({"query": "granite", "limit": 4, "scrapeOptions": {"formats": ["markdown"]}});
    check(&search(&team, pages).await, 402, "insufficient_credits");
    assert_eq!((web.asked().len(), left(&team).await), (0, 5));
    check(&search(&team, json!({"query": "granite", "limit": 20})).await, 200, "");
    assert_eq!(left(&team).await, 1, "12 results were found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_results_are_scraped_and_charged_by_themselves() {
    let web = Web::start().await;
    let team = web.app.team(Some(100), json!({})).await;
    let sentence = "Granite of this quarry is sawn into slabs of two centimetres.";
    let html = format!("<title>One</title><main><h1>One</h1><p>We are open on Mondays.</p><p>{sentence}</p></main>");
    web.app.site.html("/granite/1", html);
    web.app.site.respond("/granite/2", Reply { status: 404, ..Reply::default() });
    web.app.site.script("/granite/3", vec![Script::Raw(bytes::Bytes::from_static(b"x\r\n\r\n"))]);
    let body = json!({
        "query": "granite slabs", "limit": 3, "sources": ["web", "news"], "scrapeOptions": {"formats": ["markdown", "links"]},
    });
    let found = search(&team, body).await;
    check(&found, 200, "");
    let items = found.body["data"]["web"].as_array().unwrap();
    let url = |number: u32| json!(web.app.page(&format!("/granite/{number}")));
    assert!(items[0]["markdown"].as_str().unwrap().contains("slabs"), "{}", items[0]);
    assert_eq!(items[0]["description"], sentence, "a highlight of the page itself");
    assert_eq!(items[0]["links"], json!([]));
    for (item, number) in items.iter().zip(1..) {
        assert_eq!((&item["metadata"]["sourceURL"], &item["metadata"]["url"]), (&url(number), &url(number)));
        assert_eq!((&item["url"], &item["position"]), (&url(number), &json!(number)));
    }
    assert_eq!(items[1]["metadata"]["statusCode"], 404);
    let failed = items[2].as_object().unwrap();
    assert!(failed["metadata"]["error"].as_str().is_some(), "{failed:?}");
    assert!(
        ["markdown", "html", "rawHtml", "links", "json"].iter().all(|key| !failed.contains_key(*key)),
        "{failed:?}"
    );
    // One page in two lists is scraped once: 2 for six results, 1 for each document.
    assert_eq!(web.app.site.requests().iter().filter(|seen| seen.path == "/granite/1").count(), 1);
    assert_eq!(found.body["data"]["news"][0]["markdown"], items[0]["markdown"]);
    assert_eq!((found.body["creditsUsed"].as_i64(), left(&team).await), (Some(4), 96));
    let scrape = items[0]["metadata"]["scrapeId"].as_str().unwrap();
    assert_eq!(team.get(&format!("/v2/scrape/{scrape}")).await.status, 200, "an ordinary scrape");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_too_slow_leaves_its_item() {
    let web = Web::start().await;
    let team = web.app.team(Some(100), json!({})).await;
    web.app.site.script("/granite/1", vec![Script::Hang(Duration::from_secs(30))]);
    web.app.site.html("/granite/2", "<main><p>Granite, a stone that is found in many places.</p></main>");
    let body = json!({"query": "granite", "limit": 2, "timeout": 2000, "scrapeOptions": {"formats": ["markdown"]}});
    let found = search(&team, body).await;
    check(&found, 200, "");
    let items = &found.body["data"]["web"];
    assert!(items[0]["metadata"]["error"].as_str().unwrap().contains("in time"), "{items}");
    assert!(items[1]["markdown"].as_str().is_some(), "{items}");
    assert_eq!((found.body["creditsUsed"].as_i64(), left(&team).await), (Some(3), 97));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_wait_for_the_slots_of_their_team() {
    let web = Web::start().await;
    let body = json!({"name": "a team", "concurrency": 1, "rateLimit": 0});
    let made = web.app.operator().post("/admin/teams", &body).await;
    let team = web.app.bearer(made.body["apiKey"].as_str().unwrap());
    for number in 1..=3 {
        web.app.site.html(&format!("/granite/{number}"), "<main><p>Granite is a hard stone of many places.</p></main>");
    }
    let found =
        search(&team, json!({"query": "granite", "limit": 3, "scrapeOptions": {"formats": ["markdown"]}})).await;
    check(&found, 200, "");
    let items = found.body["data"]["web"].as_array().unwrap();
    assert!(items.iter().all(|item| item["markdown"].is_string()), "{items:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn domains_and_operators_hold_whatever_the_engine_returns() {
    let web = Web::start().await;
    let team = web.app.team(Some(100), json!({})).await;
    let results = async |body: Value| {
        let found = search(&team, body).await;
        check(&found, 200, "");
        found.body["data"]["web"].as_array().map(Vec::len)
    };
    assert_eq!(results(json!({"query": "granite", "includeDomains": ["site.test"]})).await, Some(5));
    assert_eq!(results(json!({"query": "granite", "includeDomains": ["other.test"]})).await, Some(0));
    assert_eq!(results(json!({"query": "granite", "excludeDomains": ["site.test"]})).await, Some(0));
    assert_eq!(results(json!({"query": "granite -site:site.test"})).await, Some(0));
    assert_eq!(results(json!({"query": "granite site:other.test"})).await, Some(0));
    assert_eq!(results(json!({"query": "granite", "categories": ["github", "research"]})).await, Some(0));
    let asked = web.asked().len();
    assert_eq!(
        results(json!({"query": "rust", "categories": ["github"], "includeDomains": ["example.com"]})).await,
        Some(0)
    );
    assert_eq!(web.asked().len(), asked, "no site can be of both");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_named() {
    let web = Web::start().await;
    let team = web.app.team(Some(100), json!({})).await;
    for (body, part) in [
        (json!({}), "`query` is required"),
        (json!({"query": "  "}), "blank"),
        (json!({"query": "x", "limits": 3}), "Unrecognized key in body: `limits`"),
        (json!({"query": "x", "limit": 101}), "`limit`"),
        (json!({"query": "x", "sources": ["web", "web"]}), "`sources"),
        (json!({"query": "x", "categories": ["gov", "pdf"]}), "`categories`"),
        (json!({"query": "x", "includeDomains": ["a.test"], "excludeDomains": ["b.test"]}), "excludeDomains"),
        (json!({"query": "x", "includeDomains": ["https://a.test/x"]}), "includeDomains"),
        (json!({"query": "x", "tbs": "tomorrow"}), "`tbs`"),
        (json!({"query": "x", "scrapeOptions": {"format": ["markdown"]}}), "format"),
    ] {
        let answer = search(&team, body).await;
        check(&answer, 400, "BAD_REQUEST");
        assert!(answer.body["error"].as_str().unwrap().contains(part), "{part}: {}", answer.body);
    }
    assert_eq!(team.get("/v2/search").await.status, 405);
    assert_eq!((web.asked().len(), left(&team).await), (0, 100));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_catalog_is_refused_in_the_words_that_clients_know() {
    let web = Web::start().await;
    let team = web.app.team(Some(100), json!({"zeroDataRetention": true})).await;
    for body in [
        json!({"query": "x", "sources": ["web", "alexandria"], "domainTools": true, "toolDetail": "compact"}),
        json!({"query": "x", "sources": ["alexandria"]}),
        json!({"query": "x", "domainTools": true}),
    ] {
        let answer = search(&team, body.clone()).await;
        assert_eq!(
            (answer.status, &answer.body["error"]),
            (403, &json!("This endpoint is not enabled for this team."))
        );
        let mut private = body;
        private["enterprise"] = json!(["zdr"]);
        let answer = search(&team, private).await;
        let words = "Provider discovery requires access and does not support zero data retention.";
        assert_eq!((answer.status, &answer.body["error"]), (403, &json!(words)));
    }
    let again = search(&team, json!({"query": "x", "sources": ["web"], "domainTools": false})).await;
    check(&again, 200, "");
    assert_eq!(left(&team).await, 98);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_may_stand_where_pages_may_not() {
    let web = Web::start().await;
    let team = web.app.team(Some(100), json!({})).await;
    check(&search(&team, json!({"query": "granite"})).await, 200, "");
    assert_eq!(web.asked(), ["granite"]);
    let page = web.searx.url("/search?q=granite&format=json").to_string();
    check(&team.scrape(&json!({"url": page})).await, 403, "SCRAPE_TARGET_BLOCKED");
    assert_eq!(web.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn zero_data_retention_leaves_nothing_behind() {
    let mut web = Web::start().await;
    web.app
        .site
        .html(&format!("/{MARKER}/1"), format!("<main><p>{MARKER} stands in a paragraph of this page.</p></main>"));
    let team = web.app.team(Some(100), json!({"zeroDataRetention": true})).await;
    let body = json!({
        "query": MARKER, "limit": 1, "enterprise": ["zdr"], "scrapeOptions": {"formats": ["markdown"]},
    });
    let found = search(&team, body).await;
    check(&found, 200, "");
    assert!(found.body["data"]["web"][0]["markdown"].as_str().unwrap().contains(MARKER));
    assert_eq!((found.body["creditsUsed"].as_i64(), left(&team).await), (Some(11), 89));
    let refused = search(&web.app.team(Some(100), json!({})).await, json!({"query": "x", "enterprise": ["zdr"]})).await;
    check(&refused, 403, "FORBIDDEN");
    web.app.stop().await;
    assert_eq!(files_with(web.app.data(), MARKER), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ordinary_search_is_kept_so_the_test_above_can_find() {
    let mut web = Web::start().await;
    let team = web.app.team(Some(100), json!({})).await;
    check(&search(&team, json!({"query": MARKER})).await, 200, "");
    web.app.stop().await;
    assert!(!files_with(web.app.data(), MARKER).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_need_no_key_where_the_operator_says_so() {
    let web = Web::with(|config| {
        config.auth.keyless = vec![Keyless::Scrape, Keyless::Search];
        config.auth.keyless_team = app::DEFAULT_TEAM.parse().ok();
    })
    .await;
    let stranger = web.app.anonymous();
    let found = search(&stranger, json!({"query": MARKER})).await;
    check(&found, 200, "");
    let id = found.body["id"].as_str().unwrap();
    let feedback = stranger.post(&format!("/v2/search/{id}/feedback"), &json!({"rating": "good"})).await;
    check(&feedback, 401, "UNAUTHORIZED");
    let words = "only POST /v2/scrape and POST /v2/search are available without one";
    assert!(feedback.body["error"].as_str().unwrap().contains(words), "{}", feedback.body);
    let mut app = web.app;
    app.stop().await;
    assert_eq!(files_with(app.data(), MARKER), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_may_be_restricted_to_searches() {
    let web = Web::start().await;
    let keys = format!("/admin/teams/{}/keys", app::DEFAULT_TEAM);
    let key = web.app.operator().post(&keys, &json!({"name": "searches", "endpoints": ["search"]})).await;
    assert_eq!(key.status, 200, "{}", key.body);
    let client = web.app.bearer(key.body["apiKey"].as_str().unwrap());
    check(&search(&client, json!({"query": "granite"})).await, 200, "");
    check(&client.scrape(&json!({"url": web.app.page("/")})).await, 403, "KEY_NOT_ALLOWED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_of_one_field_ask_the_same_engines() {
    let web = Web::start().await;
    let team = web.app.team(Some(100), json!({})).await;
    let body = json!({"query": "granite", "k": 2, "sources": ["site.test"], "repos": ["o/r"]});
    let found = team.post("/v2/search/developer", &body).await;
    check(&found, 200, "");
    let first = &found.body["results"][0];
    let url = web.app.page("/granite/1");
    assert_eq!((&first["id"], &first["url"]), (&json!(format!("doc:{url}")), &json!(url)));
    assert_eq!(first["passages"][0]["text"], "About granite, number 1.");
    assert_eq!(found.body["results"].as_array().map(Vec::len), Some(2));
    let none = json!({"issue": false, "pullRequest": false, "readme": false});
    assert_eq!(found.body["repos"], json!([{"repo": "o/r", "indexed": false, "types": none}]));
    assert_eq!(found.body["sources"], json!([{"source": "site.test", "indexed": false}]));
    assert_eq!(left(&team).await, 98);
    let issues = team.post("/v2/search/developer", &json!({"query": "granite", "types": ["issue"]})).await;
    assert_eq!((issues.status, &issues.body["results"]), (200, &json!([])), "{}", issues.body);
    let read = team.get("/v2/search/developer?query=nothing&k=3&integration=cli").await;
    assert_eq!((read.status, &read.body["results"]), (200, &json!([])), "{}", read.body);
    check(&team.get("/v2/search/developer").await, 400, "BAD_REQUEST");
    let gov = team.post("/v2/search/gov", &json!({"query": "labor law", "k": 2, "courtType": "military"})).await;
    assert_eq!((gov.status, &gov.body["data"]["web"]), (200, &json!([])), "pages of no government: {}", gov.body);
    assert!(gov.body["warning"].as_str().unwrap().contains("courtType"), "{}", gov.body);
    assert_eq!(left(&team).await, 98, "nothing was found");
    let category =
        search(&team, json!({"query": "granite", "categories": [{"type": "gov", "sites": ["site.test"]}]})).await;
    assert_eq!(category.body["data"]["web"][0]["category"], "gov", "{}", category.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_results_reach_no_caller_and_no_scrape() {
    let web = Web::start().await;
    let team = web.app.team(Some(100), json!({})).await;
    web.app.site.html("/fine", "<main><p>A fine page about stones, with a sentence that is long enough.</p></main>");
    let body =
        json!({"query": "evil", "limit": 10, "sources": ["web", "news"], "scrapeOptions": {"formats": ["markdown"]}});
    let found = search(&team, body).await;
    check(&found, 200, "");
    for source in ["web", "news"] {
        let items = found.body["data"][source].as_array().unwrap();
        assert_eq!(items.len(), 1, "{source}: {items:?}");
        assert_eq!(items[0]["url"], web.app.page("/fine"));
        assert!(items[0]["markdown"].as_str().unwrap().contains("A fine page"), "{items:?}");
    }
    assert_eq!((found.body["creditsUsed"].as_i64(), left(&team).await), (Some(3), 97));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_engines_are_put_in_order() {
    let web = Web::start().await;
    let team = web.app.team(Some(100), json!({})).await;
    let html = search(&team, json!({"query": "html"})).await.body;
    let first = &html["data"]["web"][0];
    assert_eq!((&first["title"], &first["description"]), (&json!("Slabs & blocks"), &json!("A text with <tags>")));
    let twice = search(&team, json!({"query": "twice", "limit": 10})).await.body;
    assert_eq!(twice["data"]["web"].as_array().map(Vec::len), Some(1), "{twice}");
    let partly = search(&team, json!({"query": "partly"})).await.body;
    assert_eq!(partly["data"]["web"].as_array().map(Vec::len), Some(1), "{partly}");
    assert!(partly["warning"].as_str().unwrap().contains("b (access denied)"), "{partly}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_is_asked_for_pages_until_there_are_enough() {
    let web = Web::start().await;
    let team = web.app.team(Some(100), json!({})).await;
    for (limit, results, pages, credits) in [(15, 15, 1, 4), (30, 30, 2, 6), (100, 45, 4, 10)] {
        let before = web.asked().len();
        let found = search(&team, json!({"query": format!("many {limit}"), "limit": limit})).await;
        check(&found, 200, "");
        let items = found.body["data"]["web"].as_array().unwrap();
        let positions: Vec<u64> = items.iter().filter_map(|item| item["position"].as_u64()).collect();
        assert_eq!((items.len(), positions), (results, (1..=results as u64).collect()), "limit {limit}");
        assert_eq!((web.asked().len() - before, found.body["creditsUsed"].as_i64()), (pages, Some(credits)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_of_a_month_outlives_a_restart() {
    let limit = |config: &mut Config| config.search.limits.searxng.per_month = 2;
    let mut web = Web::with(limit).await;
    let team = web.app.team(Some(100), json!({})).await;
    check(&search(&team, json!({"query": "granite one", "limit": 1})).await, 200, "");
    check(&search(&team, json!({"query": "granite one", "limit": 1})).await, 200, "");
    assert_eq!(web.asked().len(), 1, "an answer from the cache is no request");
    check(&search(&team, json!({"query": "granite two", "limit": 1})).await, 200, "");
    web.app.stop().await;
    let data = web.app.data().to_owned();
    let next = Web::with(|config| {
        limit(config);
        config.data.dir = data;
    })
    .await;
    let team = next.app.team(Some(100), json!({})).await;
    let refused = search(&team, json!({"query": "granite three", "limit": 1})).await;
    check(&refused, 503, "SEARCH_UNAVAILABLE");
    assert!(refused.body["error"].as_str().unwrap().contains("its limit of 2 requests this month"), "{}", refused.body);
    assert_eq!((next.asked().len(), left(&team).await), (0, 100));
}

//! Tests of `/v2/crawl`.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use e2e::{Client, TestApp};
use http::Method;
use serde_json::{Value, json};
use testkit::{Reply, Script};

/// Serves a site of `pages` pages, `/p/0` and so on: each links to the start and to two others, so that every page is
/// found.
pub(crate) fn linked_site(app: &TestApp, pages: usize) {
    app.site.others(move |seen| {
        let n: usize = match seen.path.as_str() {
            "/" => 0,
            path => path.strip_prefix("/p/")?.parse().ok().filter(|n| *n < pages)?,
        };
        let next = [2 * n + 1, 2 * n + 2].into_iter().filter(|n| *n < pages);
        let links: String = next.map(|n| format!("<a href=\"/p/{n}\">page {n}</a> ")).collect();
        Some(page(&format!("<h1>Page {n}</h1><p>Words of page {n}.</p><a href=\"/\">start</a> {links}")))
    });
}

pub(crate) fn page(body: &str) -> Reply {
    Reply { body: body.to_owned().into(), ..Reply::default() }.header("content-type", "text/html")
}

fn paths(documents: &[Value]) -> Vec<String> {
    let path = |document: &Value| {
        let url = document["metadata"]["sourceURL"].as_str().unwrap();
        url.split_once("test:").unwrap().1.split_once('/').map(|(_, path)| format!("/{path}")).unwrap()
    };
    documents.iter().map(path).collect()
}

fn number(body: &Value, key: &str) -> i64 {
    body[key].as_i64().unwrap_or_else(|| panic!("{key} is no whole number in {body}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_is_crawled_whole_and_no_page_twice() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 40);
    let team = app.team(Some(1000), json!({})).await;
    let job = team.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 200})).await;
    let ended = team.ended(&job).await.body;
    assert_eq!((&ended["status"], &ended["success"]), (&json!("completed"), &json!(true)));
    // The start is page 0 under another name, so there are 40 pages: the start and 1 to 39.
    assert_eq!((number(&ended, "total"), number(&ended, "completed"), number(&ended, "creditsUsed")), (40, 40, 40));
    assert!(ended["expiresAt"].is_string() && ended["createdAt"].is_string() && ended["completedAt"].is_string());
    let documents = team.documents(&job).await;
    let found: BTreeSet<String> = paths(&documents).into_iter().collect();
    assert_eq!((documents.len(), found.len()), (40, 40));
    assert!(documents.iter().all(|document| document["markdown"].as_str().unwrap().contains("Words of page")));
    let usage = team.get("/v2/team/credit-usage").await.body;
    assert_eq!(usage["data"]["remainingCredits"], 960, "what was set aside for the limit came back");
    assert_eq!(team.get(&format!("{job}/errors")).await.body, json!({"errors": [], "robotsBlocked": []}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_is_exact() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 100);
    let team = app.team(Some(20), json!({})).await;
    let job = team.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 7})).await;
    let ended = team.ended(&job).await.body;
    assert_eq!((number(&ended, "total"), number(&ended, "completed"), number(&ended, "creditsUsed")), (7, 7, 7));
    assert_eq!(team.documents(&job).await.len(), 7);
    let refused = team.post("/v2/crawl", &json!({"url": app.page("/"), "limit": 14})).await;
    assert_eq!((refused.status, refused.code()), (402, "insufficient_credits"), "{}", refused.body);
    let job =
        team.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 13, "scrapeOptions": {"maxAge": 0}})).await;
    assert_eq!(number(&team.ended(&job).await.body, "completed"), 13);
    assert_eq!(team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_robots_txt_forbids_is_reported_and_not_fetched() {
    let app = TestApp::start().await;
    app.site.respond("/robots.txt", Reply { body: "User-agent: *\nDisallow: /private".into(), ..Reply::default() });
    app.site.html("/", "<a href=/open>o</a><a href=/private/a>p</a><p>start");
    app.site.html("/open", "<p>open");
    app.site.html("/private/a", "<p>secret");
    let job = app.anonymous().start("/v2/crawl", &json!({"url": app.page("/"), "limit": 10})).await;
    let ended = app.anonymous().ended(&job).await.body;
    assert_eq!(number(&ended, "completed"), 2, "{ended}");
    let errors = app.anonymous().get(&format!("{job}/errors")).await.body;
    assert_eq!(errors["robotsBlocked"], json!([app.page("/private/a")]));
    assert!(!app.site.requests().iter().any(|seen| seen.path.starts_with("/private")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_fail_are_errors_and_pages_that_answer_are_documents() {
    let app = TestApp::with_keys().await;
    app.site.html("/", "<a href=/gone>g</a><a href=/broken>b</a><a href=http://other.test/>home</a><p>start");
    app.site.respond("/gone", Reply { status: 404, ..page("<p>gone") });
    app.site.script("/broken", vec![Script::Raw("this is not HTTP".into())]);
    let team = app.team(Some(100), json!({})).await;
    let body = json!({"url": app.page("/"), "limit": 10, "allowExternalLinks": true});
    let job = team.start("/v2/crawl", &body).await;
    let ended = team.ended(&job).await.body;
    assert_eq!((&ended["status"], number(&ended, "total"), number(&ended, "completed")), (&json!("completed"), 2, 2));
    assert_eq!(number(&ended, "creditsUsed"), 2, "what failed costs nothing");
    let statuses: BTreeSet<i64> =
        ended["data"].as_array().unwrap().iter().map(|d| d["metadata"]["statusCode"].as_i64().unwrap()).collect();
    assert_eq!(statuses, BTreeSet::from([200, 404]));
    let errors = team.get(&format!("{job}/errors")).await.body;
    let errors = errors["errors"].as_array().unwrap();
    let code = |url: &str| errors.iter().find(|error| error["url"] == url).map(|error| error["code"].clone());
    assert_eq!(code(&app.page("/broken")), Some(json!("SCRAPE_SITE_ERROR")), "{errors:?}");
    assert_eq!(code("http://other.test/"), Some(json!("EXTERNAL_LINK")), "{errors:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_can_be_stopped_once() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 100);
    let team = app.team(Some(100), json!({})).await;
    let job = team.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 50, "delay": 1})).await;
    let active = team.get("/v2/crawl/active").await.body;
    assert_eq!(active["crawls"].as_array().unwrap().len(), 1, "{active}");
    assert!(job.ends_with(active["crawls"][0]["id"].as_str().unwrap()));
    assert_eq!(team.get("/v2/crawl/ongoing").await.body, active);
    let stopped = team.delete(&job).await;
    assert_eq!((stopped.status, stopped.body), (200, json!({"success": true, "status": "cancelled"})));
    let again = team.delete(&job).await;
    assert_eq!((again.status, again.code()), (409, "JOB_FINISHED"), "{}", again.body);
    let ended = team.get(&job).await.body;
    assert_eq!(ended["status"], "cancelled");
    assert!(ended.get("next").is_none(), "{ended}");
    assert_eq!(team.get("/v2/crawl/active").await.body["crawls"], json!([]));
    let used = number(&ended, "creditsUsed");
    assert_eq!(team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"], 100 - used);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_are_read_page_by_page() {
    let app = TestApp::with(|config| {
        config.server.hosts = vec!["10.0.0.1".to_owned()];
        config.server.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    })
    .await;
    linked_site(&app, 20);
    let client = app.anonymous();
    let job = client.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 100})).await;
    client.ended(&job).await;
    let whole = paths(&client.documents(&job).await);
    assert_eq!(whole.len(), 20);
    assert_eq!(paths(&client.documents(&format!("{job}?limit=3")).await), whole);
    let last = client.get(&format!("{job}?skip=18&limit=3")).await.body;
    assert_eq!((last["data"].as_array().unwrap().len(), last.get("next")), (2, None));
    let behind = client.get(&format!("{job}?skip=20")).await.body;
    assert_eq!((&behind["data"], behind.get("next")), (&json!([]), None));
    // `next` begins with the address that the client has called.
    let next = async |headers: &[(&str, &str)]| {
        let mut request = client.request(Method::GET, &format!("{job}?limit=1"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        client.send(request, Bytes::new()).await.body["next"].as_str().unwrap().to_owned()
    };
    let behind_proxy = [("host", "10.0.0.1"), ("x-forwarded-host", "api.example"), ("x-forwarded-proto", "https")];
    assert_eq!(next(&behind_proxy).await, format!("https://api.example{job}?skip=1&limit=1"));
    assert!(next(&[("x-forwarded-host", "evil.example/x?")]).await.starts_with("http://127.0.0.1:"));
    for query in ["?skip=x", "?skip=-1", "?limit=0", "?limit=x"] {
        let refused = client.get(&format!("{job}{query}")).await;
        assert_eq!((refused.status, refused.code()), (400, "BAD_REQUEST"), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunk_has_ten_megabytes() {
    let app = TestApp::start().await;
    let links: String = (0..15).map(|n| format!("<a href=/big/{n}>{n}</a> ")).collect();
    app.site.others(move |seen| {
        let words = "words of a page that is large ".repeat(33_000);
        (seen.path == "/" || seen.path.starts_with("/big/")).then(|| page(&format!("{links}<p>{words}")))
    });
    let client = app.anonymous();
    let body = json!({"url": app.page("/"), "limit": 100, "scrapeOptions": {"onlyMainContent": false}});
    let job = client.start("/v2/crawl", &body).await;
    let first = client.ended(&job).await.body;
    let length = first["data"].to_string().len();
    assert!((8_000_000..10_500_000).contains(&length), "{length} bytes");
    assert!(first["next"].is_string());
    assert_eq!(client.documents(&job).await.len(), 16);
}

async fn with_key(client: &Client, key: &str, path: &str, body: &Value) -> e2e::Answer {
    let request = client.request(Method::POST, path).header("x-idempotency-key", key);
    let request = request.header("content-type", "application/json");
    client.send(request, body.to_string().into()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_key_starts_one_crawl() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 3);
    let team = app.team(Some(100), json!({})).await;
    let body = json!({"url": app.page("/"), "limit": 5});
    let calls: Vec<_> = (0..8)
        .map(|_| (team.clone(), body.clone()))
        .map(|(team, body)| tokio::spawn(async move { with_key(&team, "k1", "/v2/crawl", &body).await }))
        .collect();
    let mut ids = BTreeSet::new();
    for call in calls {
        let answer = call.await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
        ids.insert(answer.body["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 1);
    let other = with_key(&team, "k1", "/v2/crawl", &json!({"url": app.page("/"), "limit": 6})).await;
    assert_eq!((other.status, other.code()), (409, "duplicate_request"), "{}", other.body);
    assert_eq!(with_key(&team, "k2", "/v2/crawl", &body).await.status, 200);
    assert_eq!(with_key(&team, &"k".repeat(256), "/v2/crawl", &body).await.status, 400);
    // Idempotency keys of other teams are independent.
    let stranger = app.team(Some(100), json!({})).await;
    let theirs = with_key(&stranger, "k1", "/v2/crawl", &body).await.body;
    assert!(!ids.contains(theirs["id"].as_str().unwrap()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_team_sees_its_own_crawls_only() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 3);
    let (ours, theirs) = (app.team(Some(100), json!({})).await, app.team(Some(100), json!({})).await);
    let job = ours.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 5})).await;
    let unknown = "/v2/crawl/01890000-0000-7000-8000-00000000beef";
    for end in ["", "/errors", "?limit=1"] {
        let (seen, none) = (theirs.get(&format!("{job}{end}")).await, theirs.get(&format!("{unknown}{end}")).await);
        assert_eq!((seen.status, &seen.body), (404, &none.body), "{end}");
    }
    assert_eq!(theirs.delete(&job).await.status, 404);
    assert_eq!(theirs.get("/v2/crawl/active").await.body["crawls"], json!([]));
    assert_eq!(theirs.get(&job.replace("/crawl/", "/batch/scrape/")).await.status, 404);
    assert_eq!(ours.get(&job.replace("/crawl/", "/batch/scrape/")).await.status, 404, "a crawl is no batch");
    assert_eq!(ours.ended(&job).await.body["completed"], 3);
}

#[tokio::test]
async fn refusals_name_the_field() {
    let app = TestApp::with_keys().await;
    let team = app.team(Some(100), json!({})).await;
    let cases = [
        (json!({}), 400, "BAD_REQUEST", "`url`"),
        (json!({"url": "ftp://x.test/"}), 400, "BAD_REQUEST", "`url`"),
        (json!({"url": app.page("/"), "includePaths": ["ok", "("]}), 400, "BAD_REQUEST", "includePaths"),
        (json!({"url": app.page("/"), "excludePaths": ["(?=x)"]}), 400, "BAD_REQUEST", "excludePaths"),
        (json!({"url": app.page("/"), "maxDepth": 1}), 400, "BAD_REQUEST", "maxDepth"),
        (json!({"url": app.page("/"), "prompt": "all"}), 400, "CRAWL_PROMPT_NOT_SUPPORTED", "model"),
        (
            json!({"url": app.page("/"), "scrapeOptions": {"formats": ["json"]}}),
            400,
            "SCRAPE_JSON_NOT_SUPPORTED",
            "json",
        ),
        (json!({"url": app.page("/"), "limit": 5, "ignoreRobotsTxt": true}), 403, "FORBIDDEN", ""),
        (json!({"url": app.page("/"), "limit": 5, "zeroDataRetention": true}), 403, "FORBIDDEN", ""),
        (json!({"url": app.page("/")}), 402, "insufficient_credits", ""),
    ];
    for (body, status, code, words) in cases {
        let answer = team.post("/v2/crawl", &body).await;
        assert_eq!((answer.status, answer.code()), (status, code), "{body}: {}", answer.body);
        assert!(answer.body["error"].as_str().unwrap().contains(words), "{body}: {}", answer.body);
    }
    let preview = team.post("/v2/crawl/params-preview", &json!({"url": app.page("/"), "prompt": "the blog"})).await;
    assert_eq!((preview.status, preview.code()), (400, "CRAWL_PARAMS_PREVIEW_NOT_SUPPORTED"));
    for id in ["x", "..%2Fadmin", "1", "' OR 1=1--".replace(' ', "%20").as_str()] {
        let answer = team.get(&format!("/v2/crawl/{id}")).await;
        assert_eq!((answer.status, answer.code()), (400, "BAD_REQUEST"), "{id}: {}", answer.body);
    }
    assert_eq!(app.site.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_is_not_there_fails_the_crawl() {
    let app = TestApp::start().await;
    let job = app.anonymous().start("/v2/crawl", &json!({"url": "http://nowhere.test/", "limit": 5})).await;
    let ended = app.anonymous().ended(&job).await.body;
    assert_eq!((&ended["status"], number(&ended, "completed")), (&json!("failed"), 0), "{ended}");
    let errors = app.anonymous().get(&format!("{job}/errors")).await.body;
    assert_eq!(errors["errors"][0]["code"], "SCRAPE_DNS_RESOLUTION_ERROR", "{errors}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sitemaps_are_read_as_asked() {
    let app = TestApp::start().await;
    let loc = |path: &str| format!("<url><loc>{}</loc></url>", app.page(path));
    let sitemap = format!("<urlset>{}{}</urlset>", loc("/listed"), loc("/"));
    app.site.respond("/sitemap.xml", Reply { body: sitemap.into(), ..Reply::default() });
    app.site.html("/", "<a href=/linked>l</a><p>start");
    app.site.html("/linked", "<p>linked");
    app.site.html("/listed", "<a href=/deep>d</a><p>listed");
    app.site.html("/deep", "<p>deep");
    let client = app.anonymous();
    for (mode, expect) in [
        ("include", vec!["/", "/deep", "/linked", "/listed"]),
        ("skip", vec!["/", "/linked"]),
        ("only", vec!["/", "/listed"]),
    ] {
        let body = json!({"url": app.page("/"), "limit": 20, "sitemap": mode});
        let job = client.start("/v2/crawl", &body).await;
        client.ended(&job).await;
        let found: BTreeSet<String> = paths(&client.documents(&job).await).into_iter().collect();
        assert_eq!(found, expect.into_iter().map(str::to_owned).collect(), "{mode}");
    }
}

/// With depth 0 only the start is read; the timing of other pages must not matter.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn depth_counts_hops() {
    let app = TestApp::start().await;
    linked_site(&app, 31);
    for (depth, expect) in [(0, 1), (1, 3), (2, 7)] {
        let body = json!({"url": app.page("/"), "limit": 50, "maxDiscoveryDepth": depth, "sitemap": "skip"});
        let job = app.anonymous().start("/v2/crawl", &body).await;
        assert_eq!(number(&app.anonymous().ended(&job).await.body, "completed"), expect, "depth {depth}");
    }
    let slow = Reply { delay: Duration::from_millis(300), ..page("<a href=/p/5>5</a><p>slow") };
    app.site.respond("/slow", slow);
    let body = json!({"url": app.page("/slow"), "limit": 50, "maxDiscoveryDepth": 1, "crawlEntireDomain": true});
    let job = app.anonymous().start("/v2/crawl", &body).await;
    assert_eq!(number(&app.anonymous().ended(&job).await.body, "completed"), 2);
}

/// The checks of [`TestApp`] work: a crawl that still waits for its page is detected at the end of the test.
#[tokio::test]
#[should_panic(expected = "is still running")]
async fn a_test_that_leaves_a_crawl_fails() {
    let app = TestApp::with_keys().await;
    app.site.script("/", vec![Script::Hang(Duration::from_secs(60))]);
    let caller = app.team(Some(100), json!({})).await;
    caller.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 1})).await;
}

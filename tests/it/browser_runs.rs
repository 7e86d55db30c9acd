//! Crawls and batches over pages that need a browser.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use bytes::Bytes;
use e2e::TestApp;
use http::Method;
use serde_json::{Value, json};

use crate::browser::{asked, browsers, reply};

/// Timeout of pages in the browser on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Serves pages that are empty until their script has written a heading and links to two others.
fn scripted_site(app: &TestApp, pages: usize) {
    let script = format!(
        "const n = Number(location.pathname.split('/').pop()) || 0, next = [2 * n + 1, 2 * n + 2].filter(m => m < {pages});\
         root.innerHTML = '<h1>Hall ' + n + '</h1>' + next.map(m => '<a href=/hall/' + m + '>on</a>').join('')"
    );
    app.site.respond("/hall.js", reply("text/javascript", &script));
    app.site.others(move |seen| {
        let is_page = match seen.path.strip_prefix("/hall/") {
            Some(number) => number.parse().is_ok_and(|number: usize| number < pages),
            None => seen.path == "/",
        };
        is_page.then(|| reply("text/html", "<title>Halls</title><div id=root></div><script src=/hall.js></script>"))
    });
}

/// Waits until a path was requested this many times.
async fn until_asked(app: &TestApp, path: &str, times: usize) {
    let started = Instant::now();
    while asked(app, path) < times {
        assert!(started.elapsed() < PATIENCE, "{path} was asked for {} times", asked(app, path));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn headings(documents: &[Value]) -> BTreeSet<String> {
    let heading = |document: &Value| document["markdown"].as_str().unwrap().lines().next().unwrap().to_owned();
    documents.iter().map(heading).collect()
}

#[tokio::test]
async fn a_crawl_finds_the_links_that_scripts_write() {
    let app = TestApp::with_browser().await;
    scripted_site(&app, 7);
    let options = json!({ "formats": ["markdown", "screenshot"] });
    let body = json!({ "url": app.page("/"), "limit": 20, "sitemap": "skip", "scrapeOptions": options });
    let path = app.anonymous().start("/v2/crawl", &body).await;
    let ended = app.anonymous().ended(&path).await;
    assert_eq!((&ended.body["status"], &ended.body["total"]), (&json!("completed"), &json!(7)), "{}", ended.body);
    let documents = app.anonymous().documents(&path).await;
    let expect: BTreeSet<String> = (0..7).map(|n| format!("# Hall {n}")).collect();
    assert_eq!(headings(&documents), expect);
    for document in &documents {
        let (kind, bytes) = app.anonymous().download(document["screenshot"].as_str().unwrap()).await;
        assert!(kind == "image/png" && bytes.starts_with(b"\x89PNG"), "{document}");
        assert_eq!(document["metadata"]["creditsUsed"], 1);
    }
    assert_eq!(browsers().len(), 1);
    // A file URL begins with the address at which its reader has reached the service, not with that of the crawl's
    // start.
    let elsewhere = app.anonymous().request(Method::GET, &path).header("host", "localhost");
    let told = app.anonymous().send(elsewhere, Bytes::new()).await.body;
    let first = told["data"][0]["screenshot"].as_str().unwrap();
    assert!(first.starts_with("http://localhost/files/"), "{first}");
    let ours = documents[0]["screenshot"].as_str().unwrap();
    assert_eq!(first.replace("http://localhost", ""), ours.replace(&format!("http://{}", app.address()), ""));
}

#[tokio::test]
async fn a_batch_takes_its_pages_to_the_browser_where_they_need_it() {
    let app = TestApp::with_browser().await;
    scripted_site(&app, 3);
    app.site.html("/plain", crate::ARTICLE);
    let urls: Vec<String> = ["/hall/1", "/hall/2", "/plain"].map(|path| app.page(path)).into();
    let path = app.anonymous().start("/v2/batch/scrape", &json!({ "urls": urls })).await;
    app.anonymous().ended(&path).await;
    let documents = app.anonymous().documents(&path).await;
    let expect = ["# Granite", "# Hall 1", "# Hall 2"].map(str::to_owned);
    assert_eq!(headings(&documents), BTreeSet::from(expect));
    assert_eq!((asked(&app, "/plain"), asked(&app, "/hall/1")), (1, 2));
}

#[tokio::test]
async fn a_scrape_does_not_wait_for_a_crawl() {
    let app = TestApp::with(|config| {
        config.browser.enabled = true;
        config.browser.contexts = 1;
        config.worker.per_host = 64;
    })
    .await;
    scripted_site(&app, 9);
    let body = json!({ "url": app.page("/"), "limit": 9, "sitemap": "skip", "scrapeOptions": { "waitFor": 300 } });
    let path = app.anonymous().start("/v2/crawl", &body).await;
    until_asked(&app, "/hall/2", 1).await;
    let answer = app.anonymous().scrape(&json!({ "url": app.page("/hall/8"), "waitFor": 10, "maxAge": 0 })).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let metadata = &answer.body["data"]["metadata"];
    assert_eq!(metadata["concurrencyLimited"], true, "{metadata}");
    assert!(metadata["concurrencyQueueDurationMs"].as_u64().unwrap() > 0);
    let status = app.anonymous().get(&path).await.body;
    assert_eq!(status["status"], "scraping", "the crawl waits, not the scrape: {status}");
    app.anonymous().ended(&path).await;
}

#[tokio::test]
async fn a_team_with_many_crawls_delays_another_by_one_page() {
    let app = TestApp::with(|config| {
        config.auth.mode = boot::config::AuthMode::Keys;
        config.browser.enabled = true;
        (config.browser.processes, config.browser.contexts) = (1, 1);
        config.worker.per_host = 64;
    })
    .await;
    scripted_site(&app, 100);
    let (many, other) = (app.team(None, json!({})).await, app.team(None, json!({})).await);
    let mut crawls = Vec::new();
    for number in 0..13 {
        let url = app.page(&format!("/hall/{number}"));
        let body =
            json!({ "url": url, "limit": 1, "sitemap": "skip", "scrapeOptions": { "waitFor": 300, "maxAge": 0 } });
        crawls.push(many.start("/v2/crawl", &body).await);
    }
    // A page with a slot requests the script; most of the others are in the queue by then.
    until_asked(&app, "/hall.js", 3).await;
    let before = asked(&app, "/hall.js");
    let answer = other.scrape(&json!({ "url": app.page("/hall/50"), "waitFor": 10, "maxAge": 0 })).await;
    let passed = asked(&app, "/hall.js") - before;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.body["data"]["metadata"]["concurrencyLimited"], true, "{}", answer.body);
    // Its own page, the finished one, and those that started before it was queued and while its answer was in transit.
    // In order of arrival nearly all pages would precede it.
    assert!(passed <= 8, "{passed} pages of crawls went first");
    for crawl in crawls {
        let ended = many.ended(&crawl).await;
        assert_eq!(
            (&ended.body["status"], &ended.body["completed"]),
            (&json!("completed"), &json!(1)),
            "{}",
            ended.body
        );
    }
}

/// Client-side routes after the `#` are pages, also where the start shows enough without them.
#[tokio::test]
async fn routes_are_pages_of_a_crawl() {
    let app = TestApp::with_browser().await;
    let words = "a word of the start ".repeat(60);
    let script = "const say = { '': 'Start', '#!/saws': 'All the saws', '#/planes': 'All the planes' };\
        const go = () => { root.innerHTML = '<h1>' + say[location.hash] + '</h1><a href=\"#!/saws\">s</a> <a href=\"#/planes\">p</a> <a href=\"#top\">t</a>' };\
        window.onhashchange = go; go();";
    for (path, text) in [("/app/", ""), ("/full/", words.as_str())] {
        let links = "<a href='#!/saws'>s</a><a href='#/planes'>p</a>";
        let links = if text.is_empty() { "" } else { links };
        app.site
            .html(path, format!("<title>T</title><div id=root></div><p>{text}</p>{links}<script>{script}</script>"));
        let body = json!({ "url": app.page(path), "limit": 20, "sitemap": "skip" });
        let job = app.anonymous().start("/v2/crawl", &body).await;
        app.anonymous().ended(&job).await;
        let documents = app.anonymous().documents(&job).await;
        let has = |words: &str| documents.iter().any(|page| page["markdown"].as_str().unwrap().contains(words));
        assert_eq!(
            (documents.len(), has("All the saws"), has("All the planes")),
            (3, true, true),
            "{path} {documents:?}"
        );
    }
}

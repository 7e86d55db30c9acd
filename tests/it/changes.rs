//! The format `changeTracking`, in scrapes, batches and crawls.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use boot::config::AuthMode;
use e2e::{Answer, Client, TestApp};
use serde_json::{Value, json};
use testkit::{Pdf, Reply};

use crate::crawl::page;
use crate::documents::file;
use crate::postgres::database;

const TEA: &str = "<!doctype html><title>Tea</title><nav><a href=/home>Home</a></nav><main><h1>Tea</h1><p class=price>Assam at \
    12 euros, with free delivery in the whole country, from the gardens of the upper valley.</p></main><footer>Imprint</footer>";

fn git_diff() -> Value {
    json!(["markdown", { "type": "changeTracking", "modes": ["git-diff"] }])
}

/// Scrapes the page and returns the answer.
async fn scrape(client: &Client, app: &TestApp, path: &str, more: Value) -> Answer {
    let mut body = json!({ "url": app.page(path), "formats": git_diff() });
    more.as_object().unwrap().iter().for_each(|(key, value)| body[key] = value.clone());
    let answer = client.scrape(&body).await;
    assert_eq!(answer.status, 200, "{more}: {}", answer.body);
    answer
}

async fn status(client: &Client, app: &TestApp, path: &str, more: Value) -> String {
    let answer = scrape(client, app, path, more).await;
    let data = &answer.body["data"];
    data["changeTracking"]["changeStatus"].as_str().unwrap_or_else(|| panic!("{data}")).to_owned()
}

/// Checks a page from its first scrape to its return.
async fn follow_a_page(app: &TestApp) {
    let client = app.team(Some(100), json!({})).await;
    app.site.html("/tea", TEA);
    let first = scrape(&client, app, "/tea", json!({})).await;
    let tracking = &first.body["data"]["changeTracking"];
    assert_eq!(*tracking, json!({ "previousScrapeAt": null, "changeStatus": "new", "visibility": "visible" }));
    assert_eq!(first.body["data"]["metadata"].get("cacheState"), None, "the cache was not asked");
    for more in [
        json!({}),
        json!({ "onlyMainContent": false }),
        json!({ "includeTags": ["h1"] }),
        json!({ "excludeTags": [".price"], "maxAge": 86_400_000 }),
    ] {
        assert_eq!(status(&client, app, "/tea", more.clone()).await, "same", "{more}");
        // The same to a reader, but not to the byte.
        app.site.html("/tea", format!("{TEA}<!-- {more} -->"));
        assert_eq!(status(&client, app, "/tea", more.clone()).await, "same", "{more}");
    }
    app.site.html("/tea", TEA.replace("12 euros", "21 euros"));
    let changed = scrape(&client, app, "/tea", json!({})).await;
    let tracking = &changed.body["data"]["changeTracking"];
    assert_eq!(tracking["changeStatus"], "changed");
    assert!(tracking["previousScrapeAt"].is_string(), "{tracking}");
    let diff = tracking["diff"].as_str().unwrap();
    assert!(
        diff.starts_with("--- previous.md\n+++ current.md\n@@ ") && diff.contains("\n+Assam at 21 euros"),
        "{diff}"
    );
    app.site.respond("/tea", Reply { status: 503, ..page("<p>Come back later") });
    let broken = scrape(&client, app, "/tea", json!({})).await;
    assert_eq!(broken.body["data"].get("changeTracking"), Some(&Value::Null), "{}", broken.body);
    assert!(broken.body["data"]["warning"].as_str().unwrap().contains("it answered 503"), "{}", broken.body);
    app.site.respond("/tea", Reply { status: 404, ..page("<p>Gone") });
    for _ in 0..2 {
        assert_eq!(status(&client, app, "/tea", json!({})).await, "removed");
    }
    app.site.html("/tea", TEA);
    assert_eq!(status(&client, app, "/tea", json!({})).await, "new", "back again");
    assert_eq!(status(&client, app, "/tea", json!({})).await, "same");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_followed_from_its_first_scrape_to_its_return() {
    follow_a_page(&TestApp::with_keys().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_followed_on_postgresql() {
    let Some(url) = database() else { return };
    let app = TestApp::with(|config| {
        config.store.url = base::Secret::new(&url);
        config.auth.mode = AuthMode::Keys;
    })
    .await;
    follow_a_page(&app).await;
    batches_and_crawls(&app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tags_and_teams_have_histories_of_their_own() {
    let app = TestApp::with_keys().await;
    app.site.html("/tea", TEA);
    let (one, two) = (app.team(None, json!({})).await, app.team(None, json!({})).await);
    let tagged = |tag: &str| json!({ "formats": ["markdown", { "type": "changeTracking", "tag": tag }] });
    assert_eq!(status(&one, &app, "/tea", tagged("daily")).await, "new");
    assert_eq!(status(&one, &app, "/tea", tagged("weekly")).await, "new");
    assert_eq!(status(&one, &app, "/tea", json!({})).await, "new");
    assert_eq!(status(&two, &app, "/tea", tagged("daily")).await, "new");
    app.site.html("/tea", "<p>Sold out");
    assert_eq!(status(&one, &app, "/tea", tagged("daily")).await, "changed");
    assert_eq!(status(&one, &app, "/tea", tagged("daily")).await, "same");
    assert_eq!(status(&one, &app, "/tea", tagged("weekly")).await, "changed");
    assert_eq!(status(&two, &app, "/tea", tagged("daily")).await, "changed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_contradicts_the_format_is_refused() {
    let app = TestApp::with_keys().await;
    app.site.html("/tea", TEA);
    let team = app.team(Some(10), json!({ "zeroDataRetention": true })).await;
    let refused = async |more: Value, code: &str, path: &str| {
        let mut body = json!({ "url": app.page("/tea"), "formats": git_diff() });
        more.as_object().unwrap().iter().for_each(|(key, value)| body[key] = value.clone());
        let answer = team.scrape(&body).await;
        assert_eq!((answer.status, answer.code()), (400, code), "{more}: {}", answer.body);
        assert_eq!(answer.body["details"][0]["path"], path, "{more}: {}", answer.body);
    };
    refused(json!({ "lockdown": true }), "BAD_REQUEST", "lockdown").await;
    refused(json!({ "minAge": 1 }), "BAD_REQUEST", "minAge").await;
    refused(json!({ "zeroDataRetention": true }), "BAD_REQUEST", "formats").await;
    refused(json!({ "formats": ["changeTracking"] }), "BAD_REQUEST", "formats").await;
    let by_model = |more: Value| {
        let mut format = more;
        (format["type"], format["modes"]) = (json!("changeTracking"), json!(["json"]));
        json!({ "formats": ["markdown", format] })
    };
    refused(by_model(json!({})), "BAD_REQUEST", "formats[1].modes").await;
    let code = "SCRAPE_CHANGE_TRACKING_NOT_SUPPORTED";
    refused(by_model(json!({ "prompt": "the price" })), code, "formats[1]").await;
    assert!(app.site.requests().is_empty());
    assert_eq!(team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"], 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_diff_may_be_an_object() {
    let app = TestApp::with(|config| config.compat.diff_object = true).await;
    let client = app.anonymous();
    app.site.html("/tea", TEA);
    scrape(&client, &app, "/tea", json!({})).await;
    app.site.html("/tea", "<p>Sold out");
    let diff = scrape(&client, &app, "/tea", json!({})).await.body["data"]["changeTracking"]["diff"].clone();
    assert!(diff["text"].as_str().unwrap().contains("+Sold out"), "{diff}");
    assert_eq!(diff["json"]["files"][0]["to"], "current.md");
}

/// Two scrapes at the same time, of which one is slower, have an order: the later one sees what the first has kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scrapes_of_one_page_come_one_after_the_other() {
    let app = TestApp::with_keys().await;
    let client = app.team(None, json!({})).await;
    app.site.html("/tea", TEA);
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let (client, body) = (client.clone(), json!({ "url": app.page("/tea"), "formats": git_diff() }));
            tokio::spawn(
                async move { client.scrape(&body).await.body["data"]["changeTracking"]["changeStatus"].clone() },
            )
        })
        .collect();
    let mut found = Vec::new();
    for call in calls {
        found.push(call.await.unwrap());
    }
    found.sort_by_key(ToString::to_string);
    assert_eq!(found, ["new", "same", "same", "same", "same", "same"]);
}

fn statuses(documents: &[Value]) -> BTreeMap<String, (String, String)> {
    let entry = |document: &Value| {
        let url = document["metadata"]["sourceURL"].as_str().unwrap();
        let path = format!("/{}", url.splitn(4, '/').nth(3).unwrap());
        let word = |key: &str| document["changeTracking"][key].as_str().unwrap_or_default().to_owned();
        (path, (word("changeStatus"), word("visibility")))
    };
    documents.iter().map(entry).collect()
}

/// Returns what is expected of pages: path, status, visibility.
fn expected(pages: &[(&str, &str, &str)]) -> BTreeMap<String, (String, String)> {
    let entry = |(path, status, visibility): &(&str, &str, &str)| {
        ((*path).to_owned(), ((*status).to_owned(), (*visibility).to_owned()))
    };
    pages.iter().map(entry).collect()
}

async fn batches_and_crawls(app: &TestApp) {
    let client = app.team(Some(1000), json!({})).await;
    app.site.html("/", "<h1>Shop</h1><a href=/a>a</a> <a href=/b>b</a>");
    app.site.html("/a", "<h1>A</h1><p>The first of the pages.</p><a href=/c>c</a>");
    app.site.html("/b", "<h1>B</h1><p>The second of the pages.</p>");
    app.site.html("/c", "<h1>C</h1><p>The third of the pages.</p>");
    let crawl = async |more: Value| {
        let mut body =
            json!({ "url": app.page("/"), "limit": 10, "sitemap": "skip", "scrapeOptions": { "formats": git_diff() } });
        more.as_object().unwrap().iter().for_each(|(key, value)| body[key] = value.clone());
        let job = client.start("/v2/crawl", &body).await;
        assert_eq!(client.ended(&job).await.body["status"], "completed");
        statuses(&client.documents(&job).await)
    };
    let all = |status| {
        [("/", status, "visible"), ("/a", status, "visible"), ("/b", status, "visible"), ("/c", status, "visible")]
    };
    assert_eq!(crawl(json!({})).await, expected(&all("new")));
    assert_eq!(crawl(json!({})).await, expected(&all("same")));
    let batch = json!({ "urls": [app.page("/a"), app.page("/b")], "formats": git_diff() });
    app.site.html("/b", "<h1>B</h1><p>The second of the pages, in its second edition.</p>");
    let job = client.start("/v2/batch/scrape", &batch).await;
    client.ended(&job).await;
    let found = statuses(&client.documents(&job).await);
    assert_eq!(found, expected(&[("/a", "same", "visible"), ("/b", "changed", "visible")]));
    // No link leads to /a any more, and so none to /c.
    app.site.html("/", "<h1>Shop</h1><a href=/b>b</a>");
    let hidden =
        [("/", "changed", "visible"), ("/a", "same", "hidden"), ("/b", "same", "visible"), ("/c", "same", "hidden")];
    assert_eq!(crawl(json!({})).await, expected(&hidden));
    // Within its limit and its paths, and only with the format.
    assert_eq!(crawl(json!({ "limit": 3 })).await.len(), 3);
    let found = crawl(json!({ "excludePaths": ["/c"] })).await;
    assert_eq!(found.keys().collect::<Vec<_>>(), ["/", "/a", "/b"]);
    assert_eq!(crawl(json!({ "scrapeOptions": { "formats": ["markdown"] } })).await.len(), 2);
    app.site.respond("/c", Reply { status: 410, ..page("<p>Gone") });
    let found = crawl(json!({})).await;
    assert_eq!(found["/c"], ("removed".to_owned(), "hidden".to_owned()));
    let found = crawl(json!({})).await;
    assert_eq!(found.keys().collect::<Vec<_>>(), ["/", "/a", "/b"], "a removed page is not asked for again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_and_crawls_track_changes_and_crawls_ask_for_hidden_pages() {
    batches_and_crawls(&TestApp::with_keys().await).await;
}

/// Writes a program that counts how often a reader is started, and returns the file of the count.
fn counting(reader: &Path, folder: &Path) -> (std::path::PathBuf, std::path::PathBuf) {
    let (program, count) = (folder.join("quarry-reader"), folder.join("started"));
    let script = format!("#!/bin/sh\necho started >> {}\nexec {} \"$@\"\n", count.display(), reader.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program, count)
}

/// Starts a service with a reader that is counted, and returns it with the number of readers that were started so far.
async fn with_counted(folder: &Path, program: &str) -> (TestApp, impl Fn() -> usize) {
    let mut count = None;
    let app = TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        config.documents.enabled = true;
        // A child for each document, so that children count documents.
        config.documents.recycle = 1;
        let reader = config.documents.reader.as_ref().unwrap().with_file_name(program);
        let (program, counted) = counting(&reader, folder);
        (config.documents.reader, count) = (Some(program), Some(counted));
    })
    .await;
    let count = count.unwrap();
    (app, move || fs::read_to_string(&count).map_or(0, |lines| lines.lines().count()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_read_once_while_its_bytes_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (app, started) = with_counted(folder.path(), "read_documents").await;
    let client = app.team(Some(100), json!({})).await;
    app.site.respond("/r.pdf", file("application/pdf", Pdf::Report(2).bytes()));
    let first = scrape(&client, &app, "/r.pdf", json!({})).await;
    assert_eq!(first.body["data"]["changeTracking"]["changeStatus"], "new");
    let once = started();
    let again = scrape(&client, &app, "/r.pdf", json!({})).await;
    let (data, before) = (&again.body["data"], &first.body["data"]);
    assert_eq!(data["changeTracking"]["changeStatus"], "same");
    assert_eq!(started(), once, "the text of the same file was kept");
    assert_eq!(data["markdown"], before["markdown"]);
    for key in ["numPages", "title", "contentType", "creditsUsed"] {
        assert_eq!(data["metadata"][key], before["metadata"][key], "{key}");
    }
    // Other results of the same bytes are read, and are no change.
    let parsers = json!({ "parsers": [{ "type": "pdf", "maxPages": 1, "pages": true }] });
    let less = scrape(&client, &app, "/r.pdf", parsers).await;
    assert_eq!(less.body["data"]["changeTracking"]["changeStatus"], "same");
    assert_eq!(less.body["data"]["pages"].as_array().map(Vec::len), Some(1));
    scrape(&client, &app, "/r.pdf", json!({})).await;
    app.site.respond("/r.pdf", file("application/pdf", Pdf::Report(3).bytes()));
    let changed = scrape(&client, &app, "/r.pdf", json!({})).await;
    let tracking = &changed.body["data"]["changeTracking"];
    assert_eq!(tracking["changeStatus"], "changed");
    assert!(tracking["diff"].as_str().unwrap().contains("+Page 3 of the report."), "{tracking}");
}

/// Recognised again, the text of the page would be another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scan_is_recognised_once_while_its_bytes_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (app, started) = with_counted(folder.path(), "recognise_documents").await;
    let client = app.team(Some(100), json!({})).await;
    app.site.respond("/scan.pdf", file("application/pdf", Pdf::Scan.bytes()));
    let plain = client.scrape(&json!({ "url": app.page("/scan.pdf") })).await;
    let first = scrape(&client, &app, "/scan.pdf", json!({})).await;
    assert!(first.markdown().contains("Recognised at"), "{}", first.body);
    assert_ne!(plain.markdown(), first.markdown(), "the recognition is not steady");
    let once = started();
    for more in [json!({}), json!({ "onlyMainContent": false }), json!({ "excludeTags": ["p"] })] {
        let again = scrape(&client, &app, "/scan.pdf", more).await;
        assert_eq!(again.body["data"]["changeTracking"]["changeStatus"], "same", "{}", again.body);
        assert_eq!(again.markdown(), first.markdown());
    }
    assert_eq!(started(), once, "the text of the same scan was kept");
    // Where other results of the same bytes are wanted it is recognised again, and the page is the same.
    let parsers = json!({ "parsers": [{ "type": "pdf", "pages": true }] });
    assert_eq!(status(&client, &app, "/scan.pdf", parsers).await, "same");
    assert!(started() > once);
}

/// Other bytes from the browser each time, but the same to a reader.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_the_same_after_its_scripts_have_run() {
    let app = TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        config.browser.enabled = true;
    })
    .await;
    let client = app.team(Some(100), json!({})).await;
    let shop = |price: u32| {
        let script = format!(
            "root.innerHTML = '<main><h1>Tea</h1><p class=price data-seen=' + Math.random() + '>Assam at {price} euros, \
             with free delivery in the whole country.</p></main><footer>Imprint</footer>'"
        );
        format!("<title>Tea</title><nav><a href=/home>Home</a></nav><div id=root></div><script>{script}</script>")
    };
    app.site.html("/tea", shop(12));
    let first = scrape(&client, &app, "/tea", json!({})).await;
    assert!(first.markdown().contains("12 euros"), "{}", first.body);
    assert_eq!(first.body["data"]["changeTracking"]["changeStatus"], "new");
    for more in [
        json!({}),
        json!({ "onlyMainContent": false }),
        json!({ "includeTags": ["h1"] }),
        json!({ "excludeTags": [".price"] }),
        json!({}),
    ] {
        assert_eq!(status(&client, &app, "/tea", more.clone()).await, "same", "{more}");
    }
    app.site.html("/tea", shop(21));
    assert_eq!(status(&client, &app, "/tea", json!({})).await, "changed");
}

/// The page and its previous version do not fit in the memory budget together while both are processed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_does_not_wait_for_the_memory_of_its_own_page() {
    let app = TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        // The smallest pool, for bodies of 8 MiB; one of up to 16 MiB at a time.
        (config.fetch.max_raw, config.fetch.max_decoded, config.fetch.max_in_flight) = (16 << 20, 16 << 20, 0);
    })
    .await;
    let client = app.team(Some(100), json!({})).await;
    let text = |first: &str| format!("{first}\n{}", "A line of a long text.\n".repeat(450_000));
    for (first, expect) in [("One", "new"), ("Two", "changed")] {
        app.site.respond("/log.txt", file("text/plain", text(first)));
        let answer = scrape(&client, &app, "/log.txt", json!({ "timeout": 20_000 })).await;
        let data = &answer.body["data"];
        assert_eq!(data["changeTracking"]["changeStatus"], expect, "{}", data["warning"]);
    }
}

//! Duplicates in crawls: canonical URLs, and pages reachable by several paths.

use std::collections::BTreeSet;
use std::time::Duration;

use e2e::{Client, TestApp};
use serde_json::{Value, json};
use testkit::{Reply, Script};

use crate::crawl::page;

/// Runs a crawl to its end, and returns its status, the paths of its documents and its errors.
async fn crawl(client: &Client, body: &Value) -> (Value, BTreeSet<String>, Value) {
    let job = client.start("/v2/crawl", body).await;
    let ended = client.ended(&job).await.body;
    assert_eq!(ended["status"], "completed", "{ended}");
    let path = |document: &Value| {
        let url = document["metadata"]["url"].as_str().unwrap();
        url.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap()
    };
    let documents = client.documents(&job).await;
    let paths: BTreeSet<String> = documents.iter().map(path).collect();
    assert_eq!(paths.len(), documents.len(), "no page twice");
    (ended, paths, client.get(&format!("{job}/errors")).await.body["errors"].clone())
}

fn set(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

fn body(app: &TestApp) -> Value {
    json!({"url": app.page("/"), "limit": 50, "sitemap": "skip"})
}

fn links(paths: &[&str]) -> String {
    paths.iter().map(|path| format!("<a href='{path}'>{path}</a> ")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_only_say_that_they_are_copies_are_documents() {
    let app = TestApp::start().await;
    app.site.html("/", links(&["/a", "/b", "/c"]));
    // A template error: the canonical URL is a missing page, or a different one.
    for (path, canonical) in [("/a", "/about"), ("/b", "/about"), ("/c", "/a")] {
        let head = format!("<link rel=canonical href='{canonical}'>");
        app.site.html(path, format!("{head}<p>The words of the page {path}.</p>{}", links(&["/beyond"])));
    }
    app.site.html("/beyond", "<p>Another page");
    let (ended, found, errors) = crawl(&app.anonymous(), &body(&app)).await;
    assert_eq!(found, set(&["/", "/a", "/b", "/c", "/beyond"]));
    assert_eq!((&ended["creditsUsed"], &errors), (&json!(5), &json!([])));
}

/// Whatever is found first, the canonical page is the document, and the links of its duplicate are followed too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_are_left_out_and_reported() {
    for slow in ["/list", "/list?sort=price"] {
        let app = TestApp::with_keys().await;
        app.site.html("/", links(&["/list?sort=price", "/list"]));
        let list = |more: &str| {
            let words = "<link rel=canonical href='/list'><h1>Saws</h1><p>All the saws of the workshop.</p>";
            page(&format!("{words}<a href='#top'>up</a> {more}"))
        };
        for (path, more) in [("/list?sort=price", "<a href='/beyond'></a>"), ("/list", "")] {
            let delay = if path == slow { Duration::from_millis(700) } else { Duration::ZERO };
            app.site.respond(path, Reply { delay, ..list(more) });
        }
        app.site.html("/beyond", "<p>Another page");
        let team = app.team(Some(50), json!({})).await;
        let (ended, found, errors) = crawl(&team, &body(&app)).await;
        assert_eq!(found, set(&["/", "/list", "/beyond"]), "{slow} is slow");
        assert_eq!((&ended["total"], &ended["creditsUsed"]), (&json!(3), &json!(3)), "{slow} is slow");
        assert_eq!(errors[0]["url"], app.page("/list?sort=price"), "{errors}");
        assert_eq!((&errors[0]["code"], errors.as_array().unwrap().len()), (&json!("DUPLICATE_PAGE"), 1));
    }
}

/// The canonical page may be known only from the links of its duplicate.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_waits_for_a_page_that_only_it_leads_to() {
    let app = TestApp::with_keys().await;
    app.site.html("/", links(&["/list?sort=price"]));
    for path in ["/list?sort=price", "/list"] {
        let words = "<link rel=canonical href='/list'><h1>Saws</h1><p>All the saws of the workshop.</p>";
        app.site.html(path, format!("{words}{}", links(&["/list"])));
    }
    let team = app.team(Some(100), json!({})).await;
    for most in [json!(null), json!(5)] {
        let mut body = in_order(&app);
        if !most.is_null() {
            body["maxDiscoveryDepth"] = most;
        }
        let (ended, found, errors) = crawl(&team, &body).await;
        assert_eq!(found, set(&["/", "/list"]));
        assert_eq!((&ended["total"], &ended["creditsUsed"]), (&json!(2), &json!(2)));
        assert_eq!((&errors[0]["code"], errors.as_array().unwrap().len()), (&json!("DUPLICATE_PAGE"), 1), "{errors}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_leads_to_one_that_is_known_is_reported() {
    let app = TestApp::start().await;
    app.site.html("/", links(&["/new", "/old"]));
    app.site.html("/new", "<p>new");
    app.site.respond("/old", Reply { status: 301, ..Reply::default() }.header("location", "/new"));
    let (_, found, errors) = crawl(&app.anonymous(), &body(&app)).await;
    assert_eq!(found, set(&["/", "/new"]));
    assert_eq!((&errors[0]["url"], &errors[0]["code"]), (&json!(app.page("/old")), &json!("DUPLICATE_PAGE")));
}

/// Returns the body of crawls that read pages one by one, in the order of their links, without the cache.
fn in_order(app: &TestApp) -> Value {
    let mut body = body(app);
    body["maxConcurrency"] = json!(1);
    body["scrapeOptions"] = json!({"maxAge": 0});
    body
}

/// A duplicate becomes the document when its canonical page fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_page_that_fails_is_a_document() {
    let app = TestApp::with_keys().await;
    app.site.html("/", links(&["/list?sort=price", "/list"]));
    app.site.html("/list?sort=price", "<link rel=canonical href='/list'><h1>Saws</h1><p>All the saws of the workshop.");
    app.site.script("/list", vec![Script::Raw("this is not HTTP".into())]);
    let team = app.team(Some(50), json!({})).await;
    let (ended, found, errors) = crawl(&team, &in_order(&app)).await;
    assert_eq!(found, set(&["/", "/list?sort=price"]));
    assert_eq!((&ended["total"], &ended["creditsUsed"]), (&json!(2), &json!(2)));
    assert_eq!((&errors[0]["url"], errors.as_array().unwrap().len()), (&json!(app.page("/list")), 1), "{errors}");
    let asked = app.site.requests().iter().filter(|seen| seen.path == "/list?sort=price").count();
    assert!(asked <= 2, "asked {asked} times");
}

/// Pages that name each other, or redirect to each other, are one document.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_pages_that_stand_for_each_other_is_a_document() {
    let app = TestApp::start().await;
    let words = "<h1>Planes</h1><p>All the planes of the workshop.";
    app.site.html("/", links(&["/a", "/b"]));
    app.site.html("/a", format!("<link rel=canonical href='/b'>{words}"));
    app.site.html("/b", format!("<link rel=canonical href='/a'>{words}"));
    let (ended, found, errors) = crawl(&app.anonymous(), &in_order(&app)).await;
    assert_eq!((found.len(), errors.as_array().unwrap().len()), (2, 1), "{found:?} {errors}");
    assert_eq!(ended["total"], 2);
    // Each redirects to the other when it is requested first.
    let to = |path: &str| Script::Reply(Reply { status: 302, ..Reply::default() }.header("location", path));
    app.site.script("/a", vec![to("/b"), Script::Reply(page(words))]);
    app.site.script("/b", vec![Script::Reply(page(words)), to("/a")]);
    let (_, found, errors) = crawl(&app.anonymous(), &in_order(&app)).await;
    assert_eq!((found.len(), errors.as_array().unwrap().len()), (2, 1), "{found:?} {errors}");
}

/// A waiting page is not read any more when another one has redirected to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_was_led_to_does_not_come_twice() {
    let app = TestApp::start().await;
    app.site.html("/", links(&["/old", "/broken", "/late"]));
    app.site.respond("/old", Reply { status: 301, ..Reply::default() }.header("location", "/late"));
    app.site.script("/broken", vec![Script::Raw("this is not HTTP".into())]);
    app.site.html("/late", "<p>late");
    let mut body = in_order(&app);
    body["limit"] = json!(3);
    let (_, found, errors) = crawl(&app.anonymous(), &body).await;
    assert_eq!(found, set(&["/", "/late"]));
    assert_eq!((&errors[0]["url"], errors.as_array().unwrap().len()), (&json!(app.page("/broken")), 1), "{errors}");
}

/// A redirect counts as a way: its target has the depth of the redirecting page if that is smaller.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_is_a_way() {
    let app = TestApp::start().await;
    app.site.html("/", links(&["/a", "/short"]));
    app.site.html("/a", links(&["/goal"]));
    app.site.html("/goal", "<p>goal");
    app.site.respond("/short", Reply { status: 301, ..Reply::default() }.header("location", "/goal"));
    let mut body = in_order(&app);
    body["maxDiscoveryDepth"] = json!(3);
    let client = app.anonymous();
    let job = client.start("/v2/crawl", &body).await;
    client.ended(&job).await;
    let documents = client.documents(&job).await;
    let goal = documents.iter().map(|document| &document["metadata"]).find(|page| page["url"] == app.page("/goal"));
    let goal = goal.unwrap();
    assert_eq!((&goal["depth"], &goal["parent"]), (&json!(1), &json!(app.page("/"))), "{documents:?}");
}

/// The depth of a page is that of the shortest way, also when a longer one was faster.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shortest_way_counts_whatever_comes_first() {
    let app = TestApp::start().await;
    let late = Reply { delay: Duration::from_millis(900), ..page(&links(&["/goal"])) };
    app.site.html("/", links(&["/fast", "/slow"]));
    app.site.html("/fast", links(&["/middle"]));
    app.site.html("/middle", links(&["/goal"]));
    app.site.respond("/slow", late);
    app.site.html("/goal", links(&["/behind"]));
    app.site.html("/behind", links(&["/last"]));
    app.site.html("/last", links(&["/too-far"]));
    app.site.html("/too-far", "<p>x");
    for (most, expect) in [
        (2, vec!["/", "/fast", "/slow", "/middle", "/goal"]),
        (3, vec!["/", "/fast", "/slow", "/middle", "/goal", "/behind"]),
        (4, vec!["/", "/fast", "/slow", "/middle", "/goal", "/behind", "/last"]),
    ] {
        let mut body = body(&app);
        body["maxDiscoveryDepth"] = json!(most);
        body["scrapeOptions"] = json!({"maxAge": 0});
        assert_eq!(crawl(&app.anonymous(), &body).await.1, set(&expect), "at most {most}");
    }
}

/// Sitemap pages have depth 0, even if the sitemap arrives late.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_sitemap_makes_pages_near() {
    let app = TestApp::start().await;
    app.site.html("/", links(&["/a"]));
    app.site.html("/a", links(&["/b"]));
    app.site.html("/b", links(&["/c"]));
    app.site.html("/c", "<p>x");
    let list = format!("<urlset><url><loc>{}</loc></url></urlset>", app.page("/a"));
    app.site
        .respond("/sitemap.xml", Reply { delay: Duration::from_millis(900), body: list.into(), ..Reply::default() });
    let body = json!({"url": app.page("/"), "limit": 50, "maxDiscoveryDepth": 1});
    assert_eq!(crawl(&app.anonymous(), &body).await.1, set(&["/", "/a", "/b"]));
}

/// Links to fragments are not requested, and each document has its depth and parent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_say_how_they_were_found() {
    let app = TestApp::start().await;
    app.site.html("/", links(&["/detail#overview", "/detail#prices", "#top"]));
    app.site.html("/detail", links(&["/last"]));
    app.site.html("/last", "<p>last");
    for most in [json!(null), json!(9)] {
        let mut body = body(&app);
        body["scrapeOptions"] = json!({"maxAge": 0});
        if !most.is_null() {
            body["maxDiscoveryDepth"] = most;
        }
        let client = app.anonymous();
        let job = client.start("/v2/crawl", &body).await;
        client.ended(&job).await;
        let documents = client.documents(&job).await;
        let mut ways: Vec<Value> = documents.iter().map(|document| document["metadata"].clone()).collect();
        ways.sort_by_key(|metadata| metadata["depth"].as_u64());
        let ways = ways.iter().map(|way| json!([way["sourceURL"], way["depth"], way["parent"]]));
        let (start, detail) = (app.page("/"), app.page("/detail"));
        let expect = [json!([start, 0, null]), json!([detail, 1, start]), json!([app.page("/last"), 2, detail])];
        assert_eq!(ways.collect::<Vec<_>>(), expect);
        assert_eq!(app.site.take_requests().iter().filter(|seen| seen.path == "/detail").count(), 1);
    }
    let page = app.anonymous().scrape(&json!({"url": app.page("/")})).await.body;
    assert!(page["data"]["metadata"].get("depth").is_none(), "{page}");
}

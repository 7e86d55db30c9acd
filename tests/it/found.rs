//! Sources of pages and URLs of crawls and maps: temporarily failing sitemaps, and redirected start URLs.

use e2e::{Client, TestApp};
use serde_json::{Value, json};
use testkit::{Reply, Script};

use crate::crawl::page;

/// Starts a service with the site `home.test`, and others on the same port.
async fn start() -> TestApp {
    let app = TestApp::start().await;
    for name in ["home.test", "www.home.test", "docs.home.test", "other.test"] {
        app.dns.set(name, app.site.addr().ip().into());
    }
    app
}

fn at(app: &TestApp, host: &str, path: &str) -> String {
    format!("http://{host}:{}{path}", app.site.addr().port())
}

/// Returns the sorted URLs of the documents of a crawl.
async fn crawled(client: &Client, body: &Value) -> Vec<String> {
    let job = client.start("/v2/crawl", body).await;
    let ended = client.ended(&job).await.body;
    assert_eq!(ended["status"], "completed", "{ended}");
    let address = |document: &Value| document["metadata"]["url"].as_str().unwrap().to_owned();
    let mut found: Vec<String> = client.documents(&job).await.iter().map(address).collect();
    found.sort();
    found
}

/// Returns the sorted URLs of a map.
async fn mapped(client: &Client, body: &Value) -> Vec<String> {
    let answer = client.post("/v2/map", body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let links = answer.body["links"].as_array().unwrap();
    let mut found: Vec<String> = links.iter().map(|link| link["url"].as_str().unwrap().to_owned()).collect();
    found.sort();
    found
}

fn urlset(pages: &[String]) -> Reply {
    let urls: String = pages.iter().map(|page| format!("<url><loc>{page}</loc></url>")).collect();
    Reply { body: format!("<urlset>{urls}</urlset>").into(), ..Reply::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sitemap_that_is_busy_for_a_moment_is_asked_for_again() {
    let app = TestApp::start().await;
    app.site.html("/", "<p>start");
    app.site.html("/a", "<p>a");
    let busy = Reply { status: 503, ..Reply::default() }.header("retry-after", "1");
    let listed = urlset(&[app.page("/a")]);
    let expect = [app.page("/"), app.page("/a")];
    let scripts = || vec![Script::Reply(busy.clone()), Script::Reply(listed.clone())];
    app.site.script("/sitemap.xml", scripts());
    assert_eq!(crawled(&app.anonymous(), &json!({"url": app.page("/"), "limit": 9})).await, expect);
    app.site.script("/sitemap.xml", scripts());
    assert_eq!(mapped(&app.anonymous(), &json!({"url": app.page("/")})).await, expect);
}

/// The start redirects to another host, which has the sitemap; the start's own host has none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sitemaps_are_those_of_the_site_that_the_start_leads_to() {
    for host in ["www.home.test", "docs.home.test", "other.test"] {
        let app = start().await;
        let (home, landed) = (at(&app, "home.test", "/"), at(&app, host, "/en/"));
        let (listed, goal) = (at(&app, host, "/en/listed"), landed.clone());
        let named = Reply { body: format!("Sitemap: {}", at(&app, host, "/map.xml")).into(), ..Reply::default() };
        let list = urlset(std::slice::from_ref(&listed));
        app.site.others(move |seen| {
            let is_home = seen.header("host").starts_with("home.test");
            match (is_home, seen.path.as_str()) {
                (true, "/") => Some(Reply { status: 301, ..Reply::default() }.header("location", &goal)),
                (false, "/robots.txt") => Some(named.clone()),
                (false, "/map.xml") => Some(list.clone()),
                (false, "/en/") => Some(page("<p>start")),
                (false, "/en/listed") => Some(page("<p>only the sitemap knows this page")),
                _ => None,
            }
        });
        let expect = [landed, listed];
        let client = app.anonymous();
        assert_eq!(crawled(&client, &json!({"url": home, "limit": 9})).await, expect, "crawl, {host}");
        let found = mapped(&client, &json!({"url": home})).await;
        assert!(found.contains(&expect[1]), "map, {host}: {found:?}");
        let skipping = json!({"url": home, "limit": 9, "sitemap": "skip"});
        assert_eq!(crawled(&client, &skipping).await, expect[..1], "{host}");
    }
}

/// The sitemap is in the folder that the start redirects to, as documentation generators write it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_leads_into_a_folder_has_the_sitemap_of_that_folder() {
    let app = TestApp::start().await;
    app.site.respond("/", Reply { status: 302, ..Reply::default() }.header("location", "/docs/"));
    app.site.html("/docs/", "<p>start");
    app.site.html("/docs/a", "<p>a");
    app.site.respond("/docs/sitemap.xml", urlset(&[app.page("/docs/a")]));
    let expect = [app.page("/docs/"), app.page("/docs/a")];
    assert_eq!(crawled(&app.anonymous(), &json!({"url": app.page("/"), "limit": 9})).await, expect);
    assert!(mapped(&app.anonymous(), &json!({"url": app.page("/")})).await.contains(&expect[1]));
}

/// Sitemaps are not read twice when the start's own sitemap redirects to them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sitemaps_of_a_whole_site_that_has_moved_are_read_once() {
    let app = start().await;
    let goal = at(&app, "www.home.test", "");
    let list = urlset(&[format!("{goal}/a")]);
    let to = goal.clone();
    app.site.others(move |seen| {
        if seen.header("host").starts_with("home.test") {
            let goal = format!("{to}{}", seen.path);
            return Some(Reply { status: 301, ..Reply::default() }.header("location", &goal));
        }
        match seen.path.as_str() {
            "/sitemap.xml" => Some(list.clone()),
            "/" | "/a" => Some(page(&format!("<p>words of {}", seen.path))),
            _ => None,
        }
    });
    let found = crawled(&app.anonymous(), &json!({"url": at(&app, "home.test", "/"), "limit": 9})).await;
    assert_eq!(found, [format!("{goal}/"), format!("{goal}/a")]);
    let asked = app.site.requests();
    let lists = asked.iter().filter(|seen| seen.path == "/sitemap.xml" && seen.header("host").starts_with("www"));
    assert_eq!(lists.count(), 1);
}

/// Pages in `llms.txt` are in the map, each once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn llms_txt_is_a_source_of_a_map() {
    let app = TestApp::start().await;
    app.site.html("/", "<a href=/docs/a>a</a>");
    let list = "# Site\n## Docs\n- [A](/docs/a.md): The first\n- [Only here](/docs/b)\n- [Away](https://away.test/x)\n";
    let list = Reply { body: list.into(), ..Reply::default() }.header("content-type", "text/plain");
    app.site.respond("/llms.txt", list);
    let answer = app.anonymous().post("/v2/map", &json!({"url": app.page("/")})).await.body;
    let expect = json!([
        {"url": app.page("/")},
        {"url": app.page("/docs/a"), "title": "A", "description": "The first"},
        {"url": app.page("/docs/b"), "title": "Only here"},
    ]);
    assert_eq!(answer["links"], expect, "{answer}");
    let found = mapped(&app.anonymous(), &json!({"url": app.page("/"), "sitemap": "skip"})).await;
    assert_eq!(found, [app.page("/"), app.page("/docs/a")]);
    let found = mapped(&app.anonymous(), &json!({"url": app.page("/"), "sitemap": "only"})).await;
    assert_eq!(found, [app.page("/docs/a.md"), app.page("/docs/b")]);
}

/// A crawl reads `llms.txt` if the operator enables it, unless the caller skips sitemaps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn llms_txt_is_a_source_of_a_crawl_where_it_is_wanted() {
    for is_wanted in [true, false] {
        let app = TestApp::with(|config| config.sites.llms_txt_in_crawl = is_wanted).await;
        app.site.html("/", "<a href=/docs/a>a</a>");
        for path in ["/docs/a", "/docs/b", "/docs/c.md"] {
            app.site.html(path, format!("<p>The words of {path}."));
        }
        let list =
            "- [A](/docs/a.md): The first\n- [Only here](/docs/b)\n- [C](/docs/c.md)\n- [Away](https://away.test/x)\n";
        let list = Reply { body: list.into(), ..Reply::default() }.header("content-type", "text/plain");
        app.site.respond("/llms.txt", list);
        let asks_for = |name: &str| app.site.take_requests().iter().any(|seen| seen.path == name);
        let mut body = json!({"url": app.page("/"), "limit": 9, "scrapeOptions": {"maxAge": 0}});
        let mut expect = vec![app.page("/"), app.page("/docs/a")];
        body["sitemap"] = json!("skip");
        assert_eq!((crawled(&app.anonymous(), &body).await, asks_for("/llms.txt")), (expect.clone(), false));
        body["sitemap"] = json!("include");
        let found = crawled(&app.anonymous(), &body).await;
        if is_wanted {
            expect.extend([app.page("/docs/b"), app.page("/docs/c.md")]);
        }
        assert!(expect.iter().all(|page| found.contains(page)), "{is_wanted}: {found:?}");
        assert_eq!(found.contains(&app.page("/docs/b")), is_wanted, "{found:?}");
        assert!(found.iter().all(|page| !page.contains("away.test")), "{found:?}");
        assert_eq!(asks_for("/llms.txt"), is_wanted);
    }
}

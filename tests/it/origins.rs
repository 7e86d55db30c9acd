//! Headers, cookies and passwords of a caller go only to the origin of the URL, and are never shown.

use std::time::Duration;

use e2e::{Client, TestApp};
use serde_json::{Value, json};
use testkit::{Reply, Seen};

use crate::crawl::page;
use crate::privacy::files_with;
use crate::webhooks::received;

/// `me:SECRETPASS` as Basic credentials.
const BASIC: &str = "Basic bWU6U0VDUkVUUEFTUw==";

/// Starts a service with the site `home.test`, and several others on the same port.
async fn start() -> TestApp {
    let app = TestApp::start().await;
    for name in ["home.test", "sub.home.test", "away.test", "other.test"] {
        app.dns.set(name, app.site.addr().ip().into());
    }
    app
}

fn at(app: &TestApp, host: &str, path: &str) -> String {
    format!("http://{host}:{}{path}", app.site.addr().port())
}

fn headers() -> Value {
    json!({"Authorization": "Bearer SECRET1", "Cookie": "sid=SECRET2", "X-Tok": "SECRET3", "Accept-Language": "xx", "User-Agent": "mine"})
}

fn to(location: &str) -> Reply {
    Reply { status: 302, ..Reply::default() }.header("location", location)
}

/// Whether a request contains data of the caller that only the home site may get.
fn is_personal(seen: &Seen) -> bool {
    ["authorization", "cookie", "x-tok"].iter().any(|name| !seen.header(name).is_empty())
        || seen.headers.values().any(|value| String::from_utf8_lossy(value.as_bytes()).contains("SECRET"))
        || seen.path.contains("SECRET")
}

/// Whether a request is for robots.txt, a sitemap or similar.
fn is_for_robots(seen: &Seen) -> bool {
    ["robots", "sitemap", "llms.txt"].iter().any(|name| seen.path.contains(name))
}

/// Returns the requested pages by path: those with the caller's headers, and those without. Sorted, without duplicates.
fn told_apart(app: &TestApp) -> (Vec<String>, Vec<String>) {
    let mut requests = app.site.requests();
    requests.retain(|seen| !is_for_robots(seen));
    let (personal, plain): (Vec<Seen>, Vec<Seen>) = requests.into_iter().partition(is_personal);
    let paths = |requests: Vec<Seen>| {
        let mut paths: Vec<String> = requests.into_iter().map(|seen| seen.path).collect();
        paths.sort();
        paths.dedup();
        paths
    };
    (paths(personal), paths(plain))
}

/// Checks that robots.txt and sitemaps are requested without the caller's data.
fn check_robots(app: &TestApp, expect: &[&str]) {
    let requests = app.site.requests();
    let asked: Vec<&Seen> = requests.iter().filter(|seen| is_for_robots(seen)).collect();
    assert!(asked.iter().all(|seen| !is_personal(seen)), "{asked:?}");
    for host in expect {
        assert!(asked.iter().any(|seen| seen.header("host").starts_with(host)), "{host} was not asked");
    }
}

async fn crawl(app: &TestApp, body: Value) -> Vec<Value> {
    let job = app.anonymous().start("/v2/crawl", &body).await;
    app.anonymous().ended(&job).await;
    app.anonymous().documents(&job).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_that_lands_elsewhere_takes_no_headers_there() {
    let app = start().await;
    let away = |path: &str| at(&app, "away.test", path);
    app.site.respond("/start", to(&away("/away/")));
    let sitemap = format!("<urlset><url><loc>{}</loc></url></urlset>", away("/away/listed"));
    app.site.respond("/sitemap.xml", Reply { body: sitemap.into(), ..Reply::default() });
    let back = at(&app, "home.test", "/home/page");
    app.site.respond("/away/", page(&format!("<a href=a>a</a><a href=b>b</a><a href={back}>home</a>")));
    app.site.others(|seen| seen.path.contains("/away/").then(|| page(&format!("<p>words of {}", seen.path))));
    app.site.respond("/home/page", page("<p>home"));
    let start = at(&app, "home.test", "/start").replace("http://", "http://me:SECRETPASS@");
    let own = json!({"headers": headers(), "onlyMainContent": false});
    let body = json!({"url": start, "limit": 20, "crawlEntireDomain": true, "scrapeOptions": own});
    let documents = crawl(&app, body).await;
    let (personal, plain) = told_apart(&app);
    assert_eq!(personal, ["/home/page", "/start"], "and plain: {plain:?}");
    for path in ["/away/", "/away/a", "/away/b"] {
        assert!(plain.contains(&path.to_owned()), "{path} is not in {plain:?}");
    }
    check_robots(&app, &["home.test", "away.test"]);
    for seen in app.site.requests().iter().filter(|seen| seen.path.starts_with("/away/") && !is_for_robots(seen)) {
        assert_eq!((seen.header("accept-language"), seen.header("user-agent")), ("xx", "mine"));
    }
    let warned = |document: &&Value| document["warning"].as_str().is_some_and(|text| text.contains("another origin"));
    assert_eq!(documents.iter().filter(warned).count(), documents.len() - 1, "all but the page at home");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_to_other_origins_take_no_headers_there() {
    let app = start().await;
    let links = [
        at(&app, "away.test", "/external/x"),
        at(&app, "sub.home.test", "/sub/x"),
        at(&app, "home.test.", "/dotted"),
        at(&app, "HOME.test", "/upper"),
        at(&app, "home.test", "/secure").replace("http:", "https:"),
        at(&app, "home.test", "/linked").replace("http://", "http://you:LINKPASS@"),
        at(&app, "away.test", "/external/y").replace("http://", "http://me:LINKPASS@"),
        "/returns".to_owned(),
    ];
    let list: String = links.iter().map(|link| format!("<a href=\"{link}\">x</a> ")).collect();
    app.site.respond("/", page(&list));
    app.site.respond("/external/x", to(&at(&app, "home.test", "/through")));
    app.site.respond("/returns", to(&at(&app, "away.test", "/external/back")));
    app.site.respond("/external/back", to(&at(&app, "home.test", "/returned")));
    app.site.others(|seen| (seen.path.len() > 1).then(|| page(&format!("<p>words of {}", seen.path))));
    let body = json!({
        "url": at(&app, "home.test", "/").replace("http://", "http://me:SECRETPASS@"), "limit": 30, "sitemap": "skip",
        "allowExternalLinks": true, "allowSubdomains": true, "deduplicateSimilarURLs": false,
        // The site has a self-signed certificate.
        "scrapeOptions": {"headers": {"X-Tok": "SECRET3"}, "skipTlsVerification": true},
    });
    crawl(&app, body).await;
    let (personal, plain) = told_apart(&app);
    assert_eq!(personal, ["/", "/linked", "/returns", "/secure", "/upper"], "and plain: {plain:?}");
    for path in ["/external/x", "/external/y", "/external/back", "/returned", "/sub/x", "/through"] {
        assert!(plain.contains(&path.to_owned()), "{path} is not in {plain:?}");
    }
    check_robots(&app, &["home.test", "away.test", "sub.home.test"]);
    for seen in app.site.requests().iter().filter(|seen| personal.contains(&seen.path)) {
        assert_eq!((seen.header("authorization"), seen.header("x-tok")), (BASIC, "SECRET3"), "{}", seen.path);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_goes_from_https_to_http() {
    let app = start().await;
    let plain = |path: &str| at(&app, "home.test", path);
    let secure = |path: &str| plain(path).replace("http:", "https:");
    app.site.respond("/", page(&format!("<a href={}>x</a><a href={}>y</a>", plain("/plain"), secure("/down"))));
    app.site.respond("/down", to(&plain("/downgraded")));
    app.site.respond("/up", to(&secure("/upgraded")));
    app.site.others(|seen| Some(page(&format!("<p>words of {}", seen.path))));
    // The site has a self-signed certificate.
    let own = json!({"headers": headers(), "skipTlsVerification": true});
    let body =
        json!({"url": secure("/"), "limit": 9, "sitemap": "skip", "allowExternalLinks": true, "scrapeOptions": own});
    crawl(&app, body).await;
    let (personal, others) = told_apart(&app);
    assert_eq!((personal, others), (vec!["/".into(), "/down".into()], vec!["/downgraded".into(), "/plain".into()]));
    let up = json!({"url": plain("/up"), "headers": headers(), "skipTlsVerification": true});
    let scraped = app.anonymous().scrape(&up).await;
    assert_eq!((scraped.status, &scraped.body["data"]["warning"]), (200, &Value::Null), "{}", scraped.body);
    assert!(told_apart(&app).0.contains(&"/upgraded".to_owned()), "http may become https");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_gives_its_headers_to_its_own_urls_and_no_further() {
    let app = start().await;
    app.site.respond("/leaves", to(&at(&app, "other.test", "/left")));
    app.site.others(|seen| Some(page(&format!("<p>words of {}", seen.path))));
    let urls = [
        at(&app, "home.test", "/one").replace("http://", "http://me:SECRETPASS@"),
        at(&app, "home.test", "/two"),
        at(&app, "away.test", "/three"),
        at(&app, "away.test", "/leaves").replace("http://", "http://me:SECRETPASS@"),
    ];
    let body = json!({"urls": urls, "headers": {"X-Tok": "SECRET3"}});
    let job = app.anonymous().start("/v2/batch/scrape", &body).await;
    let ended = app.anonymous().ended(&job).await.body;
    assert!(ended["completed"] == 4 && !ended.to_string().contains("SECRET"), "{ended}");
    for seen in app.site.requests() {
        let expect = match seen.path.as_str() {
            "/one" | "/leaves" => (BASIC, "SECRET3"),
            "/two" | "/three" => ("", "SECRET3"),
            _ => ("", ""),
        };
        assert_eq!((seen.header("authorization"), seen.header("x-tok")), expect, "{}", seen.path);
    }
    assert_eq!(app.site.requests().len(), 5, "the four, and where one leads");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_map_and_a_scrape_keep_credentials_at_home() {
    let app = start().await;
    let start = at(&app, "home.test", "/start").replace("http://", "http://me:SECRETPASS@");
    app.site.respond("/start", to(&at(&app, "away.test", "/away/")));
    app.site.respond(
        "/away/",
        page(&format!("<a href=a>a</a><a href={start}>b</a><a href=http://x:LINKPASS@away.test/>c</a>")),
    );
    let map = app.anonymous().post("/v2/map", &json!({"url": start})).await;
    assert_eq!(map.status, 200, "{}", map.body);
    assert!(!map.body.to_string().contains("PASS"), "{}", map.body);
    assert_eq!(told_apart(&app), (vec!["/start".into()], vec!["/away/".into()]));
    check_robots(&app, &["home.test", "away.test"]);

    app.site.respond("/round", to(&at(&app, "away.test", "/trip")));
    app.site.respond("/trip", to(&at(&app, "home.test", "/end")));
    app.site.html("/end", "<p>end");
    let round = at(&app, "home.test", "/round");
    let answer = app.anonymous().scrape(&json!({"url": round, "headers": headers()})).await;
    assert!(answer.body["data"]["warning"].as_str().unwrap().contains("another origin"), "{}", answer.body);
    let (personal, plain) = told_apart(&app);
    assert_eq!(
        (personal, plain),
        (vec!["/round".into(), "/start".into()], vec!["/away/".into(), "/end".into(), "/trip".into()])
    );
}

async fn active(client: &Client) -> Value {
    client.get("/v2/crawl/active").await.body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passwords_and_header_values_of_a_crawl_are_not_shown() {
    let app = start().await;
    let held = app.site.hold("/", page("<a href=/broken>x</a><p>start"));
    app.site.script("/broken", vec![testkit::Script::Raw("this is not HTTP".into())]);
    app.site.respond("/hook", Reply::default());
    let with_password = |path: &str| at(&app, "home.test", path).replace("http://", "http://me:SECRETPASS@");
    let hook = json!({"url": with_password("/hook"), "headers": {"X-Hook": "SECRET4"}});
    let body = json!({"url": with_password("/"), "webhook": hook, "scrapeOptions": {"headers": {"X-Tok": "SECRET3"}}});
    let job = app.anonymous().start("/v2/crawl", &body).await;
    let shown = active(&app.anonymous()).await;
    assert!(!shown.to_string().contains("SECRET"), "{shown}");
    let one = &shown["crawls"][0];
    assert_eq!(one["url"], at(&app, "home.test", "/"));
    assert_eq!(one["options"]["webhook"]["url"], at(&app, "home.test", "/hook"));
    assert_eq!(one["options"]["webhook"]["headers"], json!({"X-Hook": "***"}));
    assert_eq!(one["options"]["scrapeOptions"]["headers"], json!({"X-Tok": "***"}));
    drop(held);
    let ended = app.anonymous().ended(&job).await.body;
    assert_eq!(ended["completed"], 1, "{ended}");
    let errors = app.anonymous().get(&format!("{job}/errors")).await.body;
    assert_eq!(errors["errors"][0]["url"], at(&app, "home.test", "/broken"), "{errors}");
    assert!(!ended.to_string().contains("SECRET") && !errors.to_string().contains("SECRET"));
    // Started, page, failed page, completed: sent with the credentials, and without any of them inside.
    for seen in received(&app, 4).await {
        assert_eq!((seen.header("authorization"), seen.header("x-hook")), (BASIC, "SECRET4"));
        assert!(!String::from_utf8_lossy(&seen.body).contains("SECRET"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passwords_of_jobs_are_gone_with_their_end() {
    let mut app = start().await;
    app.site.respond("/", page("<a href=/broken>x</a><p>start"));
    app.site.script("/broken", vec![testkit::Script::Raw("this is not HTTP".into())]);
    app.site.respond("/slow", Reply { delay: Duration::from_secs(30), ..page("<p>slow") });
    let with_password = |path: &str| at(&app, "home.test", path).replace("http://", "http://me:SECRETPASS@");
    let client = app.anonymous();
    let own = json!({"headers": {"X-Tok": "SECRET3"}});
    let crawl = client.start("/v2/crawl", &json!({"url": with_password("/"), "scrapeOptions": own})).await;
    let urls = [with_password("/"), with_password("/broken")];
    let batch = client.start("/v2/batch/scrape", &json!({"urls": urls, "headers": {"X-Tok": "SECRET3"}})).await;
    let stopped = client.start("/v2/batch/scrape", &json!({"urls": [with_password("/slow")]})).await;
    for job in [&crawl, &batch] {
        assert_eq!(client.ended(job).await.body["completed"], 1);
        let errors = client.get(&format!("{job}/errors")).await.body;
        assert_eq!(errors["errors"][0]["url"], at(&app, "home.test", "/broken"), "{errors}");
    }
    assert!(
        app.site
            .requests()
            .iter()
            .filter(|seen| seen.path == "/broken")
            .all(|seen| seen.header("authorization") == BASIC)
    );
    assert_eq!(client.delete(&stopped).await.status, 200);
    app.stop().await;
    assert_eq!(files_with(app.data(), "SECRET"), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn source_url_is_what_was_given() {
    let app = start().await;
    app.site.others(|seen| Some(page(&format!("<p>words of {}", seen.path))));
    let port = app.site.addr().port();
    let given = format!("HTTP://Home.Test:{port}/a/../b?q=ü#part");
    let with_password = given.replace("//", "//me:SECRETPASS@");
    let client = app.anonymous();
    for url in [&given, &with_password] {
        let metadata = client.scrape(&json!({"url": url})).await.body["data"]["metadata"].clone();
        assert_eq!(metadata["sourceURL"], given, "{metadata}");
        assert_eq!(metadata["url"], format!("http://home.test:{port}/b?q=%C3%BC"), "without what only names a place");
    }
    let bare = format!("http://home.test:{port}");
    let job = client.start("/v2/batch/scrape", &json!({"urls": [with_password, bare, format!("{bare}/")]})).await;
    client.ended(&job).await;
    let source = |document: &Value| document["metadata"]["sourceURL"].as_str().unwrap().to_owned();
    let mut sources: Vec<String> = client.documents(&job).await.iter().map(source).collect();
    sources.sort();
    assert_eq!(sources, [given, bare.clone(), format!("{bare}/")]);
    let documents = crawl(&app, json!({"url": bare, "limit": 1, "sitemap": "skip"})).await;
    assert_eq!(documents.iter().map(source).collect::<Vec<_>>(), [bare]);
}

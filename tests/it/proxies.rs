//! Configured proxies: they get the checked address instead of the name.

use std::net::{IpAddr, SocketAddr};

use e2e::TestApp;
use serde_json::json;
use testkit::{Pdf, Site, Tunnel};

use crate::crawl::page;
use crate::documents::file;
use crate::sessions::{Cdp, session};

/// A proxy that connects every address to `public` and every name to `inner`, as with a poisoned resolver.
async fn lying_proxy(public: SocketAddr, inner: SocketAddr) -> Tunnel {
    Tunnel::start(move |target| Ok(if target.parse::<SocketAddr>().is_ok() { public } else { inner })).await
}

/// Starts the service behind such a proxy, with a name that has a public address. Returns also the proxy and the inner
/// site.
async fn start(resolves: bool) -> (TestApp, Tunnel, Site) {
    let (public, inner) = (Site::start().await, Site::start().await);
    public.others(|seen| Some(page(&format!("<a href=/next>next</a><p>public words of {}", seen.path))));
    inner.others(|_| Some(page("<p>inner words")));
    let tunnel = lying_proxy(public.addr(), inner.addr()).await;
    let proxy = net::Proxy { url: format!("http://me:pass@{}", tunnel.addr()).parse().unwrap(), resolves };
    let app = TestApp::with(|config| config.fetch.basic_proxies.0 = vec![proxy]).await;
    app.dns.set("rebind.test", "93.184.216.34".parse::<IpAddr>().unwrap().into());
    // The site has to live as long as the proxy connects to it.
    std::mem::forget(public);
    (app, tunnel, inner)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_that_would_rebind_a_name_never_hears_it() {
    let (app, tunnel, inner) = start(false).await;
    let answer = app.anonymous().scrape(&json!({"url": "http://rebind.test/x"})).await;
    assert!(answer.markdown().contains("public words of /x"), "{}", answer.body);
    let job = app.anonymous().start("/v2/crawl", &json!({"url": "http://rebind.test:8080/", "limit": 2})).await;
    let ended = app.anonymous().ended(&job).await.body;
    assert_eq!(ended["completed"], 2, "{ended}");
    let map = app.anonymous().post("/v2/map", &json!({"url": "http://rebind.test:8081/"})).await;
    assert_eq!(map.status, 200, "{}", map.body);
    let heads = tunnel.heads();
    for port in [80, 8080, 8081] {
        assert!(
            heads.iter().any(|head| head.starts_with(&format!("CONNECT 93.184.216.34:{port} HTTP/1.1\r\n"))),
            "{port}"
        );
    }
    assert!(
        heads.iter().all(|head| head.starts_with("CONNECT 93.184.216.34:") && !head.contains("rebind")),
        "{heads:?}"
    );
    assert_eq!(inner.connections(), 0);
}

/// With the operator's consent the proxy gets names; this also shows that it would lead to the inner site.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_that_resolves_gets_names() {
    let (app, tunnel, inner) = start(true).await;
    let answer = app.anonymous().scrape(&json!({"url": "http://rebind.test/x"})).await;
    assert!(answer.markdown().contains("inner words"), "{}", answer.body);
    assert!(tunnel.heads()[0].starts_with("GET http://rebind.test/x HTTP/1.1\r\n"));
    assert!(inner.connections() > 0);
    let blocked = app.anonymous().scrape(&json!({"url": "http://127.0.0.1:1/"})).await;
    assert_eq!(blocked.code(), "SCRAPE_TARGET_BLOCKED", "what we resolve ourselves is checked all the same");
}

/// Returns a site that is reachable only through a proxy, as `http://far.test/`, and that proxy.
async fn far_site() -> (Site, Tunnel, net::Proxy) {
    let site = Site::start().await;
    let tunnel = lying_proxy(site.addr(), site.addr()).await;
    let proxy = net::Proxy::new(format!("http://{}", tunnel.addr()).parse().unwrap());
    (site, tunnel, proxy)
}

fn name_it(app: &TestApp) {
    app.dns.set("far.test", "93.184.216.34".parse::<IpAddr>().unwrap().into());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_session_goes_through_the_basic_proxy() {
    let (site, _tunnel, proxy) = far_site().await;
    site.html("/", "<!doctype html><title>Seen</title><p>x");
    let app = TestApp::with(|config| {
        config.browser.enabled = true;
        config.fetch.basic_proxies.0 = vec![proxy];
    })
    .await;
    name_it(&app);
    let client = app.anonymous();
    let started = session(&client, json!({})).await;
    let mut cdp = Cdp::connect(started["cdpUrl"].as_str().unwrap()).await;
    let page = cdp.page().await;
    cdp.goto(&page, "http://far.test/").await;
    assert_eq!(cdp.evaluate(&page, "document.title").await, "Seen");
    assert_eq!(client.delete(&format!("/v2/browser/{}", started["id"].as_str().unwrap())).await.status, 200);
}

/// Under both names of the strength, `enhanced` and `stealth`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_opened_again_through_the_enhanced_proxy_of_its_scrape() {
    let (site, _tunnel, proxy) = far_site().await;
    site.html("/", crate::ARTICLE);
    let app = TestApp::with(|config| {
        config.browser.enabled = true;
        config.fetch.enhanced_proxies.0 = vec![proxy];
    })
    .await;
    name_it(&app);
    let client = app.anonymous();
    for mode in ["enhanced", "stealth"] {
        let answer = client.scrape(&json!({ "url": "http://far.test/", "proxy": mode, "maxAge": 0 })).await;
        let metadata = &answer.body["data"]["metadata"];
        assert_eq!(metadata["proxyUsed"], "stealth", "{}", answer.body);
        let path = format!("/v2/scrape/{}/interact", metadata["scrapeId"].as_str().unwrap());
        let opened = client.post(&path, &json!({ "code": "await page.title()", "timeout": 60 })).await;
        assert_eq!(opened.body["result"], "Granite", "{mode}: {}", opened.body);
        assert_eq!(client.delete(&path).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pdf_in_a_frame_comes_by_the_proxy_of_its_page() {
    let (site, _tunnel, proxy) = far_site().await;
    site.html("/view", "<title>Viewer</title><h1>Report</h1><iframe src=/r.pdf></iframe>");
    site.respond("/r.pdf", file("application/pdf", Pdf::Plain.bytes()));
    let app = TestApp::with(|config| {
        config.documents.enabled = true;
        config.fetch.enhanced_proxies.0 = vec![proxy];
    })
    .await;
    name_it(&app);
    let answer = app.anonymous().scrape(&json!({ "url": "http://far.test/view", "proxy": "enhanced" })).await;
    assert!(answer.markdown().contains("hello"), "{}", answer.body);
    assert_eq!(answer.body["data"]["metadata"]["proxyUsed"], "stealth", "{}", answer.body);
}

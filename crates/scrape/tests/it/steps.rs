//! Which steps are taken, and whose page is the document.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fetch::Proxies;
use scrape::{ScrapeError, Target, Tools};
use testkit::{Reply, Script, Site};
use tokio::time::Instant;
use wire::{Capabilities, Capability, Document, Format, ProxyMode, ProxyUsed, ScrapeOptions};

use crate::browser::Browser;
use crate::setup::{options, run_with, target, tools};

const SHELL: &str = "<title>Shop</title><div id=app></div><script>start()</script>";
const TEXT: &str = "<title>Shop</title><p>Today's offers";

fn html(body: &'static str) -> Reply {
    Reply { body: body.into(), ..Reply::default() }.header("content-type", "text/html")
}

fn refusal() -> Reply {
    Reply { status: 403, ..html("no") }
}

/// The document of a page that the plain engine gets like this, with a browser beside it; how often that was asked, and how
/// many threads it all took.
async fn with_browser(
    reply: Reply,
    browser: Browser,
    options: ScrapeOptions,
) -> (Result<Document, ScrapeError>, usize, u64) {
    let site = Site::start().await;
    site.respond("/", reply);
    let (browser, mut tools) = (Arc::new(browser), tools(&[&site]));
    tools.engines.push(Arc::clone(&browser) as _);
    let scraped = run_with(&tools, target(site.url("/"), options)).await;
    (scraped.map(|scraped| scraped.document), browser.asked.load(Ordering::Relaxed), tools.cpu.trips())
}

fn shows(shows: &'static str) -> Browser {
    Browser { shows, status: 200, ..Browser::default() }
}

#[tokio::test]
async fn a_page_that_is_good_enough_takes_one_step_and_one_thread() {
    for formats in [vec![Format::Markdown], vec![Format::Html, Format::Links], Vec::new()] {
        let (document, asked, trips) = with_browser(html(TEXT), shows("<p>other"), options(formats)).await;
        assert_eq!((document.unwrap().metadata.page["title"].as_str(), asked, trips), (Some("Shop"), 0, 1));
    }
}

#[tokio::test]
async fn a_page_that_needs_its_scripts_goes_to_an_engine_that_runs_them() {
    for formats in [vec![Format::Markdown], vec![Format::Markdown, Format::Html], vec![Format::Html]] {
        let (document, asked, trips) = with_browser(html(SHELL), shows("<p>rendered"), options(formats)).await;
        let document = document.unwrap();
        let text = document.markdown.or(document.html).unwrap();
        assert!(text.contains("rendered"), "{text}");
        assert_eq!((document.warning, asked, trips), (None, 1, 2));
    }
    // The page is judged, not the part of it that was asked for.
    let chosen = ScrapeOptions { include_tags: vec!["article".to_owned()], ..options(vec![Format::Markdown]) };
    assert_eq!(with_browser(html(SHELL), shows("<p>rendered"), chosen.clone()).await.1, 1);
    assert_eq!(with_browser(html(TEXT), shows("<p>rendered"), chosen).await.1, 0);
}

#[tokio::test]
async fn what_came_before_stands_when_a_later_step_fails() {
    for status in [0, 403] {
        let broken = Browser { status, shows: "go away", ..Browser::default() };
        let (document, asked, trips) = with_browser(html(SHELL), broken, ScrapeOptions::default()).await;
        let document = document.unwrap();
        assert_eq!((document.markdown.as_deref(), document.metadata.status_code), (Some("# Shop"), 200));
        let warning = document.warning.unwrap();
        assert!(warning.contains("until its scripts run") && warning.contains("could not be run: "), "{warning}");
        assert_eq!((asked, trips), (1, 2));
    }
    let crashing = Browser::default();
    let (document, asked, _) = with_browser(refusal(), crashing, ScrapeOptions::default()).await;
    assert_eq!((document.unwrap().markdown.as_deref(), asked), (Some("no"), 1));
}

#[tokio::test]
async fn a_refusal_or_a_failure_goes_to_the_browser_too() {
    let (document, asked, trips) = with_browser(refusal(), shows(TEXT), ScrapeOptions::default()).await;
    assert_eq!((document.unwrap().metadata.status_code, asked, trips), (200, 1, 1));
    let nowhere = Target { deadline: Instant::now() + Duration::from_secs(2), ..nowhere() };
    let (browser, mut tools) = (Arc::new(shows(TEXT)), tools(&[]));
    tools.engines.push(Arc::clone(&browser) as _);
    // The guard's word is final.
    assert!(matches!(run_with(&tools, nowhere).await, Err(ScrapeError::Fetch(_))));
    assert_eq!(browser.asked.load(Ordering::Relaxed), 0);
}

#[test]
fn an_engine_that_runs_scripts_is_a_capability() {
    let mut tools = tools(&[]);
    assert_eq!(tools.capabilities(), Capabilities::default());
    tools.engines.push(Arc::new(Browser::default()));
    assert!(tools.capabilities().has(Capability::Browser));
    // Nothing keeps them yet, so who asks for one is told.
    assert!(!tools.capabilities().has(Capability::Profiles));
}

fn nowhere() -> Target {
    target("http://127.0.0.1:1/".parse().unwrap(), ScrapeOptions::default())
}

#[tokio::test]
async fn an_error_of_a_page_stays_when_nothing_else_is_there() {
    let site = Site::start().await;
    site.script("/", vec![Script::Raw("not http at all\r\n\r\n".into())]);
    let error = run_with(&tools(&[&site]), target(site.url("/"), ScrapeOptions::default())).await.unwrap_err();
    assert!(matches!(error, ScrapeError::Fetch(fetch::FetchError::Site { .. })), "{error}");
}

/// The site, and two proxies that answer in its place when they are asked for it.
async fn with_proxies(basic: Reply, enhanced: Reply) -> (Site, Site, Site) {
    let (site, plain, strong) = (Site::start().await, Site::start().await, Site::start().await);
    plain.respond(site.url("/").as_str(), basic);
    strong.respond(site.url("/").as_str(), enhanced);
    (site, plain, strong)
}

fn proxy(site: &Site) -> net::Proxy {
    net::Proxy { url: site.url("/"), resolves: true }
}

#[tokio::test]
async fn proxy_modes() {
    let hang = || Reply { delay: Duration::from_secs(60), ..html("late") };
    for (mode, basic, enhanced, expect) in [
        (ProxyMode::Basic, html("plain"), html("strong"), ("plain", 200, ProxyUsed::Basic)),
        (ProxyMode::Basic, refusal(), html("strong"), ("no", 403, ProxyUsed::Basic)),
        (ProxyMode::Enhanced, html("plain"), html("strong"), ("strong", 200, ProxyUsed::Stealth)),
        (ProxyMode::Stealth, html("plain"), html("strong"), ("strong", 200, ProxyUsed::Stealth)),
        (ProxyMode::Auto, html("plain"), html("strong"), ("plain", 200, ProxyUsed::Basic)),
        (ProxyMode::Auto, refusal(), html("strong"), ("strong", 200, ProxyUsed::Stealth)),
        (ProxyMode::Auto, hang(), html("strong"), ("strong", 200, ProxyUsed::Stealth)),
        (ProxyMode::Auto, refusal(), hang(), ("no", 403, ProxyUsed::Basic)),
    ] {
        let (site, plain, strong) = with_proxies(basic, enhanced).await;
        let proxies = Arc::new(Proxies::new(vec![proxy(&plain)], vec![proxy(&strong)]));
        let tools = Tools { proxies, ..tools(&[&site]) };
        let asked = target(site.url("/"), ScrapeOptions { proxy: mode, ..options(vec![Format::RawHtml]) });
        // Long enough for a thread to make the document after the last step has used up its share.
        let asked = Target { deadline: Instant::now() + Duration::from_secs(2), ..asked };
        let document = run_with(&tools, asked).await.unwrap().document;
        let (text, metadata) = (document.raw_html.unwrap(), document.metadata);
        assert_eq!((text.as_str(), metadata.status_code, metadata.proxy_used.unwrap()), expect, "{mode:?}");
        assert!(document.warning.is_none() && site.connections() == 0);
    }
}

#[tokio::test]
async fn a_missing_enhanced_proxy_is_said() {
    let site = Site::start().await;
    site.html("/", "x");
    let asked = ScrapeOptions { proxy: ProxyMode::Enhanced, ..ScrapeOptions::default() };
    let document = run_with(&tools(&[&site]), target(site.url("/"), asked)).await.unwrap().document;
    assert_eq!(document.metadata.proxy_used, Some(ProxyUsed::Basic));
    assert!(document.warning.unwrap().starts_with("no enhanced proxy is configured"));
}

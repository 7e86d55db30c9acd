//! Which steps are taken, and which page becomes the document.

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

/// Scrapes a page that the plain engine gets, with a browser available. Returns the document, how often the browser was
/// used, and the number of CPU jobs.
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
    // The whole page is judged, not only the requested part.
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

/// A crashed browser fails requests for what only a browser can return. What it would only improve is left out, with a
/// warning.
#[tokio::test]
async fn a_browser_that_died_costs_what_only_it_has() {
    let of = |json: serde_json::Value| wire::decode_options(json).unwrap();
    for asked in [
        serde_json::json!({ "formats": ["markdown", "screenshot"] }),
        serde_json::json!({ "actions": [{ "type": "click", "selector": "a" }] }),
        serde_json::json!({ "profile": { "name": "me" } }),
    ] {
        let (answer, tries, _) = with_browser(html(TEXT), Browser::default(), of(asked.clone())).await;
        assert!(matches!(answer, Err(ScrapeError::Fetch(fetch::FetchError::Crashed))), "{asked}");
        assert_eq!(tries, 1, "{asked}");
    }
    for (asked, said) in [
        (serde_json::json!({ "waitFor": 100 }), "waitFor had no effect"),
        (serde_json::json!({ "formats": ["markdown", "branding"] }), "no browser has computed"),
    ] {
        let (answer, tries, _) = with_browser(html(TEXT), Browser::default(), of(asked.clone())).await;
        let document = answer.unwrap();
        assert!(document.markdown.unwrap().contains("Today's offers") && tries == 1, "{asked}");
        assert!(document.warning.as_ref().unwrap().contains(said), "{asked}: {:?}", document.warning);
    }
}

/// A feed is XML: its titles and links must be in every format.
#[tokio::test]
async fn a_feed_is_read_as_one() {
    let site = Site::start().await;
    let rss = "<?xml version='1.0'?><rss><channel><title>News</title><link>https://a.test/</link><item><title>Lake frozen</title>\
        <link>https://a.test/lake</link><description>Four &lt;b&gt;inches&lt;/b&gt;</description></item></channel></rss>";
    site.respond("/feed", Reply { body: rss.into(), ..Reply::default() }.header("content-type", "application/rss+xml"));
    let formats = vec![Format::Markdown, Format::Html, Format::Links, Format::RawHtml];
    let document = crate::setup::run(&site, "/feed", options(formats)).await.unwrap().document;
    let text = "# [News](https://a.test/)\n\n## [Lake frozen](https://a.test/lake)\n\nFour **inches**";
    assert_eq!(document.markdown.as_deref(), Some(text));
    assert_eq!(document.links.unwrap(), ["https://a.test/", "https://a.test/lake"]);
    assert!(document.html.unwrap().contains(">Lake frozen</a></h2>"));
    assert_eq!(document.raw_html.as_deref(), Some(rss));
    assert_eq!(document.metadata.page["title"], "News");
}

/// XML is parsed by its own rules, including XHTML.
#[tokio::test]
async fn xml_is_read_as_xml() {
    let site = Site::start().await;
    let reply =
        |body: &'static str, kind: &str| Reply { body: body.into(), ..Reply::default() }.header("content-type", kind);
    site.respond("/stock", reply("<?xml version='1.0'?><stock><wood>Oak</wood><cm>120</cm></stock>", "text/xml"));
    let xhtml = "<html xmlns='http://www.w3.org/1999/xhtml'><head><script src='/x'/></head><body><p>a<a id='x'/>b</p></body></html>";
    site.respond("/page", reply(xhtml, "application/xhtml+xml"));
    site.respond("/html", reply(xhtml, "text/html"));
    for (path, text) in [("/stock#oak", "Oak\n\n120"), ("/page", "ab"), ("/html", "")] {
        let document = crate::setup::run(&site, path, options(vec![Format::Markdown])).await.unwrap().document;
        assert_eq!(document.markdown.as_deref(), Some(text), "{path}");
        assert!(!document.metadata.url.contains('#'));
    }
}

/// The style sheets of a page without computed styles are fetched through the same guard, within limits.
#[tokio::test]
async fn branding_reads_the_style_sheets_of_a_page() {
    let site = Site::start().await;
    let css = |body: &'static str| Reply { body: body.into(), ..Reply::default() }.header("content-type", "text/css");
    site.respond("/a.css", css(":root { --brand: #639 } a { color: var(--brand) }"));
    site.respond("/b.css", css("body { background: #fafafa; font: 1rem/1.5 Inter, sans-serif }"));
    site.respond("/error.css", Reply { status: 404, ..css("body { background: red }") });
    site.respond("/page.css", html("body { background: red }"));
    site.script("/slow.css", vec![testkit::Script::Hang(Duration::from_secs(30))]);
    let head = "<link rel=stylesheet href=a.css><link rel='stylesheet preload' href=/b.css><link rel=stylesheet href=/a.css>\
        <link rel=stylesheet media=print href=/print.css><link rel='alternate stylesheet' href=/other.css>\
        <link rel=stylesheet href=/error.css><link rel=stylesheet href=/page.css><link rel=stylesheet href=http://169.254.169.254/x.css>\
        <link rel=stylesheet href=/slow.css>";
    site.html("/", format!("<title>Acme</title>{head}<p>{}", "Rollers of every size. ".repeat(20)));
    let began = Instant::now();
    let document =
        run_with(&tools(&[&site]), target(site.url("/"), options(vec![Format::Branding]))).await.unwrap().document;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let branding = document.branding.unwrap();
    let color = |name: &str| branding.colors.get(name).map(String::as_str);
    assert_eq!((color("link"), color("background")), (Some("#663399"), Some("#FAFAFA")));
    assert_eq!(branding.fonts[0].family, "Inter");
    let asked: Vec<_> = site.requests().into_iter().map(|seen| seen.path).collect();
    assert_eq!(asked, ["/", "/a.css", "/b.css", "/error.css", "/page.css", "/slow.css"]);
    // Without branding, style sheets are not fetched.
    run_with(&tools(&[&site]), target(site.url("/"), options(vec![Format::Markdown]))).await.unwrap();
    assert_eq!(site.requests().len(), asked.len() + 1);
}

#[tokio::test]
async fn a_refusal_or_a_failure_goes_to_the_browser_too() {
    let (document, asked, trips) = with_browser(refusal(), shows(TEXT), ScrapeOptions::default()).await;
    assert_eq!((document.unwrap().metadata.status_code, asked, trips), (200, 1, 1));
    let nowhere = Target { deadline: Instant::now() + Duration::from_secs(2), ..nowhere() };
    let (browser, mut tools) = (Arc::new(shows(TEXT)), tools(&[]));
    tools.engines.push(Arc::clone(&browser) as _);
    // A block by the address guard is final.
    assert!(matches!(run_with(&tools, nowhere).await, Err(ScrapeError::Fetch(_))));
    assert_eq!(browser.asked.load(Ordering::Relaxed), 0);
}

#[test]
fn an_engine_that_runs_scripts_is_a_capability() {
    let mut tools = tools(&[]);
    assert_eq!(tools.capabilities(), Capabilities::default());
    tools.engines.push(Arc::new(Browser::default()));
    assert!(tools.capabilities().has(Capability::Browser) && tools.capabilities().has(Capability::Profiles));
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

/// Starts the site, and two proxies that answer in its place.
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
        // A proxy that hangs uses up its share of the time; the rest must suffice for a thread to make the document.
        let seconds = if basic.delay.max(enhanced.delay).is_zero() { 20 } else { 4 };
        let (site, plain, strong) = with_proxies(basic, enhanced).await;
        let proxies = Arc::new(Proxies::new(vec![proxy(&plain)], vec![proxy(&strong)]));
        let tools = Tools { proxies, ..tools(&[&site]) };
        let asked = target(site.url("/"), ScrapeOptions { proxy: mode, ..options(vec![Format::RawHtml]) });
        let asked = Target { deadline: Instant::now() + Duration::from_secs(seconds), ..asked };
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

//! Cache: when copies answer, and when pages are stored.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use base::Timestamp;
use fetch::{Fetched, Proxies, Rendered, Validators};
use scrape::{Copies, CopyLookup, Outdated, Ports, ScrapeError, Target, Tools, Wants};
use testkit::{Reply, Script, Site};
use tokio::time::Instant;
use wire::{CacheState, Document, ProxyMode, ProxyUsed, ScrapeOptions};

use crate::browser::Browser;
use crate::setup::{QUIET, target, tools};

/// Cache with at most one copy, which records what is stored.
#[derive(Default)]
struct Shelf {
    copy: Option<Fetched>,
    /// Stale copy with the validator `"v1"`.
    old: Option<Fetched>,
    must_have: bool,
    keeps: bool,
    is_slow: bool,
    kept: Mutex<Vec<u16>>,
}

#[async_trait]
impl Copies for Shelf {
    async fn find(&self, _: Wants) -> Result<CopyLookup, ScrapeError> {
        match &self.copy {
            Some(copy) => Ok(CopyLookup::Hit(Box::new(copy.clone()), Timestamp::UNIX_EPOCH)),
            None if self.must_have => Err(ScrapeError::NoCopy),
            None => Ok(CopyLookup::Miss),
        }
    }

    fn outdated(&self) -> Option<Outdated> {
        let validators = Validators { etag: Some("\"v1\"".to_owned()), last_modified: None };
        self.old.as_ref().map(|old| Outdated { url: old.url.clone(), validators, proxy: old.proxy })
    }

    async fn revalidated(&self) -> Option<Fetched> {
        if self.is_slow {
            std::future::pending::<()>().await;
        }
        self.old.clone()
    }

    fn is_all(&self) -> bool {
        self.must_have
    }

    fn keeps(&self) -> bool {
        self.keeps
    }

    async fn keep(&self, page: &Fetched) {
        if self.is_slow {
            std::future::pending::<()>().await;
        }
        assert!(!page.body.is_empty());
        self.kept.lock().unwrap().push(page.status);
    }
}

async fn scrape(site: &Site, shelf: &Shelf) -> Result<Document, ScrapeError> {
    let _quiet = QUIET.read().await;
    let asked = target(site.url("/"), ScrapeOptions::default());
    let asked = Target { deadline: Instant::now() + Duration::from_secs(2), ..asked };
    scrape::run(&tools(&[site]), Ports { copies: Some(shelf), ..Ports::default() }, &asked, |scraped, _| {
        scraped.document
    })
    .await
}

#[tokio::test]
async fn a_copy_answers_and_is_not_kept_again() {
    let site = Site::start().await;
    let copy = Fetched::new(site.url("/"), 200, None, "<p>copy".into());
    let shelf = Shelf { copy: Some(copy), keeps: true, ..Shelf::default() };
    let document = scrape(&site, &shelf).await.unwrap();
    assert_eq!((document.markdown.as_deref(), document.metadata.cache_state), (Some("copy"), Some(CacheState::Hit)));
    assert_eq!(document.metadata.cached_at.as_deref(), Some("1970-01-01T00:00:00.000Z"));
    assert_eq!((site.connections(), shelf.kept.lock().unwrap().len()), (0, 0));
}

#[tokio::test]
async fn a_page_is_kept_where_that_is_wanted() {
    let site = Site::start().await;
    site.html("/", "<p>new");
    for keeps in [true, false] {
        let shelf = Shelf { keeps, ..Shelf::default() };
        let document = scrape(&site, &shelf).await.unwrap();
        assert_eq!(document.metadata.cache_state, Some(CacheState::Miss));
        assert_eq!(shelf.kept.lock().unwrap().as_slice(), if keeps { &[200_u16][..] } else { &[] });
    }
}

#[tokio::test]
async fn nothing_is_fetched_where_only_a_copy_will_do() {
    let site = Site::start().await;
    let shelf = Shelf { must_have: true, ..Shelf::default() };
    assert!(matches!(scrape(&site, &shelf).await, Err(ScrapeError::NoCopy)));
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn slow_storage_costs_the_copy_only() {
    let site = Site::start().await;
    site.html("/", "<p>new");
    let shelf = Shelf { keeps: true, is_slow: true, ..Shelf::default() };
    assert_eq!(scrape(&site, &shelf).await.unwrap().markdown.as_deref(), Some("new"));
}

/// Returns a cache with a stale page and its validator.
fn old(site: &Site, proxy: ProxyUsed) -> Shelf {
    let old = Fetched::new(site.url("/"), 200, Some("text/html".to_owned()), "<p>old".into());
    Shelf { old: Some(Fetched { proxy, ..old }), ..Shelf::default() }
}

#[tokio::test]
async fn a_copy_that_does_not_come_after_all_is_fetched() {
    let site = Site::start().await;
    for (is_slow, expect) in [(false, "old"), (true, "new")] {
        let same = Reply { status: 304, ..Reply::default() };
        let new = Reply { body: "<p>new".into(), ..Reply::default() }.header("content-type", "text/html");
        site.script("/", [same, new].map(Script::Reply).into());
        let shelf = Shelf { is_slow, ..old(&site, ProxyUsed::Basic) };
        assert_eq!(scrape(&site, &shelf).await.unwrap().markdown.as_deref(), Some(expect));
    }
}

/// A validator received through one proxy must not be sent through the other, as it would link the two.
#[tokio::test]
async fn a_validator_goes_through_the_kind_of_proxy_that_it_came_through() {
    let _quiet = QUIET.read().await;
    for (came, expect) in [(ProxyUsed::Basic, ["\"v1\"", ""]), (ProxyUsed::Stealth, ["", "\"v1\""])] {
        let (site, plain, strong) = (Site::start().await, Site::start().await, Site::start().await);
        let address = site.url("/");
        let page =
            |text: &'static str| Reply { body: text.into(), ..Reply::default() }.header("content-type", "text/html");
        plain.respond(address.as_str(), Reply { status: 403, ..page("no") });
        strong.respond(address.as_str(), page("<p>new"));
        let proxy = |site: &Site| net::Proxy { url: site.url("/"), resolves: true };
        let proxies = Arc::new(Proxies::new(vec![proxy(&plain)], vec![proxy(&strong)]));
        let tools = Tools { proxies, ..tools(&[&site]) };
        let shelf = old(&site, came);
        let ports = Ports { copies: Some(&shelf), ..Ports::default() };
        let asked = target(address, ScrapeOptions { proxy: ProxyMode::Auto, ..ScrapeOptions::default() });
        scrape::run(&tools, ports, &asked, |scraped, _| scraped.document).await.unwrap();
        let asked = [&plain, &strong].map(|proxy| proxy.requests()[0].header("if-none-match").to_owned());
        assert_eq!(asked, expect, "{came:?}");
    }
}

const SHELL: &str = "<title>Shop</title><div id=app></div><script>start()</script>";

/// Scrapes with a browser available; returns how often it was used.
async fn with_browser(site: &Site, shelf: &Shelf, browser: Browser) -> (Document, usize) {
    let _quiet = QUIET.read().await;
    let (browser, mut tools) = (Arc::new(browser), tools(&[site]));
    tools.engines.push(Arc::clone(&browser) as _);
    let asked = target(site.url("/"), ScrapeOptions::default());
    let ports = Ports { copies: Some(shelf), ..Ports::default() };
    let document = scrape::run(&tools, ports, &asked, |scraped, _| scraped.document).await.unwrap();
    (document, browser.asked.load(Ordering::Relaxed))
}

fn shelf_with(site: &Site, body: &'static str) -> Shelf {
    let copy = Fetched::new(site.url("/"), 200, Some("text/html".to_owned()), body.into());
    Shelf { copy: Some(copy), keeps: true, ..Shelf::default() }
}

#[tokio::test]
async fn a_copy_that_needs_its_scripts_is_none() {
    let site = Site::start().await;
    let rendered = || Browser { shows: "<p>rendered", status: 200, ..Browser::default() };
    let shelf = shelf_with(&site, SHELL);
    let (document, asked) = with_browser(&site, &shelf, rendered()).await;
    assert_eq!(
        (document.markdown.as_deref(), document.metadata.cache_state),
        (Some("rendered"), Some(CacheState::Miss))
    );
    assert_eq!((asked, document.metadata.cached_at, shelf.kept.lock().unwrap().len()), (1, None, 1));
    // The copy is used if there is nothing better.
    let shelf = shelf_with(&site, SHELL);
    let (document, asked) = with_browser(&site, &shelf, Browser::default()).await;
    assert_eq!((document.markdown.as_deref(), document.metadata.cache_state), (Some("# Shop"), Some(CacheState::Hit)));
    assert_eq!((asked, site.connections()), (1, 0));
    // The copy is also used if fetching is not allowed.
    let shelf = Shelf { must_have: true, ..shelf_with(&site, SHELL) };
    let (document, asked) = with_browser(&site, &shelf, rendered()).await;
    assert_eq!((document.metadata.cache_state, asked), (Some(CacheState::Hit), 0));
}

#[tokio::test]
async fn a_copy_after_its_scripts_answers_as_it_is() {
    let site = Site::start().await;
    let mut shelf = shelf_with(&site, SHELL);
    let rendered =
        Rendered { dom: Some("<div id=app>kept</div><script>start()</script>".into()), ..Rendered::default() };
    shelf.copy.as_mut().unwrap().rendered = Some(Box::new(rendered));
    let (document, asked) = with_browser(&site, &shelf, Browser::default()).await;
    assert_eq!((document.markdown.as_deref(), asked), (Some("kept"), 0));
    // A copy that needs no scripts is used too.
    let shelf = shelf_with(&site, "<p>A plain page");
    let (document, asked) = with_browser(&site, &shelf, Browser::default()).await;
    assert_eq!((document.markdown.as_deref(), asked, site.connections()), (Some("A plain page"), 0, 0));
}

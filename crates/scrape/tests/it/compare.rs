//! Change tracking: what a page is compared with, what is said of it, and what is kept.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base::{Stop, Timestamp};
use bytes::Bytes;
use fetch::{Fetched, Rendered};
use parking_lot::Mutex;
use scrape::{
    Extract, Extraction, NextVersion, Ports, Previous, PreviousVersion, Question, Reviewed, Reviewer, ScrapeError,
    Target, Tools, Versions,
};
use serde_json::{Value, json};
use tokio::time::Instant;
use wire::{ChangeStatus, Document, ScrapeOptions, Visibility};

use crate::setup::{QUIET, target, tools, with_page};

/// Series of one page in memory. A version is written as soon as it is kept.
#[derive(Default)]
struct Shelf {
    version: Mutex<Option<Kept>>,
    is_busy: bool,
    is_lost: bool,
}

#[derive(Clone)]
struct Kept {
    page: Option<Fetched>,
    extraction: Option<Extraction>,
}

fn bytes(page: &Fetched) -> Bytes {
    page.dom().unwrap_or(&page.body).clone()
}

#[async_trait]
impl Versions for Shelf {
    async fn previous(&self, current: &Fetched, _: Instant) -> Result<Previous, ScrapeError> {
        if self.is_busy {
            return Ok(Previous::Busy);
        }
        let kept = self.version.lock().clone();
        let Some(Kept { page, extraction }) = kept else { return Ok(Previous::None) };
        let has_same_bytes = page.as_ref().is_some_and(|page| bytes(page) == bytes(current));
        let has_same_terms = page.as_ref().is_some_and(|page| page.content_type == current.content_type);
        let scraped_at = Timestamp::UNIX_EPOCH;
        let is_removed = page.is_none();
        let text = None;
        let version = PreviousVersion { scraped_at, is_removed, has_same_bytes, has_same_terms, text, extraction };
        Ok(Previous::Version(version))
    }

    async fn page(&self) -> Result<Option<Fetched>, ScrapeError> {
        Ok(self.version.lock().clone().filter(|_| !self.is_lost).and_then(|version| version.page))
    }

    async fn keep(&self, next: NextVersion<'_>, extraction: Option<Extraction>) -> Result<bool, ScrapeError> {
        let mut version = self.version.lock();
        let page = match next {
            NextVersion::Page { page, .. } => Some(page.clone()),
            NextVersion::Unchanged => version.as_ref().and_then(|version| version.page.clone()),
            NextVersion::Removed { .. } => None,
        };
        *version = Some(Kept { page, extraction });
        Ok(true)
    }
}

/// Returns the numbers behind `price` in the text, or fails where the page says so.
struct Prices(Mutex<u32>);

#[async_trait]
impl Extract for Prices {
    async fn extract(&self, question: &Question<'_>) -> Result<Value, String> {
        *self.0.lock() += 1;
        assert!(question.schema.is_some() || question.prompt.is_some());
        if question.page.markdown.contains("Unreadable") {
            return Err("no values found".to_owned());
        }
        let price = question.page.markdown.split("price ").nth(1).and_then(|rest| rest.split_whitespace().next());
        Ok(json!({ "price": price.and_then(|price| price.parse::<u32>().ok()), "currency": "EUR" }))
    }
}

fn options(settings: Value) -> ScrapeOptions {
    let mut body = settings;
    if body.get("formats").is_none() {
        body["formats"] = json!(["markdown", { "type": "changeTracking", "modes": ["git-diff"] }]);
    }
    wire::decode_options(body).unwrap()
}

fn html(status: u16, body: &str) -> Fetched {
    let body = Bytes::copy_from_slice(body.as_bytes());
    Fetched::new("http://a.test/".parse().unwrap(), status, Some("text/html".to_owned()), body)
}

async fn scrape_with(tools: Tools, shelf: &Shelf, page: Fetched, asked: Target) -> Document {
    let _quiet = QUIET.read().await;
    scrape_alone(tools, shelf, page, asked).await
}

/// Scrapes without the lock, for the test that holds [`QUIET`] already.
async fn scrape_alone(tools: Tools, shelf: &Shelf, page: Fetched, asked: Target) -> Document {
    let ports = Ports { versions: Some(shelf), ..Ports::default() };
    scrape::run(&with_page(tools, page), ports, &asked, |scraped, _| scraped.document).await.unwrap()
}

async fn scrape(shelf: &Shelf, page: Fetched, settings: Value) -> Document {
    let asked = target(page.url.clone(), options(settings));
    scrape_with(tools(&[]), shelf, page, asked).await
}

fn status(document: &Document) -> Option<ChangeStatus> {
    document.change_tracking.as_ref().unwrap().as_ref().map(|tracking| tracking.change_status)
}

fn warning(document: &Document) -> &str {
    document.warning.as_deref().unwrap_or_default()
}

const PAGE: &str = "<nav><a href=/home>Home</a></nav><main><h1>Tea</h1><p class=price>Assam 12 euros, with free delivery in \
    the whole country, from the gardens of the upper valley.</p></main><footer>Imprint</footer>";

#[tokio::test]
async fn an_unchanged_page_is_the_same_under_other_options() {
    let shelf = Shelf::default();
    let first = scrape(&shelf, html(200, PAGE), json!({})).await;
    let tracking = first.change_tracking.unwrap().unwrap();
    assert_eq!((tracking.change_status, tracking.visibility), (ChangeStatus::New, Visibility::Visible));
    assert_eq!((tracking.previous_scrape_at, tracking.diff, tracking.json), (None, None, None));
    // Bytes that no reader sees differ every time, so that the texts have to be compared.
    let page = |number: usize| html(200, &format!("{PAGE}<!-- {number} -->"));
    for (number, settings) in [
        json!({}),
        json!({ "onlyMainContent": false }),
        json!({ "includeTags": ["h1"] }),
        json!({ "excludeTags": [".price"] }),
        json!({ "removeBase64Images": false }),
    ]
    .into_iter()
    .enumerate()
    {
        let again = scrape(&shelf, page(number), settings.clone()).await;
        assert_eq!(status(&again), Some(ChangeStatus::Same), "{settings}: {again:?}");
        let tracking = again.change_tracking.unwrap().unwrap();
        assert_eq!(tracking.previous_scrape_at.as_deref(), Some("1970-01-01T00:00:00.000Z"));
        assert_eq!((tracking.diff, tracking.json, again.warning), (None, None, None), "{settings}");
    }
}

/// A later version of the program that finds other main content reports no change of a page for that.
#[tokio::test]
async fn another_choice_of_the_main_content_is_no_change() {
    let _alone = QUIET.write().await;
    let shelf = Shelf::default();
    let scrape = async |page: &str| {
        let asked = target("http://a.test/".parse().unwrap(), options(json!({})));
        scrape_alone(tools(&[]), &shelf, html(200, page), asked).await
    };
    let before = scrape(PAGE).await.markdown.unwrap();
    formats::other_main_content::switch(true);
    let after = [scrape(&format!("{PAGE}<!-- 1 -->")).await, scrape(&PAGE.replace(">Home", ">Start")).await];
    formats::other_main_content::switch(false);
    let back = scrape(&PAGE.replace(">Home", ">Begin")).await;
    let text = after[0].markdown.as_deref().unwrap();
    assert!(!before.contains("Home") && text.contains("Home"), "{before}\n{text}");
    assert_eq!(after.each_ref().map(status), [Some(ChangeStatus::Same), Some(ChangeStatus::Changed)], "{after:?}");
    assert_eq!((status(&back), back.markdown), (Some(ChangeStatus::Same), Some(before)));
}

#[tokio::test]
async fn a_change_shows_as_it_was_asked_for() {
    let changed = PAGE.replace("12 euros", "21 euros");
    let check = async |formats: Value, diff_object: bool| {
        let shelf = Shelf::default();
        scrape(&shelf, html(200, PAGE), json!({})).await;
        let asked = target("http://a.test/".parse().unwrap(), options(json!({ "formats": formats })));
        let tools = Tools { diff_object, ..tools(&[]) };
        let again = scrape_with(tools, &shelf, html(200, &changed), asked).await;
        assert_eq!(status(&again), Some(ChangeStatus::Changed));
        assert!(again.markdown.unwrap().contains("21 euros"));
        again.change_tracking.unwrap().unwrap().diff
    };
    assert_eq!(check(json!(["markdown", "changeTracking"]), false).await, None);
    let git = json!(["markdown", { "type": "changeTracking", "modes": ["git-diff"] }]);
    let diff = check(git.clone(), false).await.unwrap();
    let text = diff.as_str().unwrap();
    assert!(text.starts_with("--- previous.md\n+++ current.md\n@@ ") && text.contains("\n-Assam 12"), "{text}");
    let object = check(git, true).await.unwrap();
    assert_eq!(object["text"], diff);
    assert_eq!(object["json"]["files"][0]["from"], "previous.md");
}

#[tokio::test]
async fn pages_go_and_come_back() {
    let shelf = Shelf::default();
    let check = async |page: Fetched, expect: Option<ChangeStatus>, words: &str| {
        let document = scrape(&shelf, page, json!({})).await;
        assert_eq!(status(&document), expect);
        assert!(warning(&document).contains(words), "{document:?}");
    };
    use ChangeStatus::{Changed, New, Removed, Same};
    check(html(304, ""), None, "no earlier version").await;
    check(html(200, PAGE), Some(New), "").await;
    check(html(304, ""), Some(Same), "").await;
    check(html(200, PAGE), Some(Same), "").await;
    for status in [401, 403, 429, 500, 503, 301] {
        check(html(status, "<p>Sorry"), None, &format!("it answered {status}")).await;
    }
    check(html(200, PAGE), Some(Same), "").await;
    for status in [404, 410, 404] {
        check(html(status, "<p>Gone"), Some(Removed), "").await;
    }
    check(html(500, "<p>Sorry"), None, "it answered 500").await;
    check(html(200, PAGE), Some(New), "").await;
    check(html(200, "<p>Another page"), Some(Changed), "").await;
}

#[tokio::test]
async fn what_cannot_be_compared_says_why() {
    let shelf = Shelf { is_busy: true, ..Shelf::default() };
    let busy = scrape(&shelf, html(200, PAGE), json!({})).await;
    assert_eq!((status(&busy), warning(&busy).contains("another scrape of it")), (None, true));
    assert!(shelf.version.lock().is_none(), "and is not kept");
    let shelf = Shelf { is_lost: true, ..Shelf::default() };
    scrape(&shelf, html(200, PAGE), json!({})).await;
    let lost = scrape(&shelf, html(200, "<p>Other"), json!({})).await;
    assert_eq!((status(&lost), warning(&lost).contains("cannot be read any more")), (None, true));
    assert_eq!(shelf.version.lock().as_ref().unwrap().page.as_ref().unwrap().body, "<p>Other", "a new baseline");
    let without = {
        let _quiet = QUIET.read().await;
        let asked = target("http://a.test/".parse().unwrap(), options(json!({})));
        let tools = with_page(tools(&[]), html(200, PAGE));
        scrape::run(&tools, Ports::default(), &asked, |scraped, _| scraped.document).await.unwrap()
    };
    assert_eq!((status(&without), warning(&without).contains("keeps nothing")), (None, true));
}

#[tokio::test]
async fn pages_are_compared_as_they_were_come_by() {
    let shelf = Shelf::default();
    let rendered = |dom: &str| {
        let dom = Some(Bytes::copy_from_slice(dom.as_bytes()));
        Fetched { rendered: Some(Box::new(Rendered { dom, ..Rendered::default() })), ..html(200, "<p>Loading") }
    };
    scrape(&shelf, rendered(PAGE), json!({})).await;
    let again = scrape(&shelf, rendered(&format!("{PAGE}<!-- 1 -->")), json!({})).await;
    assert_eq!(status(&again), Some(ChangeStatus::Same));
    let changed = scrape(&shelf, rendered("<p>Sold out"), json!({})).await;
    assert_eq!(status(&changed), Some(ChangeStatus::Changed));
    let text = |body: &str| {
        Fetched::new(
            "http://a.test/".parse().unwrap(),
            200,
            Some("text/plain".to_owned()),
            Bytes::copy_from_slice(body.as_bytes()),
        )
    };
    scrape(&shelf, text("one\ntwo"), json!({})).await;
    assert_eq!(status(&scrape(&shelf, text("one \r\ntwo\r\n"), json!({})).await), Some(ChangeStatus::Same));
    assert_eq!(status(&scrape(&shelf, text("two\none"), json!({})).await), Some(ChangeStatus::Changed));
}

#[tokio::test]
async fn values_are_compared_by_key() {
    let (shelf, prices) = (Shelf::default(), Arc::new(Prices(Mutex::default())));
    let check = async |text: &str, settings: Value| {
        let mut format = settings;
        format["type"] = json!("changeTracking");
        let asked = options(json!({ "formats": ["markdown", format] }));
        let tools = Tools { extract: Some(prices.clone()), ..tools(&[]) };
        let page = html(200, &format!("<p>{text}</p>"));
        let document = scrape_with(tools, &shelf, page, target("http://a.test/".parse().unwrap(), asked)).await;
        let tracking = document.change_tracking.clone().unwrap().unwrap();
        (tracking.change_status, tracking.json, document.warning.unwrap_or_default(), tracking.diff.is_some())
    };
    use ChangeStatus::{Changed, New, Same};
    let by = |prompt: &str| json!({ "modes": ["json"], "prompt": prompt });
    let none = String::new();
    assert_eq!(check("price 12", by("a")).await, (New, None, none.clone(), false));
    assert_eq!(check("price 12", by("a")).await, (Same, None, none.clone(), false));
    assert_eq!(*prices.0.lock(), 1, "the same page has the same values");
    let both = json!({ "price": { "previous": 12, "current": 21 } });
    assert_eq!(check("price 21", by("a")).await, (Changed, Some(both), none.clone(), false));
    assert_eq!(check("The price 21", by("a")).await, (Changed, Some(json!({})), none.clone(), false));
    let (status, json, warning, _) = check("price 30", by("b")).await;
    assert_eq!((status, json, warning.contains("new baseline")), (Changed, None, true), "{warning}");
    let both = json!({ "modes": ["json", "git-diff"], "prompt": "b" });
    let (_, json, _, has_diff) = check("price 31", both.clone()).await;
    assert_eq!((json, has_diff), (Some(json!({ "price": { "previous": 30, "current": 31 } })), true));
    // A scrape without values does not lose those of the same page.
    assert_eq!(check("price 31", json!({})).await.0, Same);
    assert!(check("price 32", both).await.1.is_some());
    let (status, json, warning, _) = check("Unreadable", by("b")).await;
    assert_eq!((status, json), (Changed, None));
    assert!(warning.contains("no values found"), "{warning}");
}

#[tokio::test]
async fn the_order_of_keys_in_a_schema_does_not_matter() {
    let (shelf, prices) = (Shelf::default(), Arc::new(Prices(Mutex::default())));
    for schema in [r#"{"a":{"x":1,"y":2},"b":[]}"#, r#"{"b":[],"a":{"y":2,"x":1}}"#] {
        let schema: Value = serde_json::from_str(schema).unwrap();
        let format = json!({ "type": "changeTracking", "modes": ["json"], "schema": schema });
        let asked = target("http://a.test/".parse().unwrap(), options(json!({ "formats": ["markdown", format] })));
        let tools = Tools { extract: Some(prices.clone()), ..tools(&[]) };
        scrape_with(tools, &shelf, html(200, "<p>price 1"), asked).await;
    }
    assert_eq!(*prices.0.lock(), 1);
}

/// The document is delivered in time, whatever the versions are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_version_costs_the_comparison_only() {
    let shelf = Shelf::default();
    let hostile = format!("<p>{}", "<b><table><tr><td>x</b>".repeat(1_000_000));
    *shelf.version.lock() = Some(Kept { page: Some(html(200, &hostile)), extraction: None });
    let began = Instant::now();
    let deadline = began + Duration::from_millis(2500);
    let asked = Target { deadline, ..target("http://a.test/".parse().unwrap(), options(json!({}))) };
    let document = scrape_with(tools(&[]), &shelf, html(200, PAGE), asked).await;
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(status(&document), None, "{document:?}");
    assert!(warning(&document).contains("took too long"), "{document:?}");
    assert!(document.markdown.unwrap().contains("Assam"));
    assert_eq!(shelf.version.lock().as_ref().unwrap().page.as_ref().unwrap().body, PAGE, "a new baseline");
}

/// Leaves lines with a word out of both versions.
struct Without {
    word: &'static str,
    selectors: Vec<String>,
    met: Mutex<Option<Vec<bool>>>,
}

impl Reviewer for Without {
    fn selectors(&self) -> &[String] {
        &self.selectors
    }

    fn met(&self, met: Vec<bool>) {
        *self.met.lock() = Some(met);
    }

    fn review(&self, previous: &str, current: &str, _: &Stop) -> Option<Reviewed> {
        let without = |text: &str| text.lines().filter(|line| !line.contains(self.word)).collect::<Vec<_>>().join("\n");
        Some(Reviewed { previous: without(previous), current: without(current) })
    }
}

#[tokio::test]
async fn a_reviewer_decides_what_is_compared_and_what_is_kept_stays_whole() {
    let shelf = Shelf::default();
    let selectors = vec![".price".to_owned(), "#clock".to_owned()];
    let reviewer = Arc::new(Without { word: "visitors", selectors, met: Mutex::default() });
    let page = |visitors: u32, price: u32| {
        html(200, &format!("<main><h1>Tea</h1><p class=price>{price} euros</p><p>{visitors} visitors</p></main>"))
    };
    let asked = |page: &Fetched| Target {
        reviewer: Some(Arc::clone(&reviewer) as Arc<dyn Reviewer>),
        ..target(page.url.clone(), options(json!({ "onlyMainContent": false })))
    };
    for (visitors, price, expect) in
        [(1, 12, ChangeStatus::New), (2, 12, ChangeStatus::Same), (3, 13, ChangeStatus::Changed)]
    {
        let page = page(visitors, price);
        let document = scrape_with(tools(&[]), &shelf, page.clone(), asked(&page)).await;
        assert_eq!(status(&document), Some(expect), "{visitors}");
        assert!(document.markdown.as_ref().unwrap().contains("visitors"), "the document is whole");
        let diff = document.change_tracking.unwrap().unwrap().diff;
        let is_whole = diff.is_some_and(|diff| diff.to_string().contains("visitors"));
        assert!(!is_whole, "the diff has what was compared");
        assert_eq!(reviewer.met.lock().take(), Some(vec![true, false]));
    }
    // Without the reviewer, the whole versions are compared.
    let plain = scrape(&shelf, page(4, 13), json!({ "onlyMainContent": false })).await;
    assert_eq!(status(&plain), Some(ChangeStatus::Changed));
}

//! Tests of recording the pages of a crawl, and of the number of statements that it takes.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use ::runs::{Context, Packed, digest, new_page, record};
use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use store::runs;

use super::*;
use crate::crawl::plan::blocked;
use crate::crawl::start;
use crate::fixture::crawls;

thread_local! {
    /// Statements of this thread. SQLite runs them where they are awaited, which is the thread of the test.
    static STATEMENTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct Listener;

impl Instrumentation for Listener {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            STATEMENTS.with_borrow_mut(|all| all.push(query.to_string()));
        }
    }
}

pub(crate) fn page(name: &str) -> NewPage {
    new_page(format!("http://a.test/{name}").parse().unwrap(), digest(name), 1)
}

pub(crate) fn document(context: &Arc<Context>) -> PageResult {
    let packed = Packed::of(&wire::Document::default(), net::Room::default()).unwrap();
    let mut result = PageResult::without(Arc::clone(context), Outcome::Document(Box::new(packed)));
    result.credits = 1;
    result
}

/// Returns what a crawl knows of a page that nothing was found on.
pub(crate) fn crawl_page(name: &str) -> CrawlPage {
    CrawlPage {
        key: digest(name),
        way: Way { depth: 1, parent: None },
        alias: None,
        canonical: None,
        content: None,
        landed: None,
        start_status: None,
        links: Links::default(),
        way_on: None,
        likeness: None,
    }
}

/// Returns the result of a page that was read, with what the crawl knows of it.
pub(crate) fn read(mut result: PageResult, page: CrawlPage) -> PageResult {
    result.found = Some(Box::new(page));
    result
}

/// Returns the result of a page that could not be read.
pub(crate) fn failed(context: &Arc<Context>) -> PageResult {
    let outcome = Outcome::Failed { code: "X".to_owned(), error: "broken".to_owned() };
    PageResult::without(Arc::clone(context), outcome)
}

/// Returns the results of ten pages of a crawl, given by their names: documents with links, other spellings of known
/// and new pages, failed pages, and a disallowed one.
fn results(context: &Arc<Context>, names: &[String]) -> Vec<PageResult> {
    let result = |(n, name): (usize, &String)| {
        let found = (0..9).map(|link| Found::plain(page(&format!("{n}-{link}"))));
        let links = Links {
            found: found.collect(),
            external: vec![page(&format!("external{n}"))],
            blocked: vec![page(&format!("blocked{n}"))],
        };
        // "new" is unknown until the first of the two results adds it.
        let alias = (n < 2).then(|| page("new"));
        let likeness = Some((n as u64 % 3, 7));
        let mut result = match n {
            3..6 => failed(context),
            6 => PageResult::without(Arc::clone(context), blocked()),
            _ => document(context),
        };
        result.credits = 1;
        read(result, CrawlPage { links, alias, likeness, ..crawl_page(name) })
    };
    names.iter().enumerate().map(result).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_pages_take_few_statements() {
    set_default_instrumentation(|| Some(Box::new(Listener))).unwrap();
    let (runs, caller, _folder) = crawls().await;
    let request = wire::decode_crawl(serde_json::json!({"url": "http://a.test/", "limit": 60})).unwrap();
    let id = start(&runs, &caller, request, &wire::GivenFields::default(), None).await.unwrap().to_string();
    let context = runs.context(&id).await.unwrap().unwrap();
    let mut conn = runs.app().conn().await.unwrap();
    // Ten pages that were added earlier.
    let names: Vec<String> = ["start".to_owned()].into_iter().chain((0..9).map(|n| n.to_string())).collect();
    let known: Vec<NewPage> = names.iter().map(|name| page(name)).collect();
    let written: Result<(), StoreError> = conn
        .tx(async |conn: &mut Conn| {
            let mut progress = runs::lock(conn, &id).await?.unwrap();
            runs::add_pages(conn, &mut progress, known.clone()).await?;
            runs::save(conn, &progress).await
        })
        .await;
    written.unwrap();
    let results = results(&context, &names);
    let done: Vec<Page<'_>> = known.iter().zip(&results).map(|(page, result)| Page { id: &page.id, result }).collect();
    STATEMENTS.take();
    let recorded: Result<(), StoreError> = conn.tx(async |conn: &mut Conn| record(&runs, conn, &done).await).await;
    recorded.unwrap();
    let statements = STATEMENTS.take();
    let of_run = |text: &&&str| text.contains("run_page") || text.contains("run_progress");
    // SQLite inserts rows one by one, with a statement that is compiled once.
    let different: BTreeSet<&str> = statements.iter().filter_map(|text| text.split(" -- binds").next()).collect();
    // One of them reads the state of the pages that others are copies of, another reads which pages wait for these.
    assert_eq!(different.iter().filter(of_run).count(), 9, "{statements:#?}");
    assert!(different.len() <= 30, "{}: {statements:#?}", different.len());
    // Every page references that key: setting it would make the database check each of them.
    let sets_key = |text: &&str| text.starts_with("UPDATE `run_progress`") && text.contains("SET `run_id`");
    assert!(!different.iter().any(sets_key), "{statements:#?}");
    let (row, progress) = runs::read(&mut conn, &id).await.unwrap().unwrap();
    // Ten of the eleven pending pages are done; the second "new" is a copy.
    assert_eq!((progress.done, progress.failed, progress.credits), (5, 3, 9), "{progress:?}");
    assert_eq!((progress.pending, progress.spare, row.is_open()), (55, 36, true), "{progress:?}");
    // The copy is listed with the links to other sites.
    for (state, count) in
        [(runs::PageState::External, 11), (runs::PageState::Blocked, 11), (runs::PageState::Failed, 3)]
    {
        assert_eq!(runs::listed(&mut conn, &id, state, "", 100).await.unwrap().len(), count, "{state:?}");
    }
}

/// Links of pages of a full crawl are ignored, and links to known pages do no harm.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_that_has_all_its_pages_takes_no_more() {
    let (runs, caller, _folder) = crawls().await;
    let request = wire::decode_crawl(serde_json::json!({"url": "http://a.test/", "limit": 3})).unwrap();
    let id = start(&runs, &caller, request, &wire::GivenFields::default(), None).await.unwrap().to_string();
    let context = runs.context(&id).await.unwrap().unwrap();
    let mut conn = runs.app().conn().await.unwrap();
    let pages: Vec<NewPage> = (0..1002).map(|n| page(&n.to_string())).collect();
    let added: Result<Vec<NewPage>, StoreError> = conn
        .tx(async |conn: &mut Conn| {
            let mut progress = runs::lock(conn, &id).await?.unwrap();
            let taken = runs::add_pages(conn, &mut progress, pages.clone()).await?;
            runs::save(conn, &progress).await?;
            Ok(taken)
        })
        .await;
    assert_eq!(added.unwrap().len(), 2, "beside the start");
    let found = (0..5).chain(5000..5005).map(|n| Found::plain(page(&n.to_string()))).collect();
    let links = Links { found, ..Links::default() };
    let result = read(failed(&context), CrawlPage { links, ..crawl_page("0") });
    let recorded: Result<(), StoreError> =
        conn.tx(async |conn: &mut Conn| record(&runs, conn, &[Page { id: &pages[0].id, result: &result }]).await).await;
    recorded.unwrap();
    assert!(CrawlRun::of(&context).unwrap().known.is_full());
    let (_, progress) = runs::read(&mut conn, &id).await.unwrap().unwrap();
    // A spare page has replaced the failed one.
    assert_eq!((progress.pending, progress.failed, progress.spare), (3, 1, 999), "{progress:?}");
    let unknown: Vec<Vec<u8>> = (5000..5005).map(|n| digest(&n.to_string())).collect();
    let unknown = unknown.iter().map(Vec::as_slice).collect();
    assert!(runs::known_keys(&mut conn, &id, unknown).await.unwrap().is_empty());
}

/// The context of a run is dropped from memory when the run ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_its_pages_have_in_common_ends_with_a_run() {
    let (runs, caller, _folder) = crawls().await;
    let request =
        wire::decode_crawl(serde_json::json!({"url": "http://a.test/", "limit": 2, "sitemap": "skip"})).unwrap();
    let id = start(&runs, &caller, request, &wire::GivenFields::default(), None).await.unwrap().to_string();
    let context = runs.context(&id).await.unwrap().unwrap();
    assert!(runs.has_context(&id));
    let mut conn = runs.app().conn().await.unwrap();
    let ended: Result<(), StoreError> = conn
        .tx(async |conn: &mut Conn| {
            let mut progress = runs::lock(conn, &id).await?.unwrap();
            let last = runs::add_pages(conn, &mut progress, vec![page("last")]).await?;
            // Its sitemaps are read, and all other pages are done.
            (progress.preparing, progress.pending) = (false, 1);
            runs::save(conn, &progress).await?;
            let result = PageResult::without(context.clone(), blocked());
            record(&runs, conn, &[Page { id: &last[0].id, result: &result }]).await
        })
        .await;
    ended.unwrap();
    assert!(!runs::read(&mut conn, &id).await.unwrap().unwrap().0.is_open());
    assert!(!runs.has_context(&id));
}

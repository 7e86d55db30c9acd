//! Duplicate pages of a crawl: pages redirected to a page that the crawl already has, and pages whose text equals that
//! of the page they name as canonical.
//!
//! Which of two pages becomes the document is decided when the other one has ended. Until then a page waits, without a
//! job and without its text. If it turns out not to be a duplicate it is fetched again; a page waits at most once.

use std::collections::HashMap;

use ::runs::Page;
use store::runs::{self as rows, PageState, Standing, Wait, Waiting};
use store::{Conn, StoreError};

use super::look::{CrawlPage, found};

/// Error code and message of a page that is left out as a duplicate.
pub(super) type Reason = (&'static str, &'static str);

const LEADS: Reason = ("DUPLICATE_PAGE", "the page redirects to a page that the crawl has under its own address");
const SAME_TEXT: Reason = ("DUPLICATE_PAGE", "the page has the same text as the page that it names as canonical");

/// State of the pages that results refer to, in addition to their own addresses.
pub(super) struct Copies {
    known: HashMap<Vec<u8>, Standing>,
}

/// Verdict on a document: whether it counts in its crawl.
pub(super) enum Judgement {
    /// A document of its own, with the page it was redirected to in its former state, if the crawl knows that page.
    Own(Option<Standing>),
    Copy(Reason),
    /// Undecided until another page has ended.
    Waits,
}

/// Returns why a page that has waited is left out; `None` when it is no duplicate.
pub(super) fn reason_of(waiting: &Waiting) -> Option<Reason> {
    let reason = if waiting.content.is_none() { LEADS } else { SAME_TEXT };
    waiting.is_copy().then_some(reason)
}

/// Returns the keys of the pages that a page refers to, and its own if there are any.
fn named(page: &CrawlPage) -> impl Iterator<Item = &[u8]> {
    let others = [page.alias.as_ref().map(|alias| alias.key.as_slice()), page.canonical.as_deref()];
    let own = Some(page.key.as_slice()).filter(|_| others.iter().any(Option::is_some));
    others.into_iter().chain([own]).flatten()
}

impl Copies {
    /// Reads the state of all pages that these refer to. The caller holds the lock on the run's progress.
    pub(super) async fn of(conn: &mut Conn, run: &str, pages: &[Page<'_>]) -> Result<Self, StoreError> {
        let keys: Vec<&[u8]> = pages.iter().filter_map(found).flat_map(named).collect();
        Ok(Self { known: rows::standings(conn, run, &keys).await? })
    }

    /// Decides whether a document counts, is a duplicate or has to wait. From then on a document that counts is known
    /// as read. `id` is that of its page.
    pub(super) async fn judge(&mut self, conn: &mut Conn, id: &str, page: &CrawlPage) -> Result<Judgement, StoreError> {
        if let Some(reason) = self.copy_of_read(id, page) {
            return Ok(Judgement::Copy(reason));
        }
        if self.wait(conn, id, page).await? {
            return Ok(Judgement::Waits);
        }
        let led_to = self.led_to(id, page).cloned();
        let keys = page.alias.iter().map(|alias| &alias.key).chain([&page.key]);
        let read = |key: &Vec<u8>| (key.clone(), standing(id, PageState::Done, page.content));
        self.known.extend(keys.map(read));
        Ok(Judgement::Own(led_to))
    }

    /// Returns the other page that a document was redirected to, if the crawl knows it.
    fn led_to(&self, id: &str, page: &CrawlPage) -> Option<&Standing> {
        let alias = page.alias.as_ref()?;
        self.known.get(&alias.key).filter(|other| other.id != id)
    }

    fn canonical(&self, id: &str, page: &CrawlPage) -> Option<&Standing> {
        let canonical = page.canonical.as_ref().filter(|_| page.content.is_some())?;
        self.known.get(canonical).filter(|other| other.id != id)
    }

    fn copy_of_read(&self, id: &str, page: &CrawlPage) -> Option<Reason> {
        if self.led_to(id, page).is_some_and(Standing::is_read) {
            return Some(LEADS);
        }
        let canonical = self.canonical(id, page).filter(|other| other.is_read() && other.content == page.content);
        canonical.map(|_| SAME_TEXT)
    }

    /// Makes a page wait for one that is still to come; returns whether it waits.
    async fn wait(&mut self, conn: &mut Conn, id: &str, page: &CrawlPage) -> Result<bool, StoreError> {
        let Some((other, content)) = self.to_wait_for(conn, id, page).await? else { return Ok(false) };
        rows::wait(conn, id, &Wait { other: &other, content, way: Some(&page.way) }).await?;
        let waits = Standing { has_waited: true, ..standing(id, PageState::Waiting, content) };
        self.known.insert(page.key.clone(), waits);
        Ok(true)
    }

    /// Returns the page that a document has to wait for, and the text hash by which it would be a duplicate.
    async fn to_wait_for(
        &self,
        conn: &mut Conn,
        id: &str,
        page: &CrawlPage,
    ) -> Result<Option<(String, Option<u64>)>, StoreError> {
        if self.known.get(&page.key).is_some_and(|own| own.has_waited) {
            return Ok(None);
        }
        let led_to = self.led_to(id, page).map(|other| (other, None));
        let canonical = self.canonical(id, page).map(|other| (other, page.content));
        for (other, content) in led_to.into_iter().chain(canonical) {
            // Do not wait for a page whose own chain of waits ends at this one: both would wait forever.
            if is_to_come(other) && rows::end_of_wait(conn, &other.id).await?.is_some_and(|last| last != id) {
                return Ok(Some((other.id.clone(), content)));
            }
        }
        Ok(None)
    }
}

/// Whether a page is still queued or waiting.
fn is_to_come(page: &Standing) -> bool {
    matches!(page.state, PageState::Queued | PageState::Waiting)
}

fn standing(id: &str, state: PageState, content: Option<u64>) -> Standing {
    Standing { id: id.to_owned(), state, content, has_waited: false }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ::runs::{Context, PageResult, Runs, digest, record};
    use PageState::{Alias, Done, External, Failed, Queued, Spare, Waiting as Waits};
    use store::runs::{NewPage, Progress};
    use tempfile::TempDir;

    use super::super::record::tests::{crawl_page, document, failed, page, read};
    use super::super::{start, waiting};
    use super::*;
    use crate::fixture::crawls;

    /// Crawl whose start is queued, with further pages.
    struct Crawl {
        runs: Runs,
        context: Arc<Context>,
        conn: Conn,
        pages: Vec<NewPage>,
        _folder: TempDir,
    }

    impl Crawl {
        /// Starts a crawl limited to `limit` pages: the start, and as many of these as fit.
        async fn of(limit: u32, names: &[&str]) -> Self {
            let (runs, caller, folder) = crawls().await;
            let request = serde_json::json!({"url": "http://a.test/", "limit": limit, "sitemap": "skip"});
            let request = wire::decode_crawl(request).unwrap();
            let id = start(&runs, &caller, request, &wire::GivenFields::default(), None).await.unwrap().to_string();
            let context = runs.context(&id).await.unwrap().unwrap();
            let mut conn = runs.app().conn().await.unwrap();
            let pages: Vec<NewPage> = names.iter().map(|name| page(name)).collect();
            let added: Result<(), StoreError> = conn
                .tx(async |conn: &mut Conn| {
                    let mut progress = rows::lock(conn, &id).await?.unwrap();
                    rows::add_pages(conn, &mut progress, pages.clone()).await?;
                    rows::save(conn, &progress).await
                })
                .await;
            added.unwrap();
            Self { runs, context, conn, pages, _folder: folder }
        }

        /// Returns a page as a document with this text.
        fn read(&self, name: &str, text: u64) -> PageResult {
            read(document(&self.context), CrawlPage { content: Some(text), ..crawl_page(name) })
        }

        /// Returns a document that names another page as canonical.
        fn naming(&self, name: &str, other: &str, text: u64) -> PageResult {
            let page = CrawlPage { content: Some(text), canonical: Some(digest(other)), ..crawl_page(name) };
            read(document(&self.context), page)
        }

        /// Returns a document that was redirected to another page.
        fn leading(&self, name: &str, other: &str, text: u64) -> PageResult {
            let page = CrawlPage { content: Some(text), alias: Some(page(other)), ..crawl_page(name) };
            read(document(&self.context), page)
        }

        fn failed(&self) -> PageResult {
            failed(&self.context)
        }

        /// Records results of pages, given by their index, in one transaction, and returns the states of all pages.
        async fn record(&mut self, results: &[(usize, PageResult)]) -> Vec<PageState> {
            let Self { runs, conn, pages: all, context, .. } = self;
            let runs = &*runs;
            let results: Vec<Page<'_>> =
                results.iter().map(|(place, result)| Page { id: &all[*place].id, result }).collect();
            let recorded: Result<(), StoreError> =
                conn.tx(async |conn: &mut Conn| record(runs, conn, &results).await).await;
            recorded.unwrap();
            let keys: Vec<&[u8]> = all.iter().map(|page| page.key.as_slice()).collect();
            let known = rows::standings(conn, &context.id, &keys).await.unwrap();
            keys.iter().map(|key| known[*key].state).collect()
        }

        async fn progress(&mut self) -> Progress {
            rows::read(&mut self.conn, &self.context.id).await.unwrap().unwrap().1
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_page_waits_for_the_one_that_it_names() {
        for (b, expect) in [(Some(7), [External, Done]), (Some(8), [Queued, Done]), (None, [Queued, Failed])] {
            let mut crawl = Crawl::of(60, &["a", "b", "c"]).await;
            let first = crawl.naming("a", "b", 7);
            assert_eq!(crawl.record(&[(0, first)]).await, [Waits, Queued, Queued], "{b:?}");
            let progress = crawl.progress().await;
            assert_eq!((progress.pending, progress.credits), (4, 0), "{b:?}");
            let other = b.map_or_else(|| crawl.failed(), |text| crawl.read("b", text));
            assert_eq!(crawl.record(&[(1, other)]).await[..2], expect, "{b:?}");
            if expect[0] == Queued {
                // A page waits once only, even if it names another page the second time.
                let again = crawl.naming("a", "c", 7);
                assert_eq!(crawl.record(&[(0, again)]).await[0], Done, "{b:?}");
            }
            assert_eq!(crawl.progress().await.pending, 2, "{b:?}");
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_page_goes_on_when_an_older_worker_has_ended_the_other() {
        let mut crawl = Crawl::of(60, &["a", "b"]).await;
        let a = crawl.naming("a", "b", 7);
        assert_eq!(crawl.record(&[(0, a)]).await, [Waits, Queued]);
        waiting::release(&crawl.runs).await.unwrap();
        assert_eq!(crawl.record(&[]).await, [Waits, Queued]);
        let ended = rows::EndedPage { id: &crawl.pages[1].id, state: Done, reason: None, content: None };
        rows::end_pages(&mut crawl.conn, &[ended], Vec::new(), crawl.runs.app().now()).await.unwrap();
        waiting::release(&crawl.runs).await.unwrap();
        assert_eq!(crawl.record(&[]).await, [Queued, Done]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn one_of_two_that_name_each_other_is_the_document() {
        for is_together in [true, false] {
            let mut crawl = Crawl::of(60, &["a", "b"]).await;
            let (a, b) = (crawl.naming("a", "b", 7), crawl.naming("b", "a", 7));
            let states = match is_together {
                true => crawl.record(&[(0, a), (1, b)]).await,
                false => {
                    crawl.record(&[(0, a)]).await;
                    crawl.record(&[(1, b)]).await
                }
            };
            assert_eq!(states, [External, Done], "{is_together}");
            assert_eq!(crawl.progress().await.pending, 1, "{is_together}");
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn one_of_a_ring_of_redirects_is_the_document() {
        let mut crawl = Crawl::of(60, &["a", "b", "c"]).await;
        let [a, b, c] = [("a", "b"), ("b", "c"), ("c", "a")].map(|(name, other)| crawl.leading(name, other, 7));
        assert_eq!(crawl.record(&[(0, a)]).await, [Waits, Queued, Queued]);
        assert_eq!(crawl.record(&[(1, b)]).await, [Waits, Waits, Queued]);
        assert_eq!(crawl.record(&[(2, c)]).await, [External, External, Done]);
        let progress = crawl.progress().await;
        assert_eq!((progress.pending, progress.done, progress.credits), (1, 1, 1));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_a_failed_page_would_have_brought_comes_once() {
        let mut crawl = Crawl::of(60, &["a", "b", "c"]).await;
        let a = crawl.leading("a", "b", 7);
        assert_eq!(crawl.record(&[(0, a)]).await, [Waits, Queued, Queued]);
        let b = crawl.failed();
        assert_eq!(crawl.record(&[(1, b)]).await, [Queued, Failed, Queued]);
        let (a, c) = (crawl.leading("a", "b", 7), crawl.leading("c", "b", 7));
        assert_eq!(crawl.record(&[(0, a)]).await, [Done, Failed, Queued]);
        assert_eq!(crawl.record(&[(2, c)]).await, [Done, Failed, External]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_spare_page_that_is_there_already_is_not_taken_on() {
        let mut crawl = Crawl::of(3, &["a", "b", "spare"]).await;
        assert_eq!(crawl.progress().await.spare, 1);
        let a = crawl.leading("a", "spare", 7);
        assert_eq!(crawl.record(&[(0, a)]).await, [Done, Queued, Alias]);
        let b = crawl.failed();
        assert_eq!(crawl.record(&[(1, b)]).await, [Done, Failed, Alias]);
        assert_eq!(crawl.progress().await.spare, 0);
        // A spare page stays spare as long as no document has its text.
        let mut crawl = Crawl::of(3, &["a", "b", "spare"]).await;
        let (a, b) = (crawl.read("a", 7), crawl.failed());
        assert_eq!(crawl.record(&[(0, a)]).await, [Done, Queued, Spare]);
        assert_eq!(crawl.record(&[(1, b)]).await, [Done, Failed, Queued]);
    }
}

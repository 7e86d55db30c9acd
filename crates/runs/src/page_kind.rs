//! Interface of kinds of run whose items are pages: what a kind decides about its pages, while this module fetches,
//! packs, records and charges them.
//!
//! A kind is registered with a [`PageKind`]. It reads the spec of a run into a [`PageSpec`], which opens the
//! [`PageRun`] that all pages of the run share. Each page then passes three points: [`PageRun::plan`] before it is
//! fetched, [`Look::look`] in the thread that parsed it, and a [`PageRecord`] in the transaction that records it. The
//! defaults of all methods make pages that lead nowhere, as those of a batch; only a spec has to be read.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::sync::Arc;

use ::scrape::{Reviewer, Scraped};
use async_trait::async_trait;
use base::address::BasicAuth;
use base::{Stop, Timestamp};
use kernel::auth::Caller;
use kernel::{AppError, Refused};
use serde_json::Value;
use store::runs::{EndedPage, PageState, Progress, Run, Way};
use store::{Conn, StoreError};
use url::Url;
use webhooks::Event;
use wire::EventType;

use super::Runs;
use super::context::{Context, Terms};
use super::document::Packed;
use super::page_result::{Found, Left, Outcome, PageResult};
use super::secrets::Secrets;

/// Behaviour of a kind of run whose items are pages. One object for the process, which may hold state that all runs of
/// the kind share.
pub trait PageKind: Send + Sync + 'static {
    /// Reads the spec of a run, with the secrets that were taken out of it. Called in transactions too, so it must be
    /// quick.
    ///
    /// # Errors
    /// A spec that this version cannot read.
    fn read(&self, spec: Value, secrets: Secrets) -> Result<(Terms, Box<dyn PageSpec>), AppError>;

    /// Returns the run of a spec that cannot be read. It only has to end the run's pages.
    fn bare(&self) -> Arc<dyn PageRun> {
        Arc::new(Plain)
    }
}

/// Spec of a run that has been read.
#[async_trait]
pub trait PageSpec: Send {
    /// Opens the run for its workers. May compile, and query the database.
    ///
    /// # Errors
    /// An outage, or a spec that cannot be compiled.
    async fn open(self: Box<Self>, _opening: Opening<'_>) -> Result<Arc<dyn PageRun>, AppError> {
        Ok(self.unopened())
    }

    /// Returns the run for a transaction, without compiling anything.
    fn unopened(self: Box<Self>) -> Arc<dyn PageRun>;
}

/// Run that is opened.
#[derive(Clone, Copy)]
pub struct Opening<'a> {
    /// Runs of the service.
    pub runs: &'a Runs,
    /// Row of the run.
    pub row: &'a Run,
    /// Its progress.
    pub progress: &'a Progress,
    /// Caller for whom its pages are read.
    pub caller: &'a Caller,
    /// Stale context of the same run. A spec never changes, so what was compiled from it can be reused.
    pub before: Option<&'a Context>,
}

/// Open run, shared by all its pages and kept in [`Context::pages`]. A kind finds its own type in there by downcast.
#[async_trait]
pub trait PageRun: Any + Send + Sync {
    /// Returns the memory that it takes beyond the usual, in bytes.
    fn bytes(&self) -> usize {
        0
    }

    /// Decides before a page is fetched whether it may be, and how it is looked at.
    ///
    /// # Errors
    /// An outage or an internal error: the page is retried.
    async fn plan(&self, _runs: &Runs, _page: PlannedPage<'_>) -> Result<PagePlan, Refused> {
        Ok(PagePlan::Scrape(Box::new(Visit::plain())))
    }

    /// Begins to record pages, in the transaction that removes their jobs. The run's progress is locked.
    ///
    /// # Errors
    /// [`StoreError`]; then the transaction is rolled back.
    async fn begin<'a>(
        &'a self,
        _conn: &mut Conn,
        _progress: &mut Progress,
        _recording: Recording<'a>,
    ) -> Result<Box<dyn PageRecord + 'a>, StoreError> {
        Ok(Box::new(Plain))
    }

    /// Returns the run of another kind that this one stands on.
    fn lower(&self) -> Option<&dyn PageRun> {
        None
    }

    /// Takes what [`PageRecord::finish`] left, after the commit. Returns whether the run has to be read again.
    fn committed(&self, _left: Left) -> bool {
        false
    }
}

/// Page that is about to be fetched.
pub struct PlannedPage<'a> {
    /// Context of the run.
    pub context: &'a Arc<Context>,
    /// Id of the page.
    pub id: &'a str,
    /// URL without user name and password.
    pub url: &'a Url,
    /// Path on which the page was found.
    pub way: Way,
}

/// Decision about a page.
pub enum PagePlan {
    /// Fetched.
    Scrape(Box<Visit>),
    /// Not fetched.
    End(Outcome),
}

/// How a page is fetched and looked at.
pub struct Visit {
    /// Credentials of the run; without them the page has its own.
    pub given: Option<Given>,
    /// Start of the crawl that the page belongs to.
    pub start: Option<Url>,
    /// Whether links are collected even if no format asks for them.
    pub collect_links: bool,
    /// What counts when the versions of the page are compared; everything without it.
    pub reviewer: Option<Arc<dyn Reviewer>>,
    /// Look at the page.
    pub look: Box<dyn Look>,
}

/// Credentials, and the URL that they and the headers were given for.
pub struct Given {
    /// URL that they were given for.
    pub url: Url,
    /// User name and password.
    pub basic_auth: Option<BasicAuth>,
}

impl Visit {
    /// Returns the visit of a page whose links do not matter.
    pub fn plain() -> Self {
        Self { given: None, start: None, collect_links: false, reviewer: None, look: Box::new(Plain) }
    }
}

/// Look at a page, in the thread that parsed it, before its document is packed.
pub trait Look: Send {
    /// Looks at the page, and may complete its metadata. CPU-bound; `stop` cancels it.
    ///
    /// # Errors
    /// An internal error.
    fn look(self: Box<Self>, page: &mut Scraped, stop: &Stop) -> Result<Looked, AppError>;
}

/// Result of a look.
pub enum Looked {
    /// The page becomes a document.
    Keep(Option<Found>),
    /// The page becomes a document, and the version that changes are compared with stays the previous one.
    KeepUncompared(Option<Found>),
    /// The page ends without a document.
    End(Outcome),
}

/// Page of a run with its result.
#[derive(Clone, Copy)]
pub struct Page<'r> {
    /// Id of the page, which is that of its job too.
    pub id: &'r str,
    /// Result.
    pub result: &'r PageResult,
}

impl<'r> Page<'r> {
    /// Returns how the page ends by its own outcome.
    pub fn ended(self) -> EndedPage<'r> {
        let (state, reason) = match &self.result.outcome {
            Outcome::Document(_) => (PageState::Done, None),
            Outcome::Failed { code, error } => (PageState::Failed, Some((code.as_str(), error.as_str()))),
            Outcome::Left { state, code, message } => (*state, Some((*code, *message))),
        };
        EndedPage { id: self.id, state, reason, content: None }
    }
}

/// Page that became a document.
#[derive(Clone, Copy)]
pub struct KeptPage<'a> {
    /// Page.
    pub page: Page<'a>,
    /// Its document.
    pub packed: &'a Packed,
}

/// Pages of one run that are recorded in one transaction.
#[derive(Clone, Copy)]
pub struct Recording<'a> {
    /// Context of the run.
    pub context: &'a Context,
    /// Pages.
    pub pages: &'a [Page<'a>],
    /// Time of the transaction.
    pub now: Timestamp,
}

/// What a kind does with the pages of a [`Recording`]. The methods are called in this order; progress is that of the
/// run, locked, and written at the end.
#[async_trait]
pub trait PageRecord: Send + Sync {
    /// Whether a page is settled behind the others.
    fn is_last(&self, _page: &PageResult) -> bool {
        false
    }

    /// Decides how a page ends; `None` while it waits for another one. The caller counts it.
    async fn settle<'r>(
        &mut self,
        _conn: &mut Conn,
        _progress: &mut Progress,
        page: Page<'r>,
    ) -> Result<Option<EndedPage<'r>>, StoreError> {
        Ok(Some(page.ended()))
    }

    /// Writes rows of its own. The pages that became documents are given; the rows of the documents follow.
    async fn record(
        &mut self,
        _conn: &mut Conn,
        _progress: &mut Progress,
        _kept: &[KeptPage<'_>],
    ) -> Result<(), StoreError> {
        Ok(())
    }

    /// Returns the webhook event of a document.
    fn page_event<'e>(&self, event: EventType, page: &KeptPage<'e>) -> Event<'e> {
        Event::new(event).with_json(&page.packed.json)
    }

    /// Adds further pages, after these have ended.
    async fn follow(
        &mut self,
        _conn: &mut Conn,
        _progress: &mut Progress,
        _ended: &[EndedPage<'_>],
    ) -> Result<(), StoreError> {
        Ok(())
    }

    /// Ends the recording; `is_open` says whether the run goes on. What it returns is given to [`PageRun::committed`].
    fn finish(self: Box<Self>, _is_open: bool) -> Option<Left> {
        None
    }
}

/// Spec, run, record and look where pages lead nowhere: all the defaults.
#[derive(Debug, Clone, Copy)]
pub struct Plain;

impl PageSpec for Plain {
    fn unopened(self: Box<Self>) -> Arc<dyn PageRun> {
        Arc::new(*self)
    }
}

impl PageRun for Plain {}

impl PageRecord for Plain {}

impl Look for Plain {
    fn look(self: Box<Self>, _: &mut Scraped, _: &Stop) -> Result<Looked, AppError> {
        Ok(Looked::Keep(None))
    }
}

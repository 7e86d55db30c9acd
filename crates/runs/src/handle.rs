//! Shared state of all runs: their kinds, what is cached of them, and their watchers.

use std::fmt;
use std::sync::Arc;

use kernel::{App, AppError};
use scraping::Scraper;
use store::runs::Run;
use store::{Conn, StoreError};
use tokio::sync::watch;
use uuid::Uuid;

use super::context::{Context, Contexts};
use super::kind::Kind;
use super::lost::Lost;
use super::page_kind::PageKind;
use crate::changes::Changes;
use crate::orphans::Pass;

/// Runs of the service. Cheap to clone; all clones share their state.
#[derive(Clone)]
pub struct Runs(Arc<Room>);

struct Room {
    scraper: Scraper,
    kinds: Vec<RunKind>,
    contexts: Contexts,
    lost: Lost,
    changes: Changes,
    orphans: Pass,
}

/// Kind of run, and what it does with its pages if its items are pages.
pub struct RunKind {
    kind: &'static Kind,
    pages: Option<Arc<dyn PageKind>>,
}

impl RunKind {
    /// Returns a kind of run whose items are not pages.
    #[must_use]
    pub fn of_steps(kind: &'static Kind) -> Self {
        Self { kind, pages: None }
    }

    /// Returns a kind of run whose items are pages.
    #[must_use]
    pub fn of_pages(kind: &'static Kind, pages: impl PageKind) -> Self {
        Self { kind, pages: Some(Arc::new(pages)) }
    }
}

impl Runs {
    /// Assembles the runs of these kinds. Runs of other kinds may be in the database, but do not go on here.
    #[must_use]
    pub fn new(scraper: Scraper, kinds: Vec<RunKind>) -> Self {
        let (contexts, lost) = (Contexts::default(), Lost::default());
        Self(Arc::new(Room { scraper, kinds, contexts, lost, changes: Changes::default(), orphans: Pass::default() }))
    }

    /// Returns the core of the service.
    #[must_use]
    pub fn app(&self) -> &App {
        self.0.scraper.app()
    }

    /// Returns the tools that read pages.
    #[must_use]
    pub fn scraper(&self) -> &Scraper {
        &self.0.scraper
    }

    /// Returns all kinds of run.
    pub fn kinds(&self) -> impl Iterator<Item = &'static Kind> {
        self.0.kinds.iter().map(|found| found.kind)
    }

    /// Returns the kind with this database name.
    #[must_use]
    pub fn kind_of(&self, name: &str) -> Option<&'static Kind> {
        self.kinds().find(|kind| kind.name == name)
    }

    /// Returns the kind with this database name and what it does with its pages, if its items are pages.
    pub(super) fn pages_of(&self, name: &str) -> Option<(&'static Kind, &Arc<dyn PageKind>)> {
        let found = self.0.kinds.iter().find(|found| found.kind.name == name)?;
        Some((found.kind, found.pages.as_ref()?))
    }

    /// Returns the context of an open run; `None` for unknown and ended runs.
    ///
    /// # Errors
    /// [`AppError`] of an outage, or when this version cannot read the spec.
    #[crate::boxed]
    pub async fn context(&self, id: &str) -> Result<Option<Arc<Context>>, AppError> {
        self.0.contexts.get(self, id).await
    }

    /// Returns the context of a run whose row the caller's transaction has locked. Its kind compiles nothing for it. If
    /// this version cannot read the spec, the context still has the limits and the hook, so that the run's events are
    /// sent.
    ///
    /// # Errors
    /// [`StoreError`]; then the transaction must be rolled back.
    #[crate::boxed]
    pub async fn context_of(&self, conn: &mut Conn, row: &Run) -> Result<Arc<Context>, StoreError> {
        self.0.contexts.of(self, conn, row).await
    }

    /// Marks the context of a run as stale, because the run has changed. What its kind keeps for the run stays.
    pub fn refresh(&self, id: &str) {
        self.0.contexts.refresh(id);
    }

    /// Removes the context of a run that has ended.
    pub fn forget(&self, id: &str) {
        self.0.contexts.forget(id);
    }

    /// Whether the context of a run is cached.
    #[must_use]
    pub fn has_context(&self, id: &str) -> bool {
        self.0.contexts.has(id)
    }

    /// Notifies the watchers of a run that it has changed.
    pub fn changed(&self, id: &str) {
        self.0.changes.notify(id);
    }

    /// Returns a receiver that is notified of every change that this process makes to a run; several changes may be
    /// merged into one notification.
    #[must_use]
    pub fn watch(&self, id: Uuid) -> watch::Receiver<()> {
        self.0.changes.watch(&id.to_string())
    }

    pub(super) fn lost(&self) -> &Lost {
        &self.0.lost
    }

    pub(crate) fn orphans(&self) -> &Pass {
        &self.0.orphans
    }
}

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs").field("kinds", &self.kinds().collect::<Vec<_>>()).finish_non_exhaustive()
    }
}

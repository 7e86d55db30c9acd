//! Background jobs: crawls and batches.

use std::fmt;

use uuid::Uuid;

/// Kind of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunKind {
    /// Crawl: follows the links of a site.
    Crawl,
    /// Batch: scrapes a list of pages.
    Batch,
}

/// A crawl or batch that was started, identified by its id.
///
/// ```
/// let run = client::Run::crawl("01890000-0000-7000-8000-00000000beef".parse()?);
/// assert_eq!(run.path(), "/v2/crawl/01890000-0000-7000-8000-00000000beef");
/// # Ok::<(), uuid::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Run {
    /// Kind of the run.
    pub kind: RunKind,
    /// Job id, as returned by the start.
    pub id: Uuid,
}

impl Run {
    /// Returns the crawl with this id.
    #[must_use]
    pub fn crawl(id: Uuid) -> Self {
        Self { kind: RunKind::Crawl, id }
    }

    /// Returns the batch with this id.
    #[must_use]
    pub fn batch(id: Uuid) -> Self {
        Self { kind: RunKind::Batch, id }
    }

    /// Returns the path under which the run is read, cancelled and watched.
    #[must_use]
    pub fn path(&self) -> String {
        match self.kind {
            RunKind::Crawl => format!("/v2/crawl/{}", self.id),
            RunKind::Batch => format!("/v2/batch/scrape/{}", self.id),
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path())
    }
}

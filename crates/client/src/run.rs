//! Work that the service does in the background.

use std::fmt;

use uuid::Uuid;

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunKind {
    /// It follows the links of a site.
    Crawl,
    /// It scrapes the pages that it was given.
    Batch,
}

/// A crawl or a batch that was started, by its id.
///
/// ```
/// let run = client::Run::crawl("01890000-0000-7000-8000-00000000beef".parse()?);
/// assert_eq!(run.path(), "/v2/crawl/01890000-0000-7000-8000-00000000beef");
/// # Ok::<(), uuid::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Run {
    /// What it does.
    pub kind: RunKind,
    /// The id that the start has answered.
    pub id: Uuid,
}

impl Run {
    /// The crawl with this id.
    #[must_use]
    pub fn crawl(id: Uuid) -> Self {
        Self { kind: RunKind::Crawl, id }
    }

    /// The batch with this id.
    #[must_use]
    pub fn batch(id: Uuid) -> Self {
        Self { kind: RunKind::Batch, id }
    }

    /// Where it is read, stopped and watched.
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

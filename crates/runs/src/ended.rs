//! Summary of a run that has no work left, from which its kind explains missing results.

use store::runs::{self, ListedPage, PageState, Progress, Run};
use store::{Conn, StoreError};

/// Run that has no work left, with the first pages that did not become documents.
pub struct Ended<'a> {
    /// Row of the run.
    pub run: &'a Run,
    /// Final progress.
    pub progress: &'a Progress,
    /// First page that failed.
    pub failed: Option<ListedPage>,
    /// First page that robots.txt disallows.
    pub blocked: Option<ListedPage>,
}

impl<'a> Ended<'a> {
    pub(super) async fn read(conn: &mut Conn, run: &'a Run, progress: &'a Progress) -> Result<Self, StoreError> {
        let failed = match progress.failed {
            0 => None,
            _ => first(conn, run, PageState::Failed).await?,
        };
        let blocked = first(conn, run, PageState::Blocked).await?;
        Ok(Self { run, progress, failed, blocked })
    }

    /// Returns why a page failed: the error code, and the message unless the run is private, because nothing about
    /// private pages is stored elsewhere.
    pub fn cause(&self, page: &ListedPage) -> String {
        let code = page.code.as_deref().unwrap_or("UNKNOWN_ERROR");
        match page.error.as_deref().filter(|_| !self.run.private) {
            Some(error) => format!("{code}: {error}"),
            None => code.to_owned(),
        }
    }
}

/// Returns the first page in this state. Ids are in the order of time, and the start of a crawl is its first page.
async fn first(conn: &mut Conn, run: &Run, state: PageState) -> Result<Option<ListedPage>, StoreError> {
    Ok(runs::listed(conn, &run.id, state, "", 1).await?.pop())
}

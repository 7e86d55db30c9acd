//! What is known of a run that has nothing left to do: from this its kind says why it has brought so little.

use store::runs::{self, ListedPage, PageState, Progress, Run};
use store::{Conn, StoreError};

/// A run that has nothing left to do, with the first of its pages that became no document.
pub(crate) struct Ended<'a> {
    pub(crate) run: &'a Run,
    pub(crate) progress: &'a Progress,
    /// The first page that failed.
    pub(crate) failed: Option<ListedPage>,
    /// The first page that robots.txt forbids.
    pub(crate) blocked: Option<ListedPage>,
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

    /// Why a page failed: the code, and the text but for a private run, of whose pages nothing is written elsewhere.
    pub(crate) fn cause(&self, page: &ListedPage) -> String {
        let code = page.code.as_deref().unwrap_or("UNKNOWN_ERROR");
        match page.error.as_deref().filter(|_| !self.run.private) {
            Some(error) => format!("{code}: {error}"),
            None => code.to_owned(),
        }
    }
}

/// Ids are in the order of time, and the start of a crawl is its first page.
async fn first(conn: &mut Conn, run: &Run, state: PageState) -> Result<Option<ListedPage>, StoreError> {
    Ok(runs::listed(conn, &run.id, state, "", 1).await?.pop())
}

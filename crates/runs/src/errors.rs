//! Error list of a run: the pages that became no document.

use std::collections::VecDeque;

use kernel::auth::Caller;
use kernel::{App, AppError};
use store::runs::{self, ListedPage, PageState};
use uuid::Uuid;
use wire::{JobError, JobErrors, without_userinfo};

use super::Kind;
use super::handle::Runs;
use super::read::find;

/// Maximum size of addresses and messages in one answer, in bytes. At least one entry is given.
const MAX_BYTES: usize = 10 * 1024 * 1024;
/// Maximum number of entries in one answer.
const MAX_ENTRIES: usize = 30_000;
/// Number of rows of each state that one query reads.
const STEP: i64 = 200;
/// Approximate size of an entry in bytes, without its address and message.
const ENTRY: usize = 150;

/// One part of a run's error list.
#[derive(Debug, Clone, Default)]
pub struct ErrorList {
    /// Entries of this part.
    pub errors: JobErrors,
    /// Id of the last entry, when more follow.
    pub last: Option<Uuid>,
}

/// Returns failed pages, skipped links to other sites and pages that robots.txt disallows, in the order of discovery,
/// after the entry `after`: about 10 MB of them.
///
/// # Errors
/// The errors of [`super::status`].
#[crate::boxed]
pub async fn errors(
    runs: &Runs,
    caller: &Caller,
    kind: &'static Kind,
    id: Uuid,
    after: Option<Uuid>,
) -> Result<ErrorList, AppError> {
    let app = runs.app();
    let (row, _) = find(app, caller, kind, id).await?;
    let after = after.map(|id| id.to_string()).unwrap_or_default();
    let mut kinds =
        [PageState::Failed, PageState::External, PageState::Blocked].map(|state| Reader::new(state, &after));
    let mut found = ErrorList::default();
    let (mut bytes, mut entries, mut last) = (0, 0, None);
    loop {
        for kind in &mut kinds {
            kind.fill(app, &row.id).await?;
        }
        let heads = kinds.iter_mut().filter(|kind| !kind.rows.is_empty());
        // Ids are in the order of time: the smallest of the three heads is the oldest entry of all.
        let first = heads.min_by(|a, b| a.rows.front().map(|row| &row.id).cmp(&b.rows.front().map(|row| &row.id)));
        let Some((state, listed)) = first.and_then(|kind| Some((kind.state, kind.rows.pop_front()?))) else {
            return Ok(found);
        };
        bytes += ENTRY + listed.url.len() + listed.error.as_ref().map_or(0, String::len);
        entries += 1;
        // The entry just taken out does not fit. The next part reads it again, as its `after` is the entry before it.
        if last.is_some() && (bytes > MAX_BYTES || entries > MAX_ENTRIES) {
            found.last = last;
            return Ok(found);
        }
        last = Some(kernel::uuid(&listed.id)?);
        match state {
            PageState::Blocked => found.errors.robots_blocked.push(without_userinfo(&listed.url)),
            _ => found.errors.errors.push(JobError {
                id: listed.id,
                url: without_userinfo(&listed.url),
                code: listed.code,
                error: listed.error.unwrap_or_default(),
                timestamp: listed.finished_at.unwrap_or(row.created_at),
            }),
        }
    }
}

/// Buffered reader of the entries of one state.
struct Reader {
    state: PageState,
    after: String,
    rows: VecDeque<ListedPage>,
    ended: bool,
}

impl Reader {
    fn new(state: PageState, after: &str) -> Self {
        Self { state, after: after.to_owned(), rows: VecDeque::new(), ended: false }
    }

    async fn fill(&mut self, app: &App, run: &str) -> Result<(), AppError> {
        if self.ended || !self.rows.is_empty() {
            return Ok(());
        }
        let rows = runs::listed(&mut app.conn().await?, run, self.state, &self.after, STEP).await?;
        self.ended = rows.len() < usize::try_from(STEP).unwrap_or(usize::MAX);
        if let Some(last) = rows.last() {
            self.after.clone_from(&last.id);
        }
        self.rows = rows.into();
        Ok(())
    }
}

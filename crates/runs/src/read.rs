//! Status of a run and its documents.

use base::Timestamp;
use kernel::auth::Caller;
use kernel::{App, AppError};
use serde_json::value::RawValue;
use store::runs::{self, Run};
use uuid::Uuid;
use wire::{JobStatus, ResultsQuery};

use super::Kind;
use super::handle::Runs;
use super::stored::{Move, unpack};

/// Default and maximum number of documents in one answer.
const PAGE: u32 = 100;
const MAX_PAGE: u32 = 1000;
/// Maximum size of the documents' JSON in one answer, in bytes (docs/CONTRACT.md, "Reading a job"). At least one
/// document is given.
const CHUNK: i64 = 10_485_760;
/// Number of documents that one query reads.
const STEP: i64 = 25;

/// Status of a run, with some of its documents.
#[derive(Debug, Clone)]
pub struct RunStatus {
    /// State: running, or how it ended.
    pub status: JobStatus,
    /// Number of items done, running and waiting; failed ones are not counted.
    pub total: u64,
    /// Number of documents.
    pub completed: u64,
    /// Credits charged so far.
    pub credits_used: i64,
    /// Time at which it was accepted.
    pub created_at: Timestamp,
    /// Time at which it ended.
    pub completed_at: Option<Timestamp>,
    /// Time at which its results are removed.
    pub expires_at: Timestamp,
    /// Requested documents, as they were stored.
    pub documents: Vec<Box<RawValue>>,
    /// Offset of the next documents; present only when there are more by now.
    pub next_skip: Option<u64>,
    /// Warning for the caller.
    pub warning: Option<String>,
    /// Reason of the failure.
    pub error: Option<String>,
}

/// Returns the state of the run and its documents from `page.skip` on: at most `page.limit`, and about 10 MB of them.
///
/// # Errors
/// [`AppError::NotFound`] for an unknown run, one of another team, and one whose results have expired.
#[crate::boxed]
pub async fn status(
    runs: &Runs,
    caller: &Caller,
    kind: &'static Kind,
    id: Uuid,
    page: ResultsQuery,
) -> Result<RunStatus, AppError> {
    let (row, progress) = find(runs.app(), caller, kind, id).await?;
    let skip = page.skip.unwrap_or(0);
    let most = i64::from(page.limit.unwrap_or(PAGE).min(MAX_PAGE));
    let documents = chunk(runs, caller, &row, i64::try_from(skip).unwrap_or(i64::MAX), most).await?;
    let given = skip.saturating_add(documents.len() as u64);
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    Ok(RunStatus {
        status: status_of(&row),
        total: count((kind.total)(&progress)),
        completed: count(progress.done),
        credits_used: progress.credits,
        created_at: row.created_at,
        completed_at: row.finished_at,
        expires_at: row.expires_at,
        next_skip: (count(progress.done) > given).then_some(given),
        documents,
        warning: row.warning,
        error: row.error,
    })
}

/// Finds a run of the caller's team.
pub(super) async fn find(
    app: &App,
    caller: &Caller,
    kind: &'static Kind,
    id: Uuid,
) -> Result<(Run, runs::Progress), AppError> {
    let now = app.now();
    let found = runs::read(&mut app.conn().await?, &id.to_string()).await?;
    let is_ours =
        |row: &Run| row.team_id == caller.team.id && row.kind == kind.name && (row.is_open() || row.expires_at > now);
    found.filter(|(row, _)| is_ours(row)).ok_or(AppError::NotFound(kind.noun))
}

fn status_of(row: &Run) -> JobStatus {
    match row.status.as_str() {
        runs::COMPLETED => JobStatus::Completed,
        runs::FAILED => JobStatus::Failed,
        runs::CANCELLED => JobStatus::Cancelled,
        _ => JobStatus::Scraping,
    }
}

/// Reads documents up to the size limit. Sizes are queried first, so that only bodies that fit are read.
async fn chunk(
    runs: &Runs,
    caller: &Caller,
    row: &Run,
    mut after: i64,
    most: i64,
) -> Result<Vec<Box<RawValue>>, AppError> {
    let (app, run) = (runs.app(), &row.id);
    let sizes = runs::document_sizes(&mut app.conn().await?, run, after, most).await?;
    let mut sum = 0;
    let fitting = sizes.iter().enumerate().take_while(|(index, (_, bytes))| {
        // Count the comma after it as well.
        sum += bytes + 1;
        sum <= CHUNK || *index == 0
    });
    let mut left = i64::try_from(fitting.count()).unwrap_or(0);
    let mut rows = Vec::new();
    while left > 0 {
        let step = runs::documents(&mut app.conn().await?, run, after, left.min(STEP)).await?;
        let Some(last) = step.last() else { break };
        after = last.seq;
        left -= i64::try_from(step.len()).unwrap_or(left);
        rows.extend(step);
    }
    unpack(runs, rows, Move::of(app, row, caller)).await
}

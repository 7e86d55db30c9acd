//! How a run stands.

use base::Timestamp;
use serde_json::value::RawValue;
use store::runs::{self, Run};
use uuid::Uuid;
use wire::{JobStatus, ResultsQuery};

use super::Kind;
use super::document::{Move, unpack};
use crate::auth::Caller;
use crate::{App, AppError};

/// Documents of one answer when no number is asked for, and at most.
const PAGE: u32 = 100;
const MAX_PAGE: u32 = 1000;
/// JSON of the documents of one answer, in bytes (docs/CONTRACT.md, "Reading a job"). One document is always given.
const CHUNK: i64 = 10_485_760;
/// Documents that are read from the database at a time.
const STEP: i64 = 25;

/// How a run stands, with some of its documents.
#[derive(Debug, Clone)]
pub struct RunStatus {
    /// Whether it is at work or how it ended.
    pub status: JobStatus,
    /// Items done, running and waiting; those that failed are not counted.
    pub total: u64,
    /// Documents there are.
    pub completed: u64,
    /// Credits charged so far.
    pub credits_used: i64,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// When its results are removed.
    pub expires_at: Timestamp,
    /// The documents that were asked for, as they were stored.
    pub documents: Vec<Box<RawValue>>,
    /// How many documents to skip for the next ones; only when there are more by now.
    pub next_skip: Option<u64>,
    /// What the caller should know.
    pub warning: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
}

/// The state of the run and its documents from `page.skip` on: at most `page.limit` and about 10 MB of them.
///
/// # Errors
/// [`AppError::NotFound`] for an unknown run, one of another team, and one whose results have expired.
#[crate::boxed]
pub async fn status(
    app: &App,
    caller: &Caller,
    kind: &'static Kind,
    id: Uuid,
    page: ResultsQuery,
) -> Result<RunStatus, AppError> {
    let (row, progress) = find(app, caller, kind, id).await?;
    let skip = page.skip.unwrap_or(0);
    let most = i64::from(page.limit.unwrap_or(PAGE).min(MAX_PAGE));
    let documents = chunk(app, caller, &row, i64::try_from(skip).unwrap_or(i64::MAX), most).await?;
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

/// The caller's run.
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

/// Sizes first, bodies then: only what fits is read.
async fn chunk(
    app: &App,
    caller: &Caller,
    row: &Run,
    mut after: i64,
    most: i64,
) -> Result<Vec<Box<RawValue>>, AppError> {
    let run = &row.id;
    let sizes = runs::document_sizes(&mut app.conn().await?, run, after, most).await?;
    let mut sum = 0;
    let fitting = sizes.iter().enumerate().take_while(|(index, (_, bytes))| {
        // And the comma after it.
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
    unpack(app, rows, Move::of(app, row, caller)).await
}

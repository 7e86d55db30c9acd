//! Administration of the queues: lists of jobs and dead letters, redriving, and cancelling a crawl or batch of any
//! team.

use ::runs::{PagePayload, Runs, RunsError, cancel_found};
use kernel::{App, AppError};
use queue::Payload as _;
use store::{Conn, StoreError, jobs};
use uuid::Uuid;

use crate::worker::QUEUES;

pub use store::jobs::{Dead, Depth, Listed};

/// Returns the depths of the queues.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn depths(app: &App) -> Result<Vec<Depth>, AppError> {
    Ok(jobs::depths(&mut app.conn().await?, &QUEUES.map(|queue| queue.name)).await?)
}

/// Lists up to `limit` unfinished jobs, of one team or of all, by id after `after`.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn list(app: &App, team: Option<Uuid>, after: Option<&str>, limit: u32) -> Result<Vec<Listed>, AppError> {
    let team = team.map(|id| id.to_string());
    let filter = jobs::Filter { team_id: team.as_deref(), ..jobs::Filter::default() };
    Ok(jobs::list(&mut app.conn().await?, filter, after, limit.into()).await?)
}

/// Lists up to `limit` dead-lettered jobs, by id after `after`.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn dead(app: &App, after: Option<&str>, limit: u32) -> Result<Vec<Dead>, AppError> {
    Ok(jobs::dead(&mut app.conn().await?, after, limit.into()).await?)
}

/// Puts a dead-lettered job back into its queue with all its attempts. Returns `false` when there is none with this id,
/// when another job has taken its place, and for a page that its crawl or batch already counts as failed.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn redrive(app: &App, id: &str) -> Result<bool, AppError> {
    let now = app.now();
    let back = app
        .conn()
        .await?
        .tx(async |conn: &mut Conn| -> Result<_, StoreError> {
            let Some(dead) = jobs::find_dead(conn, id).await? else { return Ok(None) };
            // A page whose failure could not be recorded keeps its crawl open, and must be redriven.
            if dead.kind == PagePayload::KIND && !store::runs::is_queued(conn, id).await? {
                return Ok(None);
            }
            Ok(jobs::redrive(conn, id, now).await?.then_some(dead.queue))
        })
        .await?;
    for queue in QUEUES.into_iter().filter(|queue| back.as_deref() == Some(queue.name)) {
        app.waker().wake(queue);
    }
    Ok(back.is_some())
}

/// Cancels a run of any team, as [`cancel`](::runs::cancel) does for its owner.
///
/// # Errors
/// [`AppError::NotFound`], and [`RunsError::JobFinished`] when the run has already ended.
#[crate::boxed]
pub async fn cancel(runs: &Runs, id: Uuid) -> Result<(), RunsError> {
    let app = runs.app();
    let found = store::runs::find(&mut app.conn().await?, &id.to_string()).await?;
    let row = found.filter(|row| row.is_open() || row.expires_at > app.now());
    let row = row.ok_or(AppError::NotFound("crawl or batch scrape"))?;
    let kind = runs.kind_of(&row.kind).ok_or_else(|| AppError::internal("unknown kind of run"))?;
    cancel_found(runs, kind, row).await
}

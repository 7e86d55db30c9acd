//! End of runs: by their last item, or cancelled by their owner.

use base::Timestamp;
use chrono::TimeDelta;
use kernel::auth::Caller;
use kernel::{App, AppError, tracked};
use store::runs::{self, OF_THE_RUN, Progress, Run};
use store::{Conn, StoreError, jobs, ledger};
use uuid::Uuid;
use webhooks::Event;
use wire::event::{COMPLETED, FAILED};

use super::ended::Ended;
use super::error::RunsError;
use super::handle::Runs;
use super::hook::hook_of;
use super::{Kind, erase, read};
use crate::webhooks::{HOOKS, emit};

/// Maximum number of queued jobs that one transaction removes.
const PIECE: i64 = 1000;
/// Retention of the status of a cancelled private run, whose pages are erased at once.
const ERASED_RETENTION: TimeDelta = TimeDelta::hours(1);

/// Saves the progress of a run, whose progress row is locked, and ends the run when no work is left.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back, including the caller's own writes.
#[crate::boxed]
pub async fn save(
    runs: &Runs,
    conn: &mut Conn,
    kind: &'static Kind,
    progress: &mut Progress,
) -> Result<(), StoreError> {
    let now = runs.app().now();
    if progress.is_over() {
        (kind.drained)(conn, progress, now).await?;
    }
    if progress.is_over() {
        let end = match (kind.verdict)(progress) {
            Ok(()) => End { status: runs::COMPLETED, error: None, retention: kind.retention },
            Err(why) => End { status: runs::FAILED, error: Some(why), retention: kind.retention },
        };
        close(conn, kind, progress, end, now).await?;
    }
    runs::save(conn, progress).await
}

/// Cancels a run of the caller's team: running jobs are dropped unpaid, and the remaining reserved credits are
/// returned. For a private run, pages and documents are erased, even if the run has already ended.
///
/// # Errors
/// [`AppError::NotFound`], and [`RunsError::JobFinished`] when the run has already ended.
#[crate::boxed]
pub async fn cancel(runs: &Runs, caller: &Caller, kind: &'static Kind, id: Uuid) -> Result<(), RunsError> {
    let (row, _) = read::find(runs.app(), caller, kind, id).await?;
    cancel_found(runs, kind, row).await
}

/// Cancels a run as [`cancel`] does, without checking the caller.
///
/// # Errors
/// [`RunsError::JobFinished`] when the run has already ended, [`AppError::Internal`].
#[crate::boxed]
pub async fn cancel_found(runs: &Runs, kind: &'static Kind, row: Run) -> Result<(), RunsError> {
    let app = runs.app();
    let (worker, id) = (app.clone(), row.id.clone());
    let stopped = tracked(app.tracker(), async move {
        if !row.is_open() || !stop(&worker, kind, &row).await? {
            erase::ended(&worker, &row).await?;
            return Ok::<_, AppError>(false);
        }
        clear(&worker, kind, &row.id).await?;
        if row.private {
            erase::stopped(&worker, &row.id).await?;
        }
        Ok(true)
    });
    let stopped = stopped.await?;
    runs.forget(&id);
    runs.changed(&id);
    let queues = (kind.lanes)(&id).into_iter().map(|(queue, _)| queue);
    queues.chain([HOOKS]).for_each(|queue| app.waker().wake(queue));
    if stopped { Ok(()) } else { Err(RunsError::JobFinished) }
}

/// Marks the run as cancelled; returns `false` when it had already ended.
async fn stop(app: &App, kind: &'static Kind, row: &Run) -> Result<bool, AppError> {
    let now = app.now();
    let mut conn = app.conn().await?;
    let stopped: Result<bool, StoreError> = conn
        .tx(async |conn: &mut Conn| {
            // Every transaction locks the team before the run: another order would deadlock.
            for (queue, _) in (kind.lanes)(&row.id) {
                jobs::lock_team(conn, queue.name, &row.team_id).await?;
            }
            let Some(mut progress) = runs::lock(conn, &row.id).await? else { return Ok(false) };
            progress.pending = 0;
            let retention = if row.private { ERASED_RETENTION } else { kind.retention };
            let end = End { status: runs::CANCELLED, error: Some("cancelled by its owner"), retention };
            close(conn, kind, &mut progress, end, now).await?;
            if row.private {
                // Its documents are erased next, so clients must not wait for them.
                progress.done = 0;
            }
            runs::save(conn, &progress).await?;
            Ok(true)
        })
        .await;
    Ok(stopped?)
}

/// Removes the jobs of a cancelled run from the queue, in batches. Running jobs are dropped; a job that is claimed
/// meanwhile finds that its run has ended.
async fn clear(app: &App, kind: &'static Kind, run: &str) -> Result<(), AppError> {
    for (queue, lane) in (kind.lanes)(run) {
        while jobs::trim(&mut app.conn().await?, queue.name, &lane, PIECE).await? > 0 {}
        jobs::cancel(&mut app.conn().await?, queue.name, &lane, app.now()).await?;
    }
    Ok(())
}

/// Outcome of a run.
struct End {
    status: &'static str,
    error: Option<&'static str>,
    /// Retention of the run's results.
    retention: TimeDelta,
}

/// Writes the end of a run: returns the remaining reserved credits and emits the last webhook event.
async fn close(
    conn: &mut Conn,
    kind: &'static Kind,
    progress: &mut Progress,
    end: End,
    now: Timestamp,
) -> Result<(), StoreError> {
    let found = runs::find(conn, &progress.run_id).await?;
    let mut row = found.ok_or_else(|| StoreError::Inconsistent("run_progress without its run".to_owned()))?;
    // Jobs that lock the progress after this transaction find the run ended and change nothing.
    (progress.is_open, progress.preparing) = (false, false);
    row.status = end.status.to_owned();
    row.error = end.error.map(str::to_owned);
    row.finished_at = Some(now);
    row.expires_at = now + end.retention;
    if end.status != runs::CANCELLED {
        explain(conn, kind, &mut row, progress).await?;
    }
    if let Some(key) = progress.reservation.as_ref().filter(|_| kind.owns_reservation)
        && let Some(held) = ledger::reservation(conn, &row.team_id, key).await?
    {
        ledger::void(conn, &held, now).await?;
    }
    runs::close(conn, &row).await?;
    (kind.closed)(conn, &row, progress, now).await?;
    tracing::info!(
        run = row.id,
        kind = kind.name,
        status = end.status,
        done = progress.done,
        failed = progress.failed,
        credits = progress.credits,
        "run ended"
    );
    announce(conn, kind, &row, now).await
}

/// Sets the warning or error that says why the run has no results, or fewer than expected. A warning is set in either
/// case, because one client shows nothing else.
async fn explain(conn: &mut Conn, kind: &'static Kind, row: &mut Run, progress: &Progress) -> Result<(), StoreError> {
    let why = (kind.explain)(&Ended::read(conn, row, progress).await?);
    if why.is_some() {
        row.error = row.error.take().and(why.clone());
        row.warning = why;
    }
    Ok(())
}

/// Emits the last event and deletes the run's secrets, which nothing needs after it.
async fn announce(conn: &mut Conn, kind: &'static Kind, row: &Run, now: Timestamp) -> Result<(), StoreError> {
    let secrets = runs::secret(conn, &row.id, OF_THE_RUN).await?;
    // The event is built from the copy read above.
    runs::forget_secrets(conn, &row.id).await?;
    let Some(hook) = hook_of(kind.events, row, secrets.as_ref()) else { return Ok(()) };
    let word = if row.error.is_some() { FAILED } else { COMPLETED };
    let Some(event) = kind.events.event(word).map(Event::new) else { return Ok(()) };
    let event = match &row.error {
        Some(error) => event.failed().because(error.as_str()),
        None => event,
    };
    emit(conn, &hook, &row.team_id, &row.id, &event, now).await
}

//! Upkeep of monitors: fires whose jobs were lost, checks that make no progress, checks that are kept no longer, and the
//! rows of removed monitors.

use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use store::monitors::{self as rows, Check};
use store::{Conn, StoreError};
use wire::CheckStatus;

use crate::remove::stop;
use crate::{Monitors, MonitorsError, end, fire};

/// Time after which a due monitor without a check has lost the job of its fire.
const LOST_AFTER: TimeDelta = TimeDelta::minutes(2);
/// Time without progress after which a running check fails; waiting for a worker is not running.
const STALE_AFTER: TimeDelta = TimeDelta::hours(1);
/// Time without progress after which checks that only search have failed.
const STALE_SEARCH_AFTER: TimeDelta = TimeDelta::minutes(10);
/// Interval at which the old checks of a monitor are looked for.
const SWEEP_EVERY: TimeDelta = TimeDelta::minutes(10);
/// Number of rows that one transaction handles.
const BATCH: i64 = 100;

/// Queues lost fires and ends stale checks; returns how many.
///
/// # Errors
/// [`MonitorsError`] of the database; the next call continues.
#[crate::boxed]
pub async fn repair(monitors: &Monitors) -> Result<usize, MonitorsError> {
    let now = monitors.app().now();
    let fires = fire::repair(monitors, now - LOST_AFTER, BATCH).await?;
    Ok(fires + end_stale(monitors, now).await?)
}

/// Fails the running checks that have made no progress for a long time.
async fn end_stale(monitors: &Monitors, now: Timestamp) -> Result<usize, MonitorsError> {
    let app = monitors.app();
    let mut ended = 0;
    for check in rows::stale_checks(&mut app.conn().await?, now - STALE_SEARCH_AFTER, BATCH).await? {
        let parts = rows::check_targets(&mut app.conn().await?, &[&check.id]).await?;
        let only_searches = parts.iter().all(|part| part.kind == "search");
        let before = now - if only_searches { STALE_SEARCH_AFTER } else { STALE_AFTER };
        if check.progress_at.is_none_or(|progress| progress >= before) {
            continue;
        }
        let mut conn = app.conn().await?;
        let failed: Result<(), StoreError> =
            conn.tx(async |conn: &mut Conn| fail(conn, &check, before, now).await).await;
        failed?;
        drop(conn);
        // The check has ended, so that its runs change nothing in it any more.
        stop(monitors, &check.id).await?;
        ended += 1;
    }
    Ok(ended)
}

async fn fail(conn: &mut Conn, check: &Check, before: Timestamp, now: Timestamp) -> Result<(), StoreError> {
    let Some(check) = rows::lock_check(conn, &check.id).await? else { return Ok(()) };
    if check.progress_at.is_some_and(|progress| progress >= before) {
        return Ok(());
    }
    tracing::warn!(monitor = check.monitor_id, check = check.id, "a check made no progress; it has failed");
    let error = "the check made no progress for a long time and was given up".to_owned();
    end::finish(conn, check, CheckStatus::Failed, Some(error), now).await
}

/// Removes checks that are kept no longer, and what is left of removed monitors and targets; returns the number of rows.
///
/// # Errors
/// [`MonitorsError`] of the database; the next call continues.
#[crate::boxed]
pub async fn sweep(monitors: &Monitors) -> Result<usize, MonitorsError> {
    let app = monitors.app();
    let (now, mut removed) = (app.now(), 0);
    loop {
        let due = rows::sweep(&mut app.conn().await?, now - SWEEP_EVERY, BATCH).await?;
        for monitor in &due {
            let before = now - TimeDelta::days(monitor.retention_days.into());
            loop {
                let gone = rows::remove_checks(&mut app.conn().await?, &monitor.id, before, BATCH).await?;
                if gone == 0 {
                    break;
                }
                removed += gone;
            }
            rows::set_swept(&mut app.conn().await?, &monitor.id, now).await?;
        }
        if due.len() < usize::try_from(BATCH).unwrap_or(0) {
            break;
        }
    }
    loop {
        let gone = rows::erase(&mut app.conn().await?, BATCH).await?;
        if gone == 0 {
            return Ok(removed);
        }
        removed += gone;
    }
}

/// Figures of the monitors for the operator.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Monitors that are due and whose check has not begun.
    pub due: i64,
    /// Time for which the one that waits longest has been due.
    pub late_by: Duration,
    /// Checks that wait for a worker.
    pub queued: i64,
    /// Checks whose pages are being read.
    pub running: i64,
}

/// Measures the monitors.
///
/// # Errors
/// [`MonitorsError`] of the database.
#[crate::boxed]
pub async fn figures(monitors: &Monitors) -> Result<Figures, MonitorsError> {
    let app = monitors.app();
    let mut conn = app.conn().await?;
    let now = app.now();
    let late = rows::lateness(&mut conn, now).await?;
    let open = rows::open_checks(&mut conn).await?;
    let late_by = late.since.and_then(|since| (now - since).to_std().ok()).unwrap_or_default();
    Ok(Figures { due: late.due, late_by, queued: open.queued, running: open.running })
}

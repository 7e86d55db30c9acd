//! Removal of monitors: nothing fires and nothing can be read from then on; the rows go in the background.

use ::runs::cancel_found;
use kernel::auth::Caller;
use kernel::{AppError, Refusal as _};
use store::monitors as rows;
use uuid::Uuid;

use crate::read::{NOUN, find};
use crate::{Monitors, MonitorsError};

/// Removes a monitor with its checks. What was charged stays charged, and the rest of a running check is given back.
///
/// # Errors
/// [`AppError::NotFound`].
#[crate::boxed]
pub async fn remove(monitors: &Monitors, caller: &Caller, id: Uuid) -> Result<(), MonitorsError> {
    let app = monitors.app();
    let mut conn = app.conn().await?;
    let monitor = find(&mut conn, caller, id).await?;
    if !rows::remove(&mut conn, &caller.team.id, &monitor.id, app.now()).await? {
        return Err(AppError::NotFound(NOUN).into());
    }
    drop(conn);
    match &monitor.current_check_id {
        Some(check) => stop(monitors, check).await,
        None => Ok(()),
    }
}

/// Cancels the runs of a check. The check ends with the last of them.
///
/// # Errors
/// [`AppError`] of the database.
pub(crate) async fn stop(monitors: &Monitors, check: &str) -> Result<(), MonitorsError> {
    let (runs, app) = (monitors.runs(), monitors.app());
    let parts = rows::check_targets(&mut app.conn().await?, &[check]).await?;
    for part in parts.iter().filter(|part| part.is_open) {
        let Some(run) = &part.run_id else { continue };
        let Some(row) = store::runs::find(&mut app.conn().await?, run).await? else { continue };
        let Some(kind) = runs.kind_of(&row.kind) else { continue };
        match cancel_found(runs, kind, row).await {
            Ok(()) | Err(::runs::RunsError::JobFinished) => {}
            Err(error) if error.is_outage() => return Err(AppError::internal(error).into()),
            Err(error) => tracing::warn!(%error, run, "could not cancel a run of a check"),
        }
    }
    Ok(())
}

//! Calls of operators, for the monitors of all teams.

use kernel::AppError;
use store::monitors::{self as rows, Monitor};
use store::{Conn, StoreError};
use uuid::Uuid;
use wire::{MonitorCheck, MonitorView};

use crate::read::{NOUN, shown};
use crate::{Monitors, MonitorsError, call};

/// Monitor with its team.
#[derive(Debug)]
pub struct OfTeam {
    /// Id of the team.
    pub team: String,
    /// Monitor.
    pub monitor: MonitorView,
}

/// Returns monitors of all teams, or of one, in the order of their ids, starting after `after`.
///
/// # Errors
/// [`AppError`] of the database.
#[crate::boxed]
pub async fn list(
    monitors: &Monitors,
    team: Option<Uuid>,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<OfTeam>, MonitorsError> {
    let mut conn = monitors.app().conn().await?;
    let (team, after) = (team.map(|team| team.to_string()), after.map(|after| after.to_string()).unwrap_or_default());
    let found = rows::every(&mut conn, team.as_deref(), &after, limit).await?;
    let views = shown(monitors, &mut conn, &found).await?;
    let teams = found.into_iter().map(|monitor| monitor.team_id);
    Ok(teams.zip(views).map(|(team, monitor)| OfTeam { team, monitor }).collect())
}

/// Pauses a monitor. A running check goes on.
///
/// # Errors
/// [`AppError::NotFound`].
#[crate::boxed]
pub async fn pause(monitors: &Monitors, id: Uuid) -> Result<(), MonitorsError> {
    let (app, id) = (monitors.app(), id.to_string());
    let now = app.now();
    let mut conn = app.conn().await?;
    let paused: Result<bool, StoreError> = conn
        .tx(async |conn: &mut Conn| {
            let Some(found) = rows::lock(conn, &id).await? else { return Ok(false) };
            let status = rows::PAUSED.to_owned();
            let revision = found.revision + 1;
            rows::save(conn, &Monitor { status, next_run_at: None, revision, updated_at: now, ..found }).await?;
            Ok(true)
        })
        .await;
    if paused? { Ok(()) } else { Err(AppError::NotFound(NOUN).into()) }
}

/// Begins a check of a monitor, whatever its team.
///
/// # Errors
/// Those of [`run`](crate::run()).
#[crate::boxed]
pub async fn run(monitors: &Monitors, id: Uuid) -> Result<MonitorCheck, MonitorsError> {
    let app = monitors.app();
    let mut conn = app.conn().await?;
    let found: Result<Option<Monitor>, StoreError> =
        conn.tx(async |conn: &mut Conn| rows::lock(conn, &id.to_string()).await).await;
    drop(conn);
    let monitor = found?.ok_or(AppError::NotFound(NOUN))?;
    call::run_of(monitors, &monitor.team_id, id).await
}

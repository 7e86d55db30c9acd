//! New monitors. Creating one runs nothing: its first check is that of its schedule.

use base::new_id;
use kernel::admit::check_open;
use kernel::auth::Caller;
use kernel::{AppError, tracked};
use store::monitors::{self as rows, Monitor, NewMonitor};
use store::{Conn, StoreError};
use wire::{CreateMonitor, HiddenValues, MonitorView};

use crate::draft::{self, Stored};
use crate::mail::{MAILS, Occasion};
use crate::payload::MONITORS;
use crate::plan::check_targets;
use crate::view::Whole;
use crate::{Monitors, MonitorsError, begin, mail};

/// Creates a monitor.
///
/// # Errors
/// [`AppError::Invalid`] and [`AppError::Unsupported`] with the paths of the faults, [`AppError::Forbidden`] for teams
/// with zero data retention, [`MonitorsError::TooMany`].
#[crate::boxed]
pub async fn create(
    monitors: &Monitors,
    caller: &Caller,
    request: CreateMonitor,
) -> Result<MonitorView, MonitorsError> {
    let app = monitors.app();
    check_open(app)?;
    draft::check_team(caller)?;
    kernel::room::check(app)?;
    let (id, now) = (new_id().to_string(), app.now());
    let schedule = draft::schedule(&request.schedule, &id)?;
    let mut stored = draft::targets(&id, request.targets, Vec::new())?;
    check_targets(monitors, caller, &stored.read).await?;
    let webhook = request.webhook.as_ref().map(|webhook| draft::webhook(webhook, &HiddenValues::new())).transpose()?;
    let (webhook, secret) = webhook.unzip();
    stored.secrets.extend(secret.flatten());
    let notification = request.notification.as_ref().map(serde_json::to_string);
    let row = Monitor {
        id,
        team_id: caller.team.id.clone(),
        api_key_id: caller.key.clone(),
        name: request.name,
        status: rows::ACTIVE.to_owned(),
        cron: schedule.expression().to_owned(),
        timezone: schedule.zone().to_owned(),
        next_run_at: schedule.next(now),
        last_run_at: None,
        current_check_id: None,
        goal: request.goal,
        judge_enabled: request.judge_enabled,
        webhook,
        notification: notification.transpose().map_err(AppError::internal)?,
        retention_days: i32::try_from(request.retention_days).unwrap_or(i32::MAX),
        fires_per_month: 0,
        fires_counted_at: now,
        last_summary: None,
        withdrawals: 0,
        address: caller.address.clone(),
        created_at: now,
        updated_at: now,
        revision: 0,
    };
    let most = most(monitors, caller);
    let (worker, has_mail) = (app.clone(), monitors.mail().is_some());
    let added = tracked(app.tracker(), async move {
        let mut conn = worker.store().conn().await?;
        conn.tx(async |conn: &mut Conn| write(conn, row, stored, most, has_mail).await).await
    });
    let added: Result<Option<Added>, StoreError> = added.await;
    let Added { row, stored, asked } = added?.ok_or(MonitorsError::TooMany { most })?;
    [MONITORS, MAILS].iter().for_each(|queue| app.waker().wake(*queue));
    let mail = mail::view(monitors, &mut app.conn().await?, &row, Some(&asked)).await?;
    let has_model = monitors.model().is_some();
    Ok(Whole { row: &row, targets: &stored.targets, mail, has_model, now }.view()?)
}

/// Returns how many monitors the team may have.
fn most(monitors: &Monitors, caller: &Caller) -> i64 {
    caller.team.max_monitors.map_or_else(|| i64::from(monitors.settings().max_per_team), i64::from)
}

/// Monitor that was added.
struct Added {
    row: Monitor,
    stored: Stored,
    /// Recipients that are asked for confirmation.
    asked: Vec<String>,
}

async fn write(
    conn: &mut Conn,
    row: Monitor,
    stored: Stored,
    most: i64,
    has_mail: bool,
) -> Result<Option<Added>, StoreError> {
    let now = row.created_at;
    let new = NewMonitor { row: &row, targets: &stored.targets, secrets: &stored.secrets };
    if !rows::create(conn, &new, most).await? {
        return Ok(None);
    }
    begin::queue(conn, &row, now).await?;
    let asked = if has_mail { mail::ask(conn, &row, Occasion::Call, now).await? } else { Vec::new() };
    Ok(Some(Added { row, stored, asked }))
}

//! Reading of monitors, checks and their pages.

use base::Timestamp;
use chrono::TimeDelta;
use kernel::AppError;
use kernel::auth::Caller;
use store::Conn;
use store::mails;
use store::monitors::{self as rows, ChecksWanted, Monitor, PagesWanted, Target};
use uuid::Uuid;
use wire::{CheckQuery, ChecksQuery, MonitorCheck, MonitorPage, MonitorView, MonitorsQuery};

use crate::view::{self, Whole};
use crate::{Monitors, MonitorsError, mail};

/// Noun for errors.
pub(crate) const NOUN: &str = "monitor";
/// Maximum size of the contents of an answer, in bytes.
const MAX_BYTES: i64 = 10 << 20;

/// Part of the pages of a check.
#[derive(Debug)]
pub struct CheckPart {
    /// Check.
    pub check: MonitorCheck,
    /// Pages.
    pub pages: Vec<MonitorPage>,
    /// Number of pages to skip for the next part; `None` if this is the last one.
    pub next_skip: Option<u64>,
}

/// Returns monitors of the caller's team, newest first.
///
/// # Errors
/// [`AppError`] of the database.
#[crate::boxed]
pub async fn list(
    monitors: &Monitors,
    caller: &Caller,
    query: &MonitorsQuery,
) -> Result<Vec<MonitorView>, MonitorsError> {
    let mut conn = monitors.app().conn().await?;
    let (skip, limit) = (whole(query.offset), i64::from(query.limit));
    let found = rows::list(&mut conn, &caller.team.id, skip, limit).await?;
    shown(monitors, &mut conn, &found).await
}

/// Returns a monitor of the caller's team.
///
/// # Errors
/// [`AppError::NotFound`].
#[crate::boxed]
pub async fn read(monitors: &Monitors, caller: &Caller, id: Uuid) -> Result<MonitorView, MonitorsError> {
    let mut conn = monitors.app().conn().await?;
    let found = find(&mut conn, caller, id).await?;
    let shown = shown(monitors, &mut conn, &[found]).await?.pop();
    shown.ok_or_else(|| AppError::NotFound(NOUN).into())
}

/// Returns monitors as answers show them.
pub(crate) async fn shown(
    monitors: &Monitors,
    conn: &mut Conn,
    found: &[Monitor],
) -> Result<Vec<MonitorView>, MonitorsError> {
    let ids: Vec<&str> = found.iter().map(|monitor| monitor.id.as_str()).collect();
    let targets = rows::targets(conn, &ids).await?;
    let (has_model, now) = (monitors.model().is_some(), monitors.app().now());
    let mut views = Vec::with_capacity(found.len());
    for row in found {
        let targets: Vec<Target> = targets.iter().filter(|target| target.monitor_id == row.id).cloned().collect();
        let mail = mail::view(monitors, conn, row, None).await?;
        views.push(Whole { row, targets: &targets, mail, has_model, now }.view()?);
    }
    Ok(views)
}

/// Returns a monitor of the caller's team.
///
/// # Errors
/// [`AppError::NotFound`].
pub(crate) async fn find(conn: &mut Conn, caller: &Caller, id: Uuid) -> Result<Monitor, MonitorsError> {
    let found = rows::find(conn, &caller.team.id, &id.to_string()).await?;
    found.ok_or_else(|| AppError::NotFound(NOUN).into())
}

/// Returns checks of a monitor, newest first.
///
/// # Errors
/// [`AppError::NotFound`].
#[crate::boxed]
pub async fn checks(
    monitors: &Monitors,
    caller: &Caller,
    id: Uuid,
    query: &ChecksQuery,
) -> Result<Vec<MonitorCheck>, MonitorsError> {
    let mut conn = monitors.app().conn().await?;
    let monitor = find(&mut conn, caller, id).await?;
    let wanted = ChecksWanted {
        status: query.status.map(wire::CheckStatus::as_str),
        skip: whole(query.skip),
        limit: i64::from(query.limit),
        since: since(&monitor, monitors.app().now()),
    };
    let found = rows::checks(&mut conn, &monitor.id, &wanted).await?;
    let ids: Vec<&str> = found.iter().map(|check| check.id.as_str()).collect();
    let parts = rows::check_targets(&mut conn, &ids).await?;
    let mails = mails::of_checks(&mut conn, &ids).await?;
    Ok(found.iter().map(|check| view::check(check, &parts, &mails)).collect::<Result<_, AppError>>()?)
}

/// Returns a check with some of its pages.
///
/// # Errors
/// [`AppError::NotFound`].
#[crate::boxed]
pub async fn check(
    monitors: &Monitors,
    caller: &Caller,
    id: Uuid,
    check: Uuid,
    query: &CheckQuery,
) -> Result<CheckPart, MonitorsError> {
    let mut conn = monitors.app().conn().await?;
    let monitor = find(&mut conn, caller, id).await?;
    let found = rows::check(&mut conn, &monitor.id, &check.to_string()).await?;
    let since = since(&monitor, monitors.app().now());
    let found = found.filter(|check| check.finished_at.is_none_or(|finished| finished >= since));
    let row = found.ok_or(AppError::NotFound("check"))?;
    let parts = rows::check_targets(&mut conn, &[&row.id]).await?;
    let mails = mails::of_checks(&mut conn, &[&row.id]).await?;
    // One more page tells whether there are further ones.
    let limit = i64::from(query.limit);
    let wanted = PagesWanted {
        status: query.status.map(wire::CheckPageStatus::as_str),
        skip: whole(query.skip),
        limit: limit + 1,
    };
    let mut pages = rows::pages(&mut conn, &row.id, &wanted).await?;
    let found = pages.len();
    pages.truncate(usize::try_from(limit).unwrap_or(0));
    let mut bytes = 0;
    let within = |page: &&rows::Page| {
        bytes += page.bytes;
        bytes <= MAX_BYTES
    };
    let fits = pages.iter().take_while(within).count().max(1);
    pages.truncate(fits);
    let ids: Vec<&str> = pages.iter().map(|page| page.id.as_str()).collect();
    let contents = rows::contents(&mut conn, &ids).await?;
    let shown = pages.iter().map(|page| view::page(page, contents.get(&page.id)));
    let shown = shown.collect::<Result<Vec<_>, AppError>>()?;
    let count = u64::try_from(shown.len()).unwrap_or(0);
    let next_skip = (found > shown.len()).then(|| query.skip + count);
    Ok(CheckPart { check: view::check(&row, &parts, &mails)?, pages: shown, next_skip })
}

/// Returns the time since which the checks of a monitor are kept.
pub(crate) fn since(monitor: &Monitor, now: Timestamp) -> Timestamp {
    now - TimeDelta::days(monitor.retention_days.into())
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

//! Removal of monitors and targets in bounded steps, so that long histories do not block other writers.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::{DELETED, tag};
use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::{monitor, monitor_check, monitor_page, monitor_secret, monitor_series, monitor_target};
use crate::versions;

/// Marks a monitor of the team as deleted, which stops its schedule and hides it; says whether the team had it. Its
/// secrets are removed at once, everything else by [`erase`]. The caller cancels the runs of its current check, in a
/// transaction of their own.
///
/// # Errors
/// Those of the database; nothing was changed then.
#[crate::boxed]
pub async fn remove(conn: &mut Conn, team: &str, id: &str, now: Timestamp) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        let found = monitor::table.find(id).filter(monitor::team_id.eq(team)).filter(monitor::status.ne(DELETED));
        let set = (
            monitor::status.eq(DELETED),
            monitor::next_run_at.eq(None::<DbTime>),
            monitor::webhook.eq(None::<&str>),
            monitor::updated_at.eq(DbTime::from(now)),
        );
        if on!(conn, |c| diesel::update(found).set(set).execute(c).await)? == 0 {
            return Ok(false);
        }
        let secrets = diesel::delete(monitor_secret::table.filter(monitor_secret::monitor_id.eq(id)));
        on!(conn, |c| secrets.execute(c).await)?;
        Ok(true)
    })
    .await
}

/// Removes up to about `limit` rows of monitors that are deleted and of targets that are removed, with the bodies that
/// nothing else uses. Returns the number of removed rows; zero means that none is left.
///
/// # Errors
/// Those of the database; the step was not taken then.
#[crate::boxed]
pub async fn erase(conn: &mut Conn, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let target = monitor_target::table
            .inner_join(monitor::table.on(monitor::id.eq(monitor_target::monitor_id)))
            .filter(monitor_target::removed.eq(true))
            .order(monitor_target::id)
            .limit(1)
            .select((monitor_target::id, monitor::team_id));
        let target: Option<(String, String)> = on!(conn, |c| target.get_result(c).await.optional())?;
        if let Some((target, team)) = target {
            return erase_target(conn, &team, &target, limit).await;
        }
        let deleted = monitor::table.filter(monitor::status.eq(DELETED)).order(monitor::id).limit(1);
        let deleted: Option<String> = on!(conn, |c| deleted.select(monitor::id).get_result(c).await.optional())?;
        match deleted {
            Some(id) => erase_monitor(conn, &id, limit).await,
            None => Ok(0),
        }
    })
    .await
}

/// Removes what a target knows, and then the target.
async fn erase_target(conn: &mut Conn, team: &str, target: &str, limit: i64) -> Result<usize> {
    let of_target = || monitor_series::table.filter(monitor_series::target_id.eq(target));
    let keys = of_target().order(monitor_series::key).limit(limit).select(monitor_series::key);
    let keys: Vec<String> = on!(conn, |c| keys.load(c).await)?;
    if keys.is_empty() {
        return Ok(on!(conn, |c| diesel::delete(monitor_target::table.find(target)).execute(c).await)?);
    }
    versions::remove(conn, team, &tag(target), &keys).await?;
    let gone = diesel::delete(of_target().filter(monitor_series::key.eq_any(&keys)));
    Ok(on!(conn, |c| gone.execute(c).await)?)
}

/// Removes a step of a deleted monitor: its targets are marked as removed, its checks go, and at last its row.
async fn erase_monitor(conn: &mut Conn, id: &str, limit: i64) -> Result<usize> {
    let targets = monitor_target::table.filter(monitor_target::monitor_id.eq(id));
    let mark = diesel::update(targets).set(monitor_target::removed.eq(true));
    let marked = on!(conn, |c| mark.execute(c).await)?;
    if marked > 0 {
        return Ok(marked);
    }
    let checks = monitor_check::table.filter(monitor_check::monitor_id.eq(id)).limit(limit).select(monitor_check::id);
    let checks: Vec<String> = on!(conn, |c| checks.load(c).await)?;
    let pages = monitor_page::table.filter(monitor_page::check_id.eq_any(&checks)).limit(limit);
    let pages: Vec<String> = on!(conn, |c| pages.select(monitor_page::id).load(c).await)?;
    if !pages.is_empty() {
        let gone = diesel::delete(monitor_page::table.filter(monitor_page::id.eq_any(pages)));
        return Ok(on!(conn, |c| gone.execute(c).await)?);
    }
    if !checks.is_empty() {
        let gone = diesel::delete(monitor_check::table.filter(monitor_check::id.eq_any(checks)));
        return Ok(on!(conn, |c| gone.execute(c).await)?);
    }
    Ok(on!(conn, |c| diesel::delete(monitor::table.find(id)).execute(c).await)?)
}

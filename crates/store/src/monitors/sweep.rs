//! Retention: checks are kept for the days of their monitor. What targets know of their pages stays.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::{monitor, monitor_check, monitor_page};

/// Monitor whose old checks are to be removed.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = monitor)]
pub struct Swept {
    /// Id of the monitor.
    pub id: String,
    /// Days that its checks are kept.
    pub retention_days: i32,
}

/// Returns up to `limit` monitors whose old checks were last removed before `before`.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn sweep(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<Vec<Swept>> {
    let query = monitor::table
        .filter(monitor::swept_at.lt(DbTime::from(before)))
        .filter(monitor::status.ne(super::DELETED))
        .order(monitor::swept_at)
        .limit(limit);
    Ok(on!(conn, |c| query.select(Swept::as_select()).load(c).await)?)
}

/// Notes that the old checks of a monitor are removed.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn set_swept(conn: &mut Conn, id: &str, now: Timestamp) -> Result<()> {
    let mut conn = conn.turn().await?;
    let query = diesel::update(monitor::table.find(id)).set(monitor::swept_at.eq(DbTime::from(now)));
    on!(conn, |c| query.execute(c).await)?;
    Ok(())
}

/// Removes checks of a monitor that ended before `before`, with their pages: up to `limit` pages, or, where they have none,
/// up to `limit` checks. Returns the number of removed rows; zero means that none is left.
///
/// # Errors
/// Those of the database; nothing was removed then.
#[crate::boxed]
pub async fn remove_checks(conn: &mut Conn, monitor: &str, before: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let checks = monitor_check::table
            .filter(monitor_check::monitor_id.eq(monitor))
            .filter(monitor_check::finished_at.lt(DbTime::from(before)).assume_not_null())
            .order(monitor_check::created_at)
            .limit(limit)
            .select(monitor_check::id);
        let checks: Vec<String> = on!(conn, |c| checks.load(c).await)?;
        let pages = monitor_page::table.filter(monitor_page::check_id.eq_any(&checks)).limit(limit);
        let pages: Vec<String> = on!(conn, |c| pages.select(monitor_page::id).load(c).await)?;
        if !pages.is_empty() {
            let gone = diesel::delete(monitor_page::table.filter(monitor_page::id.eq_any(pages)));
            return Ok(on!(conn, |c| gone.execute(c).await)?);
        }
        let gone = diesel::delete(monitor_check::table.filter(monitor_check::id.eq_any(checks)));
        Ok(on!(conn, |c| gone.execute(c).await)?)
    })
    .await
}

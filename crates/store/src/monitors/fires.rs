//! Fires: the moments at which the schedules of monitors are due.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::{ACTIVE, Monitor};
use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::monitor;

/// Monitors whose fires are late.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Late {
    /// Number of monitors that are due.
    pub due: i64,
    /// Time of the fire that has waited longest.
    pub since: Option<Timestamp>,
}

/// Locks and returns a monitor whose next fire is that of `fire`; `None` when another server was faster, or when the
/// monitor was paused, changed or removed since. The caller moves its next fire on with [`save`](super::save), in the
/// same transaction, so a fire is claimed once.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn claim(conn: &mut Conn, id: &str, fire: Timestamp) -> Result<Option<Monitor>> {
    let found = super::lock(conn, id).await?;
    // The database keeps microseconds.
    let fire = Timestamp::from(DbTime::from(fire));
    Ok(found.filter(|monitor| monitor.status == ACTIVE && monitor.next_run_at == Some(fire)))
}

/// Returns id and next fire of up to `limit` monitors that are due at `now`, longest waiting first.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn due(conn: &mut Conn, now: Timestamp, limit: i64) -> Result<Vec<Monitor>> {
    let query = monitor::table
        .filter(monitor::next_run_at.le(DbTime::from(now)).assume_not_null())
        .filter(monitor::status.eq(ACTIVE))
        .order(monitor::next_run_at)
        .limit(limit);
    Ok(on!(conn, |c| query.select(Monitor::as_select()).load(c).await)?)
}

/// Returns how many monitors are due at `now`, and since when.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn lateness(conn: &mut Conn, now: Timestamp) -> Result<Late> {
    let due = || {
        let is_due = monitor::next_run_at.le(DbTime::from(now)).assume_not_null();
        monitor::table.filter(is_due).filter(monitor::status.eq(ACTIVE))
    };
    let count: i64 = on!(conn, |c| due().count().get_result(c).await)?;
    let first = due().select(diesel::dsl::min(monitor::next_run_at));
    let first: Option<DbTime> = on!(conn, |c| first.get_result(c).await)?;
    Ok(Late { due: count, since: first.map(Timestamp::from) })
}

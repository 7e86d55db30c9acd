//! Last runs of periodic tasks, of all processes.

use base::Timestamp;
use diesel::prelude::*;
use diesel::upsert::excluded;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::periodic_task;

/// Last run of a periodic task.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = periodic_task, treat_none_as_default_value = false)]
pub struct TaskRun {
    /// Name of the task, which is also that of its lease.
    pub name: String,
    /// Time of the start.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub started_at: Timestamp,
    /// Duration, in milliseconds.
    pub duration_ms: i64,
    /// Result, as a word.
    pub status: String,
    /// Details of the result, as a JSON object.
    pub details: String,
    /// Error, if it failed.
    pub error: Option<String>,
    /// Time of the next run.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub next_at: Timestamp,
}

/// Stores a run in place of the previous one of its task.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the previous run is unchanged then.
#[crate::boxed]
pub async fn keep(conn: &mut Conn, run: TaskRun) -> Result<()> {
    let newer = (
        periodic_task::started_at.eq(excluded(periodic_task::started_at)),
        periodic_task::duration_ms.eq(excluded(periodic_task::duration_ms)),
        periodic_task::status.eq(excluded(periodic_task::status)),
        periodic_task::details.eq(excluded(periodic_task::details)),
        periodic_task::error.eq(excluded(periodic_task::error)),
        periodic_task::next_at.eq(excluded(periodic_task::next_at)),
    );
    let mut conn = conn.turn().await?;
    on!(conn, |c| {
        diesel::insert_into(periodic_task::table)
            .values(run)
            .on_conflict(periodic_task::name)
            .do_update()
            .set(newer)
            .execute(c)
            .await
    })?;
    Ok(())
}

/// Returns the last run of every task that has ever run, by name.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn all(conn: &mut Conn) -> Result<Vec<TaskRun>> {
    let query = periodic_task::table.order(periodic_task::name);
    Ok(on!(conn, |c| query.select(TaskRun::as_select()).load(c).await)?)
}

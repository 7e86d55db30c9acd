//! The row of a team in a queue.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::job_team;

/// Locks the row that guards a team's jobs, for transactions that lock other rows before they
/// [`enqueue`](super::enqueue): the lock order begins with the team. A team without jobs has no row and needs no lock.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn lock_team(conn: &mut Conn, queue: &str, team: &str) -> Result<()> {
    let row = job_team::table.find((queue, team)).select(job_team::team_id);
    let _: Option<String> = on!(
        conn,
        pg | c | row.for_update().get_result(c).await.optional(),
        // The transaction began with BEGIN IMMEDIATE, so it is the only writer.
        sqlite | c | row.get_result(c).await.optional()
    )?;
    Ok(())
}

/// Returns the number of running jobs of a team in a queue.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn running(conn: &mut Conn, queue: &str, team: &str) -> Result<i64> {
    let row = job_team::table.find((queue, team)).select(job_team::running);
    let running: Option<i32> = on!(conn, |c| row.get_result(c).await.optional())?;
    Ok(running.unwrap_or(0).into())
}

//! Inspecting the queue without changing it, and sweeping lanes that are empty.

use std::collections::HashMap;

use base::Timestamp;
use diesel::dsl::{count_star, exists, min, not};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::{job, job_lane, job_team};

/// How full a queue is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Depth {
    /// Its name.
    pub queue: String,
    /// Jobs that wait, those for later included.
    pub ready: i64,
    /// Jobs that run.
    pub running: i64,
    /// When the job was due that waits longest.
    pub oldest: Option<Timestamp>,
}

/// Which jobs to [`list`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Of this queue only.
    pub queue: Option<&'a str>,
    /// Of this team only.
    pub team_id: Option<&'a str>,
    /// Of this lane only.
    pub lane: Option<&'a str>,
}

/// A job that is not done.
#[derive(Debug, Clone, PartialEq, Eq, Queryable)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// The name of its queue.
    pub queue: String,
    /// Its kind.
    pub kind: String,
    /// Whose it is.
    pub team_id: String,
    /// Where it stands.
    pub lane: String,
    /// See [`crate::jobs::NewJob::phase`].
    pub phase: i32,
    /// Whether a worker has it.
    pub is_running: bool,
    /// Not before this.
    #[diesel(deserialize_as = DbTime)]
    pub run_at: Timestamp,
    /// How often it was started.
    pub attempt: i32,
    /// The host it asks.
    pub host: Option<String>,
    /// What went wrong the last time.
    pub last_error: Option<String>,
    /// When it was added.
    #[diesel(deserialize_as = DbTime)]
    pub created_at: Timestamp,
}

/// How full each of these queues is. Counts rows: for a look now and then.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn depths(conn: &mut Conn, queues: &[&str]) -> Result<Vec<Depth>> {
    let mut depths = Vec::with_capacity(queues.len());
    for queue in queues {
        let lanes = job_lane::table.filter(job_lane::queue.eq(queue)).select(job_lane::number);
        // By state, as the indexes are.
        let of_queue = || job::table.filter(job::lane.eq_any(lanes));
        let ready = of_queue().filter(job::token.is_null()).select((count_star(), min(job::run_at)));
        let (ready, oldest): (i64, Option<DbTime>) = on!(conn, |c| ready.get_result(c).await)?;
        let running = of_queue().filter(job::token.is_not_null()).select(count_star());
        let running: i64 = on!(conn, |c| running.get_result(c).await)?;
        depths.push(Depth { queue: (*queue).to_owned(), ready, running, oldest: oldest.map(Timestamp::from) });
    }
    Ok(depths)
}

/// Up to `limit` jobs in the order of their ids, beginning after `after`.
///
/// # Errors
/// Those of the database.
pub async fn list(conn: &mut Conn, filter: Filter<'_>, after: Option<&str>, limit: i64) -> Result<Vec<Listed>> {
    let columns = (
        job::id,
        job_lane::queue,
        job::kind,
        job_lane::team_id,
        job_lane::lane,
        job::phase,
        job::token.is_not_null(),
        job::run_at,
        job::attempt,
        job::host,
        job::last_error,
        job::created_at,
    );
    Ok(on!(conn, |c| {
        let all = job::table.inner_join(job_lane::table.on(job_lane::number.eq(job::lane)));
        let mut page = all.filter(job::id.gt(after.unwrap_or_default())).into_boxed();
        if let Some(queue) = filter.queue {
            page = page.filter(job_lane::queue.eq(queue));
        }
        if let Some(team) = filter.team_id {
            page = page.filter(job_lane::team_id.eq(team));
        }
        if let Some(lane) = filter.lane {
            page = page.filter(job_lane::lane.eq(lane));
        }
        page.order(job::id).limit(limit).select(columns).load(c).await
    })?)
}

/// When there may be something to claim next, by the name of the queue; a queue is missing when that takes a change first.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn next_due(conn: &mut Conn) -> Result<HashMap<String, Timestamp>> {
    // One statement for all queues: a process with many of them that have nothing to do asks no more often than with one.
    let query = job_team::table
        .filter(job_team::due_at.is_not_null())
        .filter(job_team::running.lt(job_team::cap))
        .group_by(job_team::queue)
        .select((job_team::queue, min(job_team::due_at)));
    let next: Vec<(String, Option<DbTime>)> = on!(conn, |c| query.load(c).await)?;
    Ok(next.into_iter().filter_map(|(queue, due)| Some((queue, due?.into()))).collect())
}

/// Removes the rows of up to `limit` lanes without jobs, and says how many.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn sweep_lanes(conn: &mut Conn, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let jobs = job::table.filter(job::lane.eq(job_lane::number)).filter(job::token.is_null());
        let empty = || job_lane::due_at.is_null().and(job_lane::running.eq(0));
        let found = job_lane::table
            .filter(empty())
            .filter(not(exists(jobs)))
            .limit(limit)
            .select((job_lane::queue, job_lane::lane));
        let found: Vec<(String, String)> = on!(conn, |c| found.load(c).await)?;
        let mut swept = 0;
        for (queue, lane) in &found {
            // With the condition again: an enqueue that came between has made it due.
            let query = diesel::delete(job_lane::table.find((queue, lane)).filter(empty()));
            swept += on!(conn, |c| query.execute(c).await)?;
        }
        Ok(swept)
    })
    .await
}

//! Read-only views of the queue, and the sweep of empty lanes.

use std::collections::HashMap;

use base::Timestamp;
use diesel::dsl::{count_star, exists, min, not};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::{job, job_lane, job_team};

/// Depth of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Depth {
    /// Name of the queue.
    pub queue: String,
    /// Number of ready jobs, including those whose time has not come.
    pub ready: i64,
    /// Number of running jobs.
    pub running: i64,
    /// Due time of the ready job that was due first.
    pub oldest: Option<Timestamp>,
}

/// Filter of [`list`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Only jobs of this queue.
    pub queue: Option<&'a str>,
    /// Only jobs of this team.
    pub team_id: Option<&'a str>,
    /// Only jobs of this lane.
    pub lane: Option<&'a str>,
}

/// Job that is not done, ready or running.
#[derive(Debug, Clone, PartialEq, Eq, Queryable)]
pub struct Listed {
    /// Id of the job.
    pub id: String,
    /// Name of its queue.
    pub queue: String,
    /// Kind of the job.
    pub kind: String,
    /// Id of its team.
    pub team_id: String,
    /// Id of its lane.
    pub lane: String,
    /// Phase of the job; see [`crate::jobs::NewJob::phase`].
    pub phase: i32,
    /// Whether a worker holds it.
    pub is_running: bool,
    /// Earliest start.
    #[diesel(deserialize_as = DbTime)]
    pub run_at: Timestamp,
    /// Number of started attempts.
    pub attempt: i32,
    /// Host that it sends requests to.
    pub host: Option<String>,
    /// Error of the last failed attempt.
    pub last_error: Option<String>,
    /// Time at which it was enqueued.
    #[diesel(deserialize_as = DbTime)]
    pub created_at: Timestamp,
}

/// Returns the depth of each of these queues. Counts rows, so it is too slow for frequent use.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn depths(conn: &mut Conn, queues: &[&str]) -> Result<Vec<Depth>> {
    let mut depths = Vec::with_capacity(queues.len());
    for queue in queues {
        let lanes = job_lane::table.filter(job_lane::queue.eq(queue)).select(job_lane::number);
        // By state, to use the partial indexes.
        let of_queue = || job::table.filter(job::lane.eq_any(lanes));
        let ready = of_queue().filter(job::token.is_null()).select((count_star(), min(job::run_at)));
        let (ready, oldest): (i64, Option<DbTime>) = on!(conn, |c| ready.get_result(c).await)?;
        let running = of_queue().filter(job::token.is_not_null()).select(count_star());
        let running: i64 = on!(conn, |c| running.get_result(c).await)?;
        depths.push(Depth { queue: (*queue).to_owned(), ready, running, oldest: oldest.map(Timestamp::from) });
    }
    Ok(depths)
}

/// Returns up to `limit` jobs in the order of their ids, starting after `after`.
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

/// Returns the time at which each queue may next have a job to claim, by name; a queue is missing if only a change can
/// make it due.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn next_due(conn: &mut Conn) -> Result<HashMap<String, Timestamp>> {
    // One statement for all queues, so that a process with many idle queues polls no more often than with one.
    let query = job_team::table
        .filter(job_team::due_at.is_not_null())
        .filter(job_team::running.lt(job_team::cap))
        .group_by(job_team::queue)
        .select((job_team::queue, min(job_team::due_at)));
    let next: Vec<(String, Option<DbTime>)> = on!(conn, |c| query.load(c).await)?;
    Ok(next.into_iter().filter_map(|(queue, due)| Some((queue, due?.into()))).collect())
}

/// Removes the rows of up to `limit` lanes without jobs and returns their number.
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
            // With the condition again: an enqueue in between has made the lane due.
            let query = diesel::delete(job_lane::table.find((queue, lane)).filter(empty()));
            swept += on!(conn, |c| query.execute(c).await)?;
        }
        Ok(swept)
    })
    .await
}

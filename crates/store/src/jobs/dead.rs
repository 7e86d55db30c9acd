//! Dead letters: jobs whose last attempt failed, or that can never succeed.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::jobs::{Lane, enqueue, from_millis};
use crate::schema::{dead_job, job_team};

/// Dead letter.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = dead_job)]
pub struct Dead {
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
    /// Number of attempts.
    pub attempt: i32,
    /// Payload, as JSON text.
    pub payload: String,
    /// Error of the last attempt.
    pub error: String,
    /// Time at which it was enqueued.
    #[diesel(deserialize_as = DbTime)]
    pub created_at: Timestamp,
    /// Time at which it was dead-lettered.
    #[diesel(deserialize_as = DbTime)]
    pub died_at: Timestamp,
}

/// Returns up to `limit` dead letters in the order of their ids, starting after `after`.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn dead(conn: &mut Conn, after: Option<&str>, limit: i64) -> Result<Vec<Dead>> {
    let page = dead_job::table.filter(dead_job::id.gt(after.unwrap_or_default())).order(dead_job::id).limit(limit);
    Ok(on!(conn, |c| page.select(Dead::as_select()).load(c).await)?)
}

/// Returns one dead letter.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn find_dead(conn: &mut Conn, id: &str) -> Result<Option<Dead>> {
    let found = dead_job::table.find(id);
    Ok(on!(conn, |c| found.select(Dead::as_select()).get_result(c).await.optional())?)
}

/// Puts a dead letter back in the queue with all its attempts; says whether that happened. It stays dead while another
/// job has its unique key.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn redrive(conn: &mut Conn, id: &str, now: Timestamp) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        let query = dead_job::table.find(id);
        let row: Option<DeadRow> = on!(conn, |c| query.select(DeadRow::as_select()).get_result(c).await.optional())?;
        let Some(row) = row else { return Ok(false) };
        // The lane may have been swept: it is recreated with its old limits. The team keeps its present cap.
        let team = job_team::table.find((&row.queue, &row.team_id)).select(job_team::cap);
        let team_cap: Option<i32> = on!(conn, |c| team.get_result(c).await.optional())?;
        let lane = Lane {
            queue: &row.queue,
            id: &row.lane,
            team_id: &row.team_id,
            cap: row.cap,
            team_cap: team_cap.unwrap_or(row.cap),
            delay: from_millis(row.delay_ms).unwrap_or_default(),
        };
        // Deleted only after the insert: if the unique key is taken, the dead letter stays.
        if enqueue::insert(conn, &lane, &[row.job(now)], now).await? == 0 {
            return Ok(false);
        }
        on!(conn, |c| diesel::delete(dead_job::table.find(id)).execute(c).await)?;
        Ok(true)
    })
    .await
}

/// Removes up to `limit` dead letters from before `before` and returns their number.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn forget_dead(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let old = dead_job::table.filter(dead_job::died_at.lt(DbTime::from(before))).limit(limit).select(dead_job::id);
        let ids: Vec<String> = on!(conn, |c| old.load(c).await)?;
        Ok(on!(conn, |c| diesel::delete(dead_job::table.filter(dead_job::id.eq_any(&ids))).execute(c).await)?)
    })
    .await
}

/// Removes one dead letter; succeeds if there is none.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn forget_one(conn: &mut Conn, id: &str) -> Result<()> {
    on!(conn, |c| diesel::delete(dead_job::table.find(id)).execute(c).await)?;
    Ok(())
}

/// Columns that [`redrive`] needs.
#[derive(Queryable, Selectable)]
#[diesel(table_name = dead_job)]
struct DeadRow {
    id: String,
    queue: String,
    kind: String,
    team_id: String,
    lane: String,
    cap: i32,
    delay_ms: i64,
    phase: i32,
    priority: i32,
    max_attempts: i32,
    host: Option<String>,
    payload: String,
    unique_key: Option<String>,
}

impl DeadRow {
    fn job(&self, now: Timestamp) -> enqueue::Row<'_> {
        enqueue::Row {
            id: &self.id,
            kind: &self.kind,
            phase: self.phase,
            priority: self.priority,
            run_at: now,
            max_attempts: self.max_attempts,
            host: self.host.as_deref(),
            payload: &self.payload,
            unique_key: self.unique_key.as_deref(),
        }
    }
}

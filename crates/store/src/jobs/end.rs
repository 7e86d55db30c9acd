//! The ways a job stops running. Each does nothing, and says so, for a job whose lease was lost.

use std::collections::HashSet;

use base::Timestamp;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Text, Timestamp as SqlTimestamp};
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::jobs::release::{self, Freed};
use crate::jobs::{Claim, Held, More, claim};
use crate::schema::{job, job_lane};
use crate::sql::Sql;

/// How a job comes back.
#[derive(Debug, Clone, Copy)]
pub struct Retry<'a> {
    /// Not before this.
    pub run_at: Timestamp,
    /// Why.
    pub error: &'a str,
    /// Whether the attempt counts.
    pub counted: bool,
}

/// Removes jobs that are done, and gives the ids of those that were still ours. Only what these did may be written, in the
/// same transaction.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn finish(conn: &mut Conn, held: &[Held<'_>], now: Timestamp) -> Result<HashSet<String>> {
    if held.is_empty() {
        return Ok(HashSet::new());
    }
    conn.atomic(async |conn: &mut Conn| {
        // Teams, lanes and jobs in one statement; only what had a host costs two more.
        let finishing = Finishing::begin(conn, held, now).await?;
        let ours = finishing.ours();
        finishing.end(conn, None).await?;
        Ok(ours)
    })
    .await
}

/// [`finish`] in two parts, for a transaction that writes down in between what the jobs did.
#[derive(Debug)]
#[must_use = "before its end the hosts of the jobs think that they run"]
pub struct Finishing<'a> {
    held: &'a [Held<'a>],
    freed: Vec<Freed>,
    now: Timestamp,
}

impl<'a> Finishing<'a> {
    /// Removes the jobs, and counts them out of their teams and lanes. To be called in a transaction.
    ///
    /// # Errors
    /// Those of the database.
    #[crate::boxed]
    pub async fn begin(conn: &mut Conn, held: &'a [Held<'a>], now: Timestamp) -> Result<Finishing<'a>> {
        Ok(Finishing { held, freed: release::remove(conn, held, now).await?, now })
    }

    /// The ids of those that were still ours. Only what these did may be written.
    #[must_use]
    pub fn ours(&self) -> HashSet<String> {
        self.freed.iter().map(|job| job.id.clone()).collect()
    }

    /// The last part, and the last in its transaction: counts the jobs out at their hosts, whose rows are locked from now on,
    /// and claims others in the same go, which may start when that is committed.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn end(self, conn: &mut Conn, want: Option<&Claim<'_>>) -> Result<More> {
        count_out(conn, &self.freed, self.held, (want, self.now)).await
    }
}

#[crate::boxed]
async fn count_out(
    conn: &mut Conn,
    freed: &[Freed],
    held: &[Held<'_>],
    (want, now): (Option<&Claim<'_>>, Timestamp),
) -> Result<More> {
    match want {
        Some(want) => claim::after(conn, want, freed, held).await,
        None => release::hosts(conn, freed, held, now).await.map(|()| More::default()),
    }
}

/// Puts a job back that failed; says whether it was still ours.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn retry(conn: &mut Conn, held: &Held<'_>, how: &Retry<'_>, now: Timestamp) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        release::lock_teams(conn, [(held.queue, held.team_id)]).await?;
        // Asked under the lock: the lease may have been lost while we waited for it.
        let freed = release::ours(conn, &[held.lease]).await?;
        if freed.is_empty() {
            return Ok(false);
        }
        // The claim has counted the attempt already.
        let set = (job::run_at.eq(DbTime::from(how.run_at)), job::attempt.eq(job::attempt - i32::from(!how.counted)));
        let query =
            diesel::update(job::table.find(held.lease.id)).set((ready(), set, job::last_error.eq(Some(how.error))));
        on!(conn, |c| query.execute(c).await)?;
        release::back(conn, &freed, &[*held], now).await?;
        Ok(true)
    })
    .await
}

/// Puts a job back that was not finished, at once and without counting the attempt: for a worker that stops.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn release(conn: &mut Conn, held: &Held<'_>, now: Timestamp) -> Result<bool> {
    retry(conn, held, &Retry { run_at: now, error: "the worker stopped", counted: false }, now).await
}

/// Moves a job to the dead letters, see [`crate::jobs::dead`]; says whether it was still ours.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn bury(conn: &mut Conn, held: &Held<'_>, error: &str, now: Timestamp) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        release::lock_teams(conn, [(held.queue, held.team_id)]).await?;
        let freed = release::ours(conn, &[held.lease]).await?;
        if freed.is_empty() {
            return Ok(false);
        }
        // Copied by the database: the payload need not travel.
        on!(
            conn,
            pg | c | to_dead::<Pg>(held.lease.id, error, now).execute(c).await,
            sqlite | c | to_dead::<diesel::sqlite::Sqlite>(held.lease.id, error, now).execute(c).await
        )?;
        on!(conn, |c| diesel::delete(job::table.find(held.lease.id)).execute(c).await)?;
        release::gone(conn, &freed, &[*held], now).await?;
        Ok(true)
    })
    .await
}

/// Removes every job of a lane, those that run included, and says how many. Their workers find out at the next
/// [`renew`](crate::jobs::renew), and can write nothing.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn cancel(conn: &mut Conn, queue: &str, lane: &str, now: Timestamp) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let row = job_lane::table.find((queue, lane));
        let team: Option<String> = on!(conn, |c| row.select(job_lane::team_id).get_result(c).await.optional())?;
        let Some(team) = team else { return Ok(0) };
        release::lock_teams(conn, [(queue, team.as_str())]).await?;
        // Before the lock, the lane might have been swept and made anew.
        let found = row.select((job_lane::number, job_lane::delay_ms));
        let found: Option<(i64, i64)> = on!(conn, |c| found.get_result(c).await.optional())?;
        let Some((number, delay_ms)) = found else { return Ok(0) };
        let of_lane = || job::table.filter(job::lane.eq(number));
        let running = of_lane().filter(job::token.is_not_null()).select((job::id, job::host));
        let running: Vec<(String, Option<String>)> = on!(conn, |c| running.load(c).await)?;
        let queue = queue.to_owned();
        let freed = running.into_iter().map(|(id, host)| (id, queue.clone(), team.clone(), number, host, delay_ms));
        let freed: Vec<Freed> = freed.map(Freed::from).collect();
        // By state, as the indexes are: one delete without a condition on the token would scan the table.
        let running = diesel::delete(of_lane().filter(job::token.is_not_null()));
        let ready = diesel::delete(of_lane().filter(job::token.is_null()));
        let count = on!(conn, |c| running.execute(c).await)? + on!(conn, |c| ready.execute(c).await)?;
        release::gone(conn, &freed, &[], now).await?;
        on!(conn, |c| diesel::delete(row).execute(c).await)?;
        Ok(count)
    })
    .await
}

/// Removes up to `limit` waiting jobs of a lane that is about to be [`cancel`]led, and says how many: so that a long one is
/// not removed in one go.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn trim(conn: &mut Conn, queue: &str, lane: &str, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let row = job_lane::table.find((queue, lane)).select((job_lane::team_id, job_lane::number));
        let found: Option<(String, i64)> = on!(conn, |c| row.get_result(c).await.optional())?;
        let Some((team, number)) = found else { return Ok(0) };
        release::lock_teams(conn, [(queue, team.as_str())]).await?;
        let waiting = || job::table.filter(job::lane.eq(number)).filter(job::token.is_null());
        let ids: Vec<String> = on!(conn, |c| waiting().limit(limit).select(job::id).load(c).await)?;
        // Only waiting jobs, which no counter knows.
        Ok(on!(conn, |c| diesel::delete(waiting().filter(job::id.eq_any(&ids))).execute(c).await)?)
    })
    .await
}

/// The values of a job that waits.
#[derive(AsChangeset)]
#[diesel(table_name = job, treat_none_as_null = true)]
pub(super) struct Ready {
    token: Option<&'static str>,
    lease_until: Option<DbTime>,
}

pub(super) fn ready() -> Ready {
    Ready { token: None, lease_until: None }
}

/// With the limits of its lane, which may be gone when the job is wanted back.
fn to_dead<'a, DB>(id: &'a str, error: &'a str, now: Timestamp) -> Sql<'a, DB>
where
    DB: diesel::backend::Backend + diesel::sql_types::HasSqlType<Text> + diesel::sql_types::HasSqlType<SqlTimestamp>,
    str: diesel::serialize::ToSql<Text, DB>,
    DbTime: diesel::serialize::ToSql<SqlTimestamp, DB>,
{
    Sql::new(
        "INSERT INTO dead_job (id, queue, kind, team_id, lane, cap, delay_ms, phase, priority, attempt, max_attempts, host,
            payload, unique_key, created_at, error, died_at)
         SELECT j.id, l.queue, j.kind, l.team_id, l.lane, l.cap, l.delay_ms, j.phase, j.priority, j.attempt, j.max_attempts,
            j.host, j.payload, j.unique_key, j.created_at, {}, {}
         FROM job AS j JOIN job_lane AS l ON l.number = j.lane WHERE j.id = {}",
    )
    .bind::<Text, _>(error)
    .bind::<SqlTimestamp, _>(DbTime::from(now))
    .bind::<Text, _>(id)
}

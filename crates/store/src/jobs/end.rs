//! Ends of running jobs: finish, retry, release, bury, cancel. A job whose lease was lost is left alone, and the result
//! says so.

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
use crate::jobs::{Claim, ClaimedNext, HeldJob, claim};
use crate::schema::{job, job_lane};
use crate::sql::Sql;

/// Terms of a retry.
#[derive(Debug, Clone, Copy)]
pub struct Retry<'a> {
    /// Earliest start of the next attempt.
    pub run_at: Timestamp,
    /// Error of this attempt.
    pub error: &'a str,
    /// Whether this attempt counts towards the limit.
    pub counted: bool,
}

/// Removes finished jobs and returns the ids of those that the caller still held. Only the results of these may be
/// written, in the same transaction.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn finish(conn: &mut Conn, held: &[HeldJob<'_>], now: Timestamp) -> Result<HashSet<String>> {
    if held.is_empty() {
        return Ok(HashSet::new());
    }
    conn.atomic(async |conn: &mut Conn| {
        // Teams, lanes and jobs take one statement; hosts take two more.
        let finishing = Finishing::begin(conn, held, now).await?;
        let ours = finishing.leased();
        finishing.end(conn, None).await?;
        Ok(ours)
    })
    .await
}

/// [`finish`] in two steps, for a transaction that writes the results of the jobs in between.
#[derive(Debug)]
#[must_use = "before its end the hosts of the jobs think that they run"]
pub struct Finishing<'a> {
    held: &'a [HeldJob<'a>],
    freed: Vec<Freed>,
    now: Timestamp,
}

impl<'a> Finishing<'a> {
    /// Removes the jobs and counts them out of their teams and lanes. Must be called in a transaction.
    ///
    /// # Errors
    /// Those of the database.
    #[crate::boxed]
    pub async fn begin(conn: &mut Conn, held: &'a [HeldJob<'a>], now: Timestamp) -> Result<Finishing<'a>> {
        Ok(Finishing { held, freed: release::remove(conn, held, now).await?, now })
    }

    /// Returns the ids of the jobs that the caller still held. Only the results of these may be written.
    #[must_use]
    pub fn leased(&self) -> HashSet<String> {
        self.freed.iter().map(|job| job.id.clone()).collect()
    }

    /// Counts the jobs out at their hosts and, with `want`, claims other jobs, which may start after the commit. Must
    /// be the last step of the transaction, because it locks rows of hosts until the commit.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn end(self, conn: &mut Conn, want: Option<&Claim<'_>>) -> Result<ClaimedNext> {
        count_out(conn, &self.freed, self.held, want, self.now).await
    }
}

#[crate::boxed]
async fn count_out(
    conn: &mut Conn,
    freed: &[Freed],
    held: &[HeldJob<'_>],
    want: Option<&Claim<'_>>,
    now: Timestamp,
) -> Result<ClaimedNext> {
    match want {
        Some(want) => claim::after(conn, want, freed, held).await,
        None => release::hosts(conn, freed, held, now).await.map(|()| ClaimedNext::default()),
    }
}

/// Puts a failed job back in the queue; says whether the caller still held it.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn retry(conn: &mut Conn, held: &HeldJob<'_>, how: &Retry<'_>, now: Timestamp) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        release::lock_teams(conn, [(held.queue, held.team_id)]).await?;
        // Checked under the lock: the lease may have expired while this transaction waited.
        let freed = release::leased(conn, &[held.lease]).await?;
        if freed.is_empty() {
            return Ok(false);
        }
        // The claim counted the attempt; an attempt that does not count is taken off again.
        let set = (job::run_at.eq(DbTime::from(how.run_at)), job::attempt.eq(job::attempt - i32::from(!how.counted)));
        let query =
            diesel::update(job::table.find(held.lease.id)).set((ready(), set, job::last_error.eq(Some(how.error))));
        on!(conn, |c| query.execute(c).await)?;
        release::back(conn, &freed, &[*held], now).await?;
        Ok(true)
    })
    .await
}

/// Puts an unfinished job back at once without counting the attempt, for a worker that stops.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn release(conn: &mut Conn, held: &HeldJob<'_>, now: Timestamp) -> Result<bool> {
    retry(conn, held, &Retry { run_at: now, error: "the worker stopped", counted: false }, now).await
}

/// Moves a job to the dead letters ([`crate::jobs::dead`]); says whether the caller still held it.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn bury(conn: &mut Conn, held: &HeldJob<'_>, error: &str, now: Timestamp) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        release::lock_teams(conn, [(held.queue, held.team_id)]).await?;
        let freed = release::leased(conn, &[held.lease]).await?;
        if freed.is_empty() {
            return Ok(false);
        }
        // Copied inside the database, so the payload does not travel.
        on!(
            conn,
            pg | c | to_dead::<Pg>(held.lease.id, error, now).execute(c).await,
            sqlite | c | to_dead::<diesel::sqlite::Sqlite>(held.lease.id, error, now).execute(c).await
        )?;
        on!(conn, |c| diesel::delete(job::table.find(held.lease.id)).execute(c).await)?;
        release::count_out_removed(conn, &freed, &[*held], now).await?;
        Ok(true)
    })
    .await
}

/// Removes every job of a lane, running ones included, and returns their number. Workers notice at their next
/// [`renew`](crate::jobs::renew); commits of removed jobs write nothing.
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
        // Read again under the lock: before it, the lane might have been swept and recreated.
        let found = row.select((job_lane::number, job_lane::delay_ms));
        let found: Option<(i64, i64)> = on!(conn, |c| found.get_result(c).await.optional())?;
        let Some((number, delay_ms)) = found else { return Ok(0) };
        let of_lane = || job::table.filter(job::lane.eq(number));
        let running = of_lane().filter(job::token.is_not_null()).select((job::id, job::host));
        let running: Vec<(String, Option<String>)> = on!(conn, |c| running.load(c).await)?;
        let (queue, lane) = (queue.to_owned(), number);
        let freed = |(id, host)| Freed { id, queue: queue.clone(), team: team.clone(), lane, host, delay_ms };
        let freed: Vec<Freed> = running.into_iter().map(freed).collect();
        // Two deletes by state, to use the partial indexes: one without a condition on the token would scan the table.
        let running = diesel::delete(of_lane().filter(job::token.is_not_null()));
        let ready = diesel::delete(of_lane().filter(job::token.is_null()));
        let count = on!(conn, |c| running.execute(c).await)? + on!(conn, |c| ready.execute(c).await)?;
        release::count_out_removed(conn, &freed, &[], now).await?;
        on!(conn, |c| diesel::delete(row).execute(c).await)?;
        Ok(count)
    })
    .await
}

/// Removes up to `limit` ready jobs of a lane that is about to be [`cancel`]led and returns their number, so that a
/// long lane is removed in several short transactions.
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
        // Ready jobs are not part of any counter.
        Ok(on!(conn, |c| diesel::delete(waiting().filter(job::id.eq_any(&ids))).execute(c).await)?)
    })
    .await
}

/// Column values of a ready job.
#[derive(AsChangeset)]
#[diesel(table_name = job, treat_none_as_null = true)]
pub(super) struct ReadyColumns {
    token: Option<&'static str>,
    lease_until: Option<DbTime>,
}

pub(super) fn ready() -> ReadyColumns {
    ReadyColumns { token: None, lease_until: None }
}

/// Copies a job to the dead letters with the limits of its lane, which may be gone at the redrive.
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

//! Leases of running jobs: renewed by heartbeats, reaped when they expire.

use std::collections::{BTreeMap, HashSet};

use base::Timestamp;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, Integer, Nullable, Text, Timestamp as SqlTimestamp};
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::jobs::end::ready;
use crate::jobs::{Claimed, Lease, release};
use crate::schema::{job, job_lane};
use crate::sql::{Sql, json};

/// Result of [`reap`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reaped {
    /// Number of jobs that are ready again.
    pub back: usize,
    /// Jobs without attempts left, leased to the caller, who dead-letters them.
    pub lost: Vec<Claimed>,
}

/// Extends the leases of jobs and returns the ids of those that the caller still holds; the others were cancelled or
/// their leases expired.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn renew(conn: &mut Conn, leases: &[Lease<'_>], until: Timestamp) -> Result<HashSet<String>> {
    let ours = still_leased(conn, leases).await?;
    let ids: Vec<&str> = ours.iter().map(String::as_str).collect();
    if ids.is_empty() {
        return Ok(ours);
    }
    let mut conn = conn.turn().await?;
    on!(
        conn,
        pg | c
            | {
                // Locked rows are just being ended: skipped, because waiting for them could deadlock.
                let query = Sql::<Pg>::new(
                "UPDATE job SET lease_until = {} WHERE id IN (SELECT id FROM job WHERE id = ANY({}) AND token IS NOT NULL
                 FOR UPDATE SKIP LOCKED)",
            );
                query.bind::<SqlTimestamp, _>(DbTime::from(until)).bind::<Array<Text>, _>(ids).execute(c).await
            },
        sqlite | c | {
            let query = Sql::<diesel::sqlite::Sqlite>::new(
                "UPDATE job SET lease_until = {} WHERE id IN (SELECT value FROM json_each({})) AND token IS NOT NULL",
            );
            query.bind::<SqlTimestamp, _>(DbTime::from(until)).bind::<Text, _>(json(&ids)).execute(c).await
        }
    )?;
    Ok(ours)
}

/// Returns the ids of the jobs that the caller still holds, without extending their leases.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn still_leased(conn: &mut Conn, leases: &[Lease<'_>]) -> Result<HashSet<String>> {
    if leases.is_empty() {
        return Ok(HashSet::new());
    }
    Ok(release::leased(conn, leases).await?.into_iter().map(|job| job.id).collect())
}

/// Takes up to `limit` jobs whose leases expired by `now`. Jobs without attempts left are leased to the caller under
/// `token`; the others become ready again.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn reap(conn: &mut Conn, now: Timestamp, token: &str, lease_until: Timestamp, limit: i64) -> Result<Reaped> {
    let ended = job::token.is_not_null().and(job::lease_until.le(Some(DbTime::from(now))));
    let found = job::table.inner_join(job_lane::table.on(job_lane::number.eq(job::lane))).filter(ended);
    let found = found.limit(limit).select((job::id, job_lane::queue, job_lane::team_id));
    let found: Vec<Expired> = on!(conn, |c| found.load(c).await)?;
    let mut queues: BTreeMap<&str, Vec<&Expired>> = BTreeMap::new();
    for job in &found {
        queues.entry(&job.queue).or_default().push(job);
    }
    let mut all = Reaped::default();
    for jobs in queues.values() {
        let reaped = reap_queue(conn, jobs, now, token, lease_until).await?;
        all.back += reaped.back;
        all.lost.extend(reaped.lost);
    }
    Ok(all)
}

/// Job whose lease has expired, with its place.
#[derive(Queryable)]
struct Expired {
    id: String,
    queue: String,
    team: String,
}

/// Reaps jobs, all of one queue, in a transaction of its own. A commit locks the teams of its own queue first and then
/// those that it adds jobs to, so a reap that locked teams of several queues could deadlock with it.
async fn reap_queue(
    conn: &mut Conn,
    jobs: &[&Expired],
    now: Timestamp,
    token: &str,
    lease_until: Timestamp,
) -> Result<Reaped> {
    let ids: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
    let ended = job::token.is_not_null().and(job::lease_until.le(Some(DbTime::from(now))));
    conn.atomic(async |conn: &mut Conn| {
        release::lock_teams(conn, jobs.iter().map(|job| (job.queue.as_str(), job.team.as_str()))).await?;
        // Checked again under the lock: a job may have ended or its lease may have been renewed meanwhile.
        let rows = || job::table.filter(job::id.eq_any(&ids)).filter(ended);
        let columns = (job::id, job::token.assume_not_null());
        let retried = rows().filter(job::attempt.lt(job::max_attempts)).select(columns);
        let retried: Vec<(String, String)> =
            on!(conn, pg | c | retried.for_update().skip_locked().load(c).await, sqlite | c | retried.load(c).await)?;
        let leases: Vec<Lease<'_>> = retried.iter().map(|(id, token)| Lease { id, token }).collect();
        let freed = release::leased(conn, &leases).await?;
        let back: Vec<&str> = freed.iter().map(|job| job.id.as_str()).collect();
        let set = (
            ready(),
            job::run_at.eq(DbTime::from(now)),
            job::last_error.eq(Some("the lease expired: the worker was lost")),
        );
        let query = diesel::update(job::table.filter(job::id.eq_any(&back))).set(set);
        on!(conn, |c| query.execute(c).await)?;
        release::back(conn, &freed, &[], now).await?;
        let lost = on!(
            conn,
            pg | c | take(&ids, token, now, lease_until).load::<TakenJob>(c).await,
            sqlite | c | take_on_sqlite(&ids, token, now, lease_until).load::<TakenJob>(c).await
        )?;
        let lost = lost.into_iter().map(|job| job.claimed(token, now)).collect();
        Ok(Reaped { back: back.len(), lost })
    })
    .await
}

/// Row of a job that was taken.
#[derive(Queryable)]
struct TakenJob {
    id: String,
    kind: String,
    payload: String,
    attempt: i32,
    max_attempts: i32,
    host: Option<String>,
    created_at: DbTime,
    queue: String,
    team_id: String,
    lane: String,
}

type TakenSql = (Text, Text, Text, Integer, Integer, Nullable<Text>, SqlTimestamp, Text, Text, Text);

// Leases the jobs of the list that have no attempts left and whose leases have expired ($4 now): $1 token, $2 end of
// the lease, $3 ids. The conditions are repeated here, as the rows may have changed since they were found.
macro_rules! take {
    ($ids:literal) => {
        concat!(
            "UPDATE job SET token = {}, lease_until = {} WHERE id ",
            $ids,
            " AND token IS NOT NULL AND lease_until <= {} AND attempt >= max_attempts
             RETURNING id, kind, payload, attempt, max_attempts, host, created_at,
                (SELECT queue FROM job_lane WHERE number = job.lane),
                (SELECT team_id FROM job_lane WHERE number = job.lane),
                (SELECT lane FROM job_lane WHERE number = job.lane)"
        )
    };
}

fn take<'a>(ids: &'a [&str], token: &'a str, now: Timestamp, lease_until: Timestamp) -> Sql<'a, Pg, TakenSql> {
    Sql::new(take!("= ANY({})"))
        .bind::<Text, _>(token)
        .bind::<SqlTimestamp, _>(DbTime::from(lease_until))
        .bind::<Array<Text>, _>(ids)
        .bind::<SqlTimestamp, _>(DbTime::from(now))
}

fn take_on_sqlite<'a>(
    ids: &[&str],
    token: &'a str,
    now: Timestamp,
    lease_until: Timestamp,
) -> Sql<'a, diesel::sqlite::Sqlite, TakenSql> {
    Sql::new(take!("IN (SELECT value FROM json_each({}))"))
        .bind::<Text, _>(token)
        .bind::<SqlTimestamp, _>(DbTime::from(lease_until))
        .bind::<Text, _>(json(ids))
        .bind::<SqlTimestamp, _>(DbTime::from(now))
}

impl TakenJob {
    /// Returns the job as its new holder has it.
    fn claimed(self, token: &str, now: Timestamp) -> Claimed {
        Claimed {
            id: self.id,
            queue: self.queue,
            kind: self.kind,
            team_id: self.team_id,
            lane: self.lane,
            payload: self.payload,
            attempt: self.attempt,
            max_attempts: self.max_attempts,
            token: token.to_owned(),
            host: self.host,
            start_at: now,
            host_slots: 1,
            created_at: self.created_at.into(),
        }
    }
}

//! Bookkeeping of jobs that stop running: counters of their teams, lanes and hosts.

use std::collections::{BTreeMap, BTreeSet};

use base::Timestamp;
use diesel::pg::Pg;
use diesel::prelude::Queryable;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamp as SqlTimestamp};
use diesel::sqlite::Sqlite;
use diesel_async::RunQueryDsl;
use politeness::HostAnswer;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::hosts::Hosts;
use crate::jobs::{HeldJob, Lease, from_millis};
use crate::sql::{Sql, json};
use crate::sqlite::AsyncSqlite;

/// Job that stopped running, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Queryable)]
pub(super) struct Freed {
    pub(super) id: String,
    pub(super) queue: String,
    pub(super) team: String,
    /// Number of the lane, `job.lane`.
    pub(super) lane: i64,
    pub(super) host: Option<String>,
    pub(super) delay_ms: i64,
}

type FreedSql = (Text, Text, Text, BigInt, Nullable<Text>, BigInt);

/// Job that may still run, with the token of its lease.
#[derive(Queryable)]
struct Leased {
    job: Freed,
    token: Option<String>,
}

/// Locks the rows of these (queue, team) pairs in sorted order. On SQLite the transaction itself is the lock.
pub(super) async fn lock_teams(conn: &mut Conn, teams: impl IntoIterator<Item = (&str, &str)>) -> Result<()> {
    on!(
        conn,
        pg | c | {
            let (queues, teams): (Vec<&str>, Vec<&str>) = BTreeSet::from_iter(teams).into_iter().unzip();
            // `set_config` turns bitmap scans off for this transaction: a plain index scan returns the rows in order.
            Sql::<Pg>::new(
                "SELECT 1 FROM job_team AS t WHERE (t.queue, t.team_id) IN (SELECT * FROM unnest({}, {}))
                 AND set_config('enable_bitmapscan', 'off', true) <> '' ORDER BY t.queue, t.team_id FOR UPDATE OF t",
            )
            .bind::<Array<Text>, _>(queues)
            .bind::<Array<Text>, _>(teams)
            .execute(c)
            .await
        },
        sqlite | _c | Ok(0)
    )?;
    Ok(())
}

/// Returns the distinct (queue, team) pairs of jobs, as two columns.
fn teams_of<'a>(held: &[HeldJob<'a>]) -> (Vec<&'a str>, Vec<&'a str>) {
    BTreeSet::from_iter(held.iter().map(|held| (held.queue, held.team_id))).into_iter().unzip()
}

/// Returns the jobs that still run under the given tokens.
pub(super) async fn leased(conn: &mut Conn, leases: &[Lease<'_>]) -> Result<Vec<Freed>> {
    let ids: Vec<&str> = leases.iter().map(|lease| lease.id).collect();
    on!(
        conn,
        pg | c | {
            let tokens: Vec<&str> = leases.iter().map(|lease| lease.token).collect();
            let query = Sql::<Pg, FreedSql>::new(
                "SELECT j.id, l.queue, l.team_id, j.lane, j.host, l.delay_ms
                 FROM unnest({}, {}) AS h(id, token) JOIN job AS j ON j.id = h.id AND j.token = h.token
                 JOIN job_lane AS l ON l.number = j.lane",
            );
            Ok(query.bind::<Array<Text>, _>(ids).bind::<Array<Text>, _>(tokens).load(c).await?)
        },
        sqlite | c | {
            let query = Sql::<Sqlite, (FreedSql, Nullable<Text>)>::new(
                "SELECT j.id, l.queue, l.team_id, j.lane, j.host, l.delay_ms, j.token FROM json_each({}) AS h
                 CROSS JOIN job AS j ON j.id = h.value JOIN job_lane AS l ON l.number = j.lane",
            );
            let rows: Vec<Leased> = query.bind::<Text, _>(json(&ids)).load(c).await?;
            let tokens: BTreeSet<(&str, &str)> = leases.iter().map(|lease| (lease.id, lease.token)).collect();
            let mut freed: Vec<Freed> = Vec::with_capacity(rows.len());
            let mut seen = BTreeSet::new();
            for Leased { job, token } in rows {
                let is_ours = token.is_some_and(|token| tokens.contains(&(job.id.as_str(), token.as_str())));
                if is_ours && seen.insert(job.id.clone()) {
                    freed.push(job);
                }
            }
            Ok(freed)
        }
    )
}

/// Moves the heads of lanes back to jobs that are ready again, so that `job_lane.head_*` stays a lower bound.
async fn put_back(conn: &mut Conn, ids: &[&str]) -> Result<()> {
    on!(
        conn,
        pg | c | {
            Sql::<Pg>::new(
                "UPDATE job_lane SET head_phase = b.phase, head_priority = b.priority, head_run_at = b.run_at
                 FROM (SELECT DISTINCT ON (lane) lane, phase, priority, run_at FROM job WHERE id = ANY({})
                    ORDER BY lane, phase, priority, run_at) AS b
                 WHERE job_lane.number = b.lane
                 AND (b.phase, b.priority, b.run_at) < (head_phase, head_priority, head_run_at)",
            )
            .bind::<Array<Text>, _>(ids)
            .execute(c)
            .await
        },
        sqlite | _c | Ok(0)
    )?;
    Ok(())
}

/// Removes finished jobs and counts them out of teams and lanes, but not at their hosts.
pub(super) async fn remove(conn: &mut Conn, held: &[HeldJob<'_>], now: Timestamp) -> Result<Vec<Freed>> {
    let names = held.iter().map(|held| (held.lease.id, held.lease.token));
    on!(
        conn,
        pg | c | {
            let (ids, tokens): (Vec<&str>, Vec<&str>) = names.unzip();
            let (queues, teams) = teams_of(held);
            let query = Sql::<Pg, FreedSql>::new(POSTGRES_REMOVE)
                .bind::<Array<Text>, _>(queues)
                .bind::<Array<Text>, _>(teams)
                .bind::<Array<Text>, _>(ids)
                .bind::<Array<Text>, _>(tokens)
                .bind::<SqlTimestamp, _>(DbTime::from(now));
            Ok(query.load(c).await?)
        },
        sqlite | c | {
            let names: Vec<(&str, &str)> = names.collect();
            let query = Sql::<Sqlite, (Text, BigInt, Nullable<Text>)>::new(SQLITE_REMOVE);
            let rows: Vec<RemovedJob> = query.bind::<Text, _>(json(&names)).load(c).await?;
            let lanes = count_on_sqlite(c, rows.iter().map(|job| job.lane), false, now).await?;
            let freed = |RemovedJob { id, lane, host }| {
                let LaneOf { queue, team, delay_ms } = lanes.get(&lane)?.clone();
                Some(Freed { id, queue, team, lane, host, delay_ms })
            };
            Ok(rows.into_iter().filter_map(freed).collect())
        }
    )
}

/// Row of [`SQLITE_REMOVE`].
#[derive(Queryable)]
struct RemovedJob {
    id: String,
    lane: i64,
    host: Option<String>,
}

/// Columns shared by the jobs of a lane.
#[derive(Clone)]
struct LaneOf {
    queue: String,
    team: String,
    delay_ms: i64,
}

/// Counts jobs out of their lanes and teams: one item of `freed` for each job, the number of its lane.
async fn count_on_sqlite(
    conn: &mut AsyncSqlite,
    freed: impl Iterator<Item = i64>,
    back: bool,
    now: Timestamp,
) -> Result<BTreeMap<i64, LaneOf>> {
    let (mut ended, mut lanes) = (BTreeMap::<i64, i32>::new(), BTreeMap::new());
    let mut teams: BTreeMap<(String, String), (i32, Option<Timestamp>)> = BTreeMap::new();
    for lane in freed {
        *ended.entry(lane).or_default() += 1;
    }
    for (lane, ended) in ended {
        let LaneRow { queue, team, delay_ms, due } =
            lane_to_sqlite(lane, ended, back, now.into()).get_result(conn).await?;
        let sum = teams.entry((queue.clone(), team.clone())).or_default();
        *sum = (sum.0 + ended, sum.1.into_iter().chain(due.map(Timestamp::from)).min());
        lanes.insert(lane, LaneOf { queue, team, delay_ms });
    }
    for ((queue, team), (ended, due)) in &teams {
        team_to_sqlite(queue, team, *ended, *due).execute(conn).await?;
    }
    Ok(lanes)
}

/// Counts out jobs whose rows are removed already.
pub(super) async fn count_out_removed(
    conn: &mut Conn,
    freed: &[Freed],
    held: &[HeldJob<'_>],
    now: Timestamp,
) -> Result<()> {
    counters(conn, freed, false, now).await?;
    hosts(conn, freed, held, now).await
}

/// Counts out jobs whose rows are already marked as ready again.
pub(super) async fn back(conn: &mut Conn, freed: &[Freed], held: &[HeldJob<'_>], now: Timestamp) -> Result<()> {
    let ids: Vec<&str> = freed.iter().map(|job| job.id.as_str()).collect();
    put_back(conn, &ids).await?;
    counters(conn, freed, true, now).await?;
    hosts(conn, freed, held, now).await
}

/// Counts out the requests of these jobs at their hosts, with the answers that they got.
pub(super) async fn hosts(conn: &mut Conn, freed: &[Freed], held: &[HeldJob<'_>], now: Timestamp) -> Result<()> {
    // Lock order: the teams are locked already.
    let mut hosts = Hosts::lock(conn, hosts_of(freed).collect(), now).await?;
    count_out(&mut hosts, freed, held);
    hosts.save(conn).await
}

/// Returns the hosts of these jobs.
pub(super) fn hosts_of(freed: &[Freed]) -> impl Iterator<Item = &str> {
    freed.iter().filter_map(|job| job.host.as_deref())
}

/// Counts out the requests of these jobs at hosts that are locked.
pub(super) fn count_out(hosts: &mut Hosts, freed: &[Freed], held: &[HeldJob<'_>]) {
    let answers = held.iter().filter_map(|held| Some((held.lease.id, held.answer?)));
    let answers: BTreeMap<&str, HostAnswer> = answers.collect();
    for job in freed {
        if let Some(host) = &job.host {
            let answer = answers.get(job.id.as_str()).copied().unwrap_or(HostAnswer::Unknown);
            hosts.ended(host, from_millis(job.delay_ms), answer);
        }
    }
}

/// Counts jobs out of lanes and teams; with `back` they are ready again in their lanes.
async fn counters(conn: &mut Conn, freed: &[Freed], back: bool, now: Timestamp) -> Result<()> {
    if freed.is_empty() {
        return Ok(());
    }
    let lanes = freed.iter().map(|job| job.lane);
    on!(
        conn,
        pg | c | {
            let mut ended: BTreeMap<i64, i32> = BTreeMap::new();
            for lane in lanes {
                *ended.entry(lane).or_default() += 1;
            }
            to_postgres(&ended, back, now.into()).execute(c).await?;
        },
        sqlite | c | {
            count_on_sqlite(c, lanes, back, now).await?;
        }
    );
    Ok(())
}

// Locks the teams, removes the jobs and updates the counters in one round trip:
// - `locked` locks the team rows in sorted order ($1 queues, $2 teams). `gone` reads from it, so it runs first.
// - `gone` deletes the jobs ($3 ids) whose token ($4) still matches.
// - `l` subtracts them from the lanes and makes a lane with ready jobs due now ($5): there is room, or the next phase
//   begins.
// - `t` sums the lanes by team and does the same there. The snapshot of the statement may be older than the locks, so
//   it decides only by rows that it updates or deletes: PostgreSQL reads the current version of those again after
//   waiting for their locks (READ COMMITTED).
const POSTGRES_REMOVE: &str = "WITH locked AS (
    SELECT count(*) FROM (SELECT 1 FROM job_team WHERE (queue, team_id) IN (SELECT * FROM unnest({}, {}))
        ORDER BY queue, team_id FOR UPDATE) AS t
), gone AS (
    DELETE FROM job USING locked, unnest({}, {}) AS h(id, token) WHERE job.id = h.id AND job.token = h.token
    RETURNING job.id, job.lane, job.host
), l AS (
    UPDATE job_lane SET running = running - u.ended,
        due_at = CASE WHEN due_at IS NOT NULL OR waits THEN least(due_at, {}) END
    FROM (SELECT lane, count(*)::integer AS ended FROM gone GROUP BY lane) AS u WHERE job_lane.number = u.lane
    RETURNING job_lane.number, job_lane.queue, job_lane.team_id, u.ended, job_lane.due_at AS due, job_lane.delay_ms
), t AS (
    UPDATE job_team SET running = running - s.ended, due_at = least(due_at, s.due)
    FROM (SELECT queue, team_id, sum(ended)::integer AS ended, min(due) AS due FROM l GROUP BY queue, team_id) AS s
    WHERE job_team.queue = s.queue AND job_team.team_id = s.team_id
)
SELECT g.id, l.queue, l.team_id, g.lane, g.host, l.delay_ms FROM gone AS g JOIN l ON l.number = g.lane";

// Counts out jobs by lane ($3 numbers, $4 jobs of each). A lane with ready jobs becomes due now ($2), because there may
// be room for the next one or the next phase may begin; $1 says that the jobs are ready again. `l` updates the lanes,
// the main UPDATE sums them by team.
const POSTGRES: &str = "WITH l AS (
    UPDATE job_lane SET running = running - u.ended,
        due_at = CASE WHEN {} OR due_at IS NOT NULL OR waits THEN least(due_at, {}) END
    FROM unnest({}, {}) AS u(lane, ended) WHERE job_lane.number = u.lane
    RETURNING job_lane.queue, job_lane.team_id, u.ended, job_lane.due_at AS due
)
UPDATE job_team SET running = running - s.ended, due_at = least(due_at, s.due)
FROM (SELECT queue, team_id, sum(ended)::integer AS ended, min(due) AS due FROM l GROUP BY queue, team_id) AS s
WHERE job_team.queue = s.queue AND job_team.team_id = s.team_id";

// Parameter: [id, token] pairs as JSON. The CROSS JOIN fixes the join order: one index look-up for each pair.
const SQLITE_REMOVE: &str = "DELETE FROM job WHERE rowid IN (SELECT j.rowid FROM json_each({}) AS h
    CROSS JOIN job AS j ON j.id = h.value ->> 0 AND j.token = h.value ->> 1) RETURNING id, lane, host";

// Parameters: ?1 jobs ended, ?2 whether they are ready again, ?3 now, ?4 number of the lane. SQLite's scalar `min` is
// NULL if any argument is, hence `coalesce`.
const SQLITE_LANE: &str = "UPDATE job_lane SET running = running - {},
    due_at = CASE WHEN {} OR due_at IS NOT NULL OR waits THEN min(coalesce(due_at, {}), ?3) END
    WHERE number = {} RETURNING queue, team_id, delay_ms, due_at";

// Parameters: ?1 jobs ended, ?2 earliest due time of the lanes, ?3 queue, ?4 team.
const SQLITE_TEAM: &str = "UPDATE job_team SET running = running - {},
    due_at = CASE WHEN {} IS NULL THEN due_at ELSE min(coalesce(due_at, ?2), ?2) END WHERE queue = {} AND team_id = {}";

/// Row of [`SQLITE_LANE`].
#[derive(Queryable)]
struct LaneRow {
    queue: String,
    team: String,
    delay_ms: i64,
    due: Option<DbTime>,
}

type LaneSql = (Text, Text, BigInt, Nullable<SqlTimestamp>);

fn to_postgres(lanes: &BTreeMap<i64, i32>, back: bool, now: DbTime) -> Sql<'static, Pg> {
    let (numbers, ended): (Vec<i64>, Vec<i32>) = lanes.iter().unzip();
    Sql::new(POSTGRES)
        .bind::<Bool, _>(back)
        .bind::<SqlTimestamp, _>(now)
        .bind::<Array<BigInt>, _>(numbers)
        .bind::<Array<Integer>, _>(ended)
}

fn lane_to_sqlite(lane: i64, ended: i32, back: bool, now: DbTime) -> Sql<'static, Sqlite, LaneSql> {
    Sql::new(SQLITE_LANE)
        .bind::<Integer, _>(ended)
        .bind::<Bool, _>(back)
        .bind::<SqlTimestamp, _>(now)
        .bind::<BigInt, _>(lane)
}

fn team_to_sqlite<'a>(queue: &'a str, team: &'a str, ended: i32, due: Option<Timestamp>) -> Sql<'a, Sqlite> {
    Sql::new(SQLITE_TEAM)
        .bind::<Integer, _>(ended)
        .bind::<Nullable<SqlTimestamp>, _>(due.map(DbTime::from))
        .bind::<Text, _>(queue)
        .bind::<Text, _>(team)
}

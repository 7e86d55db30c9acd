//! Candidates of a claim: the due teams, locked, and their due lanes with the jobs at the head of each.

use std::collections::{BTreeMap, BTreeSet};

use base::Timestamp;
use chrono::TimeDelta;
use diesel::dsl::exists;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Float8, Integer, Nullable, Text, Timestamp as SqlTimestamp};
use diesel::sqlite::Sqlite;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, Link, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::job_team;
use crate::sql::Sql;

/// Due team whose row is locked.
#[derive(Debug, Clone, PartialEq, Eq, Queryable)]
pub(super) struct Team {
    pub(super) id: String,
    /// Number of further jobs that may run.
    pub(super) room: i32,
}

/// Due lane with its first jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) team: String,
    pub(super) id: String,
    /// Number of the lane, `job.lane`.
    pub(super) number: i64,
    /// Number of further jobs that may run.
    pub(super) room: i32,
    /// Number of jobs that were requested; fewer in `jobs` means that no others are due.
    pub(super) asked: i32,
    pub(super) delay_ms: i64,
    /// Only host of its jobs, `*` for several; `job_lane.host`.
    pub(super) host: Option<String>,
    /// Whether it is not due yet, but within [`EARLY`].
    pub(super) early: bool,
    /// Current phase; `None` for an empty lane.
    pub(super) phase: Option<i32>,
    /// Place of its first ready job; `None` on SQLite, which keeps no head.
    pub(super) head: Option<Head>,
    pub(super) jobs: Vec<Job>,
}

/// Head of a lane: place of its first ready job, as in `job_lane.head_phase` and its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Queryable)]
pub(super) struct Head {
    pub(super) phase: i32,
    pub(super) priority: i32,
    pub(super) run_at: DbTime,
}

/// Candidate job.
#[derive(Debug, Clone, PartialEq, Eq, Queryable)]
pub(super) struct Job {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) payload: String,
    pub(super) attempt: i32,
    pub(super) max_attempts: i32,
    pub(super) host: Option<String>,
    pub(super) created_at: DbTime,
    /// Whether its host has no row yet.
    pub(super) host_is_new: bool,
}

/// Time before a lane's due time at which it is visited already. Lanes that wait for the same host are thus compared
/// when a request ends early, and the least recently served one takes the turn, not always the one that had it last.
const EARLY: TimeDelta = TimeDelta::seconds(1);
/// Limit of lanes of a team that one claim visits.
pub(super) const LANES: i64 = 8;

/// Returns an even share of `most` for each of `count`, rounded up.
pub(super) fn even(most: i32, count: usize) -> i32 {
    let count = i32::try_from(count).unwrap_or(i32::MAX).max(1);
    most / count + i32::from(most % count != 0)
}

/// Whether a team is due, read without a lock, so that idle workers on SQLite do not compete with writers.
pub(super) async fn any(conn: &mut Conn, queue: &str, now: Timestamp) -> Result<bool> {
    let is_due = job_team::table
        .filter(job_team::queue.eq(queue))
        .filter(job_team::due_at.le(DbTime::from(now + EARLY)))
        .filter(job_team::running.lt(job_team::cap));
    Ok(on!(conn, |c| diesel::select(exists(is_due)).get_result(c).await)?)
}

/// Locks and returns up to `most` due teams, the least recently served first.
pub(super) async fn teams(conn: &mut Conn, queue: &str, now: Timestamp, most: i64) -> Result<Vec<Team>> {
    Ok(on!(
        conn,
        pg | c | {
            let found: Vec<Team> = due_teams(POSTGRES_TEAMS, queue, now, most).load(c).await?;
            // Other claims may hold the locks just now: wait for one row instead of sleeping until the next poll.
            if found.is_empty() { due_teams(POSTGRES_TEAM, queue, now, 1).load(c).await } else { Ok(found) }
        },
        sqlite | c | {
            let query = Sql::<Sqlite, (Text, Integer)>::new(SQLITE_TEAMS).bind::<Text, _>(queue);
            let query = query.bind::<SqlTimestamp, _>(DbTime::from(now + EARLY)).bind::<BigInt, _>(most);
            query.load(c).await
        }
    )?)
}

/// Returns due teams without waiting for locks. On PostgreSQL these are the due teams in `locked`, whose rows the
/// caller has locked, or `None` if other teams are due as well.
pub(super) async fn teams_among(
    conn: &mut Conn,
    queue: &str,
    now: Timestamp,
    locked: &BTreeSet<&str>,
    most: i64,
) -> Result<Option<Vec<Team>>> {
    if matches!(conn.link, Link::Sqlite(_)) {
        return teams(conn, queue, now, most).await.map(Some);
    }
    let found: Vec<Team> =
        on!(conn, pg | c | due_teams(POSTGRES_DUE, queue, now, most).load(c).await, sqlite | _c | Ok(Vec::new()))?;
    let all_are_ours = found.iter().all(|team| locked.contains(team.id.as_str()));
    Ok(all_are_ours.then_some(found))
}

/// Returns the due lanes of these teams, the least recently served first, with up to `share` jobs for each team.
pub(super) async fn lanes(
    conn: &mut Conn,
    queue: &str,
    teams: &[Team],
    now: Timestamp,
    share: i32,
) -> Result<Vec<Lane>> {
    let ids: Vec<&str> = teams.iter().map(|team| team.id.as_str()).collect();
    let (now, soon) = (DbTime::from(now), DbTime::from(now + EARLY));
    Ok(on!(
        conn,
        pg | c | {
            let query = Sql::<Pg, LaneJobSql>::new(POSTGRES_LANES)
                .bind::<Array<Text>, _>(ids)
                .bind::<Float8, _>(f64::from(share))
                .bind::<SqlTimestamp, _>(now)
                .bind::<Text, _>(queue)
                .bind::<SqlTimestamp, _>(soon)
                .bind::<BigInt, _>(LANES);
            query.load::<LaneJob>(c).await.map(grouped)
        },
        sqlite | c | {
            let mut lanes = Vec::new();
            for id in ids {
                let found: Vec<SqliteLane> = Sql::<Sqlite, SqliteLaneSql>::new(SQLITE_LANES)
                    .bind::<SqlTimestamp, _>(now)
                    .bind::<Text, _>(queue)
                    .bind::<Text, _>(id)
                    .bind::<SqlTimestamp, _>(soon)
                    .bind::<BigInt, _>(LANES)
                    .load(c)
                    .await?;
                let each = even(share, found.len());
                for row in found {
                    let mut lane = row.lane(each);
                    let jobs = Sql::<Sqlite, JobSql>::new(SQLITE_JOBS)
                        .bind::<BigInt, _>(lane.number)
                        .bind::<Nullable<Integer>, _>(lane.phase)
                        .bind::<SqlTimestamp, _>(now)
                        .bind::<Integer, _>(lane.asked);
                    lane.jobs = jobs.load(c).await?;
                    lanes.push(lane);
                }
            }
            Ok::<_, diesel::result::Error>(lanes)
        }
    )?)
}

// Selects the due teams ($1 queue, $2 now plus `EARLY`, $3 limit) and sets planner options for the rest of the
// transaction (`set_config` with `true` is SET LOCAL). Generic plans save planning time. Plain index scans, unlike
// bitmap scans, mark index entries of dead rows on their way. Without memoize, no row is copied aside.
macro_rules! postgres_due {
    ($more:literal) => {
        concat!(
            "SELECT team_id, cap - running FROM job_team WHERE queue = {} AND due_at <= {} AND running < cap
                AND set_config('plan_cache_mode', 'force_generic_plan', true) <> ''
                AND set_config('enable_seqscan', 'off', true) <> '' AND set_config('enable_bitmapscan', 'off', true) <> ''
                AND set_config('enable_memoize', 'off', true) <> '' ",
            $more
        )
    };
}

// Claims do not wait for the disk (`synchronous_commit = off`): a claim that a server crash undoes left its jobs ready.
// The commit that ends a job comes later and waits, which flushes the claim too.
const POSTGRES_TEAMS: &str = postgres_due!(
    "AND set_config('synchronous_commit', 'off', true) = 'off' ORDER BY served, team_id LIMIT {} FOR UPDATE SKIP LOCKED"
);

// Waits for one row only: waiting for a second while holding the first could deadlock.
const POSTGRES_TEAM: &str = postgres_due!(
    "AND set_config('synchronous_commit', 'off', true) = 'off'
        AND team_id = (SELECT team_id FROM job_team WHERE queue = $1 AND due_at <= $2 AND running < cap
        ORDER BY served, team_id LIMIT {}) FOR UPDATE"
);

// For a transaction that has locked teams already and must wait for the disk at its commit: no lock, no change of the
// setting.
const POSTGRES_DUE: &str = postgres_due!("ORDER BY served, team_id LIMIT {}");

// Runs as its own statement after the locks, so its snapshot is at least as new as the locks.
// - `t`: the locked teams ($1).
// - `l`: for each team its due lanes with room ($4 queue, $5 now plus `EARLY`, $6 `LANES`), least recently served
//   first. `asked` spreads the team's share ($2) evenly over its lanes; `early` says that a lane is due only after now
//   ($3).
// - `h`: the first ready job of the lane. The scan starts at the stored head, a lower bound, and not at index entries
//   of jobs that are gone.
// - `p`: the current phase of the lane. Running jobs are read only if they can hold up a later phase: `run_phase` is a
//   lower bound of their phases. `OFFSET 0` keeps the planner from inlining the subquery and evaluating it twice.
// - `j`: the ready jobs of that phase, up to `asked`. The phase is fixed by `=`, so the row comparison leaves it out:
//   PostgreSQL starts an index scan at the columns of one row comparison only if they directly follow those fixed by
//   `=`.
const POSTGRES_LANES: &str =
    "SELECT l.team_id, l.lane, l.number, l.room, l.asked, l.delay_ms, l.host, l.early, p.phase,
        l.served, h.phase, h.priority, h.run_at, j.id, j.kind, j.payload, j.attempt, j.max_attempts, j.host, j.created_at,
        j.host IS NOT NULL AND NOT EXISTS (SELECT 1 FROM host WHERE name = j.host), j.priority, j.run_at
    FROM unnest({}) AS t(team_id)
    CROSS JOIN LATERAL (
        SELECT d.*, least(d.room, ceil({} / count(*) OVER ())::integer) AS asked FROM (
            SELECT team_id, lane, number, cap - running AS room, delay_ms, host, served, due_at > {} AS early, running,
                run_phase, head_phase, head_priority, head_run_at FROM job_lane
            WHERE queue = {} AND team_id = t.team_id AND due_at <= {} AND running < cap
            ORDER BY served, lane LIMIT {}
        ) AS d
    ) AS l
    LEFT JOIN LATERAL (
        SELECT phase, priority, run_at FROM job WHERE lane = l.number AND token IS NULL
            AND (phase, priority, run_at) >= (l.head_phase, l.head_priority, l.head_run_at)
        ORDER BY phase, priority, run_at LIMIT 1
    ) AS h ON true
    CROSS JOIN LATERAL (
        SELECT CASE WHEN l.running = 0 OR h.phase <= l.run_phase THEN h.phase
            ELSE least(h.phase, (SELECT min(phase) FROM job WHERE lane = l.number AND token IS NOT NULL))
        END AS phase OFFSET 0
    ) AS p
    LEFT JOIN LATERAL (
        SELECT id, kind, payload, attempt, max_attempts, host, created_at, priority, run_at FROM job
        WHERE lane = l.number AND token IS NULL AND phase = p.phase AND run_at <= $3
            AND (priority, run_at) >= (h.priority, h.run_at)
        ORDER BY priority, run_at LIMIT l.asked
    ) AS j ON true";

// `LIMIT 0 + ?`: SQLite would prepare the statement again for each new value of a plain bound limit. Parameters: ?1
// queue, ?2 now plus `EARLY`, ?3 limit.
const SQLITE_TEAMS: &str = "SELECT team_id, cap - running FROM job_team
    WHERE queue = {} AND due_at <= {} AND running < cap ORDER BY served, team_id LIMIT 0 + {}";

// The subquery of the last column is the current phase: the lowest among ready and running jobs, each found by one
// step in a partial index. Parameters: ?1 now, ?2 queue, ?3 team, ?4 now plus `EARLY`, ?5 `LANES`.
const SQLITE_LANES: &str = "SELECT team_id, lane, number, cap - running, delay_ms, host, due_at > {}, (
        SELECT min(phase) FROM (
            SELECT * FROM (SELECT phase FROM job WHERE lane = l.number AND token IS NULL ORDER BY phase LIMIT 1)
            UNION ALL SELECT * FROM (SELECT phase FROM job WHERE lane = l.number AND token IS NOT NULL
                ORDER BY phase LIMIT 1))
    ) FROM job_lane AS l
    WHERE queue = {} AND team_id = {} AND due_at <= {} AND running < cap ORDER BY served, lane LIMIT 0 + {}";

// The first ready jobs of a lane in its phase. Parameters: ?1 number of the lane, ?2 phase, ?3 now, ?4 limit.
const SQLITE_JOBS: &str = "SELECT id, kind, payload, attempt, max_attempts, host, created_at,
        host IS NOT NULL AND NOT EXISTS (SELECT 1 FROM host WHERE name = job.host) FROM job
    WHERE lane = {} AND token IS NULL AND phase = {} AND run_at <= {}
    ORDER BY priority, run_at LIMIT 0 + {}";

/// Row of [`POSTGRES_LANES`].
#[derive(Queryable)]
struct LaneJob {
    lane: PostgresLane,
    /// Time of service of the lane, `job_lane.served`.
    served: i64,
    head: Option<Head>,
    /// One of its jobs; `None` for a lane without due jobs.
    job: Option<PlacedJob>,
}

#[derive(Queryable)]
struct PostgresLane {
    team: String,
    id: String,
    number: i64,
    room: i32,
    asked: i32,
    delay_ms: i64,
    host: Option<String>,
    early: bool,
    phase: Option<i32>,
}

/// Job with its place in the lane.
#[derive(Queryable)]
struct PlacedJob {
    job: Job,
    place: QueuePosition,
}

/// Order of a job among those of its phase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Queryable)]
struct QueuePosition {
    priority: i32,
    run_at: DbTime,
}

/// Row of [`SQLITE_LANES`].
#[derive(Queryable)]
struct SqliteLane {
    team: String,
    id: String,
    number: i64,
    room: i32,
    delay_ms: i64,
    host: Option<String>,
    early: bool,
    phase: Option<i32>,
}

// SQL types of the rows, column by column. An outer join without a match is one `None` for all its columns.
type LaneJobSql = (PostgresLaneSql, BigInt, Nullable<HeadSql>, Nullable<(JobSql, PlaceSql)>);
type PostgresLaneSql = (Text, Text, BigInt, Integer, Integer, BigInt, Nullable<Text>, Bool, Nullable<Integer>);
type SqliteLaneSql = (Text, Text, BigInt, Integer, BigInt, Nullable<Text>, Bool, Nullable<Integer>);
type HeadSql = (Integer, Integer, SqlTimestamp);
type JobSql = (Text, Text, Text, Integer, Integer, Nullable<Text>, SqlTimestamp, Bool);
type PlaceSql = (Integer, SqlTimestamp);

fn due_teams<'a>(text: &'static str, queue: &'a str, now: Timestamp, most: i64) -> Sql<'a, Pg, (Text, Integer)> {
    Sql::new(text).bind::<Text, _>(queue).bind::<SqlTimestamp, _>(DbTime::from(now + EARLY)).bind::<BigInt, _>(most)
}

/// Groups rows into lanes: one row for each job, or one row for a lane without jobs, in any order.
fn grouped(rows: Vec<LaneJob>) -> Vec<Lane> {
    let mut lanes: BTreeMap<(i64, String), (Lane, Vec<PlacedJob>)> = BTreeMap::new();
    for LaneJob { lane, served, head, job } in rows {
        let PostgresLane { team, id, number, room, asked, delay_ms, host, early, phase } = lane;
        let (_, jobs) = lanes.entry((served, id)).or_insert_with_key(|(_, id)| {
            let id = id.clone();
            (Lane { team, id, number, room, asked, delay_ms, host, early, phase, head, jobs: Vec::new() }, Vec::new())
        });
        jobs.extend(job);
    }
    let sorted = |(mut lane, mut jobs): (Lane, Vec<PlacedJob>)| {
        jobs.sort_by_key(|job| job.place);
        lane.jobs = jobs.into_iter().map(|placed| placed.job).collect();
        lane
    };
    lanes.into_values().map(sorted).collect()
}

impl SqliteLane {
    /// Returns the lane without its jobs, of which at most `each` are requested.
    fn lane(self, each: i32) -> Lane {
        let Self { team, id, number, room, delay_ms, host, early, phase } = self;
        let (asked, head, jobs) = (room.min(each), None, Vec::new());
        Lane { team, id, number, room, asked, delay_ms, host, early, phase, head, jobs }
    }
}

//! Enqueueing jobs, and changing the caps of lanes and teams.

use std::slice;
use std::sync::LazyLock;

use base::Timestamp;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Integer, Nullable, Text, Timestamp as SqlTimestamp};
use diesel::sqlite::Sqlite;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, Link, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::jobs::{CHANNEL, Lane, NewJob, millis};
use crate::schema::{job_lane, job_team};
use crate::sql::Sql;

/// Adds jobs to a lane, which is created if needed, and returns the number of new jobs: those whose unique key is taken
/// are dropped. Runs in the caller's transaction, or in one of its own. On PostgreSQL the commit notifies workers of
/// other processes; the caller wakes those of this process.
///
/// # Errors
/// Those of the database, also for an unknown team and for an id that is taken.
#[crate::boxed]
pub async fn enqueue(conn: &mut Conn, lane: &Lane<'_>, jobs: &[NewJob], now: Timestamp) -> Result<usize> {
    if jobs.is_empty() {
        return Ok(0);
    }
    conn.add_to(lane.queue);
    let rows: Vec<Row<'_>> = jobs.iter().map(Row::of).collect();
    // A single statement is a transaction of its own and takes a third of the round trips.
    if matches!(conn.link, Link::Pg(_)) && rows.len() <= CHUNK {
        return insert(conn, lane, &rows, now).await;
    }
    conn.atomic(async |conn: &mut Conn| {
        let mut new = 0;
        for jobs in rows.chunks(CHUNK) {
            new += insert(conn, lane, jobs, now).await?;
        }
        Ok(new)
    })
    .await
}

/// Changes the cap of a lane; says whether the lane exists. Running jobs go on.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn set_cap(conn: &mut Conn, queue: &str, lane: &str, cap: i32, now: Timestamp) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        let row = job_lane::table.find((queue, lane));
        let team: Option<String> = on!(conn, |c| row.select(job_lane::team_id).get_result(c).await.optional())?;
        let Some(team) = team else { return Ok(false) };
        // The team's row first: it guards its lanes. Both become due, as there may be room now.
        let due = Some(DbTime::from(now));
        let wake = diesel::update(job_team::table.find((queue, &team))).set(job_team::due_at.eq(due));
        on!(conn, |c| wake.execute(c).await)?;
        let set = diesel::update(row).set((job_lane::cap.eq(cap), job_lane::due_at.eq(due)));
        Ok(on!(conn, |c| set.execute(c).await)? == 1)
    })
    .await
}

/// Changes the cap of a team in a queue; says whether the team has ever had jobs there. Running jobs go on.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn set_team_cap(conn: &mut Conn, queue: &str, team: &str, cap: i32, now: Timestamp) -> Result<bool> {
    let set = (job_team::cap.eq(cap), job_team::due_at.eq(Some(DbTime::from(now))));
    let query = diesel::update(job_team::table.find((queue, team))).set(set);
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| query.execute(c).await)? == 1)
}

/// Column values of a new job.
pub(super) struct Row<'a> {
    pub(super) id: &'a str,
    pub(super) kind: &'a str,
    pub(super) phase: i32,
    pub(super) priority: i32,
    pub(super) run_at: Timestamp,
    pub(super) max_attempts: i32,
    pub(super) host: Option<&'a str>,
    pub(super) payload: &'a str,
    pub(super) unique_key: Option<&'a str>,
}

impl<'a> Row<'a> {
    fn of(job: &'a NewJob) -> Self {
        Self {
            id: &job.id,
            kind: job.kind,
            phase: job.phase,
            priority: job.priority,
            run_at: job.run_at,
            max_attempts: job.max_attempts,
            host: job.host.as_deref(),
            payload: &job.payload,
            unique_key: job.unique_key.as_deref(),
        }
    }
}

/// Inserts up to [`CHUNK`] jobs with one statement and returns the number of new ones.
pub(super) async fn insert(conn: &mut Conn, lane: &Lane<'_>, jobs: &[Row<'_>], now: Timestamp) -> Result<usize> {
    // Team and lane become due when the first of these jobs may run.
    let due = jobs.iter().map(|job| job.run_at).min().unwrap_or(now);
    let rows = Rows { lane, jobs, due: due.into(), now: now.into() };
    Ok(on!(
        conn,
        pg | c | rows.to_postgres().get_result::<i64>(c).await.map(|new| usize::try_from(new).unwrap_or(0)),
        sqlite | c | {
            rows.team_to_sqlite().execute(c).await?;
            let lane: i64 = rows.lane_to_sqlite().get_result(c).await?;
            let mut new = 0;
            let (many, rest) = jobs.as_chunks::<SQLITE_ROWS>();
            for jobs in many {
                new += rows.jobs_to_sqlite(&SQLITE_JOBS, lane, jobs).execute(c).await?;
            }
            for job in rest {
                new += rows.jobs_to_sqlite(&SQLITE_JOB, lane, slice::from_ref(job)).execute(c).await?;
            }
            Ok(new)
        }
    )?)
}

/// Limit of jobs in one statement.
const CHUNK: usize = 1000;

macro_rules! postgres {
    ($conflict:literal) => {
        concat!(
            "WITH t AS (
    INSERT INTO job_team (queue, team_id, cap, running, due_at, served, was_idle) VALUES ({}, {}, {}, 0, {}, 0, true)
    ON CONFLICT (queue, team_id) DO UPDATE SET cap = excluded.cap, due_at = least(job_team.due_at, excluded.due_at),
        was_idle = job_team.due_at IS NULL OR job_team.due_at > excluded.due_at
    RETURNING was_idle
), l AS (
    INSERT INTO job_lane (queue, lane, team_id, cap, delay_ms, running, due_at, served, host, run_phase, waits,
        head_phase, head_priority, head_run_at)
    SELECT $1, {}, $2, {}, {}, 0, $4, 0, {}, 0, false, {}, {}, {} FROM t
    ON CONFLICT (queue, lane) DO UPDATE SET cap = excluded.cap, delay_ms = excluded.delay_ms,
        due_at = least(job_lane.due_at, excluded.due_at), host = CASE
            WHEN excluded.host IS NULL OR job_lane.host = excluded.host THEN job_lane.host
            WHEN job_lane.host IS NULL THEN excluded.host ELSE '*' END,
        (head_phase, head_priority, head_run_at) = (SELECT p, q, r FROM (VALUES
            (excluded.head_phase, excluded.head_priority, excluded.head_run_at),
            (job_lane.head_phase, job_lane.head_priority, job_lane.head_run_at)) AS h(p, q, r) ORDER BY p, q, r LIMIT 1)
    RETURNING number
), j AS (
    INSERT INTO job (lane, attempt, created_at, id, kind, phase, priority, run_at, max_attempts, host, payload, unique_key)
    SELECT l.number, 0, {}, u.* FROM l, unnest({}, {}, {}, {}, {}, {}, {}, {}, {}) AS u ",
            $conflict,
            " RETURNING 1
)
SELECT count(*) + 0 * (SELECT count(pg_notify({}, $1)) FROM t WHERE was_idle) FROM j"
        )
    };
}

// One statement for team, lane, jobs and notification. `l` selects from `t`, and `j` from `l`, which fixes the order of
// the locks: transactions that add to the same team wait for its row before they lock anything else.
// - `t` creates or updates the team ($1 queue, $2 team, $3 cap, $4 due time of the first job). `was_idle` says whether
//   the team was not due by then.
// - `l` does the same for the lane ($5 id, $6 cap, $7 delay in ms, $8 host, `*` for several). $9 to $11 are phase,
//   priority and time of the first new job: the head of the lane becomes the smaller of the old one and this one. A
//   claim starts to scan the index there, and not at the entries of jobs that are done.
// - `j` inserts the jobs ($12 creation time, $13 to $21 one array for each column of `unnest`).
// - The SELECT returns the number of new jobs and notifies the channel ($22), only if the team was idle: workers poll
//   for a team that is due anyway. `0 *` makes the planner evaluate the subquery without changing the sum.
const POSTGRES: &str = postgres!("");

/// Variant of [`POSTGRES`] for jobs with unique keys. Without the conflict check, inserting takes a fifth less time.
const POSTGRES_UNIQUE: &str = postgres!("ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING");

// Parameters: ?1 queue, ?2 team, ?3 cap, ?4 due time. SQLite's scalar `min` is NULL if an argument is, hence
// `coalesce`.
const SQLITE_TEAM: &str = "INSERT INTO job_team (queue, team_id, cap, running, due_at, served, was_idle)
    VALUES ({}, {}, {}, 0, {}, 0, true)
    ON CONFLICT (queue, team_id) DO UPDATE SET cap = excluded.cap,
        due_at = min(coalesce(due_at, excluded.due_at), excluded.due_at)";

// Parameters: ?1 queue, ?2 lane, ?3 team, ?4 cap, ?5 delay in ms, ?6 due time, ?7 host. There is one writer, so `max +
// 1` is free.
const SQLITE_LANE: &str =
    "INSERT INTO job_lane (queue, lane, team_id, cap, delay_ms, running, due_at, served, host, run_phase, waits, number)
    VALUES ({}, {}, {}, {}, {}, 0, {}, 0, {}, 0, false, (SELECT coalesce(max(number), 0) + 1 FROM job_lane))
    ON CONFLICT (queue, lane) DO UPDATE SET cap = excluded.cap, delay_ms = excluded.delay_ms,
        due_at = min(coalesce(due_at, excluded.due_at), excluded.due_at), host = CASE
            WHEN excluded.host IS NULL OR host = excluded.host THEN host
            WHEN host IS NULL THEN excluded.host ELSE '*' END
    RETURNING number";

/// Rows of one INSERT: a statement costs SQLite as much as a row.
const SQLITE_ROWS: usize = 50;
static SQLITE_JOB: LazyLock<String> = LazyLock::new(|| sqlite_jobs(1));
static SQLITE_JOBS: LazyLock<String> = LazyLock::new(|| sqlite_jobs(SQLITE_ROWS));

fn sqlite_jobs(rows: usize) -> String {
    let values = "0, {}, {}, {}, {}, {}, {}, {}, {}, {})";
    // Lane and time are those of the first row, ?1 and ?2.
    let more = format!(", (?1, ?2, {values}").repeat(rows - 1);
    format!(
        "INSERT INTO job (lane, created_at, attempt, id, kind, phase, priority, run_at, max_attempts, host, payload,
            unique_key)
         VALUES ({{}}, {{}}, {values}{more} ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING"
    )
}

/// Parameters of one statement.
struct Rows<'a> {
    lane: &'a Lane<'a>,
    jobs: &'a [Row<'a>],
    due: DbTime,
    now: DbTime,
}

impl<'a> Rows<'a> {
    /// Returns the host of the jobs as `job_lane.host` stores it: `*` for several.
    fn host(&self) -> Option<&'a str> {
        let mut hosts = self.jobs.iter().filter_map(|job| job.host);
        let first = hosts.next()?;
        Some(if hosts.all(|host| host == first) { first } else { "*" })
    }

    fn to_postgres(&self) -> Sql<'_, Pg, BigInt> {
        fn column<'r, T>(jobs: &'r [Row<'r>], value: impl Fn(&'r Row<'r>) -> T) -> Vec<T> {
            jobs.iter().map(value).collect()
        }
        let (lane, jobs) = (self.lane, self.jobs);
        let head = jobs.iter().map(|job| (job.phase, job.priority, job.run_at)).min();
        let (phase, priority, run_at) = head.unwrap_or_default();
        let has_keys = jobs.iter().any(|job| job.unique_key.is_some());
        Sql::new(if has_keys { POSTGRES_UNIQUE } else { POSTGRES })
            .bind::<Text, _>(lane.queue)
            .bind::<Text, _>(lane.team_id)
            .bind::<Integer, _>(lane.team_cap)
            .bind::<SqlTimestamp, _>(self.due)
            .bind::<Text, _>(lane.id)
            .bind::<Integer, _>(lane.cap)
            .bind::<BigInt, _>(millis(lane.delay))
            .bind::<Nullable<Text>, _>(self.host())
            .bind::<Integer, _>(phase)
            .bind::<Integer, _>(priority)
            .bind::<SqlTimestamp, _>(DbTime::from(run_at))
            .bind::<SqlTimestamp, _>(self.now)
            .bind::<Array<Text>, _>(column(jobs, |job| job.id))
            .bind::<Array<Text>, _>(column(jobs, |job| job.kind))
            .bind::<Array<Integer>, _>(column(jobs, |job| job.phase))
            .bind::<Array<Integer>, _>(column(jobs, |job| job.priority))
            .bind::<Array<SqlTimestamp>, _>(column(jobs, |job| DbTime::from(job.run_at)))
            .bind::<Array<Integer>, _>(column(jobs, |job| job.max_attempts))
            .bind::<Array<Nullable<Text>>, _>(column(jobs, |job| job.host))
            .bind::<Array<Text>, _>(column(jobs, |job| job.payload))
            .bind::<Array<Nullable<Text>>, _>(column(jobs, |job| job.unique_key))
            .bind::<Text, _>(CHANNEL)
    }

    fn team_to_sqlite(&self) -> Sql<'_, Sqlite> {
        Sql::new(SQLITE_TEAM)
            .bind::<Text, _>(self.lane.queue)
            .bind::<Text, _>(self.lane.team_id)
            .bind::<Integer, _>(self.lane.team_cap)
            .bind::<SqlTimestamp, _>(self.due)
    }

    fn lane_to_sqlite(&self) -> Sql<'_, Sqlite, BigInt> {
        Sql::new(SQLITE_LANE)
            .bind::<Text, _>(self.lane.queue)
            .bind::<Text, _>(self.lane.id)
            .bind::<Text, _>(self.lane.team_id)
            .bind::<Integer, _>(self.lane.cap)
            .bind::<BigInt, _>(millis(self.lane.delay))
            .bind::<SqlTimestamp, _>(self.due)
            .bind::<Nullable<Text>, _>(self.host())
    }

    fn jobs_to_sqlite<'b>(&self, text: &'static str, lane: i64, jobs: &'b [Row<'_>]) -> Sql<'b, Sqlite> {
        let sql = Sql::new(text).bind::<BigInt, _>(lane).bind::<SqlTimestamp, _>(self.now);
        jobs.iter().fold(sql, |sql, job| {
            sql.bind::<Text, _>(job.id)
                .bind::<Text, _>(job.kind)
                .bind::<Integer, _>(job.phase)
                .bind::<Integer, _>(job.priority)
                .bind::<SqlTimestamp, _>(DbTime::from(job.run_at))
                .bind::<Integer, _>(job.max_attempts)
                .bind::<Nullable<Text>, _>(job.host)
                .bind::<Text, _>(job.payload)
                .bind::<Nullable<Text>, _>(job.unique_key)
        })
    }
}

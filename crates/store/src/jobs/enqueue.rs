//! Adding jobs.

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

/// Adds jobs to a lane, which is made if need be, and says how many were new: those whose unique key is there already
/// are dropped. In the caller's transaction, or in one of its own. On PostgreSQL workers elsewhere are told when it
/// commits; in this process that is for the caller.
///
/// # Errors
/// Those of the database, an unknown team and an id that is taken included.
#[crate::boxed]
pub async fn enqueue(conn: &mut Conn, lane: &Lane<'_>, jobs: &[NewJob], now: Timestamp) -> Result<usize> {
    if jobs.is_empty() {
        return Ok(0);
    }
    conn.add_to(lane.queue);
    let rows: Vec<Row<'_>> = jobs.iter().map(Row::of).collect();
    // One statement is a transaction of its own, in a third of the round trips.
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

/// Changes how many jobs of a lane may run at a time; says whether it is there. What runs goes on.
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

/// Changes how many jobs of a team may run at a time; says whether it ever had any. What runs goes on.
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

/// A job as it is written down.
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

/// Adds up to [`CHUNK`] jobs at once, and says how many were new.
pub(super) async fn insert(conn: &mut Conn, lane: &Lane<'_>, jobs: &[Row<'_>], now: Timestamp) -> Result<usize> {
    // The team and the lane are looked at when the first of these jobs may run.
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

/// How many jobs one statement takes.
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

/// The team first: whoever adds to it waits for its row before it touches anything else. `l` selects from `t` and `j` from
/// `l`, which is what orders the locks. `head_*` is the place of the first ready job: a claim begins to scan there, and not at
/// the entries of all the jobs that are done. A notice goes out only for a team that was idle; where it was not, a worker
/// comes by anyway.
const POSTGRES: &str = postgres!("");

/// [`POSTGRES`] for jobs with unique keys. Looking for what is there already takes a fifth of the time.
const POSTGRES_UNIQUE: &str = postgres!("ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING");

const SQLITE_TEAM: &str = "INSERT INTO job_team (queue, team_id, cap, running, due_at, served, was_idle)
    VALUES ({}, {}, {}, 0, {}, 0, true)
    ON CONFLICT (queue, team_id) DO UPDATE SET cap = excluded.cap,
        due_at = min(coalesce(due_at, excluded.due_at), excluded.due_at)";

const SQLITE_LANE: &str =
    "INSERT INTO job_lane (queue, lane, team_id, cap, delay_ms, running, due_at, served, host, run_phase, waits, number)
    VALUES ({}, {}, {}, {}, {}, 0, {}, 0, {}, 0, false, (SELECT coalesce(max(number), 0) + 1 FROM job_lane))
    ON CONFLICT (queue, lane) DO UPDATE SET cap = excluded.cap, delay_ms = excluded.delay_ms,
        due_at = min(coalesce(due_at, excluded.due_at), excluded.due_at), host = CASE
            WHEN excluded.host IS NULL OR host = excluded.host THEN host
            WHEN host IS NULL THEN excluded.host ELSE '*' END
    RETURNING number";

/// A statement costs SQLite as much as a row: so many jobs share one.
const SQLITE_ROWS: usize = 50;
static SQLITE_JOB: LazyLock<String> = LazyLock::new(|| sqlite_jobs(1));
static SQLITE_JOBS: LazyLock<String> = LazyLock::new(|| sqlite_jobs(SQLITE_ROWS));

fn sqlite_jobs(rows: usize) -> String {
    let values = "0, {}, {}, {}, {}, {}, {}, {}, {}, {})";
    // Lane and time are those of the first row.
    let more = format!(", (?1, ?2, {values}").repeat(rows - 1);
    format!(
        "INSERT INTO job (lane, created_at, attempt, id, kind, phase, priority, run_at, max_attempts, host, payload,
            unique_key)
         VALUES ({{}}, {{}}, {values}{more} ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING"
    )
}

/// What one statement adds.
struct Rows<'a> {
    lane: &'a Lane<'a>,
    jobs: &'a [Row<'a>],
    due: DbTime,
    now: DbTime,
}

impl<'a> Rows<'a> {
    /// As `job_lane.host` has it.
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

//! What a job leaves behind when it stops running: room in its team and lane, and a request less at its host.

use std::collections::{BTreeMap, BTreeSet};

use base::Timestamp;
use crawl_frontier::Ended;
use diesel::pg::Pg;
use diesel::sql_types::{Array, BigInt, Integer, Nullable, Text, Timestamp as SqlTimestamp};
use diesel::sqlite::Sqlite;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::hosts::Hosts;
use crate::jobs::{Held, from_millis, json};
use crate::sql::Sql;
use crate::stamp::Stamp;

/// A job that was running, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Freed {
    pub(super) id: String,
    pub(super) queue: String,
    pub(super) team: String,
    pub(super) lane: String,
    pub(super) host: Option<String>,
    pub(super) delay_ms: i64,
}

pub(super) type FreedRow = (String, String, String, String, Option<String>, Option<i64>);
pub(super) type FreedSql = (Text, Text, Text, Text, Nullable<Text>, Nullable<BigInt>);

impl From<FreedRow> for Freed {
    fn from((id, queue, team, lane, host, delay_ms): FreedRow) -> Self {
        Self { id, queue, team, lane, host, delay_ms: delay_ms.unwrap_or(0) }
    }
}

/// Locks the teams of these jobs, in order. With SQLite the transaction itself is the lock.
pub(super) async fn lock_teams(conn: &mut Conn, ids: &[&str]) -> Result<()> {
    on!(
        conn,
        pg | c | {
            Sql::<Pg>::new(
                "SELECT 1 FROM job_team AS t WHERE (t.queue, t.team_id) IN (SELECT queue, team_id FROM job
                 WHERE id = ANY({})) AND set_config('enable_bitmapscan', 'off', true) <> ''
                 ORDER BY t.queue, t.team_id FOR UPDATE OF t",
            )
            .bind::<Array<Text>, _>(ids)
            .execute(c)
            .await
        },
        sqlite | _c | Ok(0)
    )?;
    Ok(())
}

/// Those of the jobs that still run under the tokens of their holders.
pub(super) async fn ours(conn: &mut Conn, held: &[Held<'_>]) -> Result<Vec<Freed>> {
    let ids: Vec<&str> = held.iter().map(|held| held.id).collect();
    on!(
        conn,
        pg | c | {
            let tokens: Vec<&str> = held.iter().map(|held| held.token).collect();
            let query = Sql::<Pg, FreedSql>::new(
                "SELECT j.id, j.queue, j.team_id, j.lane, j.host, l.delay_ms
                 FROM unnest({}, {}) AS h(id, token) JOIN job AS j ON j.id = h.id AND j.token = h.token
                 LEFT JOIN job_lane AS l ON l.queue = j.queue AND l.lane = j.lane",
            );
            let query = query.bind::<Array<Text>, _>(ids).bind::<Array<Text>, _>(tokens);
            let rows: Vec<FreedRow> = query.load(c).await?;
            Ok(rows.into_iter().map(Freed::from).collect())
        },
        sqlite
            | c
            | {
                let query = Sql::<Sqlite, (FreedSql, Nullable<Text>)>::new(
                "SELECT j.id, j.queue, j.team_id, j.lane, j.host, l.delay_ms, j.token FROM json_each({}) AS h
                 CROSS JOIN job AS j ON j.id = h.value LEFT JOIN job_lane AS l ON l.queue = j.queue AND l.lane = j.lane",
            );
                let rows: Vec<(FreedRow, Option<String>)> = query.bind::<Text, _>(json(&ids)).load(c).await?;
                let tokens: BTreeSet<(&str, &str)> = held.iter().map(|held| (held.id, held.token)).collect();
                let mut freed: Vec<Freed> = Vec::with_capacity(rows.len());
                let mut seen = BTreeSet::new();
                for (row, token) in rows {
                    let is_ours = token.is_some_and(|token| tokens.contains(&(row.0.as_str(), token.as_str())));
                    if is_ours && seen.insert(row.0.clone()) {
                        freed.push(row.into());
                    }
                }
                Ok(freed)
            }
    )
}

/// Moves the heads of lanes back to jobs that are ready again. See `job_lane.head_phase`.
pub(super) async fn put_back(conn: &mut Conn, ids: &[&str]) -> Result<()> {
    on!(
        conn,
        pg | c | {
            Sql::<Pg>::new(
                "UPDATE job_lane SET head_phase = b.phase, head_priority = b.priority, head_run_at = b.run_at
                 FROM (SELECT DISTINCT ON (queue, lane) queue, lane, phase, priority, run_at FROM job WHERE id = ANY({})
                    ORDER BY queue, lane, phase, priority, run_at) AS b
                 WHERE job_lane.queue = b.queue AND job_lane.lane = b.lane
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

/// Removes jobs that are done and counts them out, all but their hosts.
pub(super) async fn remove(conn: &mut Conn, held: &[Held<'_>], now: Timestamp) -> Result<Vec<Freed>> {
    let freed: Vec<Freed> = on!(
        conn,
        pg | c | {
            let ids: Vec<&str> = held.iter().map(|held| held.id).collect();
            let tokens: Vec<&str> = held.iter().map(|held| held.token).collect();
            let query = Sql::<Pg, FreedSql>::new(POSTGRES_REMOVE)
                .bind::<Array<Text>, _>(ids)
                .bind::<Array<Text>, _>(tokens)
                .bind::<SqlTimestamp, _>(Stamp::from(now));
            let rows: Vec<FreedRow> = query.load(c).await?;
            return Ok(rows.into_iter().map(Freed::from).collect());
        },
        sqlite | _c | ours(conn, held).await?
    );
    let ids: Vec<&str> = freed.iter().map(|job| job.id.as_str()).collect();
    on!(
        conn,
        pg | _c | Ok(0),
        sqlite | c | {
            let query = Sql::<Sqlite>::new("DELETE FROM job WHERE id IN (SELECT value FROM json_each({}))");
            query.bind::<Text, _>(json(&ids)).execute(c).await
        }
    )?;
    counters(conn, &freed, now).await?;
    Ok(freed)
}

/// Counts jobs out that ran until now. Their rows are gone or changed already.
pub(super) async fn free(conn: &mut Conn, freed: &[Freed], held: &[Held<'_>], now: Timestamp) -> Result<()> {
    counters(conn, freed, now).await?;
    hosts(conn, freed, held, now).await
}

/// Tells the hosts of these jobs how their requests ended.
pub(super) async fn hosts(conn: &mut Conn, freed: &[Freed], held: &[Held<'_>], now: Timestamp) -> Result<()> {
    let names: Vec<&str> = freed.iter().filter_map(|job| job.host.as_deref()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let ends: BTreeMap<&str, Ended> = held.iter().filter_map(|held| Some((held.id, held.ended?))).collect();
    let mut hosts = Hosts::lock(conn, names, now).await?;
    for job in freed {
        if let Some(host) = &job.host {
            let how = ends.get(job.id.as_str()).copied().unwrap_or(Ended::Unknown);
            hosts.ended(host, from_millis(job.delay_ms), how);
        }
    }
    hosts.save(conn).await
}

async fn counters(conn: &mut Conn, freed: &[Freed], now: Timestamp) -> Result<()> {
    if freed.is_empty() {
        return Ok(());
    }
    let mut lanes: BTreeMap<(&str, &str, &str), i32> = BTreeMap::new();
    for job in freed {
        *lanes.entry((&job.queue, &job.lane, &job.team)).or_default() += 1;
    }
    let now = Stamp::from(now);
    on!(
        conn,
        pg | c | to_postgres(&lanes, now).execute(c).await,
        sqlite | c | {
            let mut teams: BTreeMap<(&str, &str), (i32, Option<Timestamp>)> = BTreeMap::new();
            for (lane, ended) in lanes {
                let due: Vec<Option<Stamp>> = lane_to_sqlite(lane, ended, now).load(c).await?;
                let due = due.into_iter().flatten().map(Timestamp::from).next();
                let team = teams.entry((lane.0, lane.2)).or_default();
                *team = (team.0 + ended, team.1.into_iter().chain(due).min());
            }
            for (team, (ended, due)) in teams {
                team_to_sqlite(team, ended, due).execute(c).await?;
            }
            Ok(0)
        }
    )?;
    Ok(())
}

/// [`POSTGRES`] with the jobs themselves, in one go.
const POSTGRES_REMOVE: &str = "WITH gone AS (
    DELETE FROM job USING unnest({}, {}) AS h(id, token) WHERE job.id = h.id AND job.token = h.token
    RETURNING job.id, queue, team_id, lane, host
), l AS (
    UPDATE job_lane SET running = running - u.ended, due_at = CASE
        WHEN EXISTS (SELECT 1 FROM job WHERE queue = u.queue AND job.lane = u.lane AND state = 'ready'
            AND (phase, priority, run_at) >= (job_lane.head_phase, job_lane.head_priority, job_lane.head_run_at))
        THEN least(due_at, {}) END
    FROM (SELECT queue, lane, count(*)::integer AS ended FROM gone GROUP BY queue, lane) AS u
    WHERE job_lane.queue = u.queue AND job_lane.lane = u.lane
    RETURNING job_lane.queue, job_lane.lane, job_lane.team_id, u.ended, job_lane.due_at AS due, job_lane.delay_ms
), t AS (
    UPDATE job_team SET running = running - s.ended, due_at = least(due_at, s.due)
    FROM (SELECT queue, team_id, sum(ended)::integer AS ended, min(due) AS due FROM l GROUP BY queue, team_id) AS s
    WHERE job_team.queue = s.queue AND job_team.team_id = s.team_id
)
SELECT g.id, g.queue, g.team_id, g.lane, g.host, l.delay_ms FROM gone AS g LEFT JOIN l USING (queue, lane)";

/// A lane with jobs is due: there may be room for the next one now, or the next phase may begin.
const POSTGRES: &str = "WITH l AS (
    UPDATE job_lane SET running = running - u.ended, due_at = CASE
        WHEN EXISTS (SELECT 1 FROM job WHERE queue = u.queue AND job.lane = u.lane AND state = 'ready'
            AND (phase, priority, run_at) >= (job_lane.head_phase, job_lane.head_priority, job_lane.head_run_at))
        THEN least(due_at, {}) END
    FROM unnest({}, {}, {}) AS u(queue, lane, ended)
    WHERE job_lane.queue = u.queue AND job_lane.lane = u.lane
    RETURNING job_lane.queue, job_lane.team_id, u.ended, job_lane.due_at AS due
)
UPDATE job_team SET running = running - s.ended, due_at = least(due_at, s.due)
FROM (SELECT queue, team_id, sum(ended)::integer AS ended, min(due) AS due FROM l GROUP BY queue, team_id) AS s
WHERE job_team.queue = s.queue AND job_team.team_id = s.team_id";

const SQLITE_LANE: &str = "UPDATE job_lane SET running = running - {}, due_at = CASE
        WHEN EXISTS (SELECT 1 FROM job WHERE queue = job_lane.queue AND lane = job_lane.lane AND state = 'ready')
        THEN min(coalesce(due_at, {}), ?2) END
    WHERE queue = {} AND lane = {} RETURNING due_at";

const SQLITE_TEAM: &str = "UPDATE job_team SET running = running - {},
    due_at = CASE WHEN {} IS NULL THEN due_at ELSE min(coalesce(due_at, ?2), ?2) END WHERE queue = {} AND team_id = {}";

fn to_postgres(lanes: &BTreeMap<(&str, &str, &str), i32>, now: Stamp) -> Sql<'static, Pg> {
    let (mut queues, mut ids, mut ended) = (vec![], vec![], vec![]);
    for ((queue, lane, _), count) in lanes {
        queues.push((*queue).to_owned());
        ids.push((*lane).to_owned());
        ended.push(*count);
    }
    Sql::new(POSTGRES)
        .bind::<SqlTimestamp, _>(now)
        .bind::<Array<Text>, _>(queues)
        .bind::<Array<Text>, _>(ids)
        .bind::<Array<Integer>, _>(ended)
}

fn lane_to_sqlite<'a>(
    (queue, lane, _): (&'a str, &'a str, &'a str),
    ended: i32,
    now: Stamp,
) -> Sql<'a, Sqlite, Nullable<SqlTimestamp>> {
    Sql::new(SQLITE_LANE)
        .bind::<Integer, _>(ended)
        .bind::<SqlTimestamp, _>(now)
        .bind::<Text, _>(queue)
        .bind::<Text, _>(lane)
}

fn team_to_sqlite<'a>((queue, team): (&'a str, &'a str), ended: i32, due: Option<Timestamp>) -> Sql<'a, Sqlite> {
    Sql::new(SQLITE_TEAM)
        .bind::<Integer, _>(ended)
        .bind::<Nullable<SqlTimestamp>, _>(due.map(Stamp::from))
        .bind::<Text, _>(queue)
        .bind::<Text, _>(team)
}

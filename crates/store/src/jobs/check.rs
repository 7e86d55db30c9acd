//! Consistency check of the counters and due times, for tests and for operators.

use std::collections::BTreeMap;

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel::sqlite::Sqlite;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::hosts;
use crate::schema::job;
use crate::sql::Sql;

/// Returns a description of every inconsistency; none is expected at any moment between two transactions. Reads every
/// job.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn inconsistencies(conn: &mut Conn) -> Result<Vec<String>> {
    conn.atomic(async |conn: &mut Conn| {
        on!(
            conn,
            // A single snapshot for all queries.
            pg | c | Sql::<Pg>::new("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").execute(c).await,
            sqlite | _c | Ok(0)
        )?;
        let mut found: Vec<String> = on!(
            conn,
            pg | c | Sql::<Pg, Text>::new(QUERY).load(c).await,
            sqlite | c | Sql::<Sqlite, Text>::new(QUERY).load(c).await
        )?;
        let running = job::table.filter(job::token.is_not_null()).select(job::host.assume_not_null());
        let running: Vec<String> = on!(conn, |c| running.filter(job::host.is_not_null()).load(c).await)?;
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for host in running {
            *counts.entry(host).or_default() += 1;
        }
        for (host, in_flight) in hosts::all_in_flight(conn).await? {
            let counted = counts.remove(&host).unwrap_or(0);
            if in_flight != counted {
                found.push(format!("host {host} counts {in_flight} requests in flight and has {counted} running jobs"));
            }
        }
        found.extend(counts.into_keys().map(|host| format!("host {host} has running jobs but no row")));
        Ok(found)
    })
    .await
}

// One branch for each rule: the counters of lanes and of teams match the rows, every job has a lane and a team, a lane
// with room and a job of its lowest phase is due at some time, and a team is due no later than its lanes with room.
const QUERY: &str = "SELECT 'lane ' || lane || ': counter of running jobs is ' || running || ', rows are ' || rows FROM (
        SELECT l.lane, l.running, (SELECT count(*) FROM job AS j WHERE j.lane = l.number AND j.token IS NOT NULL) AS rows
        FROM job_lane AS l
    ) AS a WHERE running <> rows
    UNION ALL SELECT 'team ' || team_id || ': counter of running jobs is ' || running || ', rows are ' || rows FROM (
        SELECT t.team_id, t.running, (SELECT count(*) FROM job AS j JOIN job_lane AS l ON l.number = j.lane
            WHERE l.queue = t.queue AND l.team_id = t.team_id AND j.token IS NOT NULL) AS rows FROM job_team AS t
    ) AS b WHERE running <> rows
    UNION ALL SELECT 'job ' || j.id || ' has no lane or no team' FROM job AS j WHERE NOT EXISTS (
        SELECT 1 FROM job_lane AS l JOIN job_team AS t ON t.queue = l.queue AND t.team_id = l.team_id
        WHERE l.number = j.lane)
    UNION ALL SELECT 'lane ' || l.lane || ' has room and ready jobs but no due time' FROM job_lane AS l
    WHERE l.due_at IS NULL AND l.running < l.cap AND EXISTS (
        SELECT 1 FROM job AS j WHERE j.lane = l.number AND j.token IS NULL AND NOT EXISTS (
            SELECT 1 FROM job AS k WHERE k.lane = l.number AND k.phase < j.phase))
    UNION ALL SELECT 'team ' || t.team_id || ' is due later than its lane ' || l.lane FROM job_team AS t
    JOIN job_lane AS l ON l.queue = t.queue AND l.team_id = t.team_id
    WHERE l.running < l.cap AND l.due_at IS NOT NULL AND (t.due_at IS NULL OR t.due_at > l.due_at)";

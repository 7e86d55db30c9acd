//! Writes a claim: marks jobs as running, updates the counters and due times of lanes, teams and hosts.

use base::Timestamp;
use chrono::TimeDelta;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamp as SqlTimestamp};
use diesel::sqlite::Sqlite;
use diesel_async::RunQueryDsl;
use futures_util::future::try_join;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::hosts::Hosts;
use crate::jobs::Claim;
use crate::jobs::due::Lane;
use crate::schema::job;
use crate::sql::{Sql, json};

/// Changes of one claim, column by column: each vector is one array parameter of [`POSTGRES`].
#[derive(Debug, Default)]
pub(super) struct ClaimChanges {
    jobs: Vec<String>,
    later: Vec<(String, Timestamp)>,
    lanes: Lanes,
    teams: Teams,
}

/// Next due time of a lane after a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LaneDue {
    /// Due at once; the due time stays as it is.
    Now,
    /// Due when its next job of the same phase is; without such a job, only when a change makes it due.
    Next,
    /// Due at this time.
    At(Timestamp),
}

#[derive(Debug, Default)]
struct Lanes {
    number: Vec<i64>,
    taken: Vec<i32>,
    served: Vec<bool>,
    stays: Vec<bool>,
    phase: Vec<Option<i32>>,
    gate: Vec<Option<DbTime>>,
    head_phase: Vec<Option<i32>>,
    head_priority: Vec<Option<i32>>,
    head_run_at: Vec<Option<DbTime>>,
}

#[derive(Debug, Default)]
struct Teams {
    id: Vec<String>,
    taken: Vec<i32>,
    stays: Vec<bool>,
}

impl ClaimChanges {
    pub(super) fn job(&mut self, id: &str) {
        self.jobs.push(id.to_owned());
    }

    /// Postpones a job that was not claimed.
    pub(super) fn later(&mut self, id: String, time: Timestamp) {
        self.later.push((id, time));
    }

    /// Adds a lane from which `taken` jobs were claimed; `served` moves it to the end of its team's order.
    pub(super) fn lane(&mut self, lane: &Lane, taken: i32, served: bool, due: LaneDue) {
        let lanes = &mut self.lanes;
        lanes.number.push(lane.number);
        lanes.taken.push(taken);
        lanes.served.push(served);
        lanes.stays.push(due == LaneDue::Now);
        lanes.phase.push(lane.phase);
        lanes.gate.push(if let LaneDue::At(time) = due { Some(time.into()) } else { None });
        lanes.head_phase.push(lane.head.map(|head| head.phase));
        lanes.head_priority.push(lane.head.map(|head| head.priority));
        lanes.head_run_at.push(lane.head.map(|head| head.run_at));
    }

    pub(super) fn team(&mut self, id: &str, taken: usize, stays: bool) {
        self.teams.id.push(id.to_owned());
        self.teams.taken.push(i32::try_from(taken).unwrap_or(i32::MAX));
        self.teams.stays.push(stays);
    }
}

/// Writes the claim and the changed hosts.
pub(super) async fn write(conn: &mut Conn, want: &Claim<'_>, start: &ClaimChanges, hosts: Hosts) -> Result<()> {
    // Rare: only for jobs of busy hosts in lanes with several hosts.
    for (id, time) in &start.later {
        let query = diesel::update(job::table.find(id)).set(job::run_at.eq(DbTime::from(*time)));
        on!(conn, |c| query.execute(c).await)?;
    }
    let hosts = hosts.changes()?;
    on!(
        conn,
        pg | c | {
            // The two statements are independent, so they are pipelined.
            let (c, start) = (&*c, to_postgres(want, start));
            try_join(start.execute(&mut &*c), async { hosts.to_postgres(&mut &*c).await }).await?;
        },
        sqlite | c | {
            if !start.jobs.is_empty() {
                jobs_to_sqlite(want, &start.jobs).execute(c).await?;
            }
            for index in 0..start.lanes.number.len() {
                lane_to_sqlite(want, &start.lanes, index).execute(c).await?;
            }
            for index in 0..start.teams.id.len() {
                team_to_sqlite(want, &start.teams, index).execute(c).await?;
            }
            hosts.to_sqlite(c).await?;
        }
    );
    Ok(())
}

// One statement for the whole claim. Data-modifying CTEs all see the snapshot from before the statement:
// - `j` marks the claimed jobs ($3) as running: counts the attempt, sets token ($1) and lease end ($2).
// - `l` updates the visited lanes, one row of `v` each ($6 numbers, $7 jobs taken, $8 whether served, $9 whether still
//   due, $10 phase, $11 gate, $12–$14 new head). `served` grows to the time of service ($4), so the lane moves to the
//   end of the order. `due_at`: unchanged if more can be claimed at once (`stays`); the gate if the lane's only host
//   must wait; else the earliest ready job of the phase after now ($5). Jobs due by now are excluded because `l` still
//   sees the jobs that `j` claims as ready. `waits` records whether ready jobs of a later phase exist, which the end of
//   a job must wake. The `(priority, run_at)` bound lets the index scan start at the head instead of at entries of dead
//   rows.
// - The main UPDATE changes the teams ($16 ids, $17 jobs taken, $18 whether still due) of the queue ($15). `due_at` is
//   the earliest due time of their lanes with room: of the visited lanes from `l`, as `job_lane` still shows their old
//   values, and of all others (not in $6) from the table.
const POSTGRES: &str = "WITH j AS (
    UPDATE job SET attempt = attempt + 1, token = {}, lease_until = {} WHERE id = ANY({})
), l AS (
    UPDATE job_lane SET running = running + v.taken, served = CASE WHEN v.served THEN greatest({}, job_lane.served + 1)
        ELSE job_lane.served END, due_at = CASE
        WHEN v.stays THEN due_at
        WHEN v.gate IS NOT NULL THEN v.gate
        ELSE (SELECT min(run_at) FROM job WHERE lane = v.number AND token IS NULL AND phase = v.phase AND run_at > {}
            AND (priority, run_at) >= (v.head_q, v.head_r)) END,
        waits = CASE WHEN v.stays OR v.gate IS NOT NULL THEN waits ELSE EXISTS (
            SELECT 1 FROM job WHERE lane = v.number AND token IS NULL AND phase > v.phase) END,
        run_phase = CASE WHEN v.taken > 0 THEN v.phase ELSE run_phase END, head_phase = coalesce(v.head_p, head_phase),
        head_priority = coalesce(v.head_q, head_priority), head_run_at = coalesce(v.head_r, head_run_at)
    FROM unnest({}, {}, {}, {}, {}, {}, {}, {}, {})
        AS v(number, taken, served, stays, phase, gate, head_p, head_q, head_r)
    WHERE job_lane.number = v.number
    RETURNING job_lane.team_id, job_lane.due_at, job_lane.running < job_lane.cap AS has_room
)
UPDATE job_team SET running = running + v.taken,
    served = CASE WHEN v.taken > 0 OR v.stays THEN greatest($4, served + 1) ELSE served END, due_at = CASE
    WHEN v.stays THEN due_at
    ELSE least(
        (SELECT min(l.due_at) FROM l WHERE l.team_id = v.team_id AND l.has_room),
        (SELECT min(o.due_at) FROM job_lane AS o WHERE o.queue = {} AND o.team_id = v.team_id AND o.running < o.cap
            AND o.due_at IS NOT NULL AND o.number <> ALL($6))
    ) END
FROM unnest({}, {}, {}) AS v(team_id, taken, stays)
WHERE job_team.queue = $15 AND job_team.team_id = v.team_id";

// SQLite runs in this process, so a statement for each lane and team costs no round trip, and each one sees the writes
// of those before. Parameters: ?1 token, ?2 lease end, ?3 job ids as a JSON array.
const SQLITE_JOBS: &str = "UPDATE job SET attempt = attempt + 1, token = {}, lease_until = {}
    WHERE id IN (SELECT value FROM json_each({}))";

// Same rules as `l` in `POSTGRES`, without a head, which SQLite does not need. Parameters: ?1 jobs taken, ?2 whether
// served, ?3 time of service, ?4 whether still due, ?5 gate, ?6 phase, ?7 now, ?8 number of the lane.
const SQLITE_LANE: &str = "UPDATE job_lane SET running = running + {},
    served = CASE WHEN {} THEN max({}, served + 1) ELSE served END, due_at = CASE
        WHEN {} THEN due_at
        ELSE coalesce({}, (SELECT min(run_at) FROM job WHERE lane = job_lane.number AND token IS NULL AND phase = {}
            AND run_at > {})) END,
    waits = CASE WHEN ?4 OR ?5 IS NOT NULL THEN waits ELSE EXISTS (
        SELECT 1 FROM job WHERE lane = job_lane.number AND token IS NULL AND phase > ?6) END
    WHERE number = {}";

// Runs after the lanes, so `job_lane` is up to date. Parameters: ?1 jobs taken, ?2 whether still due, ?3 time of
// service, ?4 queue, ?5 team.
const SQLITE_TEAM: &str = "UPDATE job_team SET running = running + {},
    served = CASE WHEN ?1 > 0 OR {} THEN max({}, served + 1) ELSE served END, due_at = CASE
        WHEN ?2 THEN due_at
        ELSE (SELECT min(due_at) FROM job_lane WHERE queue = job_team.queue AND team_id = job_team.team_id
            AND due_at IS NOT NULL AND running < cap) END
    WHERE queue = {} AND team_id = {}";

fn to_postgres<'a>(want: &'a Claim<'_>, start: &'a ClaimChanges) -> Sql<'a, Pg> {
    Sql::new(POSTGRES)
        .bind::<Text, _>(want.token)
        .bind::<SqlTimestamp, _>(DbTime::from(want.lease_until))
        .bind::<Array<Text>, _>(&start.jobs)
        .bind::<BigInt, _>(served(want.now))
        .bind::<SqlTimestamp, _>(DbTime::from(want.now))
        .bind::<Array<BigInt>, _>(&start.lanes.number)
        .bind::<Array<Integer>, _>(&start.lanes.taken)
        .bind::<Array<Bool>, _>(&start.lanes.served)
        .bind::<Array<Bool>, _>(&start.lanes.stays)
        .bind::<Array<Nullable<Integer>>, _>(&start.lanes.phase)
        .bind::<Array<Nullable<SqlTimestamp>>, _>(&start.lanes.gate)
        .bind::<Array<Nullable<Integer>>, _>(&start.lanes.head_phase)
        .bind::<Array<Nullable<Integer>>, _>(&start.lanes.head_priority)
        .bind::<Array<Nullable<SqlTimestamp>>, _>(&start.lanes.head_run_at)
        .bind::<Text, _>(want.queue)
        .bind::<Array<Text>, _>(&start.teams.id)
        .bind::<Array<Integer>, _>(&start.teams.taken)
        .bind::<Array<Bool>, _>(&start.teams.stays)
}

fn jobs_to_sqlite<'a>(want: &'a Claim<'_>, jobs: &[String]) -> Sql<'a, Sqlite> {
    Sql::new(SQLITE_JOBS)
        .bind::<Text, _>(want.token)
        .bind::<SqlTimestamp, _>(DbTime::from(want.lease_until))
        .bind::<Text, _>(json(jobs))
}

fn lane_to_sqlite<'a>(want: &'a Claim<'_>, lanes: &'a Lanes, index: usize) -> Sql<'a, Sqlite> {
    Sql::new(SQLITE_LANE)
        .bind::<Integer, _>(lanes.taken[index])
        .bind::<Bool, _>(lanes.served[index])
        .bind::<BigInt, _>(served(want.now))
        .bind::<Bool, _>(lanes.stays[index])
        .bind::<Nullable<SqlTimestamp>, _>(lanes.gate[index])
        .bind::<Nullable<Integer>, _>(lanes.phase[index])
        .bind::<SqlTimestamp, _>(DbTime::from(want.now))
        .bind::<BigInt, _>(lanes.number[index])
}

fn team_to_sqlite<'a>(want: &'a Claim<'_>, teams: &'a Teams, index: usize) -> Sql<'a, Sqlite> {
    Sql::new(SQLITE_TEAM)
        .bind::<Integer, _>(teams.taken[index])
        .bind::<Bool, _>(teams.stays[index])
        .bind::<BigInt, _>(served(want.now))
        .bind::<Text, _>(want.queue)
        .bind::<Text, _>(&teams.id[index])
}

/// Returns the time of service as a growing number: the smallest was served longest ago.
fn served(now: Timestamp) -> i64 {
    (now - Timestamp::UNIX_EPOCH).max(TimeDelta::zero()).num_microseconds().unwrap_or(i64::MAX - 1)
}

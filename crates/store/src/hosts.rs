//! Politeness state of each crawled host: its answers, its pace, its requests in flight. Shared by all workers; a claim
//! of a job with a host updates it.

use std::collections::HashMap;
use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Integer, Nullable, Text, Timestamp as SqlTimestamp};
use diesel::sqlite::Sqlite;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use politeness::{HostAnswer, HostState, Pace, StartDecision};

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::{Result, StoreError};
use crate::schema::host;
use crate::sql::{Sql, json};
use crate::sqlite::AsyncSqlite;

/// Sets the crawl delay from the robots.txt of a host; `None` for none.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn set_crawl_delay(conn: &mut Conn, name: &str, delay: Option<Duration>, now: Timestamp) -> Result<()> {
    let delay = delay.map(|delay| i64::try_from(delay.as_millis()).unwrap_or(i64::MAX));
    let row = || {
        diesel::insert_into(host::table)
            .values((
                host::name.eq(name),
                host::state.eq(NOTHING_KNOWN),
                host::crawl_delay_ms.eq(delay),
                host::most.eq(1),
                host::updated_at.eq(DbTime::from(now)),
            ))
            .on_conflict(host::name)
            .do_update()
            .set(host::crawl_delay_ms.eq(delay))
    };
    let mut conn = conn.turn().await?;
    on!(conn, |c| row().execute(c).await)?;
    Ok(())
}

/// Returns the number of requests to a host in flight, as the queue counts them.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn in_flight(conn: &mut Conn, name: &str) -> Result<u32> {
    let query = host::table.find(name).select(host::state);
    let state: Option<String> = on!(conn, |c| query.get_result(c).await.optional())?;
    state.map_or(Ok(0), |state| Ok(parse_state(name, &state)?.in_flight()))
}

/// Removes up to `limit` hosts without requests since `before` and without requests in flight; returns their number.
/// The next job creates the row again.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn forget(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let is_old = || host::updated_at.lt(DbTime::from(before));
        let old = host::table.filter(is_old()).order(host::updated_at).limit(limit).select((host::name, host::state));
        let old: Vec<(String, String)> = on!(conn, |c| old.load(c).await)?;
        let mut names = Vec::with_capacity(old.len());
        for (name, state) in &old {
            if parse_state(name, state)?.in_flight() == 0 {
                names.push(name);
            }
        }
        // The age is checked again: the host may have been asked meanwhile.
        let gone = diesel::delete(host::table.filter(host::name.eq_any(&names)).filter(is_old()));
        Ok(on!(conn, |c| gone.execute(c).await)?)
    })
    .await
}

/// Returns [`in_flight`] of every host.
pub(crate) async fn all_in_flight(conn: &mut Conn) -> Result<Vec<(String, u32)>> {
    let rows: Vec<(String, String)> =
        on!(conn, |c| host::table.select((host::name, host::state)).order(host::name).load(c).await)?;
    rows.into_iter().map(|(name, state)| parse_state(&name, &state).map(|state| (name, state.in_flight()))).collect()
}

/// Hosts whose rows are locked, in the order of their names, until the transaction ends.
pub(crate) struct Hosts {
    rows: HashMap<String, Host>,
    now: Timestamp,
}

/// Answer to a request for a turn at a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostTurn {
    /// The request is counted. It may start at this time, at most [`AHEAD`] from now, once fewer than this many
    /// requests run.
    Start(Timestamp, u32),
    /// The request is not counted; ask again at this time.
    Later(Timestamp),
}

/// Terms of a request for a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnRequest<'a> {
    /// Limit of concurrent requests, [`Claim::per_host`](crate::jobs::Claim::per_host).
    pub(crate) most: u32,
    /// Name of the worker, [`Claim::worker`](crate::jobs::Claim::worker).
    pub(crate) worker: Option<&'a str>,
    /// Whether the lane has a promised turn that is not due yet, and keeps it.
    pub(crate) early: bool,
}

struct Host {
    state: HostState,
    crawl_delay: Option<Duration>,
    most: u32,
    queued_until: Option<Timestamp>,
    changed: bool,
}

impl Host {
    fn next_start(&mut self, pace: &Pace, worker: Option<&str>, now: Timestamp) -> StartDecision {
        match self.state.next_start(pace, now) {
            StartDecision::WhenOneEnds => {
                // A caller without a worker name takes nothing ahead and waits for a slot.
                let ahead = self.state.ahead(pace, worker.unwrap_or_default(), now);
                ahead.map_or(StartDecision::WhenOneEnds, StartDecision::At)
            }
            start => start,
        }
    }

    fn start(&mut self, pace: &Pace, worker: Option<&str>, at: Timestamp) -> HostTurn {
        self.state.sent_by(worker);
        self.state.started(at);
        HostTurn::Start(at, self.state.slots(pace))
    }
}

/// Longest time by which a start is promised ahead.
const AHEAD: TimeDelta = TimeDelta::seconds(1);
/// Shortest estimated time between two waiting jobs of a host.
const MIN_TURN: Duration = Duration::from_millis(10);
/// Longest estimated wait: turns of a crawl that is cancelled meanwhile are not lost for longer.
const MAX_QUEUE: TimeDelta = TimeDelta::seconds(10);
const NOTHING_KNOWN: &str = "{}";

#[derive(Queryable)]
struct HostRow {
    name: String,
    state: String,
    crawl_delay_ms: Option<i64>,
    most: i32,
    queued_until: Option<DbTime>,
}

type HostSql = (Text, Text, Nullable<BigInt>, Integer, Nullable<SqlTimestamp>);

impl Hosts {
    /// Locks the existing rows of these hosts.
    pub(crate) async fn lock(conn: &mut Conn, mut names: Vec<&str>, now: Timestamp) -> Result<Self> {
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return Ok(Self { rows: HashMap::new(), now });
        }
        let rows: Vec<HostRow> = on!(
            conn,
            pg | c | {
                Sql::<Pg, HostSql>::new(
                    "SELECT name, state, crawl_delay_ms, most, queued_until FROM host WHERE name = ANY({})
                     ORDER BY name FOR UPDATE",
                )
                .bind::<Array<Text>, _>(names)
                .load(c)
                .await
            },
            sqlite | c | {
                let query = Sql::<Sqlite, HostSql>::new(
                    "SELECT name, state, crawl_delay_ms, most, queued_until FROM host
                     WHERE name IN (SELECT value FROM json_each({}))",
                );
                query.bind::<Text, _>(json(&names)).load(c).await
            }
        )?;
        let mut hosts = Self { rows: HashMap::with_capacity(rows.len()), now };
        for row in rows {
            let crawl_delay = row.crawl_delay_ms.and_then(|delay| u64::try_from(delay).ok());
            let host = Host {
                state: parse_state(&row.name, &row.state)?,
                crawl_delay: crawl_delay.map(Duration::from_millis),
                most: u32::try_from(row.most).unwrap_or(1),
                queued_until: row.queued_until.map(Timestamp::from),
                changed: false,
            };
            hosts.rows.insert(row.name, host);
        }
        Ok(hosts)
    }

    /// Creates missing rows and locks all of them. Must be called before any host is locked: otherwise two transactions
    /// that each create what the other holds would deadlock.
    pub(crate) async fn make(conn: &mut Conn, mut names: Vec<&str>, now: Timestamp) -> Result<Self> {
        names.sort_unstable();
        names.dedup();
        for name in &names {
            let values = (host::name.eq(*name), host::state.eq(NOTHING_KNOWN), host::most.eq(1));
            let row = || diesel::insert_into(host::table).values((values, host::updated_at.eq(DbTime::from(now))));
            on!(conn, |c| row().on_conflict(host::name).do_nothing().execute(c).await)?;
        }
        Self::lock(conn, names, now).await
    }

    /// Requests a turn at a host for a lane with this delay.
    pub(crate) fn turn(&mut self, name: &str, delay: Option<Duration>, asked: TurnRequest<'_>) -> HostTurn {
        let TurnRequest { most, worker, early } = asked;
        let Some(host) = self.rows.get_mut(name) else { return HostTurn::Start(self.now, most) };
        (host.changed, host.most) = (true, most);
        let pace = Pace::new(host.crawl_delay, delay, Some(most));
        let now = self.now;
        let (earliest, turn) = match host.next_start(&pace, worker, now) {
            StartDecision::Now => return host.start(&pace, worker, now),
            StartDecision::At(time) if time - now <= AHEAD => return host.start(&pace, worker, time),
            StartDecision::At(time) => (time - AHEAD, host.state.turn(&pace)),
            StartDecision::WhenOneEnds => (now, host.state.turn(&pace)),
        };
        let turn = TimeDelta::from_std(turn.max(MIN_TURN)).unwrap_or(MAX_QUEUE);
        let end = now + MAX_QUEUE;
        let next = host.queued_until.unwrap_or(now).max(earliest) + turn;
        if next <= end && !early {
            host.queued_until = Some(next);
        }
        // A start time that is known is not capped by the estimate.
        HostTurn::Later(next.min(end.max(earliest)))
    }

    /// Counts the end of a request of a lane with this delay.
    pub(crate) fn ended(&mut self, name: &str, delay: Option<Duration>, answer: HostAnswer) {
        if let Some(host) = self.rows.get_mut(name) {
            let pace = Pace::new(host.crawl_delay, delay, Some(host.most));
            host.state.ended(&pace, answer, self.now);
            host.changed = true;
        }
    }

    /// Writes the changed rows.
    pub(crate) async fn save(self, conn: &mut Conn) -> Result<()> {
        let changes = self.changes()?;
        on!(conn, pg | c | changes.to_postgres(&mut &*c).await, sqlite | c | changes.to_sqlite(c).await)?;
        Ok(())
    }

    /// Returns the changed rows.
    pub(crate) fn changes(self) -> Result<Changes> {
        let (names, states, most, queued) = (vec![], vec![], vec![], vec![]);
        let mut changes = Changes { now: self.now.into(), names, states, most, queued };
        for (name, host) in self.rows.into_iter().filter(|(_, host)| host.changed) {
            changes.states.push(serde_json::to_string(&host.state).map_err(|error| broken(&name, &error))?);
            changes.names.push(name);
            changes.most.push(i32::try_from(host.most).unwrap_or(i32::MAX));
            changes.queued.push(host.queued_until.map(DbTime::from));
        }
        Ok(changes)
    }
}

/// Changed rows, column by column.
pub(crate) struct Changes {
    now: DbTime,
    names: Vec<String>,
    states: Vec<String>,
    most: Vec<i32>,
    queued: Vec<Option<DbTime>>,
}

impl Changes {
    pub(crate) async fn to_postgres(&self, conn: &mut &AsyncPgConnection) -> QueryResult<()> {
        if self.names.is_empty() {
            return Ok(());
        }
        let query = Sql::<Pg>::new(
            "UPDATE host SET state = u.state, most = u.most, queued_until = u.queued_until, updated_at = {}
             FROM unnest({}, {}, {}, {}) AS u(name, state, most, queued_until) WHERE host.name = u.name",
        );
        let query = query
            .bind::<SqlTimestamp, _>(self.now)
            .bind::<Array<Text>, _>(&self.names)
            .bind::<Array<Text>, _>(&self.states)
            .bind::<Array<Integer>, _>(&self.most)
            .bind::<Array<Nullable<SqlTimestamp>>, _>(&self.queued);
        query.execute(conn).await.map(drop)
    }

    pub(crate) async fn to_sqlite(&self, conn: &mut AsyncSqlite) -> QueryResult<()> {
        for (index, name) in self.names.iter().enumerate() {
            let query = Sql::<Sqlite>::new(
                "UPDATE host SET state = {}, most = {}, queued_until = {}, updated_at = {} WHERE name = {}",
            );
            let query = query
                .bind::<Text, _>(&self.states[index])
                .bind::<Integer, _>(self.most[index])
                .bind::<Nullable<SqlTimestamp>, _>(self.queued[index])
                .bind::<SqlTimestamp, _>(self.now)
                .bind::<Text, _>(name);
            query.execute(conn).await?;
        }
        Ok(())
    }
}

fn parse_state(name: &str, state: &str) -> Result<HostState> {
    serde_json::from_str(state).map_err(|error| broken(name, &error))
}

fn broken(name: &str, error: &serde_json::Error) -> StoreError {
    StoreError::Inconsistent(format!("unreadable state of host {name}: {error}"))
}

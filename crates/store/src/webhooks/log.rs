//! Log of deliveries, newest first, without bodies and headers.

use base::Timestamp;
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::State;
use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::runs::OPEN;
use crate::schema::{monitor_check, run, webhook_delivery};

/// Logged delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// Id, which the receiver sees as `webhook-id`.
    pub id: String,
    /// Id of the team.
    pub team_id: String,
    /// Id of the crawl or batch.
    pub job_id: String,
    /// Name of the event.
    pub event: String,
    /// Target URL.
    pub url: String,
    /// Delivery state.
    pub state: State,
    /// Number of attempts so far.
    pub attempts: i32,
    /// HTTP status of the last response, if there was one.
    pub status: Option<i32>,
    /// Error of the last failed attempt.
    pub error: Option<String>,
    /// Duration of the last attempt, in milliseconds.
    pub duration_ms: Option<i64>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time at which the receiver accepted it.
    pub delivered_at: Option<Timestamp>,
    /// Due time of the next attempt, if there is one.
    pub next_at: Option<Timestamp>,
    /// Whether body and headers are still stored, so that it can be sent again.
    pub has_body: bool,
    /// Size of the body, in bytes.
    pub body_bytes: i64,
    /// SHA-256 of the body in hexadecimal digits; empty if an older version created it.
    pub body_digest: String,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = webhook_delivery)]
struct Row {
    id: String,
    team_id: String,
    job_id: String,
    event: String,
    url: String,
    state: String,
    attempts: i32,
    status: Option<i32>,
    error: Option<String>,
    duration_ms: Option<i64>,
    created_at: DbTime,
    delivered_at: Option<DbTime>,
    next_at: Option<DbTime>,
    has_body: bool,
    body_bytes: i64,
    body_digest: String,
}

/// Returns one delivery.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), and [`Inconsistent`](crate::StoreError::Inconsistent) for an unknown state.
#[crate::boxed]
pub async fn find(conn: &mut Conn, id: &str) -> Result<Option<Logged>> {
    let query = webhook_delivery::table.find(id);
    let found: Option<Row> = on!(conn, |c| query.select(Row::as_select()).get_result(c).await.optional())?;
    found.map(Logged::try_from).transpose()
}

/// Returns up to `limit` deliveries of a team, newest first, with ids below `before`; only those in `state`, or all.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), and [`Inconsistent`](crate::StoreError::Inconsistent) for an unknown state.
#[crate::boxed]
pub async fn list(
    conn: &mut Conn,
    team: &str,
    state: Option<State>,
    before: Option<&str>,
    limit: i64,
) -> Result<Vec<Logged>> {
    use webhook_delivery::columns as c;
    // No id sorts after this one.
    let before = before.unwrap_or("\u{10ffff}");
    let every = webhook_delivery::table.filter(c::team_id.eq(team)).filter(c::id.lt(before));
    let every = every.order(c::id.desc()).limit(limit);
    let rows: Vec<Row> = match state {
        None => on!(conn, |conn| every.select(Row::as_select()).load(conn).await)?,
        Some(state) => {
            let some = every.filter(c::state.eq(state.as_str()));
            on!(conn, |conn| some.select(Row::as_select()).load(conn).await)?
        }
    };
    rows.into_iter().map(Logged::try_from).collect()
}

/// Removes up to `limit` deliveries created before `before`, in any state, and returns their number.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was removed then.
#[crate::boxed]
pub async fn forget(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    use webhook_delivery::columns as c;
    conn.atomic(async |conn: &mut Conn| {
        let old = webhook_delivery::table.filter(c::created_at.lt(DbTime::from(before))).limit(limit).select(c::id);
        let ids: Vec<String> = on!(conn, |conn| old.load(conn).await)?;
        let query = diesel::delete(webhook_delivery::table.filter(c::id.eq_any(&ids)));
        Ok(on!(conn, |conn| query.execute(conn).await)?)
    })
    .await
}

/// Removes body and headers of up to `limit` deliveries whose job is removed or expired at `now`, and returns their
/// number. The job is a run, or a check of a monitor, which does not expire before it is removed. Pending ones fail; those that must not be kept are removed.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was changed then.
#[crate::boxed]
pub async fn drop_bodies(conn: &mut Conn, now: Timestamp, limit: i64) -> Result<usize> {
    use webhook_delivery::columns as c;
    conn.atomic(async |conn: &mut Conn| {
        let alive = run::status.eq(OPEN).or(run::expires_at.gt(DbTime::from(now)));
        let alive = run::table.filter(run::id.eq(c::job_id)).filter(alive);
        let checked = monitor_check::table.filter(monitor_check::id.eq(c::job_id));
        let orphans = webhook_delivery::table.filter(c::has_body);
        let orphans = orphans.filter(not(exists(alive))).filter(not(exists(checked))).limit(limit);
        let ids: Vec<String> = on!(conn, |conn| orphans.select(c::id).load(conn).await)?;
        let found = || webhook_delivery::table.filter(c::id.eq_any(&ids));
        // Rows that must not be kept are deleted first; the others are failed if pending, and emptied.
        let private = diesel::delete(found().filter(not(c::keep)));
        on!(conn, |conn| private.execute(conn).await)?;
        let failed =
            (c::state.eq(State::Failed.as_str()), c::error.eq("its job has expired"), c::next_at.eq(None::<DbTime>));
        let pending = diesel::update(found().filter(c::state.eq(State::Pending.as_str()))).set(failed);
        on!(conn, |conn| pending.execute(conn).await)?;
        let gone = (c::has_body.eq(false), c::body.eq(Vec::<u8>::new()), c::headers.eq("{}"));
        on!(conn, |conn| diesel::update(found()).set(gone).execute(conn).await)?;
        Ok(ids.len())
    })
    .await
}

impl TryFrom<Row> for Logged {
    type Error = crate::StoreError;

    fn try_from(row: Row) -> Result<Self> {
        let Row { id, team_id, job_id, event, url, state, attempts, status, error, duration_ms, .. } = row;
        let (has_body, body_bytes, body_digest) = (row.has_body, row.body_bytes, row.body_digest);
        let [delivered_at, next_at] = [row.delivered_at, row.next_at].map(|moment| moment.map(Timestamp::from));
        let (state, created_at) = (State::parse(&state)?, row.created_at.into());
        Ok(Self {
            id,
            team_id,
            job_id,
            event,
            url,
            state,
            attempts,
            status,
            error,
            duration_ms,
            created_at,
            delivered_at,
            next_at,
            has_body,
            body_bytes,
            body_digest,
        })
    }
}

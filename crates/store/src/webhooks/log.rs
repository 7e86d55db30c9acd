//! The log of deliveries, newest first, without bodies and headers.

use base::Timestamp;
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::State;
use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::runs::OPEN;
use crate::schema::{run, webhook_delivery};

/// A delivery as the log shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// The `webhook-id` that its receiver sees.
    pub id: String,
    /// The team whose event it tells of.
    pub team_id: String,
    /// The crawl or batch that it tells of.
    pub job_id: String,
    /// The event's name.
    pub event: String,
    /// Where it goes.
    pub url: String,
    /// What came of it so far.
    pub state: State,
    /// How many attempts were made.
    pub attempts: i32,
    /// The status of the last answer, if one came.
    pub status: Option<i32>,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// How long the last attempt took, in milliseconds.
    pub duration_ms: Option<i64>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the receiver took it.
    pub delivered_at: Option<Timestamp>,
    /// When the next attempt is due, while there is one.
    pub next_at: Option<Timestamp>,
    /// Whether body and headers are still there, so that it can be sent again.
    pub has_body: bool,
    /// The size of the body.
    pub body_bytes: i64,
    /// SHA-256 of the body in hexadecimal digits; empty when it was made by an older version.
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

/// One delivery.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), and [`Inconsistent`](crate::StoreError::Inconsistent) for an unknown state.
#[crate::boxed]
pub async fn find(conn: &mut Conn, id: &str) -> Result<Option<Logged>> {
    let query = webhook_delivery::table.find(id);
    let found: Option<Row> = on!(conn, |c| query.select(Row::as_select()).get_result(c).await.optional())?;
    found.map(Logged::try_from).transpose()
}

/// Up to `limit` deliveries of a team, newest first, those with ids below `before`; of one state or of all.
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
    // No id sorts behind this.
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

/// Removes up to `limit` deliveries made before `before`, whatever came of them, and says how many.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); then nothing is removed.
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

/// Removes body and headers of up to `limit` deliveries whose job is gone or over at `now`, and says of how many. What was
/// still to be delivered has failed then; what may not be kept is removed.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); then nothing has changed.
#[crate::boxed]
pub async fn drop_bodies(conn: &mut Conn, now: Timestamp, limit: i64) -> Result<usize> {
    use webhook_delivery::columns as c;
    conn.atomic(async |conn: &mut Conn| {
        let alive = run::status.eq(OPEN).or(run::expires_at.gt(DbTime::from(now)));
        let alive = run::table.filter(run::id.eq(c::job_id)).filter(alive);
        let orphans = webhook_delivery::table.filter(c::has_body).filter(not(exists(alive))).limit(limit);
        let ids: Vec<String> = on!(conn, |conn| orphans.select(c::id).load(conn).await)?;
        let found = || webhook_delivery::table.filter(c::id.eq_any(&ids));
        // Rows that may not be kept go first; what is left of the list is emptied, and failed where it was still pending.
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
        let (state, created_at) = (State::read(&state)?, row.created_at.into());
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

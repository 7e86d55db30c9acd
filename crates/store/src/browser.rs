//! Browser sessions of clients: one row each, so that every server knows the owner and the server that runs it.

use base::{Secret, Timestamp};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::browser_session as table;

/// Browser session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Id, as known to the client.
    pub id: String,
    /// Id of the team that it belongs to.
    pub team_id: String,
    /// Id of the scrape whose page it shows; `None` for a stand-alone session.
    pub scrape_id: Option<String>,
    /// Address at which other servers reach the server that runs it; empty if it has none.
    pub owner: String,
    /// Access tokens; empty after its end.
    pub tokens: Tokens,
    /// Whether it has a live view.
    pub is_watchable: bool,
    /// Start time.
    pub created_at: Timestamp,
    /// Time of the last use, to a few seconds.
    pub last_used_at: Timestamp,
    /// Latest end.
    pub expires_at: Timestamp,
    /// Time until which its server is known to run it.
    pub alive_until: Timestamp,
    /// End time.
    pub ended_at: Option<Timestamp>,
    /// Credits charged; 0 before its end.
    pub credits: i64,
    /// Idempotent call that started it.
    pub call: Option<Call>,
}

/// Call with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Idempotency key.
    pub key: String,
    /// Fingerprint of the request, to tell a repeat from a different request.
    pub fingerprint: String,
}

/// Access tokens of a session; each opens one kind of access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// Token for the DevTools protocol.
    pub cdp: Secret,
    /// Token for the live view.
    pub view: Secret,
    /// Token for the live view with mouse and keyboard.
    pub hand: Secret,
}

impl Session {
    /// Whether the session can be used at `now`.
    #[must_use]
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && self.alive_until > now
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = table, treat_none_as_default_value = false)]
struct Row {
    id: String,
    team_id: String,
    scrape_id: Option<String>,
    owner: String,
    cdp_token: String,
    view_token: String,
    hand_token: String,
    is_watchable: bool,
    created_at: DbTime,
    last_used_at: DbTime,
    expires_at: DbTime,
    alive_until: DbTime,
    ended_at: Option<DbTime>,
    credits: i64,
    idempotency_key: Option<String>,
    fingerprint: Option<String>,
}

/// Adds a session.
///
/// # Errors
/// [`is_duplicate`](crate::StoreError::is_duplicate) when the scrape has a session that has not ended, and when the
/// team has a session with the same idempotency key; [`Query`](crate::StoreError::Query), also when the team is
/// unknown.
#[crate::boxed]
pub async fn insert(conn: &mut Conn, session: &Session) -> Result<()> {
    let row = Row::from(session.clone());
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::insert_into(table::table).values(&row).execute(c).await)?;
    Ok(())
}

/// Returns a session of any team.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find(conn: &mut Conn, id: &str) -> Result<Option<Session>> {
    let query = table::table.find(id);
    let row: Option<Row> = on!(conn, |c| query.select(Row::as_select()).get_result(c).await.optional())?;
    Ok(row.map(Session::from))
}

/// Returns the session that a team started with an idempotency key.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find_by_key(conn: &mut Conn, team: &str, key: &str) -> Result<Option<Session>> {
    let query = table::table.filter(table::team_id.eq(team)).filter(table::idempotency_key.eq(key));
    let row: Option<Row> = on!(conn, |c| query.select(Row::as_select()).get_result(c).await.optional())?;
    Ok(row.map(Session::from))
}

/// Returns the session of a team's scrape that has not ended.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn of_scrape(conn: &mut Conn, team: &str, scrape: &str) -> Result<Option<Session>> {
    let query = table::table
        .filter(table::scrape_id.eq(scrape))
        .filter(table::team_id.eq(team))
        .filter(table::ended_at.is_null());
    let row: Option<Row> = on!(conn, |c| query.select(Row::as_select()).get_result(c).await.optional())?;
    Ok(row.map(Session::from))
}

/// Returns the newest session of a team's scrape, ended or not.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn last_of_scrape(conn: &mut Conn, team: &str, scrape: &str) -> Result<Option<Session>> {
    let query = table::table
        .filter(table::scrape_id.eq(scrape))
        .filter(table::team_id.eq(team))
        .order(table::created_at.desc())
        .limit(1);
    let row: Option<Row> = on!(conn, |c| query.select(Row::as_select()).get_result(c).await.optional())?;
    Ok(row.map(Session::from))
}

/// Returns up to `limit` stand-alone sessions of a team, newest first: all of them, or only those whose
/// [`Session::is_active`] at `now` equals `is_active`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn list(
    conn: &mut Conn,
    team: &str,
    is_active: Option<bool>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Session>> {
    let now = DbTime::from(now);
    let rows: Vec<Row> = on!(conn, |c| {
        let own = table::table.filter(table::team_id.eq(team)).filter(table::scrape_id.is_null());
        let mut page = own.into_boxed();
        match is_active {
            Some(true) => page = page.filter(table::ended_at.is_null()).filter(table::alive_until.gt(now)),
            Some(false) => page = page.filter(table::ended_at.is_not_null().or(table::alive_until.le(now))),
            None => {}
        }
        page.order((table::created_at.desc(), table::id.desc())).limit(limit).select(Row::as_select()).load(c).await
    })?;
    Ok(rows.into_iter().map(Session::from).collect())
}

/// Notes that a session is running and when it was last used; `false` if it is recorded as ended.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn renew(conn: &mut Conn, id: &str, last_used_at: Timestamp, alive_until: Timestamp) -> Result<bool> {
    let mine = table::table.find(id).filter(table::ended_at.is_null());
    let set = (table::last_used_at.eq(DbTime::from(last_used_at)), table::alive_until.eq(DbTime::from(alive_until)));
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| diesel::update(mine).set(set).execute(c).await)? == 1)
}

/// Ends a session and removes its tokens; `false` if it had ended before.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn end(conn: &mut Conn, id: &str, at: Timestamp, credits: i64) -> Result<bool> {
    let open = table::table.find(id).filter(table::ended_at.is_null());
    let set = (
        table::ended_at.eq(Some(DbTime::from(at))),
        table::credits.eq(credits),
        table::cdp_token.eq(""),
        table::view_token.eq(""),
        table::hand_token.eq(""),
    );
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| diesel::update(open).set(set).execute(c).await)? == 1)
}

/// Ends up to `limit` sessions whose server stopped renewing them before `now`; returns their number.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); no session was ended then.
#[crate::boxed]
pub async fn end_lost(conn: &mut Conn, now: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let lost = table::table
            .filter(table::ended_at.is_null())
            .filter(table::alive_until.le(DbTime::from(now)))
            .limit(limit)
            .select(table::id);
        let ids: Vec<String> = on!(conn, |c| lost.load(c).await)?;
        let mut ended = 0;
        for id in &ids {
            ended += usize::from(end(conn, id, now, 0).await?);
        }
        Ok(ended)
    })
    .await
}

/// Removes up to `limit` ended sessions that began before `before`; returns their number.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was removed then.
#[crate::boxed]
pub async fn forget(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let old = table::table
            .filter(table::created_at.lt(DbTime::from(before)))
            .filter(table::ended_at.is_not_null())
            .limit(limit)
            .select(table::id);
        let ids: Vec<String> = on!(conn, |c| old.load(c).await)?;
        Ok(on!(conn, |c| diesel::delete(table::table.filter(table::id.eq_any(&ids))).execute(c).await)?)
    })
    .await
}

impl From<Session> for Row {
    fn from(session: Session) -> Self {
        let (idempotency_key, fingerprint) = session.call.map(|call| (call.key, call.fingerprint)).unzip();
        Self {
            id: session.id,
            team_id: session.team_id,
            scrape_id: session.scrape_id,
            owner: session.owner,
            cdp_token: session.tokens.cdp.expose().to_owned(),
            view_token: session.tokens.view.expose().to_owned(),
            hand_token: session.tokens.hand.expose().to_owned(),
            is_watchable: session.is_watchable,
            created_at: session.created_at.into(),
            last_used_at: session.last_used_at.into(),
            expires_at: session.expires_at.into(),
            alive_until: session.alive_until.into(),
            ended_at: session.ended_at.map(DbTime::from),
            credits: session.credits,
            idempotency_key,
            fingerprint,
        }
    }
}

impl From<Row> for Session {
    fn from(row: Row) -> Self {
        let [cdp, view, hand] = [row.cdp_token, row.view_token, row.hand_token].map(Secret::new);
        Self {
            id: row.id,
            team_id: row.team_id,
            scrape_id: row.scrape_id,
            owner: row.owner,
            tokens: Tokens { cdp, view, hand },
            is_watchable: row.is_watchable,
            created_at: row.created_at.into(),
            last_used_at: row.last_used_at.into(),
            expires_at: row.expires_at.into(),
            alive_until: row.alive_until.into(),
            ended_at: row.ended_at.map(Timestamp::from),
            credits: row.credits,
            call: row.idempotency_key.zip(row.fingerprint).map(|(key, fingerprint)| Call { key, fingerprint }),
        }
    }
}

//! Browsers that clients keep for a while: one row for each, so that every server knows whose it is and where it runs.

use base::{Secret, Timestamp};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::browser_session as table;

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id, as told to the client.
    pub id: String,
    /// The team that it belongs to.
    pub team_id: String,
    /// The scrape whose page it shows; none for a session of its own.
    pub scrape_id: Option<String>,
    /// Where the server that runs it is reached by the others; empty when it told nobody.
    pub owner: String,
    /// What opens it; empty from its end on.
    pub tokens: Tokens,
    /// Whether it can be watched.
    pub is_watchable: bool,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, to a few seconds.
    pub last_used_at: Timestamp,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
    /// Until when its server is known to run it.
    pub alive_until: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What it cost; 0 before its end.
    pub credits: i64,
    /// The key under which the same call starts it once.
    pub call: Option<Call>,
}

/// A call that counts once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its idempotency key.
    pub key: String,
    /// Tells whether two calls ask for the same.
    pub fingerprint: String,
}

/// What opens a session over its addresses: each opens one thing only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// Its protocol.
    pub cdp: Secret,
    /// The sight of it.
    pub view: Secret,
    /// The sight of it, with mouse and keys.
    pub hand: Secret,
}

impl Session {
    /// Whether it can be used at `now`.
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
/// [`is_duplicate`](crate::StoreError::is_duplicate) when the scrape has a session that has not ended, and when the team has
/// one under the same idempotency key;
/// [`Query`](crate::StoreError::Query), also when the team is unknown.
#[crate::boxed]
pub async fn insert(conn: &mut Conn, session: &Session) -> Result<()> {
    let row = Row::from(session.clone());
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::insert_into(table::table).values(&row).execute(c).await)?;
    Ok(())
}

/// A session, of whatever team.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find(conn: &mut Conn, id: &str) -> Result<Option<Session>> {
    let query = table::table.find(id);
    let row: Option<Row> = on!(conn, |c| query.select(Row::as_select()).get_result(c).await.optional())?;
    Ok(row.map(Session::from))
}

/// The session of a team that was started under an idempotency key.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find_by_key(conn: &mut Conn, team: &str, key: &str) -> Result<Option<Session>> {
    let query = table::table.filter(table::team_id.eq(team)).filter(table::idempotency_key.eq(key));
    let row: Option<Row> = on!(conn, |c| query.select(Row::as_select()).get_result(c).await.optional())?;
    Ok(row.map(Session::from))
}

/// The session of a team's scrape that has not ended.
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

/// When the newest session of a team's scrape ended, if all have.
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

/// Up to `limit` sessions of a team that belong to no scrape, the newest first: all, or only those of which
/// [`Session::is_active`] says `is_active` at `now`.
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

/// Says that a session still runs, and when it was last used; false when it has ended in the eyes of others.
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

/// Ends a session, and forgets what opens it; false when it had ended before.
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

/// Ends up to `limit` sessions whose server was last heard of before `now`; says how many.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); then none has ended.
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

/// Removes up to `limit` sessions that have ended and began before `before`; says how many.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); then nothing is removed.
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

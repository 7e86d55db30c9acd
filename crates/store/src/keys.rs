//! API keys. Only their hashes are stored, so that a leaked database cannot be used to call the service.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::list::List;
use crate::schema::{api_key, team};
use crate::teams::Team;

/// API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Public id for operators; not a secret.
    pub id: String,
    /// Id of the team that calls with it.
    pub team_id: String,
    /// Name that says what it is for.
    pub name: String,
    /// SHA-256 of the whole key, in lower-case hex.
    pub hash: String,
    /// Last 4 characters, to tell keys apart.
    pub hint: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of revocation.
    pub revoked_at: Option<Timestamp>,
    /// Time of the last use, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Allowed groups of endpoints; `None` for all.
    pub endpoints: Option<List>,
    /// Allowed formats; `None` for all.
    pub formats: Option<List>,
}

/// Changes of a key; `None` keeps a value, `Some(None)` removes a restriction.
#[derive(Debug, Clone, Default, PartialEq, Eq, AsChangeset)]
#[diesel(table_name = api_key)]
pub struct KeyChange {
    /// New [`ApiKey::name`].
    pub name: Option<String>,
    /// New [`ApiKey::endpoints`].
    pub endpoints: Option<Option<List>>,
    /// New [`ApiKey::formats`].
    pub formats: Option<Option<List>>,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = api_key, treat_none_as_default_value = false)]
struct Row {
    id: String,
    team_id: String,
    name: String,
    hash: String,
    hint: String,
    created_at: DbTime,
    revoked_at: Option<DbTime>,
    last_used_at: Option<DbTime>,
    endpoints: Option<List>,
    formats: Option<List>,
}

/// Adds a key.
///
/// # Errors
/// [`crate::StoreError::is_duplicate`] when its id or hash is taken; [`crate::StoreError::Query`] when the team is
/// unknown.
#[crate::boxed]
pub async fn create(conn: &mut Conn, key: &ApiKey) -> Result<()> {
    let row = Row::from(key.clone());
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::insert_into(api_key::table).values(&row).execute(c).await)?;
    Ok(())
}

/// Returns the key with this hash and its team, also if the key is revoked, so that the caller can be told.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find_by_hash(conn: &mut Conn, hash: &str) -> Result<Option<(ApiKey, Team)>> {
    // One query for both, because every API call waits for it.
    let query = api_key::table.inner_join(team::table).filter(api_key::hash.eq(hash));
    let found: Option<(Row, Team)> =
        on!(conn, |c| query.select((Row::as_select(), Team::as_select())).get_result(c).await.optional())?;
    Ok(found.map(|(row, team)| (row.into(), team)))
}

/// Returns up to `limit` keys of a team, revoked ones included, in the order of their ids, starting after `after`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn list(conn: &mut Conn, team: &str, after: Option<&str>, limit: i64) -> Result<Vec<ApiKey>> {
    let query = api_key::table
        .filter(api_key::team_id.eq(team))
        .filter(api_key::id.gt(after.unwrap_or_default()))
        .order(api_key::id)
        .limit(limit);
    let rows: Vec<Row> = on!(conn, |c| query.select(Row::as_select()).load(c).await)?;
    Ok(rows.into_iter().map(ApiKey::from).collect())
}

/// Revokes a key; says whether it was valid until now.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the key is still valid then.
#[crate::boxed]
pub async fn revoke(conn: &mut Conn, id: &str, at: Timestamp) -> Result<bool> {
    let query = diesel::update(api_key::table.find(id).filter(api_key::revoked_at.is_null()))
        .set(api_key::revoked_at.eq(DbTime::from(at)));
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| query.execute(c).await)? == 1)
}

/// Changes a key and returns its new state; `None` if there is no such key.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was changed then.
#[crate::boxed]
pub async fn update(conn: &mut Conn, id: &str, change: &KeyChange) -> Result<Option<ApiKey>> {
    // diesel rejects an UPDATE without a SET.
    let row: Option<Row> = if *change == KeyChange::default() {
        let query = api_key::table.find(id);
        on!(conn, |c| query.select(Row::as_select()).get_result(c).await.optional())?
    } else {
        let query = diesel::update(api_key::table.find(id)).set(change);
        let mut conn = conn.turn().await?;
        on!(conn, |c| query.returning(Row::as_returning()).get_result(c).await.optional())?
    };
    Ok(row.map(ApiKey::from))
}

/// Returns those of the keys, a few hundred at most, that are revoked.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn revoked(conn: &mut Conn, ids: &[String]) -> Result<Vec<String>> {
    let query =
        api_key::table.filter(api_key::id.eq_any(ids)).filter(api_key::revoked_at.is_not_null()).select(api_key::id);
    Ok(on!(conn, |c| query.load(c).await)?)
}

/// Notes the use of a key. Writes at most once a minute, so that a busy key does not become a contended row.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was changed then.
#[crate::boxed]
pub async fn touch(conn: &mut Conn, id: &str, at: Timestamp) -> Result<()> {
    let stale = DbTime::from(at - chrono::TimeDelta::minutes(1));
    // The condition is part of the statement: of many concurrent calls that see the old time, one writes.
    let due = api_key::last_used_at.is_null().or(api_key::last_used_at.le(stale));
    let query =
        diesel::update(api_key::table.find(id).filter(due)).set(api_key::last_used_at.eq(Some(DbTime::from(at))));
    let mut conn = conn.turn().await?;
    on!(conn, |c| query.execute(c).await)?;
    Ok(())
}

impl From<Row> for ApiKey {
    fn from(row: Row) -> Self {
        let Row { id, team_id, name, hash, hint, created_at, revoked_at, last_used_at, endpoints, formats } = row;
        let [revoked_at, last_used_at] = [revoked_at, last_used_at].map(|moment| moment.map(Timestamp::from));
        Self {
            id,
            team_id,
            name,
            hash,
            hint,
            created_at: created_at.into(),
            revoked_at,
            last_used_at,
            endpoints,
            formats,
        }
    }
}

impl From<ApiKey> for Row {
    fn from(key: ApiKey) -> Self {
        let ApiKey { id, team_id, name, hash, hint, created_at, revoked_at, last_used_at, endpoints, formats } = key;
        let [revoked_at, last_used_at] = [revoked_at, last_used_at].map(|moment| moment.map(DbTime::from));
        Self {
            id,
            team_id,
            name,
            hash,
            hint,
            created_at: created_at.into(),
            revoked_at,
            last_used_at,
            endpoints,
            formats,
        }
    }
}

//! One row for every scrape, so that a team can ask about it later. Scrapes without data retention leave none.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, Link, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::scrape;

/// A scrape that ended.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = scrape, treat_none_as_default_value = false)]
pub struct Scrape {
    /// Its id, as told to the client.
    pub id: String,
    /// The team that asked for it.
    pub team_id: String,
    /// The key it was called with.
    pub api_key_id: Option<String>,
    /// What was asked for; absent when it must not be written down.
    pub url: Option<String>,
    /// The status of the page, if one came.
    pub status_code: Option<i32>,
    /// The error code told to the client; `None` means success.
    pub error_code: Option<String>,
    /// `hit` or `miss`, when the cache was asked.
    pub cache_state: Option<String>,
    /// What it cost.
    pub credits: i64,
    /// How long it took, in milliseconds.
    pub duration_ms: i64,
    /// When it began.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub created_at: Timestamp,
    /// What its document is made again from, as the operations write it; absent when it cannot be.
    pub kept: Option<String>,
}

/// Adds a row.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), also when the id is taken or the team is unknown.
#[crate::boxed]
pub async fn insert(conn: &mut Conn, row: &Scrape) -> Result<()> {
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::insert_into(scrape::table).values(row.clone()).execute(c).await)?;
    Ok(())
}

/// Adds rows.
///
/// # Errors
/// As [`insert`]; then none is added.
#[crate::boxed]
pub async fn insert_all(conn: &mut Conn, rows: Vec<Scrape>) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    if let Link::Pg(link) = &mut conn.link {
        diesel::insert_into(scrape::table).values(rows).execute(&mut **link).await?;
        return Ok(());
    }
    conn.atomic(async |conn: &mut Conn| {
        for row in &rows {
            insert(conn, row).await?;
        }
        Ok(())
    })
    .await
}

/// A scrape of this team.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find(conn: &mut Conn, team: &str, id: &str) -> Result<Option<Scrape>> {
    let query = scrape::table.find(id).filter(scrape::team_id.eq(team));
    Ok(on!(conn, |c| query.select(Scrape::as_select()).get_result(c).await.optional())?)
}

/// When the team's newest successful scrape began.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn last_success(conn: &mut Conn, team: &str) -> Result<Option<Timestamp>> {
    let query = scrape::table
        .filter(scrape::team_id.eq(team))
        .filter(scrape::error_code.is_null())
        .order(scrape::created_at.desc())
        .select(scrape::created_at);
    // The partial index on successful scrapes of a team ends with this row.
    let newest: Option<DbTime> = on!(conn, |c| query.first(c).await.optional())?;
    Ok(newest.map(Timestamp::from))
}

/// Removes up to `limit` rows that began before `before`, and says how many.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); then nothing is removed.
#[crate::boxed]
pub async fn forget(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        // DELETE has no LIMIT that both databases understand, so the ids are read first.
        let old = scrape::table.filter(scrape::created_at.lt(DbTime::from(before))).limit(limit).select(scrape::id);
        let ids: Vec<String> = on!(conn, |c| old.load(c).await)?;
        Ok(on!(conn, |c| diesel::delete(scrape::table.filter(scrape::id.eq_any(&ids))).execute(c).await)?)
    })
    .await
}

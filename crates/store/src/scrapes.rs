//! Log of scrapes, one row each, so that a team can ask for them later. Scrapes with zero data retention leave no row.

use base::Timestamp;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Integer, Nullable, Text, Timestamp as SqlTimestamp};
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, Link, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::scrape;
use crate::sql::Sql;

/// Finished scrape.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = scrape, treat_none_as_default_value = false)]
pub struct Scrape {
    /// Id, as known to the client.
    pub id: String,
    /// Id of the team.
    pub team_id: String,
    /// Id of the API key.
    pub api_key_id: Option<String>,
    /// Requested URL; `None` if it must not be stored.
    pub url: Option<String>,
    /// HTTP status of the page, if there was a response.
    pub status_code: Option<i32>,
    /// Error code returned to the client; `None` on success.
    pub error_code: Option<String>,
    /// Cache state, `hit` or `miss`, if the cache was used.
    pub cache_state: Option<String>,
    /// Credits charged.
    pub credits: i64,
    /// Duration, in milliseconds.
    pub duration_ms: i64,
    /// Start time.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub created_at: Timestamp,
    /// Data from which the document can be made again, in the format of the operations; `None` if it cannot.
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
/// Those of [`insert`]; no row was added then.
#[crate::boxed]
pub async fn insert_all(conn: &mut Conn, rows: &[&Scrape]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    if let Link::Pg(link) = &mut conn.link {
        columns(rows).execute(&mut **link).await?;
        return Ok(());
    }
    conn.atomic(async |conn: &mut Conn| {
        for row in rows {
            insert(conn, row).await?;
        }
        Ok(())
    })
    .await
}

// One statement for any number of rows, so that it stays prepared.
const POSTGRES_INSERT: &str =
    "INSERT INTO scrape (id, team_id, api_key_id, url, status_code, error_code, cache_state, credits,
        duration_ms, created_at, kept)
    SELECT * FROM unnest({}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})";

fn columns<'r>(rows: &[&'r Scrape]) -> Sql<'r, Pg> {
    fn column<'r, T>(rows: &[&'r Scrape], value: impl Fn(&'r Scrape) -> T) -> Vec<T> {
        rows.iter().copied().map(value).collect()
    }
    Sql::new(POSTGRES_INSERT)
        .bind::<Array<Text>, _>(column(rows, |row| &*row.id))
        .bind::<Array<Text>, _>(column(rows, |row| &*row.team_id))
        .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.api_key_id.as_deref()))
        .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.url.as_deref()))
        .bind::<Array<Nullable<Integer>>, _>(column(rows, |row| row.status_code))
        .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.error_code.as_deref()))
        .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.cache_state.as_deref()))
        .bind::<Array<BigInt>, _>(column(rows, |row| row.credits))
        .bind::<Array<BigInt>, _>(column(rows, |row| row.duration_ms))
        .bind::<Array<SqlTimestamp>, _>(column(rows, |row| DbTime::from(row.created_at)))
        .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.kept.as_deref()))
}

/// Returns a scrape of a team.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find(conn: &mut Conn, team: &str, id: &str) -> Result<Option<Scrape>> {
    let query = scrape::table.find(id).filter(scrape::team_id.eq(team));
    Ok(on!(conn, |c| query.select(Scrape::as_select()).get_result(c).await.optional())?)
}

/// Returns the start time of the team's newest successful scrape.
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
    // The partial index on successful scrapes of a team has this row at its end.
    let newest: Option<DbTime> = on!(conn, |c| query.first(c).await.optional())?;
    Ok(newest.map(Timestamp::from))
}

/// Removes up to `limit` rows of scrapes that began before `before`, and returns their number.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was removed then.
#[crate::boxed]
pub async fn forget(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        // The databases have no common DELETE with LIMIT, so the ids are read first.
        let old = scrape::table.filter(scrape::created_at.lt(DbTime::from(before))).limit(limit).select(scrape::id);
        let ids: Vec<String> = on!(conn, |c| old.load(c).await)?;
        Ok(on!(conn, |c| diesel::delete(scrape::table.filter(scrape::id.eq_any(&ids))).execute(c).await)?)
    })
    .await
}

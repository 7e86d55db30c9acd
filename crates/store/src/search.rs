//! Log of searches, one row each, for feedback on them. Searches with zero data retention leave no row.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::search;

/// Finished search.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = search, treat_none_as_default_value = false)]
pub struct Search {
    /// Id, as known to the client.
    pub id: String,
    /// Id of the team.
    pub team_id: String,
    /// Id of the API key.
    pub api_key_id: Option<String>,
    /// Query, as asked.
    pub query: String,
    /// Sources that were searched, separated by spaces.
    pub sources: String,
    /// Names of the engines whose results were used, separated by spaces.
    pub engines: String,
    /// Number of results over all sources.
    pub results: i64,
    /// Credits charged for the search, without those of its pages.
    pub credits: i64,
    /// Duration, in milliseconds.
    pub duration_ms: i64,
    /// Start time.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub created_at: Timestamp,
}

/// Adds a row.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), also when the id is taken or the team is unknown.
#[crate::boxed]
pub async fn insert(conn: &mut Conn, row: &Search) -> Result<()> {
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::insert_into(search::table).values(row.clone()).execute(c).await)?;
    Ok(())
}

/// Returns a search of a team.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find(conn: &mut Conn, team: &str, id: &str) -> Result<Option<Search>> {
    let query = search::table.find(id).filter(search::team_id.eq(team));
    Ok(on!(conn, |c| query.select(Search::as_select()).get_result(c).await.optional())?)
}

/// Removes up to `limit` rows of searches that began before `before`, and returns their number.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was removed then.
#[crate::boxed]
pub async fn forget(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        // The databases have no common DELETE with LIMIT, so the ids are read first.
        let old = search::table.filter(search::created_at.lt(DbTime::from(before))).limit(limit).select(search::id);
        let ids: Vec<String> = on!(conn, |c| old.load(c).await)?;
        Ok(on!(conn, |c| diesel::delete(search::table.filter(search::id.eq_any(&ids))).execute(c).await)?)
    })
    .await
}

//! Series: what a target knows of each page or search result from its checks before.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::monitor_series;
use crate::sql::{Prepared, filled};

/// First character of the tags of series that belong to targets. No tag of a request has a control character.
pub(crate) const MARK: char = '\u{1}';

/// Knowledge of a target about one address.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = monitor_series, treat_none_as_default_value = false)]
pub struct Known {
    /// Id of the target.
    pub target_id: String,
    /// Key of the address: for a page, that of its series of versions.
    pub key: String,
    /// Id of the monitor.
    pub monitor_id: String,
    /// URL as it was asked for.
    pub url: String,
    /// `present`, `hidden` (no longer met by the crawl) or `removed` (404 or 410).
    pub state: String,
    /// Id of the scrape whose version the next one is compared with.
    pub scrape_id: Option<String>,
    /// Id of the last check that has looked at it.
    pub check_id: String,
    /// Time of that check.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub seen_at: Timestamp,
}

/// Returns the tag of a target's series of versions, which no request can name.
#[must_use]
pub fn tag(target: &str) -> String {
    format!("{MARK}{target}")
}

/// Returns what a target knows of these keys.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn known(conn: &mut Conn, target: &str, keys: &[&str]) -> Result<Vec<Known>> {
    let mut found = Vec::new();
    for keys in keys.chunks(super::CHUNK) {
        let query = monitor_series::table
            .filter(monitor_series::target_id.eq(target))
            .filter(monitor_series::key.eq_any(filled(keys)))
            .order(monitor_series::key);
        let rows: Vec<Known> = on!(conn, |c| Prepared(query.select(Known::as_select())).load(c).await)?;
        found.extend(rows);
    }
    Ok(found)
}

/// Writes what a target knows of an address, in place of what it knew.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn set_known(conn: &mut Conn, row: &Known) -> Result<()> {
    let set = (
        monitor_series::url.eq(&row.url),
        monitor_series::state.eq(&row.state),
        monitor_series::scrape_id.eq(&row.scrape_id),
        monitor_series::check_id.eq(&row.check_id),
        monitor_series::seen_at.eq(DbTime::from(row.seen_at)),
    );
    let insert = diesel::insert_into(monitor_series::table)
        .values(row.clone())
        .on_conflict((monitor_series::target_id, monitor_series::key))
        .do_update()
        .set(set);
    let insert = Prepared(insert);
    let mut conn = conn.turn().await?;
    on!(conn, |c| insert.execute(c).await)?;
    Ok(())
}

/// Returns what a target remembers of the content of a page; `None` if it remembers nothing.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn memory(conn: &mut Conn, target: &str, key: &str) -> Result<Option<Vec<u8>>> {
    let query = monitor_series::table.find((target, key)).select(monitor_series::memory);
    let found: Option<Option<Vec<u8>>> = on!(conn, |c| query.get_result(c).await.optional())?;
    Ok(found.flatten())
}

/// Writes what a target remembers of the content of a page that it knows, in place of what it remembered.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn set_memory(conn: &mut Conn, target: &str, key: &str, memory: Option<&[u8]>) -> Result<()> {
    let query =
        Prepared(diesel::update(monitor_series::table.find((target, key))).set(monitor_series::memory.eq(memory)));
    let mut conn = conn.turn().await?;
    on!(conn, |c| query.execute(c).await)?;
    Ok(())
}

/// Returns up to `limit` addresses that a target knows and `check` has not looked at, by key after `after`; those that
/// are removed are left out.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn unmet(conn: &mut Conn, target: &str, check: &str, after: &str, limit: i64) -> Result<Vec<Known>> {
    let query = monitor_series::table
        .filter(monitor_series::target_id.eq(target))
        .filter(monitor_series::key.gt(after))
        .filter(monitor_series::check_id.ne(check))
        .filter(monitor_series::state.ne("removed"))
        .order(monitor_series::key)
        .limit(limit);
    Ok(on!(conn, |c| query.select(Known::as_select()).load(c).await)?)
}

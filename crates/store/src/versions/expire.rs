//! Removal of versions: of series that are not used any more, and of what broken scrapes have left.

use base::Timestamp;
use diesel::dsl::{exists, not, sql};
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer, Text};
use diesel_async::RunQueryDsl;

use crate::cache::{self, BodyPlace};
use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::{monitor_target, page_version, version_body};
use crate::versions::USE_PRECISION;

diesel::define_sql_function! {
    /// Text from this character on, counted from 1.
    fn substr(text: Text, from: Integer) -> Text;
}

/// Tags of the series of targets begin with a control character of their own (`monitors::tag`): they are not below this
/// text, and below [`AFTER_TARGETS`].
const FIRST_OF_TARGETS: &str = "\u{1}";
const AFTER_TARGETS: &str = "\u{2}";
/// Condition of the index of first scrapes. It names a column that later versions leave as it is, since PostgreSQL updates
/// the indexes of a row whenever a column in a condition of one changes. A parameter would not match the index.
const IS_FIRST: &str = "status_code = 0";

/// Removes up to `limit` series that were last asked for before `before`, with the bodies that nothing else uses;
/// returns their number. The last use is known to [`USE_PRECISION`]: a series may stay for as much longer. Series of the targets of monitors stay as long as the target.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was removed then.
#[crate::boxed]
pub async fn forget(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let unused = page_version::used_at.lt(DbTime::from(before - USE_PRECISION));
        let of_request = page_version::tag.lt(FIRST_OF_TARGETS).or(page_version::tag.ge(AFTER_TARGETS));
        let target = monitor_target::table.filter(monitor_target::id.eq(substr(page_version::tag, 2)));
        let of_no_target = of_request.or(not(exists(target)));
        let rows = page_version::table.filter(unused).filter(of_no_target).order(page_version::used_at).limit(limit);
        let rows = rows.select(page_version::id);
        let ids: Vec<String> = on!(
            conn,
            // A row that a scrape is claiming is skipped: it is used again.
            pg | c | rows.for_update().skip_locked().load(c).await,
            sqlite | c | rows.load(c).await
        )?;
        remove_rows(conn, &ids).await
    })
    .await
}

/// Removes the series of a tag and these keys, with the bodies that nothing else uses. Must be called in a transaction.
pub(crate) async fn remove(conn: &mut Conn, team: &str, tag: &str, keys: &[String]) -> Result<usize> {
    let rows = page_version::table
        .filter(page_version::team_id.eq(team))
        .filter(page_version::key.eq_any(keys))
        .filter(page_version::tag.eq(tag))
        .select(page_version::id);
    let ids: Vec<String> = on!(conn, pg | c | rows.for_update().load(c).await, sqlite | c | rows.load(c).await)?;
    remove_rows(conn, &ids).await
}

/// Removes series, whose rows are locked.
async fn remove_rows(conn: &mut Conn, ids: &[String]) -> Result<usize> {
    if ids.is_empty() {
        return Ok(0);
    }
    let gone = diesel::delete(page_version::table.filter(page_version::id.eq_any(ids)));
    let count = on!(conn, |c| gone.execute(c).await)?;
    let users = || version_body::table.filter(version_body::version_id.eq_any(ids));
    let places = users().select((version_body::digest, version_body::in_row)).distinct();
    let places: Vec<BodyPlace> = on!(conn, |c| places.load(c).await)?;
    on!(conn, |c| diesel::delete(users()).execute(c).await)?;
    cache::let_go(conn, places).await?;
    Ok(count)
}

/// Removes what scrapes have left whose hold expired before `before`: series without a version, and bodies that were
/// stored for a version that was not written. `limit` series at most; returns their number.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was removed then.
#[crate::boxed]
pub async fn abandoned(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let expired = page_version::held_until.lt(DbTime::from(before)).assume_not_null();
        let coming = version_body::table.filter(version_body::coming.eq(true)).select(version_body::version_id);
        let with_bodies = page_version::table.filter(page_version::id.eq_any(coming)).filter(expired).limit(limit);
        let first = page_version::table.filter(sql::<Bool>(IS_FIRST)).filter(page_version::scraped_at.is_null());
        let first = first.filter(expired).limit(limit);
        let (first, with_bodies) = (first.select(page_version::id), with_bodies.select(page_version::id));
        let mut ids: Vec<String> =
            on!(conn, pg | c | first.for_update().skip_locked().load(c).await, sqlite | c | first.load(c).await)?;
        let found: Vec<String> = on!(
            conn,
            pg | c | with_bodies.for_update().skip_locked().load(c).await,
            sqlite | c | with_bodies.load(c).await
        )?;
        ids.extend(found);
        ids.sort_unstable();
        ids.dedup();
        if !ids.is_empty() {
            super::give_back(conn, &ids).await?;
        }
        Ok(ids.len())
    })
    .await
}

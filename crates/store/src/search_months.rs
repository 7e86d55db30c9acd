//! Requests to search engines of the web per month, common to all servers.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::search_month;

/// Counts one request to an engine in a month, such as `2026-11`, and returns true; false if `most` were counted.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was counted then.
#[crate::boxed]
pub async fn take(conn: &mut Conn, engine: &str, month: &str, most: u32) -> Result<bool> {
    let mut conn = conn.turn().await?;
    if count(&mut conn, engine, month, most).await? {
        return Ok(true);
    }
    // The limit is reached, or the month is new.
    let new = (search_month::engine.eq(engine), search_month::month.eq(month), search_month::requests.eq(0));
    let insert = diesel::insert_into(search_month::table).values(new).on_conflict_do_nothing();
    if on!(conn, |c| insert.execute(c).await)? > 0 {
        let old = search_month::table.filter(search_month::engine.eq(engine)).filter(search_month::month.lt(month));
        on!(conn, |c| diesel::delete(old).execute(c).await)?;
    }
    count(&mut conn, engine, month, most).await
}

async fn count(conn: &mut Conn, engine: &str, month: &str, most: u32) -> Result<bool> {
    let row = search_month::table.find((engine, month)).filter(search_month::requests.lt(i64::from(most)));
    let more = search_month::requests.eq(search_month::requests + 1);
    Ok(on!(conn, |c| diesel::update(row).set(more).execute(c).await)? > 0)
}

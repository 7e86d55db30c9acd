//! Named leases, so that only one of several processes runs a maintenance task at a time.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::lease;

/// Takes or renews the lease `name` for `holder` until `until`; says whether `holder` has it now. It is free if it has
/// no holder or has expired by `now`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query): the caller must act as if another process had the lease.
#[crate::boxed]
pub async fn acquire(conn: &mut Conn, name: &str, holder: &str, now: Timestamp, until: Timestamp) -> Result<bool> {
    let free = lease::expires_at.le(DbTime::from(now)).or(lease::holder.eq(holder));
    let set = (lease::holder.eq(holder), lease::expires_at.eq(DbTime::from(until)));
    // The update comes first, because the row is missing only on the first call ever.
    let renew = diesel::update(lease::table.find(name).filter(free)).set(set);
    let mut conn = conn.turn().await?;
    if on!(conn, |c| renew.execute(c).await)? == 1 {
        return Ok(true);
    }
    let new = (lease::name.eq(name), set.0, set.1);
    // Two processes may get here at once: the primary key decides, and the slower one returns `false`.
    let take = || diesel::insert_into(lease::table).values(new).on_conflict(lease::name).do_nothing();
    Ok(on!(conn, |c| take().execute(c).await)? == 1)
}

/// Releases a lease, so that other processes need not wait until it expires; says whether `holder` had it.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the lease then expires.
#[crate::boxed]
pub async fn release(conn: &mut Conn, name: &str, holder: &str) -> Result<bool> {
    let query = diesel::delete(lease::table.find(name).filter(lease::holder.eq(holder)));
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| query.execute(c).await)? == 1)
}

/// Whether `holder` has a lease at `now`. Must be called in the transaction that writes what the lease protects.
///
/// # Errors
/// [`Query`](crate::StoreError::Query): the caller must act as if another process had the lease.
#[crate::boxed]
pub async fn has(conn: &mut Conn, name: &str, holder: &str, now: Timestamp) -> Result<bool> {
    let query = lease::table
        .find(name)
        .filter(lease::holder.eq(holder))
        .filter(lease::expires_at.gt(DbTime::from(now)))
        .select(lease::name);
    let found: Option<String> = on!(
        conn,
        // Locked: no other process can take the lease before the transaction ends.
        pg | c | query.for_update().get_result(c).await.optional(),
        sqlite | c | query.get_result(c).await.optional()
    )?;
    Ok(found.is_some())
}

/// Removes up to `limit` leases whose names begin with `prefix` and that expired before `before`; returns their number.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); none was removed then.
#[crate::boxed]
pub async fn forget(conn: &mut Conn, prefix: &str, before: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let over = lease::table
            .filter(lease::name.like(format!("{prefix}%")))
            .filter(lease::expires_at.lt(DbTime::from(before)))
            .limit(limit)
            .select(lease::name);
        let names: Vec<String> = on!(conn, |c| over.load(c).await)?;
        let again = lease::table.filter(lease::name.eq_any(&names)).filter(lease::expires_at.lt(DbTime::from(before)));
        Ok(on!(conn, |c| diesel::delete(again).execute(c).await)?)
    })
    .await
}

//! Named leases: of several processes, one at a time does a maintenance task.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::lease;

/// Takes or renews the lease `name` for `holder` until `until`; says whether it has it now. It is free when nobody
/// has it or its time is over at `now`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query): whoever wanted it must act as if another had it.
#[crate::boxed]
pub async fn acquire(conn: &mut Conn, name: &str, holder: &str, now: Timestamp, until: Timestamp) -> Result<bool> {
    let free = lease::expires_at.le(DbTime::from(now)).or(lease::holder.eq(holder));
    let set = (lease::holder.eq(holder), lease::expires_at.eq(DbTime::from(until)));
    // The update comes first, as the row is there on all but the first call ever.
    let renew = diesel::update(lease::table.find(name).filter(free)).set(set);
    let mut conn = conn.turn().await?;
    if on!(conn, |c| renew.execute(c).await)? == 1 {
        return Ok(true);
    }
    let new = (lease::name.eq(name), set.0, set.1);
    // Two processes may both get here; the primary key decides, and the loser is told `false`.
    let take = || diesel::insert_into(lease::table).values(new).on_conflict(lease::name).do_nothing();
    Ok(on!(conn, |c| take().execute(c).await)? == 1)
}

/// Gives a lease back, so that another need not wait for its end; says whether `holder` had it.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the lease then ends with its time.
#[crate::boxed]
pub async fn release(conn: &mut Conn, name: &str, holder: &str) -> Result<bool> {
    let query = diesel::delete(lease::table.find(name).filter(lease::holder.eq(holder)));
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| query.execute(c).await)? == 1)
}

//! Cache of robots.txt responses, shared by all processes.

use base::Timestamp;
use diesel::prelude::*;
use diesel::upsert::excluded;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::robots;

/// Cached robots.txt response.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = robots, treat_none_as_default_value = false)]
pub struct RobotsAnswer {
    /// Origin of the site: scheme, host and port, as `https://example.com`.
    pub origin: String,
    /// Whether the certificate of the site was verified.
    pub verified: bool,
    /// HTTP status after redirects; `None` if there was no response.
    pub status: Option<i32>,
    /// Error, if there was no response.
    pub error: Option<String>,
    /// File, possibly truncated; `None` if there is none.
    pub body: Option<Vec<u8>>,
    /// Time of the fetch.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub fetched_at: Timestamp,
    /// Time of expiry.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub expires_at: Timestamp,
}

/// Returns the response of a site if it has not expired at `now`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find(conn: &mut Conn, origin: &str, verified: bool, now: Timestamp) -> Result<Option<RobotsAnswer>> {
    let query = robots::table.find((origin, verified)).filter(robots::expires_at.gt(DbTime::from(now)));
    Ok(on!(conn, |c| query.select(RobotsAnswer::as_select()).get_result(c).await.optional())?)
}

/// Stores a response in place of an older one.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the older response is unchanged then.
#[crate::boxed]
pub async fn keep(conn: &mut Conn, answer: RobotsAnswer) -> Result<()> {
    let newer = (
        robots::status.eq(excluded(robots::status)),
        robots::error.eq(excluded(robots::error)),
        robots::body.eq(excluded(robots::body)),
        robots::fetched_at.eq(excluded(robots::fetched_at)),
        robots::expires_at.eq(excluded(robots::expires_at)),
    );
    let mut conn = conn.turn().await?;
    on!(conn, |c| {
        diesel::insert_into(robots::table)
            .values(answer)
            .on_conflict((robots::origin, robots::verified))
            .do_update()
            .set(newer)
            .execute(c)
            .await
    })?;
    Ok(())
}

/// Removes up to `limit` responses that expired by `now`, oldest first; returns their number.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was removed then.
#[crate::boxed]
pub async fn forget(conn: &mut Conn, now: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let due = robots::table
            .filter(robots::expires_at.le(DbTime::from(now)))
            .order(robots::expires_at)
            .limit(limit)
            .select((robots::origin, robots::verified));
        let rows: Vec<(String, bool)> = on!(conn, |c| due.load(c).await)?;
        let mut gone = 0;
        // The key has two columns, and a list of pairs is not portable: one statement for each value of the second
        // column.
        for verified in [true, false] {
            let origins: Vec<&str> = rows.iter().filter(|row| row.1 == verified).map(|row| row.0.as_str()).collect();
            if origins.is_empty() {
                continue;
            }
            // The expiry is checked again: on PostgreSQL another process may have renewed a response since the rows
            // were read.
            let old = robots::table
                .filter(robots::origin.eq_any(&origins))
                .filter(robots::verified.eq(verified))
                .filter(robots::expires_at.le(DbTime::from(now)));
            gone += on!(conn, |c| diesel::delete(old).execute(c).await)?;
        }
        Ok(gone)
    })
    .await
}

//! What sites answered for robots.txt, shared by all processes.

use base::Timestamp;
use diesel::prelude::*;
use diesel::upsert::excluded;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::robots;

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = robots, treat_none_as_default_value = false)]
pub struct RobotsAnswer {
    /// Scheme, host and port of the site, as `https://example.com`.
    pub origin: String,
    /// Whether the certificate of the site was checked.
    pub verified: bool,
    /// The status after redirects; none when nobody answered.
    pub status: Option<i32>,
    /// Why nobody answered.
    pub error: Option<String>,
    /// The file, or the beginning of it; none when there is none.
    pub body: Option<Vec<u8>>,
    /// When it was fetched.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub fetched_at: Timestamp,
    /// Until when it holds.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub expires_at: Timestamp,
}

/// The answer of a site that still holds at `now`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find(conn: &mut Conn, origin: &str, verified: bool, now: Timestamp) -> Result<Option<RobotsAnswer>> {
    let query = robots::table.find((origin, verified)).filter(robots::expires_at.gt(DbTime::from(now)));
    Ok(on!(conn, |c| query.select(RobotsAnswer::as_select()).get_result(c).await.optional())?)
}

/// Keeps an answer in place of an older one.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the older answer stays then.
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

/// Removes up to `limit` answers that expired by `now`, oldest first; says how many.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); then nothing is removed.
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
        // The key has two columns, and a list of pairs is not portable: one statement for each value of the second.
        for verified in [true, false] {
            let origins: Vec<&str> = rows.iter().filter(|row| row.1 == verified).map(|row| row.0.as_str()).collect();
            if origins.is_empty() {
                continue;
            }
            // The time is asked once more: on PostgreSQL another process may have renewed an answer since the rows were read.
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

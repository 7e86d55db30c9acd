//! Browser profiles: cookies and storage under names chosen by the team. They are sealed; the key is not in the
//! database.

use base::Timestamp;
use diesel::prelude::*;
use diesel::upsert::excluded;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::leases;
use crate::schema::profile;

/// Profile to be stored.
#[derive(Debug, Clone, Copy)]
pub struct NewState<'a> {
    /// Id of the team.
    pub team: &'a str,
    /// Name, as given by the team.
    pub name: &'a str,
    /// Cookies and storage, sealed.
    pub state: &'a [u8],
    /// Current time.
    pub now: Timestamp,
}

/// Returns the sealed state of a profile, and records its use.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn load(conn: &mut Conn, team: &str, name: &str, now: Timestamp) -> Result<Option<Vec<u8>>> {
    let row = || profile::table.find((team, name));
    let query = row().select(profile::state);
    let found: Option<Vec<u8>> = on!(conn, |c| query.get_result(c).await.optional())?;
    if found.is_some() {
        let used = diesel::update(row()).set(profile::used_at.eq(DbTime::from(now)));
        let mut conn = conn.turn().await?;
        on!(conn, |c| used.execute(c).await)?;
    }
    Ok(found)
}

/// Returns the number of a team's profiles other than the one of this name.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn count_others(conn: &mut Conn, team: &str, name: &str) -> Result<i64> {
    let others = profile::table.filter(profile::team_id.eq(team)).filter(profile::name.ne(name));
    Ok(on!(conn, |c| others.count().get_result(c).await)?)
}

/// Stores a profile in place of the old one if `holder` still has the lease; says whether it did.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the old profile is unchanged then.
#[crate::boxed]
pub async fn save(conn: &mut Conn, new: &NewState<'_>, lease: &str, holder: &str) -> Result<bool> {
    let NewState { team, name, state, now } = *new;
    conn.atomic(async |conn: &mut Conn| {
        if !leases::has(conn, lease, holder, now).await? {
            return Ok(false);
        }
        let row = (
            profile::team_id.eq(team),
            profile::name.eq(name),
            profile::state.eq(state),
            profile::saved_at.eq(DbTime::from(now)),
            profile::used_at.eq(DbTime::from(now)),
        );
        let newer = (
            profile::state.eq(excluded(profile::state)),
            profile::saved_at.eq(excluded(profile::saved_at)),
            profile::used_at.eq(excluded(profile::used_at)),
        );
        let key = (profile::team_id, profile::name);
        on!(conn, |c| {
            diesel::insert_into(profile::table).values(row).on_conflict(key).do_update().set(newer).execute(c).await
        })?;
        Ok(true)
    })
    .await
}

/// Removes up to `limit` profiles that were last used before `before`, oldest first; returns their number.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was removed then.
#[crate::boxed]
pub async fn forget(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let old = profile::table
            .filter(profile::used_at.lt(DbTime::from(before)))
            .order(profile::used_at)
            .limit(limit)
            .select((profile::team_id, profile::name));
        let rows: Vec<(String, String)> = on!(conn, |c| old.load(c).await)?;
        for (team, name) in &rows {
            on!(conn, |c| diesel::delete(profile::table.find((team, name))).execute(c).await)?;
        }
        Ok(rows.len())
    })
    .await
}

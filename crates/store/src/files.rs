//! Records of files that are served by signed URLs, one row each. The content is in the blob store under
//! [`File::blob`].
//!
//! A file is added row first and removed row last, so that no content exists without a row.

use base::{Secret, Timestamp};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::{file, file_key};
use crate::sql::Prepared;
use crate::teams;

/// Record of a file.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = file, treat_none_as_default_value = false)]
pub struct File {
    /// Id, part of its URL.
    pub id: String,
    /// Id of the team.
    pub team_id: String,
    /// Owner: the id of a run or of a scrape.
    pub owner: String,
    /// Kind, one word such as `screenshot`.
    pub kind: String,
    /// Blob key of its content.
    pub blob: String,
    /// `Content-Type` of the response.
    pub content_type: String,
    /// File name of the download.
    pub name: String,
    /// Size, in bytes.
    pub bytes: i64,
    /// Time of creation.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub created_at: Timestamp,
    /// Time of expiry, after which it is no longer served.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub expires_at: Timestamp,
}

/// File that can be removed.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = file)]
pub struct Removable {
    /// Id of the file.
    pub id: String,
    /// Blob key of its content.
    pub blob: String,
}

/// Upload of a team that was not read yet, or the place for one.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = file)]
pub struct Unread {
    /// Id of the file.
    pub id: String,
    /// Owner; see [`File::owner`].
    pub owner: String,
    /// Size, in bytes; 0 while nothing was uploaded.
    pub bytes: i64,
    /// Time of expiry.
    #[diesel(deserialize_as = DbTime)]
    pub expires_at: Timestamp,
}

/// Returns up to `limit` files of one kind of a team that have not expired at `now`, the next to expire first. In a
/// transaction this locks the team's row, so that concurrent calls for the same team wait until it ends.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn unread(conn: &mut Conn, of: &OfKind<'_>, now: Timestamp, limit: i64) -> Result<Vec<Unread>> {
    teams::lock(conn, of.team).await?;
    let (now, last) = (DbTime::from(now), DbTime::from(of.last));
    let rows = file::table
        .filter(file::expires_at.gt(now))
        .filter(file::expires_at.le(last))
        .filter(file::team_id.eq(of.team))
        .filter(file::kind.eq(of.kind))
        .order(file::expires_at)
        .limit(limit);
    Ok(on!(conn, |c| rows.select(Unread::as_select()).load(c).await)?)
}

/// Filter of [`unread`].
#[derive(Debug, Clone, Copy)]
pub struct OfKind<'a> {
    /// Id of the team.
    pub team: &'a str,
    /// Kind; see [`File::kind`].
    pub kind: &'a str,
    /// Latest expiry of any file of the kind, which bounds the index scan.
    pub last: Timestamp,
}

/// Adds a file.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), also when the id is taken or the team is unknown.
#[crate::boxed]
pub async fn insert(conn: &mut Conn, row: &File) -> Result<()> {
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::insert_into(file::table).values(row.clone()).execute(c).await)?;
    Ok(())
}

/// Returns the file with this id if it has not expired at `now`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find(conn: &mut Conn, id: &str, now: Timestamp) -> Result<Option<File>> {
    let query = file::table.find(id).filter(file::expires_at.gt(DbTime::from(now)));
    Ok(on!(conn, |c| query.select(File::as_select()).get_result(c).await.optional())?)
}

/// Records the content of a file that has none: its blob key and its size. Says whether it had none.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was changed then.
#[crate::boxed]
pub async fn fill(conn: &mut Conn, id: &str, blob: &str, bytes: i64) -> Result<bool> {
    let empty = file::table.filter(file::id.eq(id)).filter(file::bytes.eq(0));
    let mut conn = conn.turn().await?;
    let filled = (file::bytes.eq(bytes), file::blob.eq(blob));
    Ok(on!(conn, |c| diesel::update(empty).set(filled).execute(c).await)? == 1)
}

/// Expires all files of an owner and returns their number; [`expired`] returns them from then on.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was changed then.
#[crate::boxed]
pub async fn end(conn: &mut Conn, team: &str, owner: &str, now: Timestamp) -> Result<usize> {
    let now = DbTime::from(now);
    // Expired files keep their expiry, which is the order of removal.
    let files =
        file::table.filter(file::owner.eq(owner)).filter(file::team_id.eq(team)).filter(file::expires_at.gt(now));
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| Prepared(diesel::update(files).set(file::expires_at.eq(now))).execute(c).await)?)
}

/// Returns up to `limit` files that expired by `now`, oldest first.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn expired(conn: &mut Conn, now: Timestamp, limit: i64) -> Result<Vec<Removable>> {
    let due =
        file::table.filter(file::expires_at.le(DbTime::from(now))).order((file::expires_at, file::id)).limit(limit);
    Ok(on!(conn, |c| due.select(Removable::as_select()).load(c).await)?)
}

/// Removes the rows with these ids.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was changed then.
#[crate::boxed]
pub async fn remove(conn: &mut Conn, ids: &[String]) -> Result<()> {
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::delete(file::table.filter(file::id.eq_any(ids))).execute(c).await)?;
    Ok(())
}

/// Returns the signing key of file URLs; `fresh` becomes the key if there is none.
///
/// # Errors
/// [`Query`](crate::StoreError::Query). No URL may be signed with `fresh` then: another process may have stored another
/// key.
#[crate::boxed]
pub async fn key(conn: &mut Conn, fresh: &Secret, now: Timestamp) -> Result<Secret> {
    if let Some(key) = known_key(conn).await? {
        return Ok(key);
    }
    let row = (file_key::id.eq(1), file_key::secret.eq(fresh.expose()), file_key::created_at.eq(DbTime::from(now)));
    let insert = diesel::insert_into(file_key::table).values(row).on_conflict_do_nothing();
    let mut turn = conn.turn().await?;
    on!(turn, |c| insert.execute(c).await)?;
    drop(turn);
    // Another process may have been faster.
    Ok(known_key(conn).await?.unwrap_or_else(|| fresh.clone()))
}

async fn known_key(conn: &mut Conn) -> Result<Option<Secret>> {
    let query = file_key::table.find(1).select(file_key::secret);
    let found: Option<String> = on!(conn, |c| query.get_result(c).await.optional())?;
    Ok(found.map(Secret::new))
}

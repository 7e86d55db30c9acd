//! Files that are handed out by a signed URL: one row each. The bytes are elsewhere, under [`File::blob`].
//!
//! A file is added row first, then bytes, and removed bytes first, then row, so that there are never bytes without a row.

use base::{Secret, Timestamp};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::{file, file_key, team};

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = file, treat_none_as_default_value = false)]
pub struct File {
    /// A part of its URL.
    pub id: String,
    /// The team that it was made for.
    pub team_id: String,
    /// What it goes with: the id of a run or of a scrape.
    pub owner: String,
    /// What it is, in one word such as `screenshot`.
    pub kind: String,
    /// The key of its bytes in the blob store.
    pub blob: String,
    /// The content type that it is sent with.
    pub content_type: String,
    /// The name that it is saved under.
    pub name: String,
    /// Its size.
    pub bytes: i64,
    /// When it was made.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub created_at: Timestamp,
    /// From when on nobody gets it any more.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub expires_at: Timestamp,
}

/// A file that can be removed.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = file)]
pub struct Removable {
    /// See [`File::id`].
    pub id: String,
    /// See [`File::blob`].
    pub blob: String,
}

/// A file of a team that was sent, or that there is a place for.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = file)]
pub struct Unread {
    /// See [`File::id`].
    pub id: String,
    /// See [`File::owner`].
    pub owner: String,
    /// Its size; 0 while it was not sent.
    pub bytes: i64,
    /// See [`File::expires_at`].
    #[diesel(deserialize_as = DbTime)]
    pub expires_at: Timestamp,
}

/// Files of one kind of a team whose time is not over at `now`, at most `limit`, the one that ends first first. In a
/// transaction the row of the team is locked: others who ask for the same team wait until that transaction ends.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn unread(conn: &mut Conn, of: &OfKind<'_>, now: Timestamp, limit: i64) -> Result<Vec<Unread>> {
    let row = team::table.find(of.team).select(team::id);
    let _: Option<String> = on!(
        conn,
        // What refers to the team can be added meanwhile.
        pg | c | row.for_no_key_update().get_result(c).await.optional(),
        // The transaction began IMMEDIATE, so it is the only writer.
        sqlite | c | row.get_result(c).await.optional()
    )?;
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

/// Which files [`unread`] looks at.
#[derive(Debug, Clone, Copy)]
pub struct OfKind<'a> {
    /// Whose.
    pub team: &'a str,
    /// See [`File::kind`].
    pub kind: &'a str,
    /// No file of the kind ends later.
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

/// The file with this id, if its time is not over at `now`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find(conn: &mut Conn, id: &str, now: Timestamp) -> Result<Option<File>> {
    let query = file::table.find(id).filter(file::expires_at.gt(DbTime::from(now)));
    Ok(on!(conn, |c| query.select(File::as_select()).get_result(c).await.optional())?)
}

/// Notes that the bytes of a file have arrived that had none, and under which key they are; says whether that was so.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing has changed then.
#[crate::boxed]
pub async fn fill(conn: &mut Conn, id: &str, blob: &str, bytes: i64) -> Result<bool> {
    let empty = file::table.filter(file::id.eq(id)).filter(file::bytes.eq(0));
    let mut conn = conn.turn().await?;
    let filled = (file::bytes.eq(bytes), file::blob.eq(blob));
    Ok(on!(conn, |c| diesel::update(empty).set(filled).execute(c).await)? == 1)
}

/// Ends the time of all files of an owner; returns how many. [`expired`] lists them from then on.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing has changed then.
#[crate::boxed]
pub async fn end(conn: &mut Conn, team: &str, owner: &str, now: Timestamp) -> Result<usize> {
    let now = DbTime::from(now);
    // Files whose time is over keep the end that they had: its order is the order of removal.
    let files =
        file::table.filter(file::owner.eq(owner)).filter(file::team_id.eq(team)).filter(file::expires_at.gt(now));
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| diesel::update(files).set(file::expires_at.eq(now)).execute(c).await)?)
}

/// Up to `limit` files whose time is over at `now`, oldest first.
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
/// [`Query`](crate::StoreError::Query); nothing has changed then.
#[crate::boxed]
pub async fn remove(conn: &mut Conn, ids: &[String]) -> Result<()> {
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::delete(file::table.filter(file::id.eq_any(ids))).execute(c).await)?;
    Ok(())
}

/// What URLs of files are signed with. `fresh` becomes the key when there is none yet.
///
/// # Errors
/// [`Query`](crate::StoreError::Query). No URL may be signed with `fresh` then: another process may have another key.
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
    // Another process may have been first.
    Ok(known_key(conn).await?.unwrap_or_else(|| fresh.clone()))
}

async fn known_key(conn: &mut Conn) -> Result<Option<Secret>> {
    let query = file_key::table.find(1).select(file_key::secret);
    let found: Option<String> = on!(conn, |c| query.get_result(c).await.optional())?;
    Ok(found.map(Secret::new))
}

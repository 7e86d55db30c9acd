//! The index of cached pages. The bodies are elsewhere, each stored once under its digest: small ones in a table of their
//! own, large ones among the blobs.

mod bodies;

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::cache_entry;

pub use bodies::{bytes, delete_next, deleted, has_body, packed, rely_on};

/// How many copies of a page [`find`] looks at: enough to step over a few that failed.
const NEWEST: i64 = 5;

/// A page as it was fetched once.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = cache_entry, treat_none_as_default_value = false)]
pub struct CacheEntry {
    /// A UUIDv7: ids are in the order of time.
    pub id: String,
    /// Who may see it: a team, or everybody.
    pub scope: String,
    /// The normalised URL.
    pub key: String,
    /// The options that change the page.
    pub variant: String,
    /// Where the redirects ended.
    pub final_url: String,
    /// The status of the answer.
    pub status_code: i32,
    /// The content type as sent.
    pub content_type: Option<String>,
    /// The character set, when known.
    pub charset: Option<String>,
    /// Where the body is.
    pub body_digest: String,
    /// The size of the body.
    pub body_bytes: i64,
    /// The kind of proxy it came through.
    pub proxy: String,
    /// When it was fetched.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub fetched_at: Timestamp,
    /// When it may be removed.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub expires_at: Timestamp,
    /// Whether the body is in the database, see [`packed`].
    pub in_row: bool,
    /// Whether the body is what the scripts of the page have made of it, and not what the server sent.
    pub rendered: bool,
    /// The `ETag` that the page came with.
    pub etag: Option<String>,
    /// The `Last-Modified` that the page came with.
    pub last_modified: Option<String>,
}

/// Which copy is wanted. Both bounds of the fetch time are inclusive.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// See [`CacheEntry::scope`].
    pub scope: &'a str,
    /// See [`CacheEntry::key`].
    pub key: &'a str,
    /// See [`CacheEntry::variant`].
    pub variant: &'a str,
    /// Not fetched before this.
    pub not_before: Timestamp,
    /// Not fetched after this.
    pub not_after: Timestamp,
    /// See [`CacheEntry::rendered`]; either when not given.
    pub rendered: Option<bool>,
}

/// Adds a copy whose body is among the blobs.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), also when the id is taken.
#[crate::boxed]
pub async fn insert(conn: &mut Conn, entry: &CacheEntry) -> Result<()> {
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::insert_into(cache_entry::table).values(entry.clone()).execute(c).await)?;
    Ok(())
}

/// Adds a copy whose body is in the database already; `false`, and nothing is added, when it is not.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); then none of it is written.
#[crate::boxed]
pub async fn insert_beside_body(conn: &mut Conn, entry: &CacheEntry) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        let is_kept = bodies::lock(conn, &entry.body_digest).await?;
        if is_kept {
            insert(conn, entry).await?;
        }
        Ok(is_kept)
    })
    .await
}

/// Adds a copy with its body, which is not written again when it is there.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); then neither copy nor body is written.
#[crate::boxed]
pub async fn insert_with_body(conn: &mut Conn, entry: &CacheEntry, packed: &[u8]) -> Result<()> {
    conn.atomic(async |conn: &mut Conn| {
        bodies::insert(conn, &entry.body_digest, packed).await?;
        insert(conn, entry).await
    })
    .await
}

/// The newest copies, newest first, 5 at most.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find(conn: &mut Conn, wanted: &Wanted<'_>) -> Result<Vec<CacheEntry>> {
    let either = wanted.rendered.map_or((true, false), |one| (one, one));
    let query = cache_entry::table
        .filter(cache_entry::scope.eq(wanted.scope))
        .filter(cache_entry::key.eq(wanted.key))
        .filter(cache_entry::variant.eq(wanted.variant))
        .filter(cache_entry::fetched_at.ge(DbTime::from(wanted.not_before)))
        .filter(cache_entry::fetched_at.le(DbTime::from(wanted.not_after)))
        .filter(cache_entry::rendered.eq(either.0).or(cache_entry::rendered.eq(either.1)))
        // Two copies may have the same time; with the id the order is the same on both databases.
        .order((cache_entry::fetched_at.desc(), cache_entry::id.desc()))
        .limit(NEWEST);
    Ok(on!(conn, |c| query.select(CacheEntry::as_select()).load(c).await)?)
}

/// The copy with this id.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn by_id(conn: &mut Conn, id: &str) -> Result<Option<CacheEntry>> {
    let query = cache_entry::table.find(id);
    Ok(on!(conn, |c| query.select(CacheEntry::as_select()).get_result(c).await.optional())?)
}

/// Removes a copy; its body stays.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing has changed then.
#[crate::boxed]
pub async fn remove(conn: &mut Conn, id: &str) -> Result<()> {
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::delete(cache_entry::table.find(id)).execute(c).await)?;
    Ok(())
}

/// What one round of [`expired`] or [`oldest`] removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Copies.
    pub rows: usize,
    /// The bytes of the bodies that no copy uses any more, as [`bytes`] counts them.
    pub bytes: i64,
}

/// Id, digest and size of a copy, and whether its body is in the database.
type Named = (String, String, i64, bool);

/// Removes up to `limit` copies that expired by `now`, oldest first, with the bodies that none uses any more; those among
/// the blobs are marked. Fewer than the limit means that none is left.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); then nothing is removed.
#[crate::boxed]
pub async fn expired(conn: &mut Conn, now: Timestamp, limit: i64) -> Result<Removed> {
    conn.atomic(async |conn: &mut Conn| {
        let due = cache_entry::table
            .filter(cache_entry::expires_at.le(DbTime::from(now)))
            .order(cache_entry::expires_at)
            .limit(limit)
            .select((cache_entry::id, cache_entry::body_digest, cache_entry::body_bytes, cache_entry::in_row));
        let rows = on!(conn, |c| due.load(c).await)?;
        take_out(conn, rows).await
    })
    .await
}

/// Removes the oldest copies of all until their bodies make `bytes`, `limit` of them at most, as [`expired`] does. Ids are
/// made in the order of time.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); then nothing is removed.
#[crate::boxed]
pub async fn oldest(conn: &mut Conn, bytes: i64, limit: i64) -> Result<Removed> {
    conn.atomic(async |conn: &mut Conn| {
        let first = cache_entry::table.order(cache_entry::id).limit(limit).select((
            cache_entry::id,
            cache_entry::body_digest,
            cache_entry::body_bytes,
            cache_entry::in_row,
        ));
        let mut rows: Vec<Named> = on!(conn, |c| first.load(c).await)?;
        let mut sum = 0;
        // A body that several copies share is counted for each. Then less is freed than asked for, which the result says,
        // and the caller comes again.
        let enough = rows.iter().position(|(_, _, size, _)| {
            sum += size;
            sum >= bytes
        });
        rows.truncate(enough.map_or(rows.len(), |last| last + 1));
        take_out(conn, rows).await
    })
    .await
}

async fn take_out(conn: &mut Conn, mut rows: Vec<Named>) -> Result<Removed> {
    if rows.is_empty() {
        return Ok(Removed::default());
    }
    let ids: Vec<&String> = rows.iter().map(|(id, ..)| id).collect();
    let gone = diesel::delete(cache_entry::table.filter(cache_entry::id.eq_any(ids)));
    let count = on!(conn, |c| gone.execute(c).await)?;
    // Each body once, whichever of its copies go, and only those that no remaining copy uses.
    rows.sort_by(|(_, one, _, here), (_, other, _, there)| (one, here).cmp(&(other, there)));
    rows.dedup_by(|(_, one, _, here), (_, other, _, there)| (one, here) == (other, there));
    let digests: Vec<String> = rows.iter().map(|(_, digest, ..)| digest.clone()).collect();
    let used = bodies::used(conn, &digests).await?;
    rows.retain(|(_, digest, _, in_row)| !used.contains(&(digest.clone(), *in_row)));
    let bytes = rows.iter().map(|(_, _, bytes, _)| bytes).sum();
    let (here, elsewhere): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(.., in_row)| *in_row);
    bodies::remove(conn, here.into_iter().map(|(_, digest, ..)| digest).collect()).await?;
    bodies::mark(conn, elsewhere.into_iter().map(|(_, digest, ..)| digest)).await?;
    Ok(Removed { rows: count, bytes })
}

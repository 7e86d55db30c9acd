//! Index of cached pages. Bodies are stored once each under their digest: small ones in a table, large ones in the blob
//! store.

mod bodies;
mod following;

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::cache_entry;

pub use bodies::{BodyPlace, add_body, bytes, delete_next, deleted, has_body, let_go, lock_body, packed, rely_on};
pub use following::{after, all_packed, by_ids, ids_between, newest, standing};

/// Limit of copies that [`find`] returns: enough to skip a few whose page failed.
const NEWEST: i64 = 5;

/// Cached copy of a page.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = cache_entry, treat_none_as_default_value = false)]
pub struct CacheEntry {
    /// UUIDv7, so that ids are in the order of time.
    pub id: String,
    /// Scope of sharing: one team, or all teams.
    pub scope: String,
    /// Normalised URL.
    pub key: String,
    /// Options that change the page.
    pub variant: String,
    /// URL after redirects.
    pub final_url: String,
    /// HTTP status.
    pub status_code: i32,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// Character set, if known.
    pub charset: Option<String>,
    /// Digest of the body, under which it is stored.
    pub body_digest: String,
    /// Size of the body, in bytes.
    pub body_bytes: i64,
    /// Kind of proxy that it was fetched through.
    pub proxy: String,
    /// Time of the fetch.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub fetched_at: Timestamp,
    /// Time of expiry, after which it may be removed.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub expires_at: Timestamp,
    /// Whether the body is in the database ([`packed`]), not in the blob store.
    pub in_row: bool,
    /// Whether the body is the rendered page, after its scripts ran, not the response of the server.
    pub rendered: bool,
    /// `ETag` of the response.
    pub etag: Option<String>,
    /// `Last-Modified` of the response.
    pub last_modified: Option<String>,
}

/// Filter of [`find`]. Both bounds of the fetch time are inclusive.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Scope; see [`CacheEntry::scope`].
    pub scope: &'a str,
    /// Normalised URL.
    pub key: &'a str,
    /// Options that change the page.
    pub variant: &'a str,
    /// Earliest time of the fetch.
    pub not_before: Timestamp,
    /// Latest time of the fetch.
    pub not_after: Timestamp,
    /// Only rendered copies, or only others; `None` for both.
    pub rendered: Option<bool>,
}

/// Adds a copy whose body is in the blob store.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), also when the id is taken.
#[crate::boxed]
pub async fn insert(conn: &mut Conn, entry: &CacheEntry) -> Result<()> {
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::insert_into(cache_entry::table).values(entry.clone()).execute(c).await)?;
    Ok(())
}

/// Adds a copy whose body is in the database already; adds nothing and returns `false` if the body is missing.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was written then.
#[crate::boxed]
pub async fn insert_beside_body(conn: &mut Conn, entry: &CacheEntry) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        let is_kept = bodies::lock_body(conn, &entry.body_digest).await?;
        if is_kept {
            insert(conn, entry).await?;
        }
        Ok(is_kept)
    })
    .await
}

/// Adds a copy together with its body, unless the body is stored already.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); neither copy nor body was written then.
#[crate::boxed]
pub async fn insert_with_body(conn: &mut Conn, entry: &CacheEntry, packed: &[u8]) -> Result<()> {
    conn.atomic(async |conn: &mut Conn| {
        bodies::add_body(conn, &entry.body_digest, packed).await?;
        insert(conn, entry).await
    })
    .await
}

/// Returns the newest matching copies, newest first, 5 at most.
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
        // Copies may have equal times; ordering by the id as well gives both databases the same order.
        .order((cache_entry::fetched_at.desc(), cache_entry::id.desc()))
        .limit(NEWEST);
    Ok(on!(conn, |c| query.select(CacheEntry::as_select()).load(c).await)?)
}

/// Returns the copy with this id.
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
/// [`Query`](crate::StoreError::Query); nothing was changed then.
#[crate::boxed]
pub async fn remove(conn: &mut Conn, id: &str) -> Result<()> {
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::delete(cache_entry::table.find(id)).execute(c).await)?;
    Ok(())
}

/// Result of one round of [`expired`] or [`oldest`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Number of removed copies.
    pub rows: usize,
    /// Bytes of the bodies that no copy uses any more, as counted by [`bytes`].
    pub bytes: i64,
}

/// Columns that say which body a copy uses.
#[derive(Queryable, Selectable)]
#[diesel(table_name = cache_entry)]
struct UsedBody {
    id: String,
    body_digest: String,
    body_bytes: i64,
    in_row: bool,
}

impl UsedBody {
    /// Returns the place of the body.
    fn place(&self) -> BodyPlace {
        BodyPlace { digest: self.body_digest.clone(), in_row: self.in_row }
    }
}

/// Removes up to `limit` copies that expired by `now`, oldest first, and the bodies that no copy uses any more; bodies
/// in the blob store are marked for deletion. Fewer than the limit means that none is left.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was removed then.
#[crate::boxed]
pub async fn expired(conn: &mut Conn, now: Timestamp, limit: i64) -> Result<Removed> {
    conn.atomic(async |conn: &mut Conn| {
        let due = cache_entry::table
            .filter(cache_entry::expires_at.le(DbTime::from(now)))
            .order(cache_entry::expires_at)
            .limit(limit);
        let rows = on!(conn, |c| due.select(UsedBody::as_select()).load(c).await)?;
        take_out(conn, rows).await
    })
    .await
}

/// Removes the oldest copies, at most `limit`, until their bodies add up to `bytes`, in the same way as [`expired`].
/// The order is that of the ids.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was removed then.
#[crate::boxed]
pub async fn oldest(conn: &mut Conn, bytes: i64, limit: i64) -> Result<Removed> {
    conn.atomic(async |conn: &mut Conn| {
        let first = cache_entry::table.order(cache_entry::id).limit(limit);
        let mut rows: Vec<UsedBody> = on!(conn, |c| first.select(UsedBody::as_select()).load(c).await)?;
        let mut sum = 0;
        // A body that several copies share is counted for each of them, so less may be freed than requested. The result
        // says how much, and the caller repeats.
        let enough = rows.iter().position(|row| {
            sum += row.body_bytes;
            sum >= bytes
        });
        rows.truncate(enough.map_or(rows.len(), |last| last + 1));
        take_out(conn, rows).await
    })
    .await
}

async fn take_out(conn: &mut Conn, mut rows: Vec<UsedBody>) -> Result<Removed> {
    if rows.is_empty() {
        return Ok(Removed::default());
    }
    let ids: Vec<&String> = rows.iter().map(|row| &row.id).collect();
    let gone = diesel::delete(cache_entry::table.filter(cache_entry::id.eq_any(ids)));
    let count = on!(conn, |c| gone.execute(c).await)?;
    // Each body once, and only those that no remaining copy uses. A version may still use them.
    rows.sort_by_key(UsedBody::place);
    rows.dedup_by_key(|row| row.place());
    let digests: Vec<String> = rows.iter().map(|row| row.body_digest.clone()).collect();
    let used = bodies::used_by_copies(conn, &digests).await?;
    rows.retain(|row| !used.contains(&row.place()));
    let bytes = rows.iter().map(|row| row.body_bytes).sum();
    bodies::let_go(conn, rows.iter().map(UsedBody::place).collect()).await?;
    Ok(Removed { rows: count, bytes })
}

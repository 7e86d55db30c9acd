//! The index of cached pages. The bodies are elsewhere, each stored once under its digest.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::cache_entry;
use crate::stamp::Stamp;

/// How many copies of a page [`find`] looks at: enough to step over a few that failed.
const NEWEST: i64 = 5;

/// A page as it was fetched once.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = cache_entry, treat_none_as_default_value = false)]
pub struct CacheEntry {
    /// Its id.
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
    #[diesel(serialize_as = Stamp, deserialize_as = Stamp)]
    pub fetched_at: Timestamp,
    /// When it may be removed.
    #[diesel(serialize_as = Stamp, deserialize_as = Stamp)]
    pub expires_at: Timestamp,
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
}

/// Adds a copy.
///
/// # Errors
/// Those of the database.
pub async fn insert(conn: &mut Conn, entry: &CacheEntry) -> Result<()> {
    let _turn = conn.turn().await?;
    on!(conn, |c| diesel::insert_into(cache_entry::table).values(entry.clone()).execute(c).await)?;
    Ok(())
}

/// The newest copies, newest first, 5 at most.
///
/// # Errors
/// Those of the database.
pub async fn find(conn: &mut Conn, wanted: &Wanted<'_>) -> Result<Vec<CacheEntry>> {
    let query = cache_entry::table
        .filter(cache_entry::scope.eq(wanted.scope))
        .filter(cache_entry::key.eq(wanted.key))
        .filter(cache_entry::variant.eq(wanted.variant))
        .filter(cache_entry::fetched_at.ge(Stamp::from(wanted.not_before)))
        .filter(cache_entry::fetched_at.le(Stamp::from(wanted.not_after)))
        .order((cache_entry::fetched_at.desc(), cache_entry::id.desc()))
        .limit(NEWEST);
    Ok(on!(conn, |c| query.select(CacheEntry::as_select()).load(c).await)?)
}

/// What one round of [`expired`] removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expired {
    /// How many rows; below the limit means that none is left.
    pub rows: usize,
    /// The bodies that no row uses any more, in order. A copy that is added meanwhile may name one again: reading a
    /// body that is gone must count as a miss.
    pub bodies: Vec<String>,
}

/// Removes up to `limit` copies that expired by `now`, oldest first.
///
/// # Errors
/// Those of the database.
pub async fn expired(conn: &mut Conn, now: Timestamp, limit: i64) -> Result<Expired> {
    conn.atomic(async |conn: &mut Conn| {
        let due = cache_entry::table
            .filter(cache_entry::expires_at.le(Stamp::from(now)))
            .order(cache_entry::expires_at)
            .limit(limit)
            .select((cache_entry::id, cache_entry::body_digest));
        let rows: Vec<(String, String)> = on!(conn, |c| due.load(c).await)?;
        let (ids, mut bodies): (Vec<String>, Vec<String>) = rows.into_iter().unzip();
        if ids.is_empty() {
            return Ok(Expired::default());
        }
        let gone = diesel::delete(cache_entry::table.filter(cache_entry::id.eq_any(&ids)));
        let rows = on!(conn, |c| gone.execute(c).await)?;
        let shared =
            cache_entry::table.filter(cache_entry::body_digest.eq_any(&bodies)).select(cache_entry::body_digest);
        let used: Vec<String> = on!(conn, |c| shared.distinct().load(c).await)?;
        bodies.sort();
        bodies.dedup();
        bodies.retain(|body| !used.contains(body));
        Ok(Expired { rows, bodies })
    })
    .await
}

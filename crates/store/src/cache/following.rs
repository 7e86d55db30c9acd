//! Cached copies in the order of their ids, for a reader that follows them, and which of the copies that it has seen
//! still stand.

use std::collections::HashMap;

use base::Timestamp;
use diesel::dsl::max;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::CacheEntry;
use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::{cache_body, cache_entry};

/// Returns the id of the newest copy.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn newest(conn: &mut Conn) -> Result<Option<String>> {
    let query = cache_entry::table.select(max(cache_entry::id));
    Ok(on!(conn, |c| query.get_result(c).await)?)
}

/// Returns the copies with ids after this one in the order of their ids, at most `limit`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn after(conn: &mut Conn, id: &str, limit: i64) -> Result<Vec<CacheEntry>> {
    let query = cache_entry::table.filter(cache_entry::id.gt(id)).order(cache_entry::id).limit(limit);
    Ok(on!(conn, |c| query.select(CacheEntry::as_select()).load(c).await)?)
}

/// Returns the ids after the first and up to the last in ascending order, at most `limit`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn ids_between(conn: &mut Conn, first: &str, last: &str, limit: i64) -> Result<Vec<String>> {
    let query = cache_entry::table
        .filter(cache_entry::id.gt(first))
        .filter(cache_entry::id.le(last))
        .order(cache_entry::id)
        .limit(limit)
        .select(cache_entry::id);
    Ok(on!(conn, |c| query.load(c).await)?)
}

/// Returns the copies with these ids, in the order of their ids.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn by_ids(conn: &mut Conn, ids: &[String]) -> Result<Vec<CacheEntry>> {
    let query = cache_entry::table.filter(cache_entry::id.eq_any(ids)).order(cache_entry::id);
    Ok(on!(conn, |c| query.select(CacheEntry::as_select()).load(c).await)?)
}

/// Returns the packed bodies with these digests that are in the database, by digest.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn all_packed(conn: &mut Conn, digests: &[String]) -> Result<HashMap<String, Vec<u8>>> {
    let query = cache_body::table.filter(cache_body::digest.eq_any(digests));
    let query = query.select((cache_body::digest, cache_body::packed));
    let found: Vec<(String, Vec<u8>)> = on!(conn, |c| query.load(c).await)?;
    Ok(found.into_iter().collect())
}

/// Returns the scope of each of these copies that has not expired by `now`, by id.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn standing(conn: &mut Conn, ids: &[String], now: Timestamp) -> Result<HashMap<String, String>> {
    let query = cache_entry::table
        .filter(cache_entry::id.eq_any(ids))
        .filter(cache_entry::expires_at.gt(DbTime::from(now)))
        .select((cache_entry::id, cache_entry::scope));
    let found: Vec<(String, String)> = on!(conn, |c| query.load(c).await)?;
    Ok(found.into_iter().collect())
}

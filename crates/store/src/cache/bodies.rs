//! Bodies of cached pages and of versions of pages: their total size, and how one is deleted while others may begin to
//! use it. Users of a body are the copies in the cache and the versions ([`crate::versions`]).
//!
//! Small bodies are written and deleted in the transactions of their users: [`add_body`] and [`let_go`] lock the body,
//! so that the deletion sees a user that is being added, or the user writes the body again after the deletion. Bodies
//! are locked in the order of their digests, after the rows of their users: another order could deadlock two
//! transactions.
//!
//! A body in the blob store has no such transaction, so a race between a new user and the deletion is avoided by order:
//! - A user is added as: its row, then [`rely_on`], then its body unless that exists.
//! - A body is deleted as: a mark in the transaction that removes its last user; then [`delete_next`], which removes
//!   the mark if a user has been added meanwhile, and else flags the body as being deleted; then the body itself; then
//!   [`deleted`].
//!
//! Thus either `delete_next` sees the row of the new user, or `rely_on` sees the mark and the user is withdrawn.

use std::collections::HashSet;

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, Link, on};
use crate::error::Result;
use crate::schema::{cache_body, cache_entry, unused_body, version_body};

/// Place of a stored body: its digest, and whether it is in the database or in the blob store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Queryable)]
pub struct BodyPlace {
    /// Digest, under which it is stored.
    pub digest: String,
    /// Whether it is in the database ([`packed`]), not in the blob store.
    pub in_row: bool,
}

#[derive(QueryableByName)]
struct Sum {
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

/// Returns the total size of all bodies that copies use, each counted once, before compression. Reads a whole index, so
/// it is too slow for frequent use.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn bytes(conn: &mut Conn) -> Result<i64> {
    let query = || {
        diesel::sql_query(
            // All copies of a body have the same size, so MAX picks any. PostgreSQL sums BIGINT as NUMERIC, hence the
            // cast.
            "SELECT CAST(COALESCE(SUM(b.bytes), 0) AS BIGINT) AS bytes
            FROM (SELECT MAX(body_bytes) AS bytes FROM cache_entry GROUP BY body_digest) AS b",
        )
    };
    let sums: Vec<Sum> = on!(conn, |c| query().load(c).await)?;
    Ok(sums.into_iter().map(|sum| sum.bytes).sum())
}

/// Returns the packed body with this digest if it is in the database.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn packed(conn: &mut Conn, digest: &str) -> Result<Option<Vec<u8>>> {
    let query = cache_body::table.find(digest).select(cache_body::packed);
    Ok(on!(conn, |c| query.get_result(c).await.optional())?)
}

/// Whether the body with this digest is in the database.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn has_body(conn: &mut Conn, digest: &str) -> Result<bool> {
    let query = cache_body::table.find(digest).select(cache_body::digest);
    let found: Option<String> = on!(conn, |c| query.get_result(c).await.optional())?;
    Ok(found.is_some())
}

/// Whether a body is in the database; locks it against removal until the transaction ends.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn lock_body(conn: &mut Conn, digest: &str) -> Result<bool> {
    let query = cache_body::table.find(digest).select(cache_body::digest);
    let found: Option<String> = on!(
        conn,
        pg | c | query.for_update().get_result(c).await.optional(),
        sqlite | c | query.get_result(c).await.optional()
    )?;
    Ok(found.is_some())
}

/// Adds a body to the database unless it exists. Must be called in the transaction that adds its user.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the transaction has to be rolled back.
#[crate::boxed]
pub async fn add_body(conn: &mut Conn, digest: &str, packed: &[u8]) -> Result<()> {
    let row = (cache_body::digest.eq(digest), cache_body::packed.eq(packed));
    let insert = diesel::insert_into(cache_body::table).values(row).on_conflict(cache_body::digest);
    on!(
        conn,
        // The update locks an existing row, and waits for a transaction that removes it.
        pg | c | insert.do_update().set(cache_body::digest.eq(digest)).execute(c).await,
        sqlite | c | insert.do_nothing().execute(c).await
    )?;
    Ok(())
}

/// Removes bodies that have lost a user and have no other; those in the blob store are marked for deletion. Must be
/// called in the transaction that removes the user.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the transaction has to be rolled back.
#[crate::boxed]
pub async fn let_go(conn: &mut Conn, mut bodies: Vec<BodyPlace>) -> Result<()> {
    bodies.sort_unstable();
    bodies.dedup();
    let (here, elsewhere): (Vec<_>, Vec<_>) = bodies.into_iter().partition(|body| body.in_row);
    let digests = |bodies: &[BodyPlace]| bodies.iter().map(|body| body.digest.clone()).collect::<Vec<_>>();
    lock_all(conn, digests(&here)).await?;
    // Read only now: a user that was being added while the locks were awaited counts.
    let used = used(conn, &[digests(&here), digests(&elsewhere)].concat()).await?;
    remove(conn, without(here, &used)).await?;
    mark(conn, without(elsewhere, &used)).await
}

/// Returns the digests of the bodies that are not used.
fn without(bodies: Vec<BodyPlace>, used: &HashSet<BodyPlace>) -> Vec<String> {
    bodies.into_iter().filter(|body| !used.contains(body)).map(|body| body.digest).collect()
}

/// Locks bodies in the database in the order of their digests. SQLite has a single writer anyway.
async fn lock_all(conn: &mut Conn, digests: Vec<String>) -> Result<()> {
    if digests.is_empty() {
        return Ok(());
    }
    let rows = cache_body::table.filter(cache_body::digest.eq_any(digests)).order(cache_body::digest);
    let rows = rows.select(cache_body::digest);
    if let Link::Pg(link) = &mut conn.link {
        let _locked: Vec<String> = rows.for_update().load(&mut **link).await?;
    }
    Ok(())
}

async fn remove(conn: &mut Conn, digests: Vec<String>) -> Result<()> {
    if digests.is_empty() {
        return Ok(());
    }
    let gone = diesel::delete(cache_body::table.filter(cache_body::digest.eq_any(digests)));
    on!(conn, |c| gone.execute(c).await)?;
    Ok(())
}

/// Whether a user whose row has just been written may use its body in the blob store. `false` while the body is being
/// deleted: the user must then be removed.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); whether the body may be used is unknown then.
#[crate::boxed]
pub async fn rely_on(conn: &mut Conn, digest: &str) -> Result<bool> {
    let mark = unused_body::table.find(digest).select(unused_body::digest);
    let marked: Option<String> = on!(conn, |c| mark.get_result(c).await.optional())?;
    if marked.is_none() {
        return Ok(true);
    }
    let mut conn = conn.turn().await?;
    let take_back = diesel::delete(unused_body::table.find(digest).filter(unused_body::deleting.eq(false)));
    // The body may have been flagged as being deleted since the mark was read, so the statement checks that again.
    Ok(on!(conn, |c| take_back.execute(c).await)? == 1)
}

/// Returns up to `limit` bodies to delete now, ordered by digest, including those of a process that died during a
/// deletion. Must be followed by [`deleted`].
///
/// # Errors
/// [`Query`](crate::StoreError::Query); no mark was changed then.
#[crate::boxed]
pub async fn delete_next(conn: &mut Conn, limit: i64) -> Result<Vec<String>> {
    conn.atomic(async |conn: &mut Conn| {
        let marks = unused_body::table
            .order(unused_body::digest)
            .limit(limit)
            .select((unused_body::digest, unused_body::deleting));
        // Locked against `rely_on`, which removes marks.
        let marks: Vec<(String, bool)> =
            on!(conn, pg | c | marks.for_update().load(c).await, sqlite | c | marks.load(c).await)?;
        let digests: Vec<String> = marks.iter().map(|(digest, _)| digest.clone()).collect();
        let used = used(conn, &digests).await?;
        // A body that is being deleted stays condemned even if something uses it: its bytes may be gone.
        let is_used = |digest: &String| used.contains(&BodyPlace { digest: digest.clone(), in_row: false });
        let (kept, going): (Vec<_>, Vec<_>) =
            marks.into_iter().partition(|(digest, deleting)| !deleting && is_used(digest));
        let names = |marks: Vec<(String, bool)>| marks.into_iter().map(|(digest, _)| digest).collect::<Vec<_>>();
        let (kept, going) = (names(kept), names(going));
        let take_back = diesel::delete(unused_body::table.filter(unused_body::digest.eq_any(&kept)));
        on!(conn, |c| take_back.execute(c).await)?;
        let condemn = diesel::update(unused_body::table.filter(unused_body::digest.eq_any(&going)))
            .set(unused_body::deleting.eq(true));
        on!(conn, |c| condemn.execute(c).await)?;
        Ok(going)
    })
    .await
}

/// Removes the marks of bodies that were deleted after [`delete_next`].
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the marks stay, and the next [`delete_next`] returns the bodies again.
#[crate::boxed]
pub async fn deleted(conn: &mut Conn, digests: &[String]) -> Result<()> {
    let mut conn = conn.turn().await?;
    let forget = diesel::delete(unused_body::table.filter(unused_body::digest.eq_any(digests)));
    on!(conn, |c| forget.execute(c).await)?;
    Ok(())
}

/// Returns which of these bodies have users.
async fn used(conn: &mut Conn, digests: &[String]) -> Result<HashSet<BodyPlace>> {
    if digests.is_empty() {
        return Ok(HashSet::new());
    }
    let rows = version_body::table.filter(version_body::digest.eq_any(digests));
    let rows = rows.select((version_body::digest, version_body::in_row)).distinct();
    let of_versions: Vec<BodyPlace> = on!(conn, |c| rows.load(c).await)?;
    let mut used: HashSet<BodyPlace> = of_versions.into_iter().collect();
    used.extend(used_by_copies(conn, digests).await?);
    Ok(used)
}

/// Returns which of these bodies the copies in the cache use.
pub(super) async fn used_by_copies(conn: &mut Conn, digests: &[String]) -> Result<HashSet<BodyPlace>> {
    let rows = cache_entry::table.filter(cache_entry::body_digest.eq_any(digests));
    let rows = rows.select((cache_entry::body_digest, cache_entry::in_row)).distinct();
    let used: Vec<BodyPlace> = on!(conn, |c| rows.load(c).await)?;
    Ok(used.into_iter().collect())
}

async fn mark(conn: &mut Conn, digests: Vec<String>) -> Result<()> {
    for digest in digests {
        let mark = (unused_body::digest.eq(digest), unused_body::deleting.eq(false));
        let insert = diesel::insert_into(unused_body::table).values(mark).on_conflict_do_nothing();
        on!(conn, |c| insert.execute(c).await)?;
    }
    Ok(())
}

//! The bodies of cached pages: how much they are, and how one leaves while others may just begin to use it.
//!
//! A copy is added in this order: its row, then [`rely_on`], then its body unless that is there. A body is deleted in this
//! order: a mark in the transaction that removed its last copy, then [`delete_next`], which takes the mark back when a copy has
//! come meanwhile and else says that the body is being deleted, then the body, then [`deleted`]. Whoever adds a copy
//! therefore either has its row seen by `delete_next`, or sees the mark and does without.

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::{cache_entry, unused_body};

#[derive(QueryableByName)]
struct Sum {
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

/// The bytes of all bodies that copies use, each counted once, as they are before compression. Reads an index from end to
/// end: to be asked now and then.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn bytes(conn: &mut Conn) -> Result<i64> {
    let query = || {
        diesel::sql_query(
            "SELECT CAST(COALESCE(SUM(b.bytes), 0) AS BIGINT) AS bytes
            FROM (SELECT MAX(body_bytes) AS bytes FROM cache_entry GROUP BY body_digest) AS b",
        )
    };
    let sums: Vec<Sum> = on!(conn, |c| query().load(c).await)?;
    Ok(sums.into_iter().map(|sum| sum.bytes).sum())
}

/// Whether a copy whose row has just been written may go on to its body. `false` while that body is being deleted: the copy
/// has to be taken back.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn rely_on(conn: &mut Conn, digest: &str) -> Result<bool> {
    let mark = unused_body::table.find(digest).select(unused_body::digest);
    let marked: Option<String> = on!(conn, |c| mark.get_result(c).await.optional())?;
    if marked.is_none() {
        return Ok(true);
    }
    let _turn = conn.turn().await?;
    let take_back = diesel::delete(unused_body::table.find(digest).filter(unused_body::deleting.eq(false)));
    Ok(on!(conn, |c| take_back.execute(c).await)? == 1)
}

/// Up to `limit` bodies that are to be deleted now, in order, those of a process that died over it among them. To be followed
/// by [`deleted`].
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn delete_next(conn: &mut Conn, limit: i64) -> Result<Vec<String>> {
    conn.atomic(async |conn: &mut Conn| {
        let marks = unused_body::table
            .order(unused_body::digest)
            .limit(limit)
            .select((unused_body::digest, unused_body::deleting));
        // Whoever takes a mark back waits for us, or we for them.
        let marks: Vec<(String, bool)> =
            on!(conn, pg | c | marks.for_update().load(c).await, sqlite | c | marks.load(c).await)?;
        let digests: Vec<String> = marks.iter().map(|(digest, _)| digest.clone()).collect();
        let used = used(conn, &digests).await?;
        let (kept, going): (Vec<_>, Vec<_>) =
            marks.into_iter().partition(|(digest, deleting)| !deleting && used.contains(digest));
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

/// Forgets bodies of [`delete_next`] that are gone.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn deleted(conn: &mut Conn, digests: &[String]) -> Result<()> {
    let _turn = conn.turn().await?;
    let forget = diesel::delete(unused_body::table.filter(unused_body::digest.eq_any(digests)));
    on!(conn, |c| forget.execute(c).await)?;
    Ok(())
}

/// Those of the bodies that a copy uses.
pub(super) async fn used(conn: &mut Conn, digests: &[String]) -> Result<Vec<String>> {
    let rows = cache_entry::table.filter(cache_entry::body_digest.eq_any(digests)).select(cache_entry::body_digest);
    Ok(on!(conn, |c| rows.distinct().load(c).await)?)
}

pub(super) async fn mark(conn: &mut Conn, digests: impl Iterator<Item = String> + Send) -> Result<()> {
    for digest in digests {
        let mark = (unused_body::digest.eq(digest), unused_body::deleting.eq(false));
        let insert = diesel::insert_into(unused_body::table).values(mark).on_conflict_do_nothing();
        on!(conn, |c| insert.execute(c).await)?;
    }
    Ok(())
}

//! Pages of a batch that have no rows yet, and the calls that added pages.
//!
//! A long list is written down in pieces of bytes first, which is quick, and becomes rows piece by piece, each in a
//! transaction of its own, so that other writers wait for one piece at most.

use diesel::dsl::{exists, max};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::{crawl_append, crawl_piece};

/// Adds pieces behind those that are there. The crawl is locked.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn add_pieces(conn: &mut Conn, crawl: &str, pieces: &[Vec<u8>]) -> Result<()> {
    let of_crawl = crawl_piece::table.filter(crawl_piece::crawl_id.eq(crawl)).select(max(crawl_piece::seq));
    let last: Option<i64> = on!(conn, |c| of_crawl.get_result(c).await)?;
    for (seq, urls) in (last.unwrap_or(0) + 1..).zip(pieces) {
        let row = (crawl_piece::crawl_id.eq(crawl), crawl_piece::seq.eq(seq), crawl_piece::urls.eq(urls.as_slice()));
        on!(conn, |c| diesel::insert_into(crawl_piece::table).values(row).execute(c).await)?;
    }
    Ok(())
}

/// The number and the bytes of the first piece; `None` when every page has its row.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn first_piece(conn: &mut Conn, crawl: &str) -> Result<Option<(i64, Vec<u8>)>> {
    let query = crawl_piece::table
        .filter(crawl_piece::crawl_id.eq(crawl))
        .order(crawl_piece::seq)
        .limit(1)
        .select((crawl_piece::seq, crawl_piece::urls));
    Ok(on!(conn, |c| query.get_result(c).await.optional())?)
}

/// Whether there are pages without rows.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn has_pieces(conn: &mut Conn, crawl: &str) -> Result<bool> {
    let of_crawl = crawl_piece::table.filter(crawl_piece::crawl_id.eq(crawl));
    Ok(on!(conn, |c| diesel::select(exists(of_crawl)).get_result(c).await)?)
}

/// Removes a piece whose pages become rows in the same transaction; says whether it was there.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn remove_piece(conn: &mut Conn, crawl: &str, seq: i64) -> Result<bool> {
    Ok(on!(conn, |c| diesel::delete(crawl_piece::table.find((crawl, seq))).execute(c).await)? == 1)
}

/// Removes every piece: the crawl has ended without them.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn remove_pieces(conn: &mut Conn, crawl: &str) -> Result<()> {
    let of_crawl = crawl_piece::table.filter(crawl_piece::crawl_id.eq(crawl));
    on!(conn, |c| diesel::delete(of_crawl).execute(c).await)?;
    Ok(())
}

/// The digest of the call that added pages to this crawl under an idempotency key.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn append_by_key(conn: &mut Conn, crawl: &str, key: &str) -> Result<Option<String>> {
    let query = crawl_append::table.find((crawl, key)).select(crawl_append::fingerprint);
    Ok(on!(conn, |c| query.get_result(c).await.optional())?)
}

/// Remembers a call that added pages. The crawl is locked, and [`append_by_key`] has found none.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn remember_append(conn: &mut Conn, crawl: &str, key: &str, fingerprint: &str) -> Result<()> {
    let row = (
        crawl_append::crawl_id.eq(crawl),
        crawl_append::idempotency_key.eq(key),
        crawl_append::fingerprint.eq(fingerprint),
    );
    on!(conn, |c| diesel::insert_into(crawl_append::table).values(row).execute(c).await)?;
    Ok(())
}

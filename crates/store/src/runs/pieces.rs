//! Pages of a batch that have no rows yet, and the idempotent calls that added pages.
//!
//! A long list is first stored in pieces of bytes, which is fast. Each piece then becomes rows in a transaction of its
//! own, so that other writers wait for one piece at most.

use diesel::dsl::{exists, max};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::{batch_append, batch_piece};

/// Appends pieces to a batch, which must be locked.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn add_pieces(conn: &mut Conn, batch: &str, pieces: &[Vec<u8>]) -> Result<()> {
    let of_batch = batch_piece::table.filter(batch_piece::run_id.eq(batch)).select(max(batch_piece::seq));
    let last: Option<i64> = on!(conn, |c| of_batch.get_result(c).await)?;
    for (seq, urls) in (last.unwrap_or(0) + 1..).zip(pieces) {
        let row = (batch_piece::run_id.eq(batch), batch_piece::seq.eq(seq), batch_piece::urls.eq(urls.as_slice()));
        on!(conn, |c| diesel::insert_into(batch_piece::table).values(row).execute(c).await)?;
    }
    Ok(())
}

/// Returns the number and the bytes of the first piece; `None` if every page has its row.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn first_piece(conn: &mut Conn, batch: &str) -> Result<Option<(i64, Vec<u8>)>> {
    let query = batch_piece::table
        .filter(batch_piece::run_id.eq(batch))
        .order(batch_piece::seq)
        .limit(1)
        .select((batch_piece::seq, batch_piece::urls));
    Ok(on!(conn, |c| query.get_result(c).await.optional())?)
}

/// Whether pages without rows are left.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn has_pieces(conn: &mut Conn, batch: &str) -> Result<bool> {
    let of_batch = batch_piece::table.filter(batch_piece::run_id.eq(batch));
    Ok(on!(conn, |c| diesel::select(exists(of_batch)).get_result(c).await)?)
}

/// Removes a piece whose pages become rows in the same transaction; says whether it existed.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn remove_piece(conn: &mut Conn, batch: &str, seq: i64) -> Result<bool> {
    Ok(on!(conn, |c| diesel::delete(batch_piece::table.find((batch, seq))).execute(c).await)? == 1)
}

/// Removes all pieces of a batch that has ended without them.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn remove_pieces(conn: &mut Conn, batch: &str) -> Result<()> {
    let of_batch = batch_piece::table.filter(batch_piece::run_id.eq(batch));
    on!(conn, |c| diesel::delete(of_batch).execute(c).await)?;
    Ok(())
}

/// Returns the fingerprint of the call that added pages to this batch with an idempotency key.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn append_by_key(conn: &mut Conn, batch: &str, key: &str) -> Result<Option<String>> {
    let query = batch_append::table.find((batch, key)).select(batch_append::fingerprint);
    Ok(on!(conn, |c| query.get_result(c).await.optional())?)
}

/// Remembers a call that added pages. The batch must be locked, and [`append_by_key`] must have found none.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn remember_append(conn: &mut Conn, batch: &str, key: &str, fingerprint: &str) -> Result<()> {
    let row = (
        batch_append::run_id.eq(batch),
        batch_append::idempotency_key.eq(key),
        batch_append::fingerprint.eq(fingerprint),
    );
    on!(conn, |c| diesel::insert_into(batch_append::table).values(row).execute(c).await)?;
    Ok(())
}

//! Removal of runs in bounded steps, so that a run with a million pages does not block other writers.

use std::collections::HashSet;

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};

use super::OPEN;
use crate::conn::{Conn, Link, on};
use crate::db_time::DbTime;
use crate::error::{Result, StoreError};
use crate::schema::{batch_piece, crawl_family, crawl_link, crawl_template, run, run_document, run_page};
use crate::sql::{Prepared, filled};

/// Limit of keys in one statement.
const CHUNK: usize = 500;

/// Returns the run that expired first, if one has expired by `now`.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn expired(conn: &mut Conn, now: Timestamp) -> Result<Option<String>> {
    let due = run::table
        .filter(run::expires_at.le(DbTime::from(now)))
        .filter(run::status.ne(OPEN))
        .order(run::expires_at)
        .limit(1)
        .select(run::id);
    Ok(on!(conn, |c| due.get_result(c).await.optional())?)
}

/// Returns number, blob key (if the document is in the blob store) and size (of the JSON, uncompressed, in bytes) of
/// the first `limit` documents of a run.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn first_documents(conn: &mut Conn, run: &str, limit: i64) -> Result<Vec<(i64, Option<String>, i64)>> {
    let query = run_document::table
        .filter(run_document::run_id.eq(run))
        .order(run_document::seq)
        .limit(limit)
        .select((run_document::seq, run_document::blob, run_document::bytes));
    Ok(on!(conn, |c| query.load(c).await)?)
}

/// Removes the documents of a run up to number `last`, and up to `limit` rows of each other table; returns whether rows of
/// these may be left. The run must have ended, so that no rows are added meanwhile. With `overwrite`, SQLite overwrites
/// all deleted data.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn erase(conn: &mut Conn, run: &str, last: i64, limit: i64, overwrite: bool) -> Result<bool> {
    /// Removes up to `limit` rows of a table, identified by one column.
    macro_rules! some_of {
        ($conn:ident, $table:ident, $column:ident: $kind:ty) => {{
            let of_run = || $table::table.filter($table::run_id.eq(run));
            let found: Vec<$kind> = on!($conn, |c| of_run().limit(limit).select($table::$column).load(c).await)?;
            if !found.is_empty() {
                let rows = of_run().filter($table::$column.eq_any(filled(&found)));
                on!($conn, |c| Prepared(diesel::delete(rows)).execute(c).await)?;
            }
            i64::try_from(found.len()).is_ok_and(|found| found >= limit)
        }};
    }
    scrub(conn, overwrite).await?;
    let erased = conn.atomic(async |conn: &mut Conn| {
        let documents = run_document::table.filter(run_document::run_id.eq(run));
        let documents = documents.filter(run_document::seq.le(last));
        on!(conn, |c| diesel::delete(documents).execute(c).await)?;
        let mut are_left = some_of!(conn, run_page, id: String);
        are_left |= some_of!(conn, batch_piece, seq: i64);
        are_left |= some_of!(conn, crawl_link, page_id: String);
        are_left |= some_of!(conn, crawl_family, hash: i64);
        are_left |= some_of!(conn, crawl_template, template: i64);
        Ok::<_, StoreError>(are_left)
    });
    let erased = erased.await;
    scrub(conn, false).await?;
    erased
}

/// Sets whether SQLite overwrites all deleted data, or only where that costs no further write.
async fn scrub(conn: &mut Conn, whole: bool) -> Result<()> {
    if let Link::Sqlite(link) = &mut conn.link {
        let setting = if whole { "PRAGMA secure_delete = ON" } else { "PRAGMA secure_delete = FAST" };
        link.batch_execute(setting).await?;
    }
    Ok(())
}

/// Removes the row of a run; the rest follows by foreign keys.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn remove(conn: &mut Conn, run: &str) -> Result<()> {
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::delete(run::table.find(run)).execute(c).await)?;
    Ok(())
}

/// Returns those of these blob keys that belong to documents.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn known_blobs(conn: &mut Conn, keys: &[&str]) -> Result<HashSet<String>> {
    let mut known = HashSet::new();
    for keys in keys.chunks(CHUNK) {
        let found = run_document::table.filter(run_document::blob.eq_any(keys));
        let found = found.filter(run_document::blob.is_not_null());
        let found = found.select(run_document::blob.assume_not_null());
        let found: Vec<String> = on!(conn, |c| found.load(c).await)?;
        known.extend(found);
    }
    Ok(known)
}

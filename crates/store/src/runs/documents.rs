//! What a run has made: documents in the order of their ends, numbered without gaps.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::run_document;

/// Rows in one statement.
const CHUNK: usize = 100;

/// A document to be kept. `body` is its compressed JSON, or else `blob` says where that is.
#[derive(Debug, Clone, PartialEq, Eq, Insertable)]
#[diesel(table_name = run_document, treat_none_as_default_value = false)]
pub struct NewDocument {
    /// The run.
    pub run_id: String,
    /// Its number, from 1.
    pub seq: i64,
    /// The page it was made of.
    pub page_id: String,
    /// The team of the run.
    pub team_id: String,
    /// The host of the page; absent when other operations must not find it.
    pub site: Option<String>,
    /// The page's address after redirects.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// The size of the JSON, uncompressed.
    pub bytes: i64,
    /// The JSON, compressed.
    pub body: Option<Vec<u8>>,
    /// Where the JSON is, compressed.
    pub blob: Option<String>,
}

/// A document that was kept.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = run_document)]
pub struct StoredDocument {
    /// Its number, from 1.
    pub seq: i64,
    /// The page it was made of.
    pub page_id: String,
    /// The page's address after redirects.
    pub url: String,
    /// The size of the JSON, uncompressed.
    pub bytes: i64,
    /// The JSON, compressed.
    pub body: Option<Vec<u8>>,
    /// Where the JSON is, compressed.
    pub blob: Option<String>,
}

/// An address of a host that an earlier run of the team has scraped.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = run_document)]
pub struct KnownUrl {
    /// The address.
    pub url: String,
    /// The page's title.
    pub title: Option<String>,
    /// The page's description.
    pub description: Option<String>,
}

/// Adds documents.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn add_documents(conn: &mut Conn, rows: Vec<NewDocument>) -> Result<()> {
    on!(
        conn,
        pg | c | {
            for rows in rows.chunks(CHUNK) {
                diesel::insert_into(run_document::table).values(rows.to_vec()).execute(c).await?;
            }
        },
        sqlite | c | c.spawn_blocking(move |c| insert_on_sqlite(c, rows)).await?
    );
    Ok(())
}

/// One by one: a statement of many rows is compiled anew each time.
fn insert_on_sqlite(conn: &mut SqliteConnection, rows: Vec<NewDocument>) -> QueryResult<()> {
    for row in rows {
        diesel::RunQueryDsl::execute(diesel::insert_into(run_document::table).values(row), conn)?;
    }
    Ok(())
}

/// The numbers and sizes (of the JSON, uncompressed, in bytes) of up to `limit` documents of a run behind number `after`.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn document_sizes(conn: &mut Conn, run: &str, after: i64, limit: i64) -> Result<Vec<(i64, i64)>> {
    let query = run_document::table
        .filter(run_document::run_id.eq(run))
        .filter(run_document::seq.gt(after))
        .order(run_document::seq)
        .limit(limit)
        .select((run_document::seq, run_document::bytes));
    Ok(on!(conn, |c| query.load(c).await)?)
}

/// Up to `limit` documents of a run behind number `after`.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn documents(conn: &mut Conn, run: &str, after: i64, limit: i64) -> Result<Vec<StoredDocument>> {
    let query = run_document::table
        .filter(run_document::run_id.eq(run))
        .filter(run_document::seq.gt(after))
        .order(run_document::seq)
        .limit(limit);
    Ok(on!(conn, |c| query.select(StoredDocument::as_select()).load(c).await)?)
}

/// Up to `limit` addresses of `host` that runs of the team have scraped and that are still kept.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn known_urls(conn: &mut Conn, team: &str, host: &str, limit: i64) -> Result<Vec<KnownUrl>> {
    let query =
        run_document::table.filter(run_document::team_id.eq(team)).filter(run_document::site.eq(host)).limit(limit);
    Ok(on!(conn, |c| query.select(KnownUrl::as_select()).load(c).await)?)
}

//! What a run has made: documents in the order of their ends, numbered without gaps.

use base::Timestamp;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Nullable, Text};
use diesel_async::RunQueryDsl;
use futures_util::future::try_join;

use super::pages::{self, EndedPage};
use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::run_document;
use crate::sql::Sql;

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

/// Writes down what became of pages of a run, and adds the documents that some of them are.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn end_pages(
    conn: &mut Conn,
    ended: &[EndedPage<'_>],
    documents: Vec<NewDocument>,
    now: Timestamp,
) -> Result<()> {
    on!(
        conn,
        pg | c | {
            // Neither needs the answer of the other.
            let c = &*c;
            let documents = documents_to_postgres(&documents);
            try_join(pages::end_on_postgres(ended, now).execute(&mut &*c), documents.execute(&mut &*c)).await?;
        },
        sqlite | c | {
            pages::end_on_sqlite(ended, now).execute(c).await?;
            c.spawn_blocking(move |c| insert_on_sqlite(c, documents)).await?;
        }
    );
    Ok(())
}

/// A list of rows would be compiled anew each time.
fn documents_to_postgres(rows: &[NewDocument]) -> Sql<'_, Pg> {
    fn column<'r, T>(rows: &'r [NewDocument], value: impl Fn(&'r NewDocument) -> T) -> Vec<T> {
        rows.iter().map(value).collect()
    }
    Sql::new(
        "INSERT INTO run_document (run_id, seq, page_id, team_id, site, url, title, description, bytes, body, blob)
         SELECT * FROM unnest({}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})",
    )
    .bind::<Array<Text>, _>(column(rows, |row| &row.run_id))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.seq))
    .bind::<Array<Text>, _>(column(rows, |row| &row.page_id))
    .bind::<Array<Text>, _>(column(rows, |row| &row.team_id))
    .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.site.as_ref()))
    .bind::<Array<Text>, _>(column(rows, |row| &row.url))
    .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.title.as_ref()))
    .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.description.as_ref()))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.bytes))
    .bind::<Array<Nullable<Binary>>, _>(column(rows, |row| row.body.as_deref()))
    .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.blob.as_ref()))
}

/// One by one, for the same reason.
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

//! Documents of a run, numbered without gaps in the order in which they were finished.

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

/// New document. Its compressed JSON is in `body`, or else in the blob store under `blob`.
#[derive(Debug, Clone, PartialEq, Eq, Insertable)]
#[diesel(table_name = run_document, treat_none_as_default_value = false)]
pub struct NewDocument {
    /// Id of the run.
    pub run_id: String,
    /// Number of the document, from 1.
    pub seq: i64,
    /// Id of the page.
    pub page_id: String,
    /// Id of the team.
    pub team_id: String,
    /// Host of the page; `None` if other operations must not find it.
    pub site: Option<String>,
    /// URL of the page after redirects.
    pub url: String,
    /// Title of the page.
    pub title: Option<String>,
    /// Description of the page.
    pub description: Option<String>,
    /// Size of the uncompressed JSON, in bytes.
    pub bytes: i64,
    /// Compressed JSON.
    pub body: Option<Vec<u8>>,
    /// Blob key of the compressed JSON.
    pub blob: Option<String>,
}

/// Stored document.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = run_document)]
pub struct StoredDocument {
    /// Number of the document, from 1.
    pub seq: i64,
    /// Id of the page.
    pub page_id: String,
    /// URL of the page after redirects.
    pub url: String,
    /// Size of the uncompressed JSON, in bytes.
    pub bytes: i64,
    /// Compressed JSON.
    pub body: Option<Vec<u8>>,
    /// Blob key of the compressed JSON.
    pub blob: Option<String>,
}

/// URL of a host that an earlier run of the team has scraped.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = run_document)]
pub struct KnownUrl {
    /// URL of the page.
    pub url: String,
    /// Title of the page.
    pub title: Option<String>,
    /// Description of the page.
    pub description: Option<String>,
}

/// Records the ends of pages and adds the documents that some of them became.
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
            // The two statements are independent, so they are pipelined.
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

/// Builds the INSERT with one array for each column: a list of rows would be a new statement for each length.
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

/// Inserts rows one by one with a cached statement: one for several rows would be compiled for each length.
fn insert_on_sqlite(conn: &mut SqliteConnection, rows: Vec<NewDocument>) -> QueryResult<()> {
    for row in rows {
        diesel::RunQueryDsl::execute(diesel::insert_into(run_document::table).values(row), conn)?;
    }
    Ok(())
}

/// Returns number and size (of the uncompressed JSON, in bytes) of up to `limit` documents of a run after number
/// `after`.
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

/// Returns up to `limit` documents of a run after number `after`.
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

/// Returns up to `limit` URLs of `host` that runs of the team have scraped and whose documents are still kept.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn known_urls(conn: &mut Conn, team: &str, host: &str, limit: i64) -> Result<Vec<KnownUrl>> {
    let query =
        run_document::table.filter(run_document::team_id.eq(team)).filter(run_document::site.eq(host)).limit(limit);
    Ok(on!(conn, |c| query.select(KnownUrl::as_select()).load(c).await)?)
}

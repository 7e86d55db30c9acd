//! Pages of checks.

use std::collections::HashMap;

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::monitor_page;

/// Page of a check, without its content.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = monitor_page)]
pub struct Page {
    /// Id, a UUID.
    pub id: String,
    /// Id of the check.
    pub check_id: String,
    /// Id of the target.
    pub target_id: String,
    /// Key of its series.
    pub key: String,
    /// Place among the pages of the check; need not be unique.
    pub seq: i64,
    /// URL.
    pub url: String,
    /// Status: `same`, `new`, `changed`, `removed` or `error`.
    pub status: String,
    /// Id of the scrape that it was compared with.
    pub previous_scrape_id: Option<String>,
    /// Id of its scrape.
    pub current_scrape_id: Option<String>,
    /// HTTP status.
    pub status_code: Option<i32>,
    /// Reason why it could not be read.
    pub error: Option<String>,
    /// Metadata as a JSON object.
    pub metadata: Option<String>,
    /// Judgment as a JSON object.
    pub judgment: Option<String>,
    /// Size of the content before compression, in bytes; 0 without content.
    pub bytes: i64,
    /// Time at which it was recorded.
    #[diesel(deserialize_as = DbTime)]
    pub created_at: Timestamp,
}

/// New page of a check.
#[derive(Debug, Clone, Copy)]
pub struct NewPage<'a> {
    /// Page.
    pub row: &'a Page,
    /// Compressed content.
    pub content: Option<&'a [u8]>,
}

/// Part of the pages of a check.
#[derive(Debug, Clone, Copy)]
pub struct PagesWanted<'a> {
    /// Status; `None` for all.
    pub status: Option<&'a str>,
    /// Number of pages to skip.
    pub skip: i64,
    /// Maximum number of pages.
    pub limit: i64,
}

/// Adds pages of a check, which must be locked; returns the ids of those that are new. A page that the check has of the same
/// target already is left out.
///
/// # Errors
/// Those of the database; the transaction has to be rolled back then.
#[crate::boxed]
pub async fn add_pages(conn: &mut Conn, pages: &[NewPage<'_>]) -> Result<Vec<String>> {
    let mut added = Vec::new();
    for NewPage { row, content } in pages {
        let values = (
            (monitor_page::id.eq(&row.id), monitor_page::check_id.eq(&row.check_id)),
            (monitor_page::target_id.eq(&row.target_id), monitor_page::key.eq(&row.key)),
            (monitor_page::url.eq(&row.url), monitor_page::status.eq(&row.status), monitor_page::seq.eq(row.seq)),
            monitor_page::previous_scrape_id.eq(&row.previous_scrape_id),
            monitor_page::current_scrape_id.eq(&row.current_scrape_id),
            (monitor_page::status_code.eq(row.status_code), monitor_page::error.eq(&row.error)),
            (monitor_page::metadata.eq(&row.metadata), monitor_page::judgment.eq(&row.judgment)),
            (monitor_page::bytes.eq(row.bytes), monitor_page::content.eq(*content)),
            monitor_page::created_at.eq(DbTime::from(row.created_at)),
        );
        let insert = diesel::insert_into(monitor_page::table).values(values).on_conflict_do_nothing();
        if on!(conn, |c| insert.execute(c).await)? == 1 {
            added.push(row.id.clone());
        }
    }
    Ok(added)
}

/// Returns pages of a check in their order.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn pages(conn: &mut Conn, check: &str, wanted: &PagesWanted<'_>) -> Result<Vec<Page>> {
    let page = monitor_page::table
        .filter(monitor_page::check_id.eq(check))
        .order((monitor_page::seq, monitor_page::id))
        .limit(wanted.limit)
        .offset(wanted.skip);
    match wanted.status {
        Some(status) => {
            let page = page.filter(monitor_page::status.eq(status));
            Ok(on!(conn, |c| page.select(Page::as_select()).load(c).await)?)
        }
        None => Ok(on!(conn, |c| page.select(Page::as_select()).load(c).await)?),
    }
}

/// Returns the compressed contents of pages, by their ids. Pages without content are left out.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn contents(conn: &mut Conn, pages: &[&str]) -> Result<HashMap<String, Vec<u8>>> {
    let query = monitor_page::table
        .filter(monitor_page::id.eq_any(pages))
        .filter(monitor_page::content.is_not_null())
        .select((monitor_page::id, monitor_page::content.assume_not_null()));
    let rows: Vec<(String, Vec<u8>)> = on!(conn, |c| query.load(c).await)?;
    Ok(rows.into_iter().collect())
}

/// Returns a page by its id.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn page(conn: &mut Conn, id: &str) -> Result<Option<Page>> {
    let query = monitor_page::table.find(id);
    Ok(on!(conn, |c| query.select(Page::as_select()).get_result(c).await.optional())?)
}

/// Writes judgment and metadata of a page that has no judgment yet; says whether it had none.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn judge(conn: &mut Conn, id: &str, judgment: &str, metadata: Option<&str>) -> Result<bool> {
    let unjudged = monitor_page::table.find(id).filter(monitor_page::judgment.is_null());
    let set = (monitor_page::judgment.eq(judgment), metadata.map(|metadata| monitor_page::metadata.eq(metadata)));
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| diesel::update(unjudged).set(set).execute(c).await)? == 1)
}

/// Weight of a page in what is told of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Judged to matter.
    Meaningful,
    /// Not judged.
    Unjudged,
    /// Judged not to matter.
    Noise,
}

/// Part of a judgment that matters; its JSON has no blanks, and quotes in its texts are escaped.
const MEANINGFUL: &str = r#"%"meaningful":true%"#;

/// Returns up to `limit` pages of a check of one weight that are not the same as before, in their order.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn told(conn: &mut Conn, check: &str, weight: Weight, limit: i64) -> Result<Vec<Page>> {
    let pages = monitor_page::table
        .filter(monitor_page::check_id.eq(check))
        .filter(monitor_page::status.ne("same"))
        .order((monitor_page::seq, monitor_page::id))
        .limit(limit);
    let judgment = monitor_page::judgment.assume_not_null();
    match weight {
        Weight::Unjudged => {
            let pages = pages.filter(monitor_page::judgment.is_null());
            Ok(on!(conn, |c| pages.select(Page::as_select()).load(c).await)?)
        }
        Weight::Meaningful => {
            let pages = pages.filter(monitor_page::judgment.is_not_null()).filter(judgment.like(MEANINGFUL));
            Ok(on!(conn, |c| pages.select(Page::as_select()).load(c).await)?)
        }
        Weight::Noise => {
            let pages = pages.filter(monitor_page::judgment.is_not_null()).filter(judgment.not_like(MEANINGFUL));
            Ok(on!(conn, |c| pages.select(Page::as_select()).load(c).await)?)
        }
    }
}

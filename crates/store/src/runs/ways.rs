//! Shorter paths to known pages of a crawl, and the stored links of those pages. The caller must lock the progress of
//! the crawl.

use std::collections::HashMap;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::pages::PageState;
use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::{crawl_link, run_page};

/// Limit of values in one statement, below that of both databases.
const CHUNK: usize = 500;

/// Path to a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Hops from the start.
    pub depth: i32,
    /// Page that links to it.
    pub parent: Option<String>,
}

/// Page to which a shorter path was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShorterWay {
    /// Id of the page; for an alias that of its document.
    pub page: String,
    /// URL of the page.
    pub url: String,
    /// New number of hops from the start.
    pub depth: i32,
    /// Whether it was read, as a page or as a copy, so that its links may be stored.
    pub is_read: bool,
}

/// Known page of the run.
#[derive(Queryable)]
struct Row {
    id: String,
    key: Vec<u8>,
    url: String,
    depth: i32,
    state: String,
    other: Option<String>,
}

impl Row {
    /// Converts the row; `depth` is the new number of hops.
    fn at(self, depth: i32) -> ShorterWay {
        let state = PageState::parse(&self.state);
        let document = self.other.filter(|_| state == Some(PageState::Alias));
        let has_links = matches!(state, Some(PageState::Done | PageState::External | PageState::Waiting));
        let is_read = has_links || document.is_some();
        ShorterWay { page: document.unwrap_or(self.id), url: self.url, depth, is_read }
    }
}

/// Stores shorter paths to pages, given by their keys, and returns the pages whose path became shorter.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn shorten(conn: &mut Conn, run: &str, ways: &HashMap<Vec<u8>, Way>) -> Result<Vec<ShorterWay>> {
    let keys: Vec<&[u8]> = ways.keys().map(Vec::as_slice).collect();
    let mut found = Vec::new();
    for keys in keys.chunks(CHUNK) {
        let of_run = run_page::table.filter(run_page::run_id.eq(run));
        let query = of_run.filter(run_page::key.eq_any(keys.iter().copied()));
        let columns = (run_page::id, run_page::key, run_page::url, run_page::depth, run_page::state, run_page::other);
        let rows: Vec<Row> = on!(conn, |c| query.select(columns).load(c).await)?;
        for row in rows {
            let Some(way) = ways.get(&row.key).filter(|way| way.depth < row.depth) else { continue };
            let set = (run_page::depth.eq(way.depth), run_page::parent.eq(&way.parent));
            on!(conn, |c| diesel::update(run_page::table.find(&row.id)).set(set).execute(c).await)?;
            found.push(row.at(way.depth));
        }
    }
    Ok(found)
}

/// Returns the stored path to a page; the parent is known only if the path was shortened.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn way_to(conn: &mut Conn, page: &str) -> Result<Option<Way>> {
    let query = run_page::table.find(page).select((run_page::depth, run_page::parent));
    let row: Option<(i32, Option<String>)> = on!(conn, |c| query.get_result(c).await.optional())?;
    Ok(row.map(|(depth, parent)| Way { depth, parent }))
}

/// Returns the number of hops from the start for each of these page ids.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn depths(conn: &mut Conn, ids: &[&str]) -> Result<HashMap<String, i32>> {
    let mut depths = HashMap::new();
    for ids in ids.chunks(CHUNK) {
        let rows = run_page::table.filter(run_page::id.eq_any(ids.iter().copied()));
        let rows: Vec<(String, i32)> = on!(conn, |c| rows.select((run_page::id, run_page::depth)).load(c).await)?;
        depths.extend(rows);
    }
    Ok(depths)
}

/// Stores the links of a page for as long as the run is kept; the format of the bytes is the caller's.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn keep_links(conn: &mut Conn, run: &str, page: &str, links: &[u8]) -> Result<()> {
    let row = (crawl_link::run_id.eq(run), crawl_link::page_id.eq(page), crawl_link::links.eq(links));
    let insert = || diesel::insert_into(crawl_link::table).values(row).on_conflict_do_nothing();
    on!(conn, |c| insert().execute(c).await)?;
    Ok(())
}

/// Returns the stored links of a page.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn kept_links(conn: &mut Conn, run: &str, page: &str) -> Result<Option<Vec<u8>>> {
    let query = crawl_link::table.find((run, page)).select(crawl_link::links);
    Ok(on!(conn, |c| query.get_result(c).await.optional())?)
}

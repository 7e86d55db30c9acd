//! Shorter ways to known pages of a crawl, and the kept links of those pages. The caller has locked the progress of the crawl.

use std::collections::HashMap;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::pages::PageState;
use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::{crawl_link, run_page};

/// Values in one statement: below the number that either database takes.
const CHUNK: usize = 500;

/// A way to a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Hops from the start.
    pub depth: i32,
    /// The page before it.
    pub parent: Option<String>,
}

/// A page that a shorter way leads to than was known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShorterWay {
    /// Its id; for an alias that of the page that is the document.
    pub page: String,
    /// Its address.
    pub url: String,
    /// Hops from the start from now on.
    pub depth: i32,
    /// Whether it has been read, as a page of its own or as a copy, so that its links may be kept.
    pub is_read: bool,
}

/// A page that the run knows.
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
    /// So many hops from the start.
    fn at(self, depth: i32) -> ShorterWay {
        let state = PageState::read(&self.state);
        let document = self.other.filter(|_| state == Some(PageState::Alias));
        let has_links = matches!(state, Some(PageState::Done | PageState::External | PageState::Waiting));
        let is_read = has_links || document.is_some();
        ShorterWay { page: document.unwrap_or(self.id), url: self.url, depth, is_read }
    }
}

/// Writes down shorter ways to pages, given by their keys, and gives the pages that they are shorter for.
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

/// The way to a page, given by its id, as far as it is written down: the page before it only where the way was shortened.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn way_to(conn: &mut Conn, page: &str) -> Result<Option<Way>> {
    let query = run_page::table.find(page).select((run_page::depth, run_page::parent));
    let row: Option<(i32, Option<String>)> = on!(conn, |c| query.get_result(c).await.optional())?;
    Ok(row.map(|(depth, parent)| Way { depth, parent }))
}

/// How many hops these pages, given by their ids, are from the start.
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

/// Keeps where a page leads, as long as the run is kept: bytes of the caller's own.
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

/// Where a page leads, as it was kept.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn kept_links(conn: &mut Conn, run: &str, page: &str) -> Result<Option<Vec<u8>>> {
    let query = crawl_link::table.find((run, page)).select(crawl_link::links);
    Ok(on!(conn, |c| query.get_result(c).await.optional())?)
}

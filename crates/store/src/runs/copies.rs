//! Pages of a crawl that may be copies of others, and what they wait for. The caller has locked the progress of the crawl.

use std::collections::HashMap;

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Integer, Nullable, Text};
use diesel::sqlite::Sqlite;
use diesel_async::RunQueryDsl;

use super::pages::{NewPage, PageState};
use super::ways::Way;
use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::run_page;
use crate::sql::{Sql, json};

/// Values in one statement: below the number that either database takes.
const CHUNK: usize = 500;
/// Pages that may wait for each other in a row.
const MAX_ROW: usize = 20;

/// What became of a page so far, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its id.
    pub id: String,
    /// What became of it.
    pub state: PageState,
    /// The hash of its text, when that is a document of the run; of a page that waits, see [`Wait`].
    pub content: Option<u64>,
    /// Whether it waits for another page or has waited.
    pub has_waited: bool,
}

impl Standing {
    /// Whether its text is a document of the run.
    #[must_use]
    pub fn is_read(&self) -> bool {
        match self.state {
            PageState::Done | PageState::Alias => true,
            PageState::Queued | PageState::Waiting => false,
            _ => self.content.is_some(),
        }
    }
}

/// For what a page waits.
#[derive(Debug, Clone, Copy)]
pub struct Wait<'a> {
    /// The id of the page that it may be a copy of.
    pub other: &'a str,
    /// The hash of its text, when it is a copy only if the other has the same.
    pub content: Option<u64>,
    /// The way to it that its job knows.
    pub way: Option<&'a Way>,
}

/// A page that has waited, and what became of the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The page.
    pub page: NewPage,
    /// See [`Wait`].
    pub content: Option<u64>,
    /// The page that it has waited for.
    pub other: Standing,
}

impl Waiting {
    /// Whether it is a copy.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.other.is_read() && self.content.is_none_or(|content| self.other.content == Some(content))
    }
}

/// What became of pages, given by their keys.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn standings(conn: &mut Conn, run: &str, keys: &[&[u8]]) -> Result<HashMap<Vec<u8>, Standing>> {
    let mut standings = HashMap::new();
    for keys in keys.chunks(CHUNK) {
        let of_run = run_page::table.filter(run_page::run_id.eq(run));
        let query = of_run.filter(run_page::key.eq_any(keys.iter().copied()));
        let columns = (run_page::key, run_page::id, run_page::state, run_page::content, run_page::other);
        let rows: Vec<StandingRow> = on!(conn, |c| query.select(columns).load(c).await)?;
        standings.extend(rows.into_iter().filter_map(|row| {
            let (state, content) = (PageState::read(&row.state)?, row.content.map(i64::cast_unsigned));
            Some((row.key, Standing { id: row.id, state, content, has_waited: row.other.is_some() }))
        }));
    }
    Ok(standings)
}

#[derive(Queryable)]
struct StandingRow {
    key: Vec<u8>,
    id: String,
    state: String,
    content: Option<i64>,
    other: Option<String>,
}

/// Has a page, given by its id, wait for another. Its job is gone; the caller sees to it that the other one ends.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn wait(conn: &mut Conn, page: &str, wait: &Wait<'_>) -> Result<()> {
    let set = (
        run_page::state.eq(PageState::Waiting.as_str()),
        run_page::content.eq(wait.content.map(u64::cast_signed)),
        run_page::other.eq(Some(wait.other)),
    );
    on!(conn, |c| diesel::update(run_page::table.find(page)).set(set).execute(c).await)?;
    let Some(way) = wait.way else { return Ok(()) };
    // What its job knew. A way that is shorter stands in its row.
    let row = run_page::table.filter(run_page::id.eq(page)).filter(run_page::depth.ge(way.depth));
    let set = run_page::parent.eq(way.parent.as_deref());
    on!(conn, |c| diesel::update(row).set(set).execute(c).await)?;
    Ok(())
}

/// The last of the pages that wait for each other, from this one on: the page itself when it does not wait. `None` when they
/// are many.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn end_of_wait(conn: &mut Conn, page: &str) -> Result<Option<String>> {
    let mut last = page.to_owned();
    for _ in 0..MAX_ROW {
        let waiting = run_page::table.filter(run_page::id.eq(last.as_str()));
        let waiting = waiting.filter(run_page::state.eq(PageState::Waiting.as_str())).select(run_page::other);
        let next: Option<Option<String>> = on!(conn, |c| waiting.get_result(c).await.optional())?;
        let Some(next) = next.flatten() else { return Ok(Some(last)) };
        last = next;
    }
    Ok(None)
}

/// The pages that have waited for these, given by their ids, which have ended.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn waiting_for(conn: &mut Conn, ended: &[&str]) -> Result<Vec<Waiting>> {
    let rows: Vec<WaitingRow> = on!(
        conn,
        pg | c | Sql::<Pg, WaitingColumns>::new(POSTGRES_WAITING).bind::<Array<Text>, _>(ended).load(c).await,
        sqlite | c | Sql::<Sqlite, WaitingColumns>::new(SQLITE_WAITING).bind::<Text, _>(json(ended)).load(c).await
    )?;
    Ok(rows.into_iter().filter_map(WaitingRow::read).collect())
}

/// The words of the index stand in them.
const POSTGRES_WAITING: &str = "SELECT w.id, w.key, w.url, w.depth, w.parent, w.content, o.id, o.state, o.content
    FROM run_page AS w JOIN run_page AS o ON o.id = w.other
    WHERE w.state = 'waiting' AND w.other = ANY({}) ORDER BY w.id";
const SQLITE_WAITING: &str = "SELECT w.id, w.key, w.url, w.depth, w.parent, w.content, o.id, o.state, o.content
    FROM run_page AS w JOIN run_page AS o ON o.id = w.other
    WHERE w.state = 'waiting' AND w.other IN (SELECT value FROM json_each({})) ORDER BY w.id";

type WaitingColumns = (Text, Binary, Text, Integer, Nullable<Text>, Nullable<BigInt>, Text, Text, Nullable<BigInt>);

#[derive(Queryable)]
struct WaitingRow {
    id: String,
    key: Vec<u8>,
    url: String,
    depth: i32,
    parent: Option<String>,
    content: Option<i64>,
    other: String,
    other_state: String,
    other_content: Option<i64>,
}

impl WaitingRow {
    fn read(self) -> Option<Waiting> {
        let Self { id, key, url, depth, parent, content, other, other_state, other_content } = self;
        let state = PageState::read(&other_state)?;
        let content_of = |content: Option<i64>| content.map(i64::cast_unsigned);
        Some(Waiting {
            page: NewPage { id, key, url, depth, parent },
            content: content_of(content),
            other: Standing { id: other, state, content: content_of(other_content), has_waited: false },
        })
    }
}

/// A page that has ended while others wait for it still.
#[derive(Debug, Clone, PartialEq, Eq, Queryable)]
pub struct Awaited {
    /// Its run, which is open.
    pub run: String,
    /// Its id.
    pub page: String,
}

/// Pages that have ended while others wait for them, of any run, up to `limit`.
/// A worker of a version that knows nothing of waiting has ended them.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn awaited(conn: &mut Conn, limit: i64) -> Result<Vec<Awaited>> {
    let awaited: Vec<Awaited> = on!(
        conn,
        pg | c | Sql::<Pg, (Text, Text)>::new(AWAITED).bind::<BigInt, _>(limit).load(c).await,
        sqlite | c | Sql::<Sqlite, (Text, Text)>::new(AWAITED).bind::<BigInt, _>(limit).load(c).await
    )?;
    Ok(awaited)
}

/// The words of the index stand in it.
const AWAITED: &str = "SELECT DISTINCT w.run_id, w.other FROM run_page AS w WHERE w.state = 'waiting' AND w.other > ''
    AND EXISTS (SELECT 1 FROM run_page AS o WHERE o.id = w.other AND o.state NOT IN ('queued', 'waiting'))
    AND EXISTS (SELECT 1 FROM run_progress AS p WHERE p.run_id = w.run_id AND p.is_open) LIMIT {}";

/// Makes pages that have waited, given by their ids, such as are to be read. That they have waited stays known.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn read_again(conn: &mut Conn, pages: &[&str]) -> Result<()> {
    for pages in pages.chunks(CHUNK) {
        let rows = run_page::table.filter(run_page::id.eq_any(pages.iter().copied()));
        let set = (run_page::state.eq(PageState::Queued.as_str()), run_page::content.eq(None::<i64>));
        on!(conn, |c| diesel::update(rows).set(set).execute(c).await)?;
    }
    Ok(())
}

/// Writes down that the text of a page is a document of the run under another address, that of the page `document`. A spare
/// page becomes an alias of it, and is not taken on any more.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn set_read(conn: &mut Conn, page: &Standing, document: &str, content: u64) -> Result<()> {
    let row = run_page::table.find(&page.id);
    let content = run_page::content.eq(content.cast_signed());
    if page.state == PageState::Spare {
        let set = (content, run_page::state.eq(PageState::Alias.as_str()), run_page::other.eq(Some(document)));
        on!(conn, |c| diesel::update(row).set(set).execute(c).await)?;
    } else {
        on!(conn, |c| diesel::update(row).set(content).execute(c).await)?;
    }
    Ok(())
}

//! Pages of a crawl that may be copies of others, and what they wait for. The caller must lock the progress of the
//! crawl.

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

/// Limit of values in one statement, below that of both databases.
const CHUNK: usize = 500;
/// Longest chain of waiting pages that is followed.
const MAX_ROW: usize = 20;

/// State of a page and of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Id of the page.
    pub id: String,
    /// State of the page.
    pub state: PageState,
    /// Hash of its text, if that is a document of the run; for a waiting page [`Wait::content`].
    pub content: Option<u64>,
    /// Whether it waits or has waited for another page.
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

/// Reason why a page waits.
#[derive(Debug, Clone, Copy)]
pub struct Wait<'a> {
    /// Id of the page that it may be a copy of.
    pub other: &'a str,
    /// Hash of its text, if it is a copy only when the other page has the same text.
    pub content: Option<u64>,
    /// Path to it that its job knows.
    pub way: Option<&'a Way>,
}

/// Page that has waited, with the state of the page that it waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Page that has waited.
    pub page: NewPage,
    /// Hash of its text; see [`Wait::content`].
    pub content: Option<u64>,
    /// Page that it waited for.
    pub other: Standing,
}

impl Waiting {
    /// Whether the page is a copy of the other one.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.other.is_read() && self.content.is_none_or(|content| self.other.content == Some(content))
    }
}

/// Returns the states of pages, given by their keys.
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
            let (state, content) = (PageState::parse(&row.state)?, row.content.map(i64::cast_unsigned));
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

/// Makes a page wait for another. Its job is gone; the caller makes sure that the other page ends.
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
    // Stores the path that only the job knew, unless the row has a shorter one.
    let row = run_page::table.filter(run_page::id.eq(page)).filter(run_page::depth.ge(way.depth));
    let set = run_page::parent.eq(way.parent.as_deref());
    on!(conn, |c| diesel::update(row).set(set).execute(c).await)?;
    Ok(())
}

/// Follows the chain of waiting pages from this one to its last page, which is the page itself if it does not wait.
/// `None` if the chain is too long.
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

/// Returns the pages that have waited for these ended pages, given by their ids.
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
    Ok(rows.into_iter().filter_map(WaitingRow::into_waiting).collect())
}

// Both repeat the condition of the partial index, so that the planner uses it.
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
    fn into_waiting(self) -> Option<Waiting> {
        let Self { id, key, url, depth, parent, content, other, other_state, other_content } = self;
        let state = PageState::parse(&other_state)?;
        let content_of = |content: Option<i64>| content.map(i64::cast_unsigned);
        Some(Waiting {
            page: NewPage { id, key, url, depth, parent },
            content: content_of(content),
            other: Standing { id: other, state, content: content_of(other_content), has_waited: false },
        })
    }
}

/// Ended page for which others still wait.
#[derive(Debug, Clone, PartialEq, Eq, Queryable)]
pub struct Awaited {
    /// Id of the run, which is active.
    pub run: String,
    /// Id of the page.
    pub page: String,
}

/// Returns up to `limit` ended pages, of any run, for which others still wait. A worker of an older version, which does
/// not know the waiting state, has ended them.
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

// Repeats the condition of the partial index (`state = 'waiting'`, `other > ''`), so that the planner uses it.
const AWAITED: &str = "SELECT DISTINCT w.run_id, w.other FROM run_page AS w WHERE w.state = 'waiting' AND w.other > ''
    AND EXISTS (SELECT 1 FROM run_page AS o WHERE o.id = w.other AND o.state NOT IN ('queued', 'waiting'))
    AND EXISTS (SELECT 1 FROM run_progress AS p WHERE p.run_id = w.run_id AND p.is_open) LIMIT {}";

/// Queues pages that have waited, given by their ids. Their rows keep that they have waited.
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

/// Records that the text of a page is a document of the run at another URL, that of the page `document`. A spare page
/// becomes an alias and is no longer available as a spare.
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

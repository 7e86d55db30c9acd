//! Known URLs of a run, each stored once.

use std::collections::HashMap;

use base::Timestamp;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Integer, Nullable, Text, Timestamp as SqlTimestamp};
use diesel::sqlite::Sqlite;
use diesel_async::RunQueryDsl;

use super::Progress;
use crate::conn::{Conn, on};
use crate::db_time::{DbTime, MaybeDbTime};
use crate::error::Result;
use crate::schema::run_page;
use crate::sql::{Prepared, Sql, filled, json};

/// Limit of rows in one statement, below that of values in both databases.
const CHUNK: usize = 500;
/// Limit of spare pages of one run, which replace pages that fail.
pub(super) const MAX_SPARE: i64 = 1000;
/// Limit of skipped URLs of one kind that a run lists.
const MAX_LISTED: i64 = 10_000;

// Known keys of a run: $1 keys, $2 run. LATERAL with LIMIT forces one index look-up for each key. Otherwise the
// planner, whose statistics lag behind a fast-growing table, may read all pages of the run.
const POSTGRES_KNOWN: &str = "SELECT k.key, p.depth FROM unnest({}) AS k(key), LATERAL (
    SELECT p.depth FROM run_page AS p WHERE p.run_id = {} AND p.key = k.key LIMIT 1) AS p";

/// New URL.
#[derive(Queryable, Debug, Clone, PartialEq, Eq)]
pub struct NewPage {
    /// Id, a UUID, also that of its job.
    pub id: String,
    /// Digest of the normalised URL, 16 bytes.
    pub key: Vec<u8>,
    /// URL as found.
    pub url: String,
    /// Hops from the start.
    pub depth: i32,
    /// Page on which it was found; `None` for the start and for URLs from sitemaps.
    pub parent: Option<String>,
}

/// State of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageState {
    /// The page waits or runs.
    Queued,
    /// The page became a document.
    Done,
    /// The page could not be scraped.
    Failed,
    /// robots.txt forbids the page.
    Blocked,
    /// The page was skipped and is reported: a link to another site, or a copy of another page.
    External,
    /// The URL is another address of a document, which was redirected to it.
    Alias,
    /// The page may be a copy of another one and waits for its end; it has no job until then.
    Waiting,
    /// The page is beyond the limit and replaces one that fails.
    Spare,
}

/// Page that is reported as failed, skipped or forbidden by robots.txt.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = run_page)]
pub struct ListedPage {
    /// Id of the page.
    pub id: String,
    /// URL of the page.
    pub url: String,
    /// Error code.
    pub code: Option<String>,
    /// Error message.
    pub error: Option<String>,
    /// Time at which it was recorded.
    #[diesel(deserialize_as = MaybeDbTime)]
    pub finished_at: Option<Timestamp>,
}

impl PageState {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::External => "external",
            Self::Alias => "alias",
            Self::Waiting => "waiting",
            Self::Spare => "spare",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let ended = [Self::Done, Self::Failed, Self::Blocked, Self::External, Self::Alias];
        let mut all = ended.into_iter().chain([Self::Queued, Self::Waiting, Self::Spare]);
        all.find(|state| state.as_str() == text)
    }
}

/// Row of a new page; its constructors set the columns that depend on the state.
#[derive(Clone, Insertable)]
#[diesel(table_name = run_page, treat_none_as_default_value = false)]
pub struct PageRow {
    id: String,
    run_id: String,
    key: Vec<u8>,
    url: String,
    depth: i32,
    state: &'static str,
    code: Option<&'static str>,
    error: Option<String>,
    finished_at: Option<DbTime>,
    parent: Option<String>,
    content: Option<i64>,
    other: Option<String>,
}

impl PageRow {
    /// Creates the row of a page in a state that needs no further columns.
    #[must_use]
    pub fn new(run: &str, page: NewPage, state: PageState) -> Self {
        Self {
            id: page.id,
            run_id: run.to_owned(),
            key: page.key,
            url: page.url,
            depth: page.depth,
            state: state.as_str(),
            code: None,
            error: None,
            finished_at: None,
            parent: page.parent.filter(|_| state == PageState::Spare),
            content: None,
            other: None,
        }
    }

    /// Creates the row of an alias of a document, given by its page id and the hash of its text.
    #[must_use]
    pub fn alias(run: &str, page: NewPage, document: &str, content: Option<u64>) -> Self {
        let (content, other) = (content.map(u64::cast_signed), Some(document.to_owned()));
        Self { content, other, ..Self::new(run, page, PageState::Alias) }
    }

    /// Adds the code and the message with which a page that is skipped is reported.
    #[must_use]
    pub fn listed(self, code: &'static str, message: &str, now: Timestamp) -> Self {
        let (code, error) = (Some(code), Some(message.to_owned()));
        Self { code, error, finished_at: Some(DbTime::from(now)), ..self }
    }
}

/// Page that is no longer pending.
#[derive(Debug, Clone, Copy)]
pub struct EndedPage<'a> {
    /// Id of the page.
    pub id: &'a str,
    /// New state.
    pub state: PageState,
    /// Code and message, if the page is reported.
    pub reason: Option<(&'a str, &'a str)>,
    /// Hash of its text, if that is a document of the run.
    pub content: Option<u64>,
}

impl<'a> EndedPage<'a> {
    fn code(&self) -> Option<&'a str> {
        self.reason.map(|(code, _)| code)
    }

    fn error(&self) -> Option<&'a str> {
        self.reason.map(|(_, error)| error)
    }

    fn content(&self) -> Option<i64> {
        self.content.map(u64::cast_signed)
    }
}

/// Splits new pages into those that are taken on, the first ones as far as there is room, and spare ones; drops the
/// rest. Updates the counters of both.
pub fn take_on(progress: &mut Progress, mut fresh: Vec<NewPage>) -> (Vec<NewPage>, Vec<NewPage>) {
    let room = usize::try_from(progress.room()).unwrap_or(0).min(fresh.len());
    let mut spare = fresh.split_off(room);
    spare.truncate(usize::try_from(MAX_SPARE - progress.spare).unwrap_or(0));
    progress.pending += count(fresh.len());
    progress.spare += count(spare.len());
    (fresh, spare)
}

/// Takes on the pages that the run does not know yet, as far as there is room, and returns them; further ones are kept
/// as spare. Updates the progress, which must be locked.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn add_pages(conn: &mut Conn, progress: &mut Progress, mut pages: Vec<NewPage>) -> Result<Vec<NewPage>> {
    let mut known = known_keys(conn, &progress.run_id, pages.iter().map(|page| page.key.as_slice()).collect()).await?;
    pages.retain(|page| known.insert(page.key.clone(), page.depth).is_none());
    let (taken, spare) = take_on(progress, pages);
    let run = progress.run_id.as_str();
    let queued = taken.iter().map(|page| PageRow::new(run, page.clone(), PageState::Queued));
    let rows = queued.chain(spare.into_iter().map(|page| PageRow::new(run, page, PageState::Spare)));
    insert_pages(conn, rows.collect()).await?;
    Ok(taken)
}

/// Inserts pages that the run does not know.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn insert_pages(conn: &mut Conn, rows: Vec<PageRow>) -> Result<()> {
    on!(
        conn,
        pg | c | {
            // Saves a round trip when there are none.
            if !rows.is_empty() {
                insert_on_postgres(&rows).execute(c).await?;
            }
        },
        sqlite | c | c.spawn_blocking(move |c| insert_on_sqlite(c, &rows)).await?
    );
    Ok(())
}

/// Builds the INSERT with one array for each column: a list of rows would be a new statement for each length.
fn insert_on_postgres(rows: &[PageRow]) -> Sql<'_, Pg> {
    fn column<'r, T>(rows: &'r [PageRow], value: impl Fn(&'r PageRow) -> T) -> Vec<T> {
        rows.iter().map(value).collect()
    }
    Sql::new(
        "INSERT INTO run_page (id, run_id, key, url, depth, state, code, error, finished_at, parent, content, other)
         SELECT * FROM unnest({}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})",
    )
    .bind::<Array<Text>, _>(column(rows, |row| &row.id))
    .bind::<Array<Text>, _>(column(rows, |row| &row.run_id))
    .bind::<Array<Binary>, _>(column(rows, |row| &row.key))
    .bind::<Array<Text>, _>(column(rows, |row| &row.url))
    .bind::<Array<Integer>, _>(column(rows, |row| row.depth))
    .bind::<Array<Text>, _>(column(rows, |row| row.state))
    .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.code))
    .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.error.as_ref()))
    .bind::<Array<Nullable<SqlTimestamp>>, _>(column(rows, |row| row.finished_at))
    .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.parent.as_ref()))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.content))
    .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.other.as_ref()))
}

/// Inserts rows. A statement for many rows is compiled each time, which only pays for 100; that for one row is cached.
fn insert_on_sqlite(conn: &mut SqliteConnection, rows: &[PageRow]) -> QueryResult<()> {
    let (many, few) = rows.as_chunks::<100>();
    for rows in many {
        diesel::RunQueryDsl::execute(diesel::insert_into(run_page::table).values(rows.to_vec()), conn)?;
    }
    for row in few {
        diesel::RunQueryDsl::execute(diesel::insert_into(run_page::table).values(row.clone()), conn)?;
    }
    Ok(())
}

/// Returns how many more pages in this state, external or blocked, the run may list.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn list_room(conn: &mut Conn, run: &str, state: PageState) -> Result<usize> {
    let listed = run_page::table
        .filter(run_page::run_id.eq(run))
        .filter(run_page::state.eq(state.as_str()))
        .filter(diesel::dsl::sql::<diesel::sql_types::Bool>(IN_LISTED_INDEX));
    let known: i64 = on!(conn, |c| listed.count().get_result(c).await)?;
    Ok(usize::try_from(MAX_LISTED - known).unwrap_or(0))
}

/// Builds the statement that records the ends of pages, on PostgreSQL.
pub(super) fn end_on_postgres<'a>(ended: &[EndedPage<'a>], now: Timestamp) -> Sql<'a, Pg> {
    Sql::new(POSTGRES_END)
        .bind::<SqlTimestamp, _>(DbTime::from(now))
        .bind::<Array<Text>, _>(ended.iter().map(|page| page.id).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(ended.iter().map(|page| page.state.as_str()).collect::<Vec<_>>())
        .bind::<Array<Nullable<Text>>, _>(ended.iter().map(EndedPage::code).collect::<Vec<_>>())
        .bind::<Array<Nullable<Text>>, _>(ended.iter().map(EndedPage::error).collect::<Vec<_>>())
        .bind::<Array<Nullable<BigInt>>, _>(ended.iter().map(EndedPage::content).collect::<Vec<_>>())
}

/// Builds the statement that records the ends of pages, on SQLite.
pub(super) fn end_on_sqlite(ended: &[EndedPage<'_>], now: Timestamp) -> Sql<'static, Sqlite> {
    let rows: Vec<_> =
        ended.iter().map(|page| (page.id, page.state.as_str(), page.code(), page.error(), page.content())).collect();
    Sql::new(SQLITE_END).bind::<SqlTimestamp, _>(DbTime::from(now)).bind::<Text, _>(json(&rows))
}

// $1 time, $2 to $6 the columns of `e`.
const POSTGRES_END: &str = "UPDATE run_page SET state = e.state, code = e.code, error = e.error, content = e.content,
    finished_at = {} FROM unnest({}, {}, {}, {}, {}) AS e(id, state, code, error, content) WHERE run_page.id = e.id";

// ?1 time, ?2 rows as JSON arrays: id, state, code, error, content.
const SQLITE_END: &str = "UPDATE run_page
    SET state = e.value ->> 1, code = e.value ->> 2, error = e.value ->> 3, content = e.value ->> 4,
        finished_at = {}
    FROM json_each({}) AS e WHERE run_page.id = e.value ->> 0";

/// Whether a page waits or runs, so that its end is not recorded yet.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn is_queued(conn: &mut Conn, id: &str) -> Result<bool> {
    let state = run_page::table.find(id).select(run_page::state);
    let state: Option<String> = on!(conn, |c| state.get_result(c).await.optional())?;
    Ok(state.as_deref() == Some(PageState::Queued.as_str()))
}

/// Takes on spare pages as far as there is room, and returns them. Updates the progress, which must be locked.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn promote_spare(conn: &mut Conn, progress: &mut Progress) -> Result<Vec<NewPage>> {
    let most = progress.room().min(progress.spare);
    if most <= 0 {
        return Ok(Vec::new());
    }
    let query = run_page::table
        .filter(run_page::run_id.eq(&progress.run_id))
        .filter(run_page::state.eq(PageState::Spare.as_str()))
        .order(run_page::id)
        .limit(most)
        .select((run_page::id, run_page::key, run_page::url, run_page::depth, run_page::parent));
    let pages: Vec<NewPage> = on!(conn, |c| query.load(c).await)?;
    let ids: Vec<&str> = pages.iter().map(|page| page.id.as_str()).collect();
    for ids in ids.chunks(CHUNK) {
        let taken = run_page::table.filter(run_page::id.eq_any(ids));
        let set = run_page::state.eq(PageState::Queued.as_str());
        on!(conn, |c| diesel::update(taken).set(set).execute(c).await)?;
    }
    progress.spare -= count(pages.len());
    progress.pending += count(pages.len());
    Ok(pages)
}

/// Condition of the partial index of listed pages, spelled as in its definition, so that the planner uses the index.
const IN_LISTED_INDEX: &str = "state IN ('spare', 'failed', 'external', 'blocked')";

/// Returns up to `limit` pages in one state (failed, external or blocked), in the order in which they were found, with
/// ids after `after` (empty for the start).
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn listed(conn: &mut Conn, run: &str, state: PageState, after: &str, limit: i64) -> Result<Vec<ListedPage>> {
    let query = run_page::table
        .filter(run_page::run_id.eq(run))
        .filter(run_page::state.eq(state.as_str()))
        .filter(diesel::dsl::sql::<diesel::sql_types::Bool>(IN_LISTED_INDEX))
        .filter(run_page::id.gt(after))
        .order(run_page::id)
        .limit(limit);
    Ok(on!(conn, |c| query.select(ListedPage::as_select()).load(c).await)?)
}

/// Returns id and URL of these pages.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn urls_of(conn: &mut Conn, ids: &[&str]) -> Result<Vec<(String, String)>> {
    let query = run_page::table.filter(run_page::id.eq_any(ids)).select((run_page::id, run_page::url));
    Ok(on!(conn, |c| query.load(c).await)?)
}

/// Returns the keys that the run knows, with the number of hops from the start.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn known_keys(conn: &mut Conn, run: &str, keys: Vec<&[u8]>) -> Result<HashMap<Vec<u8>, i32>> {
    let mut known = HashMap::new();
    for keys in keys.chunks(CHUNK) {
        let found: Vec<(Vec<u8>, i32)> = on!(
            conn,
            pg | c | {
                let query = Sql::<Pg, (Binary, Integer)>::new(POSTGRES_KNOWN);
                query.bind::<Array<Binary>, _>(keys).bind::<Text, _>(run).load(c).await
            },
            sqlite | c | {
                let of_run = run_page::table.filter(run_page::run_id.eq(run));
                let known = of_run.filter(run_page::key.eq_any(filled(keys))).select((run_page::key, run_page::depth));
                Prepared(known).load(c).await
            }
        )?;
        known.extend(found);
    }
    Ok(known)
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

//! The addresses that a crawl knows, each once.

use std::collections::HashSet;

use base::Timestamp;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Text};
use diesel_async::RunQueryDsl;

use super::Crawl;
use crate::conn::{Conn, on};
use crate::db_time::{DbTime, MaybeDbTime};
use crate::error::Result;
use crate::schema::crawl_page;
use crate::sql::Sql;

/// Rows in one statement: below the number of values that either database takes.
const CHUNK: usize = 500;
/// Spare pages that one crawl keeps for those that fail.
const MOST_SPARE: i64 = 1000;
/// Longest list of skipped addresses of one kind.
const MOST_LISTED: i64 = 10_000;

/// One look in the index for each key. Left to itself, the planner reads all pages of the crawl while it knows little of
/// a table that grows fast.
const POSTGRES_KNOWN: &str = "SELECT k.key FROM unnest({}) AS k(key), LATERAL (
    SELECT 1 FROM crawl_page AS p WHERE p.crawl_id = {} AND p.key = k.key LIMIT 1) AS p";

/// An address that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPage {
    /// Its id, a UUID; also that of its job.
    pub id: String,
    /// Digest of the normal spelling, 16 bytes.
    pub key: Vec<u8>,
    /// The address as found.
    pub url: String,
    /// Hops from the start.
    pub depth: i32,
}

/// What became of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageState {
    /// Waits or runs.
    Queued,
    /// Is a document.
    Done,
    /// Could not be scraped.
    Failed,
    /// robots.txt forbids it.
    Blocked,
    /// A link to another site that was left alone, and is reported.
    External,
    /// Another spelling of a page that is known, found by redirect or canonical link.
    Alias,
    /// Beyond the limit: takes the place of a page that fails.
    Spare,
}

/// An address that is reported as an error, or as forbidden by robots.txt.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = crawl_page)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// The address.
    pub url: String,
    /// The code of the error.
    pub code: Option<String>,
    /// The error in words.
    pub error: Option<String>,
    /// When it was noted.
    #[diesel(deserialize_as = MaybeDbTime)]
    pub finished_at: Option<Timestamp>,
}

#[derive(Clone, Insertable)]
#[diesel(table_name = crawl_page, treat_none_as_default_value = false)]
struct Row {
    id: String,
    crawl_id: String,
    key: Vec<u8>,
    url: String,
    depth: i32,
    state: &'static str,
    code: Option<&'static str>,
    error: Option<String>,
    finished_at: Option<DbTime>,
}

impl PageState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::External => "external",
            Self::Alias => "alias",
            Self::Spare => "spare",
        }
    }
}

/// Takes on the pages that the crawl does not know yet, as far as its limit allows, and gives those; further ones are kept
/// as spare. Changes the counters in `crawl`, which is locked.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn add_pages(conn: &mut Conn, crawl: &mut Crawl, pages: Vec<NewPage>) -> Result<Vec<NewPage>> {
    let mut fresh = unknown(conn, &crawl.id, pages, key_of).await?;
    let room = usize::try_from(crawl.room()).unwrap_or(0).min(fresh.len());
    let mut spare = fresh.split_off(room);
    spare.truncate(usize::try_from(MOST_SPARE - crawl.spare).unwrap_or(0));
    let row = |page: &NewPage, state: PageState| Row {
        id: page.id.clone(),
        crawl_id: crawl.id.clone(),
        key: page.key.clone(),
        url: page.url.clone(),
        depth: page.depth,
        state: state.as_str(),
        code: None,
        error: None,
        finished_at: None,
    };
    let queued = fresh.iter().map(|page| row(page, PageState::Queued));
    let rows = queued.chain(spare.iter().map(|page| row(page, PageState::Spare))).collect();
    insert(conn, rows).await?;
    crawl.pending += count(fresh.len());
    crawl.spare += count(spare.len());
    Ok(fresh)
}

/// Notes addresses that are left alone and reported, `External` or `Blocked`, each once, up to a bound.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn list_pages(
    conn: &mut Conn,
    crawl: &str,
    state: PageState,
    reason: (&'static str, &str),
    found: (Vec<NewPage>, Timestamp),
) -> Result<()> {
    let (pages, now) = found;
    let mut fresh = unknown(conn, crawl, pages, key_of).await?;
    if fresh.is_empty() {
        return Ok(());
    }
    let listed = crawl_page::table.filter(crawl_page::crawl_id.eq(crawl)).filter(crawl_page::state.eq(state.as_str()));
    let known: i64 = on!(conn, |c| listed.count().get_result(c).await)?;
    fresh.truncate(usize::try_from(MOST_LISTED - known).unwrap_or(0));
    let rows = fresh.into_iter().map(|page| Row {
        id: page.id,
        crawl_id: crawl.to_owned(),
        key: page.key,
        url: page.url,
        depth: page.depth,
        state: state.as_str(),
        code: Some(reason.0),
        error: Some(reason.1.to_owned()),
        finished_at: Some(DbTime::from(now)),
    });
    insert(conn, rows.collect()).await
}

/// Notes another spelling of a page under its own key. `false` when the crawl knows that key already: the page is there
/// twice.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn claim_key(conn: &mut Conn, crawl: &str, page: NewPage) -> Result<bool> {
    let fresh = unknown(conn, crawl, vec![page], key_of).await?;
    let rows: Vec<Row> = fresh
        .into_iter()
        .map(|page| Row {
            id: page.id,
            crawl_id: crawl.to_owned(),
            key: page.key,
            url: page.url,
            depth: page.depth,
            state: PageState::Alias.as_str(),
            code: None,
            error: None,
            finished_at: None,
        })
        .collect();
    let is_new = !rows.is_empty();
    insert(conn, rows).await?;
    Ok(is_new)
}

/// Ends pages that need no further word: documents, and other spellings of known ones.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn end_pages(conn: &mut Conn, ids: &[&str], state: PageState, now: Timestamp) -> Result<()> {
    let set = (crawl_page::state.eq(state.as_str()), crawl_page::finished_at.eq(Some(DbTime::from(now))));
    for ids in ids.chunks(CHUNK) {
        on!(conn, |c| diesel::update(crawl_page::table.filter(crawl_page::id.eq_any(ids))).set(set).execute(c).await)?;
    }
    Ok(())
}

/// Ends a page that became no document, with the reason that is reported.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn fail_page(
    conn: &mut Conn,
    id: &str,
    state: PageState,
    reason: (&str, &str),
    now: Timestamp,
) -> Result<()> {
    let set = (
        crawl_page::state.eq(state.as_str()),
        crawl_page::code.eq(reason.0),
        crawl_page::error.eq(reason.1),
        crawl_page::finished_at.eq(Some(DbTime::from(now))),
    );
    on!(conn, |c| diesel::update(crawl_page::table.find(id)).set(set).execute(c).await)?;
    Ok(())
}

/// Whether a page still waits or runs: what became of it is not written down yet.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn is_queued(conn: &mut Conn, id: &str) -> Result<bool> {
    let state = crawl_page::table.find(id).select(crawl_page::state);
    let state: Option<String> = on!(conn, |c| state.get_result(c).await.optional())?;
    Ok(state.as_deref() == Some(PageState::Queued.as_str()))
}

/// Takes on spare pages as far as there is room again. Changes the counters in `crawl`, which is locked.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn promote_spare(conn: &mut Conn, crawl: &mut Crawl) -> Result<Vec<NewPage>> {
    let most = crawl.room().min(crawl.spare);
    if most <= 0 {
        return Ok(Vec::new());
    }
    let query = crawl_page::table
        .filter(crawl_page::crawl_id.eq(&crawl.id))
        .filter(crawl_page::state.eq(PageState::Spare.as_str()))
        .order(crawl_page::id)
        .limit(most)
        .select((crawl_page::id, crawl_page::key, crawl_page::url, crawl_page::depth));
    let rows: Vec<(String, Vec<u8>, String, i32)> = on!(conn, |c| query.load(c).await)?;
    let ids: Vec<&str> = rows.iter().map(|row| row.0.as_str()).collect();
    for ids in ids.chunks(CHUNK) {
        let taken = crawl_page::table.filter(crawl_page::id.eq_any(ids));
        let set = crawl_page::state.eq(PageState::Queued.as_str());
        on!(conn, |c| diesel::update(taken).set(set).execute(c).await)?;
    }
    crawl.spare -= count(rows.len());
    crawl.pending += count(rows.len());
    Ok(rows.into_iter().map(|(id, key, url, depth)| NewPage { id, key, url, depth }).collect())
}

/// What the index of listed pages holds, in the words of its definition: the planner finds it by them.
const IN_LISTED_INDEX: &str = "state IN ('spare', 'failed', 'external', 'blocked')";

/// Addresses in one state, failed, external or blocked, in the order in which they were found, behind the id `after`
/// (empty: from the start), at most `limit`.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn listed(conn: &mut Conn, crawl: &str, state: PageState, after: &str, limit: i64) -> Result<Vec<Listed>> {
    let query = crawl_page::table
        .filter(crawl_page::crawl_id.eq(crawl))
        .filter(crawl_page::state.eq(state.as_str()))
        .filter(diesel::dsl::sql::<diesel::sql_types::Bool>(IN_LISTED_INDEX))
        .filter(crawl_page::id.gt(after))
        .order(crawl_page::id)
        .limit(limit);
    Ok(on!(conn, |c| query.select(Listed::as_select()).load(c).await)?)
}

/// The addresses of these pages by id.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn urls_of(conn: &mut Conn, ids: &[&str]) -> Result<Vec<(String, String)>> {
    let query = crawl_page::table.filter(crawl_page::id.eq_any(ids)).select((crawl_page::id, crawl_page::url));
    Ok(on!(conn, |c| query.load(c).await)?)
}

/// Those of `pages` whose key the crawl does not know, each once, in their order.
///
/// # Errors
/// Those of the database.
pub async fn unknown<T: Send + Sync>(
    conn: &mut Conn,
    crawl: &str,
    pages: Vec<T>,
    key: impl Fn(&T) -> &[u8] + Send + Sync,
) -> Result<Vec<T>> {
    let mut known: HashSet<Vec<u8>> = HashSet::new();
    for pages in pages.chunks(CHUNK) {
        let keys: Vec<&[u8]> = pages.iter().map(&key).collect();
        let found: Vec<Vec<u8>> = on!(
            conn,
            pg | c | {
                let query = Sql::<Pg, Binary>::new(POSTGRES_KNOWN);
                query.bind::<Array<Binary>, _>(keys).bind::<Text, _>(crawl).load(c).await
            },
            sqlite | c | {
                let of_crawl = crawl_page::table.filter(crawl_page::crawl_id.eq(crawl));
                of_crawl.filter(crawl_page::key.eq_any(keys)).select(crawl_page::key).load(c).await
            }
        )?;
        known.extend(found);
    }
    Ok(pages.into_iter().filter(|page| known.insert(key(page).to_vec())).collect())
}

fn key_of(page: &NewPage) -> &[u8] {
    &page.key
}

async fn insert(conn: &mut Conn, rows: Vec<Row>) -> Result<()> {
    for rows in rows.chunks(CHUNK) {
        let rows = rows.to_vec();
        on!(
            conn,
            pg | c | diesel::insert_into(crawl_page::table).values(rows).execute(c).await,
            sqlite | c | {
                c.spawn_blocking(move |c| {
                    diesel::RunQueryDsl::execute(diesel::insert_into(crawl_page::table).values(rows), c)
                })
                .await
            }
        )?;
    }
    Ok(())
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

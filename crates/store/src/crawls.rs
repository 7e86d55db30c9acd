//! Crawls and batches: one row each, with counters that change in the transaction of the pages they count.
//!
//! Who changes a crawl locks its row first ([`lock`]), works on the value, and writes the counters back with [`save`]. So
//! the limit is never overshot and the sums are right at every moment, whatever number of workers there is.

mod documents;
mod erase;
mod pages;
mod pieces;
mod secrets;
mod traps;

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::{DbTime, MaybeDbTime};
use crate::error::Result;
use crate::schema::crawl;

pub use documents::{KnownUrl, NewDocument, StoredDocument, add_documents, document_sizes, documents, known_urls};
pub use erase::{erase, expired, first_documents, known_blobs, remove};
pub use pages::{
    Listed, NewPage, PageState, add_pages, claim_key, end_pages, fail_page, is_queued, list_pages, listed,
    promote_spare, unknown, urls_of,
};
pub use pieces::{add_pieces, append_by_key, first_piece, has_pieces, remember_append, remove_piece, remove_pieces};
pub use secrets::{OF_THE_JOB, forget_secrets, keep_secrets, secret};
pub use traps::{enter_families, enter_runs, trapped_templates};

/// A crawl or a batch.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = crawl)]
pub struct Crawl {
    /// Its id, a UUID, as told to the client.
    pub id: String,
    /// Whose it is.
    pub team_id: String,
    /// The key it was started with, which pays.
    pub api_key_id: Option<String>,
    /// `crawl` or `batch`.
    pub kind: String,
    /// Where it starts; absent for batches.
    pub url: Option<String>,
    /// The request as JSON; of a batch without its pages.
    pub request: String,
    /// One of [`SCRAPING`], [`COMPLETED`], [`FAILED`], [`CANCELLED`].
    pub status: String,
    /// Most pages.
    pub page_limit: i64,
    /// Pages that wait or run.
    pub pending: i64,
    /// Pages that became documents.
    pub completed: i64,
    /// Pages that did not.
    pub failed: i64,
    /// Pages known beyond the limit, which take the place of pages that fail.
    pub spare: i64,
    /// Credits charged.
    pub credits: i64,
    /// Key of the reservation that pays; absent for teams without a limit.
    pub reservation: Option<String>,
    /// Whether pages are still looked for other than by links.
    pub preparing: bool,
    /// Where the start was redirected to.
    pub landed_url: Option<String>,
    /// What the caller should know.
    pub warning: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// What the caller named the request.
    pub idempotency_key: Option<String>,
    /// A digest of the whole request, to tell a repeated one from another.
    pub fingerprint: String,
    /// When it was accepted.
    #[diesel(deserialize_as = DbTime)]
    pub created_at: Timestamp,
    /// When it came to an end.
    #[diesel(deserialize_as = MaybeDbTime)]
    pub finished_at: Option<Timestamp>,
    /// When it may be removed.
    #[diesel(deserialize_as = DbTime)]
    pub expires_at: Timestamp,
}

/// Still at work.
pub const SCRAPING: &str = "scraping";
/// Ended as it should.
pub const COMPLETED: &str = "completed";
/// Ended by an error.
pub const FAILED: &str = "failed";
/// Ended by its owner.
pub const CANCELLED: &str = "cancelled";

impl Crawl {
    /// Whether it is still at work.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.status == SCRAPING
    }

    /// How many more pages may be taken on.
    #[must_use]
    pub fn room(&self) -> i64 {
        self.page_limit - self.pending - self.completed
    }
}

/// Adds a crawl. `false` when the team has one of this kind under the same idempotency key, see [`find_by_key`].
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn create(conn: &mut Conn, row: &Crawl) -> Result<bool> {
    let values = (
        (crawl::id.eq(&row.id), crawl::team_id.eq(&row.team_id), crawl::api_key_id.eq(&row.api_key_id)),
        (crawl::kind.eq(&row.kind), crawl::url.eq(&row.url), crawl::request.eq(&row.request)),
        (crawl::status.eq(&row.status), crawl::page_limit.eq(row.page_limit), crawl::pending.eq(row.pending)),
        (crawl::completed.eq(row.completed), crawl::failed.eq(row.failed), crawl::spare.eq(row.spare)),
        (crawl::credits.eq(row.credits), crawl::reservation.eq(&row.reservation), crawl::preparing.eq(row.preparing)),
        (crawl::warning.eq(&row.warning), crawl::idempotency_key.eq(&row.idempotency_key)),
        crawl::fingerprint.eq(&row.fingerprint),
        (crawl::created_at.eq(DbTime::from(row.created_at)), crawl::expires_at.eq(DbTime::from(row.expires_at))),
    );
    let insert = || diesel::insert_into(crawl::table).values(values).on_conflict_do_nothing();
    let _turn = conn.turn().await?;
    Ok(on!(conn, |c| insert().execute(c).await)? == 1)
}

/// The crawl of this team that was started under an idempotency key.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn find_by_key(conn: &mut Conn, team: &str, kind: &str, key: &str) -> Result<Option<Crawl>> {
    let query = crawl::table
        .filter(crawl::team_id.eq(team))
        .filter(crawl::kind.eq(kind))
        .filter(crawl::idempotency_key.eq(key));
    Ok(on!(conn, |c| query.select(Crawl::as_select()).get_result(c).await.optional())?)
}

/// A crawl by its id.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn find(conn: &mut Conn, id: &str) -> Result<Option<Crawl>> {
    Ok(on!(conn, |c| crawl::table.find(id).select(Crawl::as_select()).get_result(c).await.optional())?)
}

/// A crawl by its id, locked until the transaction ends. Call it inside one.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn lock(conn: &mut Conn, id: &str) -> Result<Option<Crawl>> {
    let query = crawl::table.find(id);
    Ok(on!(
        conn,
        pg | c | query.select(Crawl::as_select()).for_update().get_result(c).await.optional(),
        // The transaction began IMMEDIATE, so it is the only writer.
        sqlite | c | query.select(Crawl::as_select()).get_result(c).await.optional()
    )?)
}

/// Erases what a crawl says of its pages: its address and its request, of which `request` is left.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn redact(conn: &mut Conn, id: &str, request: &str) -> Result<()> {
    let set = (crawl::url.eq(None::<&str>), crawl::landed_url.eq(None::<&str>), crawl::request.eq(request));
    let _turn = conn.turn().await?;
    on!(conn, |c| diesel::update(crawl::table.find(id)).set(set).execute(c).await)?;
    Ok(())
}

/// Writes down what changes in the life of a crawl: status, counters, credits, times, texts. The row is locked.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn save(conn: &mut Conn, row: &Crawl) -> Result<()> {
    let set = (
        crawl::status.eq(&row.status),
        crawl::page_limit.eq(row.page_limit),
        crawl::pending.eq(row.pending),
        crawl::completed.eq(row.completed),
        crawl::failed.eq(row.failed),
        crawl::spare.eq(row.spare),
        crawl::credits.eq(row.credits),
        crawl::reservation.eq(&row.reservation),
        crawl::preparing.eq(row.preparing),
        crawl::landed_url.eq(&row.landed_url),
        crawl::warning.eq(&row.warning),
        crawl::error.eq(&row.error),
        crawl::finished_at.eq(row.finished_at.map(DbTime::from)),
        crawl::expires_at.eq(DbTime::from(row.expires_at)),
    );
    on!(conn, |c| diesel::update(crawl::table.find(&row.id)).set(set).execute(c).await)?;
    Ok(())
}

/// The ids of the team's crawls of one kind that are still at work, oldest first, at most `limit`.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn active(conn: &mut Conn, team: &str, kind: &str, limit: i64) -> Result<Vec<String>> {
    let query = crawl::table
        .filter(crawl::team_id.eq(team))
        .filter(crawl::status.eq(SCRAPING))
        .filter(crawl::kind.eq(kind))
        .order(crawl::id)
        .limit(limit)
        .select(crawl::id);
    Ok(on!(conn, |c| query.load(c).await)?)
}

/// How many crawls and batches of the team are at work, and how many pages of them wait or run.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn load_of(conn: &mut Conn, team: &str) -> Result<(i64, i64)> {
    let query = crawl::table.filter(crawl::team_id.eq(team)).filter(crawl::status.eq(SCRAPING)).select(crawl::pending);
    let pending: Vec<i64> = on!(conn, |c| query.load(c).await)?;
    Ok((i64::try_from(pending.len()).unwrap_or(i64::MAX), pending.iter().sum()))
}

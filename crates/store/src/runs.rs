//! Runs: long operations that a client starts and can return to, such as crawls and batches. A [`Run`] holds what
//! rarely changes; a [`Progress`] holds the counters, which change in the transaction of what they count.
//!
//! A transaction that changes a run locks its progress first ([`lock`]), changes the value, and writes it back with
//! [`save`]. So limits are never exceeded and the counters are right at every moment, with any number of workers.

mod copies;
mod crawl;
mod documents;
mod erase;
mod pages;
mod pieces;
mod secrets;
mod traps;
mod ways;

use base::Timestamp;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::{DbTime, MaybeDbTime};
use crate::error::Result;
use crate::schema::{run, run_progress};
use crate::sql::{Prepared, Sql};

pub use copies::{
    Awaited, Standing, Wait, Waiting, awaited, end_of_wait, read_again, set_read, standings, wait, waiting_for,
};
pub use crawl::{landed, set_landed};
pub use documents::{KnownUrl, NewDocument, StoredDocument, document_sizes, documents, end_pages, known_urls};
pub use erase::{erase, expired, first_documents, known_blobs, remove};
pub use pages::{
    EndedPage, ListedPage, NewPage, PageRow, PageState, add_pages, insert_pages, is_queued, known_keys, list_room,
    listed, promote_spare, take_on, urls_of,
};
pub use pieces::{add_pieces, append_by_key, first_piece, has_pieces, remember_append, remove_piece, remove_pieces};
pub use secrets::{OF_THE_RUN, forget_secrets, keep_secrets, secret};
pub use traps::{enter_families, enter_templates, trapped_templates};
pub use ways::{ShorterWay, Way, depths, keep_links, kept_links, shorten, way_to};

/// Run: written when it starts and when it ends.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = run)]
pub struct Run {
    /// Id, a UUID, as known to the client.
    pub id: String,
    /// Id of the team.
    pub team_id: String,
    /// Id of the API key that started it and pays.
    pub api_key_id: Option<String>,
    /// Kind of run, such as `crawl` or `batch`.
    pub kind: String,
    /// Subject shown in lists, such as the start URL of a crawl.
    pub subject: Option<String>,
    /// Request as JSON, without secrets (see [`keep_secrets`]).
    pub spec: String,
    /// Whether zero data retention applies to its pages.
    pub private: bool,
    /// Status: one of [`OPEN`], [`COMPLETED`], [`FAILED`], [`CANCELLED`].
    pub status: String,
    /// Warning for the caller.
    pub warning: Option<String>,
    /// Error, if it failed.
    pub error: Option<String>,
    /// Idempotency key of the request.
    pub idempotency_key: Option<String>,
    /// Digest of the whole request, to tell a repeat from a different request.
    pub fingerprint: String,
    /// Time at which it was accepted.
    #[diesel(deserialize_as = DbTime)]
    pub created_at: Timestamp,
    /// End time.
    #[diesel(deserialize_as = MaybeDbTime)]
    pub finished_at: Option<Timestamp>,
    /// Time of expiry, after which it may be removed.
    #[diesel(deserialize_as = DbTime)]
    pub expires_at: Timestamp,
    /// Address at which the client reached the service, as `https://host:port`.
    pub address: Option<String>,
}

/// Progress of a run. Its items depend on the kind: pages, steps, downloads.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = run_progress, treat_none_as_default_value = false)]
pub struct Progress {
    /// Id of the run.
    pub run_id: String,
    /// Whether the run is active.
    pub is_open: bool,
    /// Whether more items are still being looked for, so that the run is not over when none is pending.
    pub preparing: bool,
    /// Limit of items.
    pub max_items: i64,
    /// Items that wait or run.
    pub pending: i64,
    /// Finished items: pages that became documents.
    pub done: i64,
    /// Items that failed.
    pub failed: i64,
    /// Spare items beyond the limit, which replace items that fail.
    pub spare: i64,
    /// Credits charged.
    pub credits: i64,
    /// Key of the reservation that pays; `None` for teams without a limit.
    pub reservation: Option<String>,
}

/// Status of an active run.
pub const OPEN: &str = "open";
/// Status of a run that ended normally.
pub const COMPLETED: &str = "completed";
/// Status of a run that ended with an error.
pub const FAILED: &str = "failed";
/// Status of a run that was cancelled by its owner.
pub const CANCELLED: &str = "cancelled";

impl Run {
    /// Whether the run is active.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.status == OPEN
    }
}

impl Progress {
    /// Creates the progress of a new run with a limit of items.
    #[must_use]
    pub fn new(run: &str, max_items: i64) -> Self {
        Self {
            run_id: run.to_owned(),
            is_open: true,
            preparing: false,
            max_items,
            pending: 0,
            done: 0,
            failed: 0,
            spare: 0,
            credits: 0,
            reservation: None,
        }
    }

    /// Returns how many more items can be taken on.
    #[must_use]
    pub fn room(&self) -> i64 {
        self.max_items - self.pending - self.done
    }

    /// Whether it can neither take on further items nor keep them as spare.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.room() <= 0 && self.spare >= pages::MAX_SPARE
    }

    /// Whether no work is left.
    #[must_use]
    pub fn is_over(&self) -> bool {
        !self.preparing && self.pending <= 0
    }
}

/// Adds a run; `false` if the team has one of this kind with the same idempotency key, which [`find_by_key`] returns.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn create(conn: &mut Conn, row: &Run, progress: &Progress) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        let values = (
            (run::id.eq(&row.id), run::team_id.eq(&row.team_id), run::api_key_id.eq(&row.api_key_id)),
            (run::kind.eq(&row.kind), run::subject.eq(&row.subject), run::spec.eq(&row.spec)),
            (run::private.eq(row.private), run::status.eq(&row.status), run::warning.eq(&row.warning)),
            (run::idempotency_key.eq(&row.idempotency_key), run::fingerprint.eq(&row.fingerprint)),
            (run::created_at.eq(DbTime::from(row.created_at)), run::expires_at.eq(DbTime::from(row.expires_at))),
            run::address.eq(&row.address),
        );
        let insert = || diesel::insert_into(run::table).values(values).on_conflict_do_nothing();
        if on!(conn, |c| insert().execute(c).await)? == 0 {
            return Ok(false);
        }
        on!(conn, |c| diesel::insert_into(run_progress::table).values(progress).execute(c).await)?;
        Ok(true)
    })
    .await
}

/// Returns the run of a team that was started with an idempotency key.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn find_by_key(conn: &mut Conn, team: &str, kind: &str, key: &str) -> Result<Option<Run>> {
    let query =
        run::table.filter(run::team_id.eq(team)).filter(run::kind.eq(kind)).filter(run::idempotency_key.eq(key));
    Ok(on!(conn, |c| query.select(Run::as_select()).get_result(c).await.optional())?)
}

/// Returns a run by its id.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn find(conn: &mut Conn, id: &str) -> Result<Option<Run>> {
    Ok(on!(conn, |c| run::table.find(id).select(Run::as_select()).get_result(c).await.optional())?)
}

/// Returns a run and its progress by its id.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn read(conn: &mut Conn, id: &str) -> Result<Option<(Run, Progress)>> {
    let query = run::table.inner_join(run_progress::table).filter(run::id.eq(id));
    Ok(on!(conn, |c| query.select((Run::as_select(), Progress::as_select())).get_result(c).await.optional())?)
}

/// Locks and returns the progress of an active run. Must be called in a transaction.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn lock(conn: &mut Conn, id: &str) -> Result<Option<Progress>> {
    let query = run_progress::table.find(id);
    let found: Option<Progress> = on!(
        conn,
        pg | c | query.select(Progress::as_select()).for_update().get_result(c).await.optional(),
        // The transaction began with BEGIN IMMEDIATE, so it is the only writer.
        sqlite | c | query.select(Progress::as_select()).get_result(c).await.optional()
    )?;
    Ok(found.filter(|progress| progress.is_open))
}

/// Writes the progress of a run, which must be locked.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn save(conn: &mut Conn, progress: &Progress) -> Result<()> {
    // The primary key is not set: SQLite would then check all pages that refer to it.
    const UPDATE: &str =
        "UPDATE run_progress SET is_open = {}, preparing = {}, max_items = {}, pending = {}, done = {},
        failed = {}, spare = {}, credits = {}, reservation = {} WHERE run_id = {}";
    let Progress { run_id, is_open, preparing, max_items, pending, done, failed, spare, credits, reservation } =
        progress;
    on!(conn, |c| {
        let query = Sql::<_>::new(UPDATE)
            .bind::<Bool, _>(is_open)
            .bind::<Bool, _>(preparing)
            .bind::<BigInt, _>(max_items)
            .bind::<BigInt, _>(pending)
            .bind::<BigInt, _>(done)
            .bind::<BigInt, _>(failed)
            .bind::<BigInt, _>(spare)
            .bind::<BigInt, _>(credits)
            .bind::<Nullable<Text>, _>(reservation)
            .bind::<Text, _>(run_id);
        query.execute(c).await
    })?;
    Ok(())
}

/// Writes the end of a run: status, texts, times. Its progress must be locked.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn close(conn: &mut Conn, row: &Run) -> Result<()> {
    let set = (
        run::status.eq(&row.status),
        run::warning.eq(&row.warning),
        run::error.eq(&row.error),
        run::finished_at.eq(row.finished_at.map(DbTime::from)),
        run::expires_at.eq(DbTime::from(row.expires_at)),
    );
    let mut conn = conn.turn().await?;
    on!(conn, |c| Prepared(diesel::update(run::table.find(&row.id)).set(set)).execute(c).await)?;
    Ok(())
}

/// Sets the warning of a run.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn warn(conn: &mut Conn, id: &str, warning: &str) -> Result<()> {
    on!(conn, |c| diesel::update(run::table.find(id)).set(run::warning.eq(warning)).execute(c).await)?;
    Ok(())
}

/// Expires an ended run, so that it can no longer be read.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn expire(conn: &mut Conn, id: &str, now: Timestamp) -> Result<()> {
    let ended = run::table.find(id).filter(run::status.ne(OPEN));
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::update(ended).set(run::expires_at.eq(DbTime::from(now))).execute(c).await)?;
    Ok(())
}

/// Erases what a run says about its pages: subject and request, which `spec` replaces.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn redact(conn: &mut Conn, id: &str, spec: &str) -> Result<()> {
    conn.atomic(async |conn: &mut Conn| {
        crawl::forget_landed(conn, id).await?;
        let set = (run::subject.eq(None::<&str>), run::spec.eq(spec));
        on!(conn, |c| diesel::update(run::table.find(id)).set(set).execute(c).await)?;
        Ok(())
    })
    .await
}

/// Returns the ids of a team's active runs of one kind, oldest first, at most `limit`.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn active(conn: &mut Conn, team: &str, kind: &str, limit: i64) -> Result<Vec<String>> {
    let query = run::table
        .filter(run::team_id.eq(team))
        .filter(run::status.eq(OPEN))
        .filter(run::kind.eq(kind))
        .order(run::id)
        .limit(limit)
        .select(run::id);
    Ok(on!(conn, |c| query.load(c).await)?)
}

/// Returns the number of the team's active runs, and of their items that wait or run.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn load_of(conn: &mut Conn, team: &str) -> Result<(i64, i64)> {
    let open = run::table.inner_join(run_progress::table).filter(run::team_id.eq(team)).filter(run::status.eq(OPEN));
    let query = open.select(run_progress::pending);
    let pending: Vec<i64> = on!(conn, |c| query.load(c).await)?;
    Ok((i64::try_from(pending.len()).unwrap_or(i64::MAX), pending.iter().sum()))
}

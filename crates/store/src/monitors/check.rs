//! Checks of monitors.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::{DbTime, MaybeDbTime};
use crate::error::Result;
use crate::schema::{monitor_check, monitor_check_target};
use crate::sql::{Prepared, filled};

/// Status of a check that waits for a worker.
pub const QUEUED: &str = "queued";
/// Status of a check whose pages are being read.
pub const RUNNING: &str = "running";
/// Cause of a check that a schedule has made.
pub const SCHEDULED: &str = "scheduled";
/// Cause of a check that a client has asked for.
pub const MANUAL: &str = "manual";

/// Check of a monitor.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = monitor_check)]
pub struct Check {
    /// Id, a UUID.
    pub id: String,
    /// Id of the monitor.
    pub monitor_id: String,
    /// Id of the team.
    pub team_id: String,
    /// Id of the API key that pays.
    pub api_key_id: Option<String>,
    /// Status: [`QUEUED`], [`RUNNING`], or how it ended.
    pub status: String,
    /// [`SCHEDULED`] or [`MANUAL`].
    pub cause: String,
    /// Fire that has made it; `None` for a manual one.
    #[diesel(deserialize_as = MaybeDbTime)]
    pub scheduled_for: Option<Timestamp>,
    /// Time at which the first worker took it.
    #[diesel(deserialize_as = MaybeDbTime)]
    pub started_at: Option<Timestamp>,
    /// End time.
    #[diesel(deserialize_as = MaybeDbTime)]
    pub finished_at: Option<Timestamp>,
    /// Time at which it last got further.
    #[diesel(deserialize_as = MaybeDbTime)]
    pub progress_at: Option<Timestamp>,
    /// Upper bound of its cost.
    pub estimated_credits: Option<i64>,
    /// Credits reserved.
    pub reserved_credits: Option<i64>,
    /// Credits charged.
    pub actual_credits: Option<i64>,
    /// State of its payment.
    pub billing_status: String,
    /// Key of the reservation that pays; `None` for teams without a limit.
    pub reservation: Option<String>,
    /// Number of pages that are the same.
    pub same_pages: i64,
    /// Number of pages that have changed.
    pub changed_pages: i64,
    /// Number of new pages.
    pub new_pages: i64,
    /// Number of pages that are gone.
    pub removed_pages: i64,
    /// Number of pages that could not be read.
    pub error_pages: i64,
    /// Number of pages whose judgment is awaited.
    pub open_judgments: i64,
    /// State of its mails, as JSON.
    pub notification: Option<String>,
    /// Warning for the team.
    pub warning: Option<String>,
    /// Reason of a failed, partial or skipped check.
    pub error: Option<String>,
    /// Time of creation.
    #[diesel(deserialize_as = DbTime)]
    pub created_at: Timestamp,
    /// Time of the last change.
    #[diesel(deserialize_as = DbTime)]
    pub updated_at: Timestamp,
}

/// Part of a check: one target.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = monitor_check_target, treat_none_as_default_value = false)]
pub struct CheckTarget {
    /// Id of the check.
    pub check_id: String,
    /// Position of the target in the monitor, from 0.
    pub position: i32,
    /// Id of the target.
    pub target_id: String,
    /// Kind of the target.
    pub kind: String,
    /// Id of the run that reads its pages.
    pub run_id: Option<String>,
    /// Whether it is not done yet.
    pub is_open: bool,
    /// Result as a JSON object.
    pub result: Option<String>,
}

/// Page of a list of checks.
#[derive(Debug, Clone, Copy)]
pub struct ChecksWanted<'a> {
    /// Status; `None` for all.
    pub status: Option<&'a str>,
    /// Number of checks to skip.
    pub skip: i64,
    /// Maximum number of checks.
    pub limit: i64,
    /// Checks that ended before are left out: they are kept no longer.
    pub since: Timestamp,
}

/// Number of open checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenChecks {
    /// Checks that wait for a worker.
    pub queued: i64,
    /// Checks whose pages are being read.
    pub running: i64,
}

/// Columns that change.
#[derive(AsChangeset)]
#[diesel(table_name = monitor_check, treat_none_as_null = true)]
struct Changed<'a> {
    status: &'a str,
    started_at: Option<DbTime>,
    finished_at: Option<DbTime>,
    progress_at: Option<DbTime>,
    estimated_credits: Option<i64>,
    reserved_credits: Option<i64>,
    actual_credits: Option<i64>,
    billing_status: &'a str,
    reservation: Option<&'a str>,
    same_pages: i64,
    changed_pages: i64,
    new_pages: i64,
    removed_pages: i64,
    error_pages: i64,
    open_judgments: i64,
    notification: Option<&'a str>,
    warning: Option<&'a str>,
    error: Option<&'a str>,
    updated_at: DbTime,
}

impl<'a> Changed<'a> {
    fn of(row: &'a Check) -> Self {
        Self {
            status: &row.status,
            started_at: row.started_at.map(DbTime::from),
            finished_at: row.finished_at.map(DbTime::from),
            progress_at: row.progress_at.map(DbTime::from),
            estimated_credits: row.estimated_credits,
            reserved_credits: row.reserved_credits,
            actual_credits: row.actual_credits,
            billing_status: &row.billing_status,
            reservation: row.reservation.as_deref(),
            same_pages: row.same_pages,
            changed_pages: row.changed_pages,
            new_pages: row.new_pages,
            removed_pages: row.removed_pages,
            error_pages: row.error_pages,
            open_judgments: row.open_judgments,
            notification: row.notification.as_deref(),
            warning: row.warning.as_deref(),
            error: row.error.as_deref(),
            updated_at: row.updated_at.into(),
        }
    }
}

impl Check {
    /// Whether it is queued or running.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.status == QUEUED || self.status == RUNNING
    }
}

/// Adds a check with what it does for each target; `false` if its fire has made one already, or if its id is taken. The
/// monitor must be locked.
///
/// # Errors
/// Those of the database; the transaction has to be rolled back then.
#[crate::boxed]
pub async fn add_check(conn: &mut Conn, new: &Check, targets: &[CheckTarget]) -> Result<bool> {
    let fixed = (
        (monitor_check::id.eq(&new.id), monitor_check::monitor_id.eq(&new.monitor_id)),
        (monitor_check::team_id.eq(&new.team_id), monitor_check::api_key_id.eq(&new.api_key_id)),
        (monitor_check::cause.eq(&new.cause), monitor_check::status.eq(&new.status)),
        monitor_check::scheduled_for.eq(new.scheduled_for.map(DbTime::from)),
        monitor_check::created_at.eq(DbTime::from(new.created_at)),
        monitor_check::updated_at.eq(DbTime::from(new.updated_at)),
        monitor_check::billing_status.eq(&new.billing_status),
    );
    let counters = (
        monitor_check::same_pages.eq(new.same_pages),
        monitor_check::changed_pages.eq(new.changed_pages),
        monitor_check::new_pages.eq(new.new_pages),
        monitor_check::removed_pages.eq(new.removed_pages),
        monitor_check::error_pages.eq(new.error_pages),
        monitor_check::open_judgments.eq(new.open_judgments),
    );
    let insert = diesel::insert_into(monitor_check::table).values((fixed, counters)).on_conflict_do_nothing();
    if on!(conn, |c| insert.execute(c).await)? == 0 {
        return Ok(false);
    }
    save_check(conn, new).await?;
    for target in targets {
        on!(conn, |c| diesel::insert_into(monitor_check_target::table).values(target).execute(c).await)?;
    }
    Ok(true)
}

/// Locks and returns a check that is queued or running. Must be called in a transaction.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn lock_check(conn: &mut Conn, id: &str) -> Result<Option<Check>> {
    let query = monitor_check::table.find(id);
    let found: Option<Check> = on!(
        conn,
        pg | c | query.select(Check::as_select()).for_update().get_result(c).await.optional(),
        // The transaction began with BEGIN IMMEDIATE, so it is the only writer.
        sqlite | c | query.select(Check::as_select()).get_result(c).await.optional()
    )?;
    Ok(found.filter(Check::is_open))
}

/// Notes that a queued check has started; nothing for one that has.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn start_check(conn: &mut Conn, id: &str, now: Timestamp) -> Result<()> {
    let now = DbTime::from(now);
    let set = (
        monitor_check::status.eq(RUNNING),
        monitor_check::started_at.eq(now),
        monitor_check::progress_at.eq(now),
        monitor_check::updated_at.eq(now),
    );
    let queued = monitor_check::table.find(id).filter(monitor_check::status.eq(QUEUED));
    let query = Prepared(diesel::update(queued).set(set));
    let mut conn = conn.turn().await?;
    on!(conn, |c| query.execute(c).await)?;
    Ok(())
}

/// Writes a check, which must be locked. Ids, cause, fire and time of creation stay.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn save_check(conn: &mut Conn, row: &Check) -> Result<()> {
    let query = Prepared(diesel::update(monitor_check::table.find(&row.id)).set(Changed::of(row)));
    on!(conn, |c| query.execute(c).await)?;
    Ok(())
}

/// Writes what is said of the mails of a check, which must be locked.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn save_notification(conn: &mut Conn, id: &str, notification: &str) -> Result<()> {
    let set = monitor_check::notification.eq(notification);
    on!(conn, |c| Prepared(diesel::update(monitor_check::table.find(id)).set(set)).execute(c).await)?;
    Ok(())
}

/// Returns checks of a monitor, newest first.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn checks(conn: &mut Conn, monitor: &str, wanted: &ChecksWanted<'_>) -> Result<Vec<Check>> {
    let kept = monitor_check::finished_at.is_null();
    let kept = kept.or(monitor_check::finished_at.ge(DbTime::from(wanted.since)).assume_not_null());
    let page = monitor_check::table
        .filter(monitor_check::monitor_id.eq(monitor))
        .filter(kept)
        .order((monitor_check::created_at.desc(), monitor_check::id.desc()))
        .limit(wanted.limit)
        .offset(wanted.skip);
    match wanted.status {
        Some(status) => {
            let page = page.filter(monitor_check::status.eq(status));
            Ok(on!(conn, |c| page.select(Check::as_select()).load(c).await)?)
        }
        None => Ok(on!(conn, |c| page.select(Check::as_select()).load(c).await)?),
    }
}

/// Returns a check of a monitor.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn check(conn: &mut Conn, monitor: &str, id: &str) -> Result<Option<Check>> {
    let query = monitor_check::table.find(id).filter(monitor_check::monitor_id.eq(monitor));
    Ok(on!(conn, |c| query.select(Check::as_select()).get_result(c).await.optional())?)
}

/// Returns what checks do for their targets, by check and position.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn check_targets(conn: &mut Conn, checks: &[&str]) -> Result<Vec<CheckTarget>> {
    let query = monitor_check_target::table
        .filter(monitor_check_target::check_id.eq_any(filled(checks)))
        .order((monitor_check_target::check_id, monitor_check_target::position));
    Ok(on!(conn, |c| Prepared(query.select(CheckTarget::as_select())).load(c).await)?)
}

/// Returns the target of a check that a run reads.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn check_of_run(conn: &mut Conn, run: &str) -> Result<Option<CheckTarget>> {
    let query = monitor_check_target::table.filter(monitor_check_target::run_id.eq(run));
    Ok(on!(conn, |c| query.select(CheckTarget::as_select()).get_result(c).await.optional())?)
}

/// Writes run, state and result of a target of a check, which must be locked; returns how many targets of the check are
/// still open.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn save_check_target(conn: &mut Conn, row: &CheckTarget) -> Result<i64> {
    let set = (
        monitor_check_target::run_id.eq(&row.run_id),
        monitor_check_target::is_open.eq(row.is_open),
        monitor_check_target::result.eq(&row.result),
    );
    let update = Prepared(diesel::update(monitor_check_target::table.find((&row.check_id, row.position))).set(set));
    on!(conn, |c| update.execute(c).await)?;
    let open = monitor_check_target::table
        .filter(monitor_check_target::check_id.eq(&row.check_id))
        .filter(monitor_check_target::is_open.eq(true))
        .count();
    Ok(on!(conn, |c| open.get_result(c).await)?)
}

/// Returns up to `limit` running checks that last got further before `before`.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn stale_checks(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<Vec<Check>> {
    let query = monitor_check::table
        .filter(monitor_check::progress_at.lt(DbTime::from(before)).assume_not_null())
        .filter(monitor_check::status.eq(RUNNING))
        .order(monitor_check::progress_at)
        .limit(limit);
    Ok(on!(conn, |c| query.select(Check::as_select()).load(c).await)?)
}

/// Returns the number of checks that are queued, and of those that are running.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn open_checks(conn: &mut Conn) -> Result<OpenChecks> {
    let of = |status| monitor_check::table.filter(monitor_check::status.eq(status)).count();
    let queued = on!(conn, |c| of(QUEUED).get_result(c).await)?;
    let running = on!(conn, |c| of(RUNNING).get_result(c).await)?;
    Ok(OpenChecks { queued, running })
}

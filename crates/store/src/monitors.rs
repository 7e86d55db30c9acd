//! Monitors: what a team has checked on a schedule, its targets and its checks.
//!
//! A transaction that decides about a monitor locks its row first ([`lock`], [`claim`]), changes the value and writes it
//! back with [`save`]; so a fire makes one check, and at most one check of a monitor is open. Pages and ends of a check
//! are written with the row of the check locked ([`lock_check`]). The order of locks is: progress of a run, check,
//! monitor. A transaction that holds a monitor must not lock a check or a run that exists already.

mod check;
mod delete;
mod fires;
mod page;
mod secret;
mod series;
mod sweep;
mod target;

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::{DbTime, MaybeDbTime};
use crate::error::Result;
use crate::schema::monitor;
use crate::sql::Prepared;
use crate::teams;

pub use check::{
    Check, CheckTarget, ChecksWanted, MANUAL, OpenChecks, QUEUED, RUNNING, SCHEDULED, add_check, check, check_of_run,
    check_targets, checks, lock_check, open_checks, save_check, save_check_target, save_notification, stale_checks,
    start_check,
};
pub use delete::{erase, remove};
pub use fires::{Late, claim, due, lateness};
pub use page::{NewPage, Page, PagesWanted, Weight, add_pages, contents, judge, page, pages, told};
pub use secret::{MonitorSecret, OF_THE_WEBHOOK, replace_secrets, secrets};
pub use series::{Known, known, memory, set_known, set_memory, tag, unmet};
pub use sweep::{Swept, remove_checks, set_swept, sweep};
pub use target::{Target, replace_targets, targets};

/// Limit of keys in one statement.
const CHUNK: usize = 500;

/// Status of a monitor that follows its schedule.
pub const ACTIVE: &str = "active";
/// Status of a monitor whose schedule is stopped.
pub const PAUSED: &str = "paused";
/// Status of a monitor that is being removed. No function but [`erase`] finds it.
pub(crate) const DELETED: &str = "deleted";

/// Monitor.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = monitor)]
pub struct Monitor {
    /// Id, a UUID.
    pub id: String,
    /// Id of the team.
    pub team_id: String,
    /// Id of the API key that created it and pays.
    pub api_key_id: Option<String>,
    /// Name.
    pub name: String,
    /// [`ACTIVE`] or [`PAUSED`].
    pub status: String,
    /// Schedule: five fields in digits.
    pub cron: String,
    /// Name of the time zone of the schedule.
    pub timezone: String,
    /// Time of the next fire; `None` while it is paused, or when the schedule has no further one.
    #[diesel(deserialize_as = MaybeDbTime)]
    pub next_run_at: Option<Timestamp>,
    /// Time at which a check last started.
    #[diesel(deserialize_as = MaybeDbTime)]
    pub last_run_at: Option<Timestamp>,
    /// Id of the check that is queued or running.
    pub current_check_id: Option<String>,
    /// Goal: the changes that the team wants to learn of.
    pub goal: Option<String>,
    /// Whether changes are judged; `None`: if there is a goal.
    pub judge_enabled: Option<bool>,
    /// Webhook as a JSON object, without its secrets.
    pub webhook: Option<String>,
    /// Notification as a JSON object.
    pub notification: Option<String>,
    /// Days that checks are kept.
    pub retention_days: i32,
    /// Number of fires in the 30 days after [`Monitor::fires_counted_at`].
    pub fires_per_month: i64,
    /// Time at which the fires were counted.
    #[diesel(deserialize_as = DbTime)]
    pub fires_counted_at: Timestamp,
    /// Counters of the last check that ended, as a JSON object.
    pub last_summary: Option<String>,
    /// Number of its last checks in a row that were skipped because a partner has withdrawn its grant.
    pub withdrawals: i32,
    /// Address at which the client reached the service, as `https://host:port`.
    pub address: Option<String>,
    /// Time of creation.
    #[diesel(deserialize_as = DbTime)]
    pub created_at: Timestamp,
    /// Time of the last change by its team.
    #[diesel(deserialize_as = DbTime)]
    pub updated_at: Timestamp,
    /// Number of changes by its team: the caller counts it up with each.
    pub revision: i64,
}

/// New monitor with its targets and secrets.
#[derive(Debug, Clone, Copy)]
pub struct NewMonitor<'a> {
    /// Monitor.
    pub row: &'a Monitor,
    /// Targets, in their order.
    pub targets: &'a [Target],
    /// Secrets.
    pub secrets: &'a [MonitorSecret],
}

/// Columns that change.
#[derive(AsChangeset)]
#[diesel(table_name = monitor, treat_none_as_null = true)]
struct Changed<'a> {
    api_key_id: Option<&'a str>,
    name: &'a str,
    status: &'a str,
    cron: &'a str,
    timezone: &'a str,
    next_run_at: Option<DbTime>,
    last_run_at: Option<DbTime>,
    current_check_id: Option<&'a str>,
    goal: Option<&'a str>,
    judge_enabled: Option<bool>,
    webhook: Option<&'a str>,
    notification: Option<&'a str>,
    retention_days: i32,
    fires_per_month: i64,
    fires_counted_at: DbTime,
    last_summary: Option<&'a str>,
    withdrawals: i32,
    address: Option<&'a str>,
    updated_at: DbTime,
    revision: i64,
}

impl<'a> Changed<'a> {
    fn of(row: &'a Monitor) -> Self {
        Self {
            api_key_id: row.api_key_id.as_deref(),
            name: &row.name,
            status: &row.status,
            cron: &row.cron,
            timezone: &row.timezone,
            next_run_at: row.next_run_at.map(DbTime::from),
            last_run_at: row.last_run_at.map(DbTime::from),
            current_check_id: row.current_check_id.as_deref(),
            goal: row.goal.as_deref(),
            judge_enabled: row.judge_enabled,
            webhook: row.webhook.as_deref(),
            notification: row.notification.as_deref(),
            retention_days: row.retention_days,
            fires_per_month: row.fires_per_month,
            fires_counted_at: row.fires_counted_at.into(),
            last_summary: row.last_summary.as_deref(),
            withdrawals: row.withdrawals,
            address: row.address.as_deref(),
            updated_at: row.updated_at.into(),
            revision: row.revision,
        }
    }
}

/// Adds a monitor with its targets and secrets unless its team has `most` already; says whether it was added.
///
/// # Errors
/// Those of the database; nothing was added then.
#[crate::boxed]
pub async fn create(conn: &mut Conn, new: &NewMonitor<'_>, most: i64) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        let row = new.row;
        // Locked, so that two requests cannot both be the last one that the limit allows.
        teams::lock(conn, &row.team_id).await?;
        if count(conn, &row.team_id).await? >= most {
            return Ok(false);
        }
        let fixed = (
            monitor::id.eq(&row.id),
            monitor::team_id.eq(&row.team_id),
            monitor::created_at.eq(DbTime::from(row.created_at)),
            monitor::swept_at.eq(DbTime::from(row.created_at)),
            (monitor::status.eq(&row.status), monitor::revision.eq(row.revision)),
        );
        let others = (
            (monitor::api_key_id.eq(&row.api_key_id), monitor::name.eq(&row.name), monitor::cron.eq(&row.cron)),
            (monitor::timezone.eq(&row.timezone), monitor::next_run_at.eq(row.next_run_at.map(DbTime::from))),
            (monitor::goal.eq(&row.goal), monitor::judge_enabled.eq(row.judge_enabled)),
            (monitor::webhook.eq(&row.webhook), monitor::notification.eq(&row.notification)),
            (monitor::retention_days.eq(row.retention_days), monitor::fires_per_month.eq(row.fires_per_month)),
            (monitor::fires_counted_at.eq(DbTime::from(row.fires_counted_at)), monitor::withdrawals.eq(0)),
            (monitor::address.eq(&row.address), monitor::updated_at.eq(DbTime::from(row.updated_at))),
        );
        on!(conn, |c| diesel::insert_into(monitor::table).values((fixed, others)).execute(c).await)?;
        target::insert(conn, new.targets).await?;
        secret::insert(conn, &row.id, new.secrets).await?;
        Ok(true)
    })
    .await
}

/// Returns the number of monitors of a team.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn count(conn: &mut Conn, team: &str) -> Result<i64> {
    let query = monitor::table.filter(monitor::team_id.eq(team)).filter(monitor::status.ne(DELETED)).count();
    Ok(on!(conn, |c| query.get_result(c).await)?)
}

/// Returns a monitor of the team; `None` for one of another team too.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn find(conn: &mut Conn, team: &str, id: &str) -> Result<Option<Monitor>> {
    let query = monitor::table.find(id).filter(monitor::team_id.eq(team)).filter(monitor::status.ne(DELETED));
    Ok(on!(conn, |c| query.select(Monitor::as_select()).get_result(c).await.optional())?)
}

/// Returns up to `limit` monitors of the team, newest first, after the first `skip`.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn list(conn: &mut Conn, team: &str, skip: i64, limit: i64) -> Result<Vec<Monitor>> {
    let query = monitor::table
        .filter(monitor::team_id.eq(team))
        .filter(monitor::status.ne(DELETED))
        .order(monitor::id.desc())
        .limit(limit)
        .offset(skip);
    Ok(on!(conn, |c| query.select(Monitor::as_select()).load(c).await)?)
}

/// Returns up to `limit` monitors of all teams, or of one, in the order of their ids, starting after `after`: for
/// operators.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn every(conn: &mut Conn, team: Option<&str>, after: &str, limit: i64) -> Result<Vec<Monitor>> {
    let page = monitor::table.filter(monitor::status.ne(DELETED)).filter(monitor::id.gt(after));
    let page = page.order(monitor::id).limit(limit);
    match team {
        Some(team) => {
            let page = page.filter(monitor::team_id.eq(team));
            Ok(on!(conn, |c| page.select(Monitor::as_select()).load(c).await)?)
        }
        None => Ok(on!(conn, |c| page.select(Monitor::as_select()).load(c).await)?),
    }
}

/// Locks and returns a monitor, whatever its team. Must be called in a transaction.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn lock(conn: &mut Conn, id: &str) -> Result<Option<Monitor>> {
    let query = monitor::table.find(id).filter(monitor::status.ne(DELETED));
    Ok(on!(
        conn,
        pg | c | query.select(Monitor::as_select()).for_update().get_result(c).await.optional(),
        // The transaction began with BEGIN IMMEDIATE, so it is the only writer.
        sqlite | c | query.select(Monitor::as_select()).get_result(c).await.optional()
    )?)
}

/// Writes a monitor, which must be locked. Id, team and time of creation stay.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn save(conn: &mut Conn, row: &Monitor) -> Result<()> {
    let query = Prepared(diesel::update(monitor::table.find(&row.id)).set(Changed::of(row)));
    on!(conn, |c| query.execute(c).await)?;
    Ok(())
}

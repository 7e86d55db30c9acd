//! Teams: accounts with their limits and permissions.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::{Result, StoreError};
use crate::list::List;
use crate::schema::{account, team};

/// Team.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = team, treat_none_as_default_value = false)]
pub struct Team {
    /// Id of the team.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Whether the team may spend without credits. Its usage is charged all the same, so that it is known.
    pub unlimited: bool,
    /// Limit of concurrent scrapes; above zero.
    pub concurrency: i32,
    /// Rate limit, in calls per minute; zero for no limit.
    pub rate_per_minute: i32,
    /// Whether the team may request scrapes with zero data retention.
    pub zero_data_retention: bool,
    /// Whether the team may use the options for enterprises.
    pub enterprise: bool,
    /// Whether the team may use the catalog of tools.
    pub catalog: bool,
    /// Time of creation.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub created_at: Timestamp,
    /// Networks that the team may call from, such as `10.0.0.0/8`; `None` for no restriction.
    pub addresses: Option<List>,
    /// Limit of tokens of language models per day; `None` for the common limit, 0 for no limit.
    pub model_tokens_per_day: Option<i64>,
    /// Limit of the cost of language models per day, in millionths; `None` for the common limit, 0 for no limit.
    pub model_cost_per_day: Option<i64>,
    /// Limit of monitors; `None` for the common limit.
    pub max_monitors: Option<i32>,
    /// Whether a partner pays for the work of the team: [`GRANTED`] or [`WITHDRAWN`]; `None` if there is no partner.
    pub partner_grant: Option<String>,
    /// Addresses that get the mails of its monitors without confirmation; `None` for none.
    pub alert_emails: Option<List>,
}

/// Value of [`Team::partner_grant`]: the partner pays.
pub const GRANTED: &str = "active";
/// Value of [`Team::partner_grant`]: the partner has withdrawn its grant.
pub const WITHDRAWN: &str = "withdrawn";

/// Changes of a team; `None` keeps a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, AsChangeset)]
#[diesel(table_name = team)]
pub struct TeamChange {
    /// New [`Team::name`].
    pub name: Option<String>,
    /// New [`Team::unlimited`].
    pub unlimited: Option<bool>,
    /// New [`Team::concurrency`].
    pub concurrency: Option<i32>,
    /// New [`Team::rate_per_minute`].
    pub rate_per_minute: Option<i32>,
    /// New [`Team::zero_data_retention`].
    pub zero_data_retention: Option<bool>,
    /// New [`Team::enterprise`].
    pub enterprise: Option<bool>,
    /// New [`Team::catalog`].
    pub catalog: Option<bool>,
    /// New [`Team::addresses`]; `Some(None)` removes the restriction.
    pub addresses: Option<Option<List>>,
    /// New [`Team::model_tokens_per_day`]; `Some(None)` removes the limit.
    pub model_tokens_per_day: Option<Option<i64>>,
    /// New [`Team::model_cost_per_day`]; `Some(None)` removes the limit.
    pub model_cost_per_day: Option<Option<i64>>,
    /// New [`Team::max_monitors`]; `Some(None)` for the common limit.
    pub max_monitors: Option<Option<i32>>,
    /// New [`Team::partner_grant`]; `Some(None)` for no partner.
    pub partner_grant: Option<Option<String>>,
    /// New [`Team::alert_emails`]; `Some(None)` for none.
    pub alert_emails: Option<Option<List>>,
}

impl Team {
    /// Creates a team with 2 concurrent scrapes, no rate limit, no credits and no special permissions.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, created_at: Timestamp) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            unlimited: false,
            concurrency: 2,
            rate_per_minute: 0,
            zero_data_retention: false,
            enterprise: false,
            catalog: false,
            created_at,
            addresses: None,
            model_tokens_per_day: None,
            model_cost_per_day: None,
            max_monitors: None,
            partner_grant: None,
            alert_emails: None,
        }
    }
}

/// Adds a team with an empty account.
///
/// # Errors
/// [`StoreError::is_duplicate`] when the id is taken.
#[crate::boxed]
pub async fn create(conn: &mut Conn, new: &Team) -> Result<()> {
    if create_if_absent(conn, new).await? {
        return Ok(());
    }
    // Reported like a violated unique constraint, so that callers check `is_duplicate` as for every other table.
    let text: Box<String> = Box::new(format!("team {} already exists", new.id));
    Err(StoreError::Query(diesel::result::Error::DatabaseError(
        diesel::result::DatabaseErrorKind::UniqueViolation,
        text,
    )))
}

/// Adds a team unless the id is taken; says whether it was added. Safe when several processes start at once.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); then neither team nor account was added.
#[crate::boxed]
pub async fn create_if_absent(conn: &mut Conn, new: &Team) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        let row = || diesel::insert_into(team::table).values(new.clone()).on_conflict(team::id).do_nothing();
        if on!(conn, |c| row().execute(c).await)? == 0 {
            return Ok(false);
        }
        // Every booking locks this row first, so every team needs it.
        let zeroes = (
            account::team_id.eq(&new.id),
            account::available.eq(0),
            account::reserved.eq(0),
            account::spent.eq(0),
            account::granted.eq(0),
        );
        on!(conn, |c| diesel::insert_into(account::table).values(zeroes).execute(c).await)?;
        Ok(true)
    })
    .await
}

/// Returns one team.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find(conn: &mut Conn, id: &str) -> Result<Option<Team>> {
    let query = team::table.find(id);
    Ok(on!(conn, |c| query.select(Team::as_select()).get_result(c).await.optional())?)
}

/// Returns up to `limit` teams in the order of their ids, starting after `after`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn list(conn: &mut Conn, after: Option<&str>, limit: i64) -> Result<Vec<Team>> {
    // Every id is greater than the empty string.
    let query = team::table.filter(team::id.gt(after.unwrap_or_default())).order(team::id).limit(limit);
    Ok(on!(conn, |c| query.select(Team::as_select()).load(c).await)?)
}

/// Locks the row of a team until the transaction ends: others that lock it wait. Rows that refer to the team can be added
/// meanwhile. A transaction that locks jobs too locks the team first.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn lock(conn: &mut Conn, id: &str) -> Result<()> {
    let row = team::table.find(id).select(team::id);
    let _: Option<String> = on!(
        conn,
        // The weakest lock that excludes itself.
        pg | c | row.for_no_key_update().get_result(c).await.optional(),
        // The transaction began with BEGIN IMMEDIATE, so it is the only writer.
        sqlite | c | row.get_result(c).await.optional()
    )?;
    Ok(())
}

/// Changes a team and returns its new state; `None` if there is no such team.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), also for a value that a constraint of the table forbids.
#[crate::boxed]
pub async fn update(conn: &mut Conn, id: &str, change: &TeamChange) -> Result<Option<Team>> {
    // diesel rejects an UPDATE without a SET.
    if *change == TeamChange::default() {
        return find(conn, id).await;
    }
    let query = diesel::update(team::table.find(id)).set(change);
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| query.returning(Team::as_returning()).get_result(c).await.optional())?)
}

//! Teams: who pays, and what they may do.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::{Result, StoreError};
use crate::list::List;
use crate::schema::{account, team};

/// A team.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = team, treat_none_as_default_value = false)]
pub struct Team {
    /// Its name for machines.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Whether it may spend without credits; it is charged all the same, so that its use is known.
    pub unlimited: bool,
    /// How many scrapes may run at once; above zero.
    pub concurrency: i32,
    /// How many calls a minute are let in; zero means any number.
    pub rate_per_minute: i32,
    /// It may ask for scrapes of which nothing is kept.
    pub zero_data_retention: bool,
    /// It may use the options for enterprises.
    pub enterprise: bool,
    /// It may use the catalog of tools.
    pub catalog: bool,
    /// When it was made.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub created_at: Timestamp,
    /// Networks that it may call from, such as `10.0.0.0/8`; none: from everywhere.
    pub addresses: Option<List>,
}

/// What to change of a team; `None` leaves it.
#[derive(Debug, Clone, Default, PartialEq, Eq, AsChangeset)]
#[diesel(table_name = team)]
pub struct TeamChange {
    /// See [`Team::name`].
    pub name: Option<String>,
    /// See [`Team::unlimited`].
    pub unlimited: Option<bool>,
    /// See [`Team::concurrency`].
    pub concurrency: Option<i32>,
    /// See [`Team::rate_per_minute`].
    pub rate_per_minute: Option<i32>,
    /// See [`Team::zero_data_retention`].
    pub zero_data_retention: Option<bool>,
    /// See [`Team::enterprise`].
    pub enterprise: Option<bool>,
    /// See [`Team::catalog`].
    pub catalog: Option<bool>,
    /// See [`Team::addresses`]; `Some(None)` takes the rule away.
    pub addresses: Option<Option<List>>,
}

impl Team {
    /// A team with limits of 2 at once and no rate, without credits and without special rights.
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
        }
    }
}

/// Adds a team with an empty account.
///
/// # Errors
/// [`StoreError::is_duplicate`] when there is one with this id.
#[crate::boxed]
pub async fn create(conn: &mut Conn, new: &Team) -> Result<()> {
    if create_if_absent(conn, new).await? {
        return Ok(());
    }
    // As if the database had refused the row, so that callers ask `is_duplicate` as for every other table.
    let text: Box<String> = Box::new(format!("team {} exists", new.id));
    Err(StoreError::Query(diesel::result::Error::DatabaseError(
        diesel::result::DatabaseErrorKind::UniqueViolation,
        text,
    )))
}

/// Adds a team unless there is one with this id; says whether it was added. Safe when several processes start at once.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); then there is neither team nor account.
#[crate::boxed]
pub async fn create_if_absent(conn: &mut Conn, new: &Team) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        let row = || diesel::insert_into(team::table).values(new.clone()).on_conflict(team::id).do_nothing();
        if on!(conn, |c| row().execute(c).await)? == 0 {
            return Ok(false);
        }
        // Every booking locks this row before anything else, so a team must never be without it.
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

/// One team.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn find(conn: &mut Conn, id: &str) -> Result<Option<Team>> {
    let query = team::table.find(id);
    Ok(on!(conn, |c| query.select(Team::as_select()).get_result(c).await.optional())?)
}

/// Up to `limit` teams in the order of their ids, beginning after `after`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn list(conn: &mut Conn, after: Option<&str>, limit: i64) -> Result<Vec<Team>> {
    // Every id is greater than the empty one.
    let query = team::table.filter(team::id.gt(after.unwrap_or_default())).order(team::id).limit(limit);
    Ok(on!(conn, |c| query.select(Team::as_select()).load(c).await)?)
}

/// Changes a team and returns it as it is now; `None` when there is none with this id.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), also for a value that a constraint of the table refuses.
#[crate::boxed]
pub async fn update(conn: &mut Conn, id: &str, change: &TeamChange) -> Result<Option<Team>> {
    // Diesel refuses an UPDATE that sets nothing.
    if *change == TeamChange::default() {
        return find(conn, id).await;
    }
    let query = diesel::update(team::table.find(id)).set(change);
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| query.returning(Team::as_returning()).get_result(c).await.optional())?)
}

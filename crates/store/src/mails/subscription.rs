//! Recipients of a team's mails.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::{DbTime, MaybeDbTime};
use crate::error::Result;
use crate::schema::mail_subscription;

/// Status of a recipient that was asked for confirmation.
pub const PENDING: &str = "pending";
/// Status of a recipient that has confirmed.
pub const CONFIRMED: &str = "confirmed";
/// Status of a recipient that wants no mails.
pub const UNSUBSCRIBED: &str = "unsubscribed";

/// Recipient of a team's mails.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = mail_subscription)]
pub struct Subscription {
    /// Address in lower case.
    pub address: String,
    /// [`PENDING`], [`CONFIRMED`] or [`UNSUBSCRIBED`].
    pub status: String,
    /// Time of the last mail that asked for confirmation; `None` if there was none.
    #[diesel(deserialize_as = MaybeDbTime)]
    pub asked_at: Option<Timestamp>,
}

/// Returns what is known of these addresses as recipients of a team.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn subscriptions(conn: &mut Conn, team: &str, addresses: &[&str]) -> Result<Vec<Subscription>> {
    let query = mail_subscription::table
        .filter(mail_subscription::team_id.eq(team))
        .filter(mail_subscription::address.eq_any(addresses))
        .order(mail_subscription::address);
    Ok(on!(conn, |c| query.select(Subscription::as_select()).load(c).await)?)
}

/// Notes that a recipient is asked for confirmation; says whether it is to be asked. It is not if it was asked before, at
/// `again_before` or later, or if it has answered.
///
/// # Errors
/// Those of the database, also for an unknown team.
#[crate::boxed]
pub async fn ask(
    conn: &mut Conn,
    team: &str,
    address: &str,
    again_before: Option<Timestamp>,
    now: Timestamp,
) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        let stamp = DbTime::from(now);
        let row = (
            mail_subscription::team_id.eq(team),
            mail_subscription::address.eq(address),
            mail_subscription::status.eq(PENDING),
            mail_subscription::asked_at.eq(Some(stamp)),
            mail_subscription::updated_at.eq(stamp),
        );
        let insert = diesel::insert_into(mail_subscription::table).values(row).on_conflict_do_nothing();
        if on!(conn, |c| insert.execute(c).await)? == 1 {
            return Ok(true);
        }
        let Some(before) = again_before else { return Ok(false) };
        let old = mail_subscription::table
            .find((team, address))
            .filter(mail_subscription::status.eq(PENDING))
            .filter(mail_subscription::asked_at.lt(DbTime::from(before)).assume_not_null());
        let set = (mail_subscription::asked_at.eq(Some(stamp)), mail_subscription::updated_at.eq(stamp));
        Ok(on!(conn, |c| diesel::update(old).set(set).execute(c).await)? == 1)
    })
    .await
}

/// Returns how many recipients a team has had asked for confirmation since a time.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn asked_by_team(conn: &mut Conn, team: &str, since: Timestamp) -> Result<i64> {
    let query = mail_subscription::table
        .filter(mail_subscription::team_id.eq(team))
        .filter(mail_subscription::asked_at.ge(DbTime::from(since)).assume_not_null())
        .count();
    Ok(on!(conn, |c| query.get_result(c).await)?)
}

/// Returns how many teams have had an address asked for confirmation since a time.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn asked_of(conn: &mut Conn, address: &str, since: Timestamp) -> Result<i64> {
    let query = mail_subscription::table
        .filter(mail_subscription::address.eq(address))
        .filter(mail_subscription::asked_at.ge(DbTime::from(since)).assume_not_null())
        .count();
    Ok(on!(conn, |c| query.get_result(c).await)?)
}

/// Confirms a recipient, on its own wish; `false` if it is none.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn confirm(conn: &mut Conn, team: &str, address: &str, now: Timestamp) -> Result<bool> {
    let set = (mail_subscription::status.eq(CONFIRMED), mail_subscription::updated_at.eq(DbTime::from(now)));
    let update = diesel::update(mail_subscription::table.find((team, address))).set(set);
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| update.execute(c).await)? == 1)
}

/// Notes that an address wants no mails of a team, known or not.
///
/// # Errors
/// Those of the database, also for an unknown team.
#[crate::boxed]
pub async fn unsubscribe(conn: &mut Conn, team: &str, address: &str, now: Timestamp) -> Result<()> {
    let stamp = DbTime::from(now);
    let row = (
        mail_subscription::team_id.eq(team),
        mail_subscription::address.eq(address),
        mail_subscription::status.eq(UNSUBSCRIBED),
        mail_subscription::updated_at.eq(stamp),
    );
    let set = (mail_subscription::status.eq(UNSUBSCRIBED), mail_subscription::updated_at.eq(stamp));
    let insert = diesel::insert_into(mail_subscription::table)
        .values(row)
        .on_conflict((mail_subscription::team_id, mail_subscription::address))
        .do_update()
        .set(set);
    let mut conn = conn.turn().await?;
    on!(conn, |c| insert.execute(c).await)?;
    Ok(())
}

/// Forgets a recipient that has not answered, as when the mail that asks could not be sent.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn forget(conn: &mut Conn, team: &str, address: &str) -> Result<()> {
    let pending = mail_subscription::table.find((team, address)).filter(mail_subscription::status.eq(PENDING));
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::delete(pending).execute(c).await)?;
    Ok(())
}

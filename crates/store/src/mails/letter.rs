//! Mails about checks, one for each recipient.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::monitor_mail;

/// Status of a mail that waits to be sent, or to be sent again.
pub const QUEUED: &str = "queued";
/// Status of a mail that the mail server has taken.
pub const SENT: &str = "sent";
/// Status of a mail that was not sent, as its recipient wants none any more.
pub const SKIPPED: &str = "skipped";
/// Status of a mail that could not be sent.
pub const FAILED: &str = "failed";

/// Mail about a check.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = monitor_mail)]
pub struct CheckMail {
    /// Id of the check.
    pub check_id: String,
    /// Address of the recipient in lower case.
    pub address: String,
    /// [`QUEUED`], [`SENT`], [`SKIPPED`] or [`FAILED`].
    pub status: String,
    /// Reason of the last failure.
    pub error: Option<String>,
    /// Time of the last change.
    #[diesel(deserialize_as = DbTime)]
    pub updated_at: Timestamp,
}

/// Adds mails that wait to be sent; returns the addresses of those that are new.
///
/// # Errors
/// Those of the database; the transaction has to be rolled back then.
#[crate::boxed]
pub async fn add(conn: &mut Conn, check: &str, addresses: &[&str], now: Timestamp) -> Result<Vec<String>> {
    let mut added = Vec::new();
    for address in addresses {
        let row = (
            monitor_mail::check_id.eq(check),
            monitor_mail::address.eq(*address),
            monitor_mail::status.eq(QUEUED),
            monitor_mail::updated_at.eq(DbTime::from(now)),
        );
        let insert = diesel::insert_into(monitor_mail::table).values(row).on_conflict_do_nothing();
        if on!(conn, |c| insert.execute(c).await)? == 1 {
            added.push((*address).to_owned());
        }
    }
    Ok(added)
}

/// Writes status and error of a mail.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn end(conn: &mut Conn, mail: &CheckMail) -> Result<()> {
    let set = (
        monitor_mail::status.eq(&mail.status),
        monitor_mail::error.eq(&mail.error),
        monitor_mail::updated_at.eq(DbTime::from(mail.updated_at)),
    );
    let update = diesel::update(monitor_mail::table.find((&mail.check_id, &mail.address))).set(set);
    let mut conn = conn.turn().await?;
    on!(conn, |c| update.execute(c).await)?;
    Ok(())
}

/// Returns the mails about checks, by check and address.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn of_checks(conn: &mut Conn, checks: &[&str]) -> Result<Vec<CheckMail>> {
    let query = monitor_mail::table
        .filter(monitor_mail::check_id.eq_any(checks))
        .order((monitor_mail::check_id, monitor_mail::address));
    Ok(on!(conn, |c| query.select(CheckMail::as_select()).load(c).await)?)
}

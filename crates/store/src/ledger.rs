//! The ledger in the database. What a command writes is decided by [`billing::step`]; here it is written down, in one
//! transaction, with the team's account row locked, so that commands of one team happen one after the other.
//!
//! The key of a command says what it pays for. A repeated key changes nothing and answers what the first call did.

mod group;
mod rows;

use std::collections::BTreeMap;

use base::Timestamp;
use billing::{Applied, Balance, Command, Hold, LedgerError, Transfer, post_key, void_key};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::{Result, StoreError};
use crate::schema::{account, ledger_entry, ledger_transfer, reservation};

pub use self::group::{Order, Outcome, Task, book_all};
use self::rows::{AccountRow, Change, EntryRow, ReservationRow, Rows, TransferRow};

/// Under which key, for whom and when something is booked.
#[derive(Debug, Clone, Copy)]
pub struct Booking<'a> {
    /// What it is for; unique over all teams, for example `scrape:<id>`.
    pub key: &'a str,
    /// The id of the team.
    pub team: &'a str,
    /// The id of the API key, for the usage by key.
    pub api_key: Option<&'a str>,
    /// When.
    pub at: Timestamp,
}

/// Credits set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// The key it was booked under.
    pub key: String,
    /// The id of the team.
    pub team: String,
    /// The id of the API key that pays.
    pub api_key: Option<String>,
    /// What was set aside, spent and given back.
    pub hold: Hold,
    /// When what is left goes back by itself.
    pub expires_at: Timestamp,
}

/// A transfer as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Booked {
    /// Its key.
    pub key: String,
    /// Its kind, see [`Transfer::as_str`].
    pub kind: String,
    /// What was moved, in credits.
    pub amount: i64,
    /// The reservation it belongs to.
    pub reservation: Option<String>,
    /// When.
    pub at: Timestamp,
    /// The name of each account (see [`billing::Account::as_str`]) and what was added to it, in the order of the names.
    pub entries: Vec<(String, i64)>,
}

/// What a team has.
///
/// # Errors
/// [`StoreError::UnknownTeam`].
#[crate::boxed]
pub async fn balance(conn: &mut Conn, team: &str) -> Result<Balance> {
    let query = account::table.find(team);
    let row: Option<AccountRow> = on!(conn, |c| query.select(AccountRow::as_select()).get_result(c).await.optional())?;
    row.map(Balance::from).ok_or(StoreError::UnknownTeam)
}

/// Carries out any command. `expires_at` is the end of the reservation that [`Command::Reserve`] makes.
///
/// # Errors
/// [`StoreError::Ledger`], [`StoreError::UnknownTeam`].
#[crate::boxed]
pub async fn apply(
    conn: &mut Conn,
    booking: &Booking<'_>,
    command: &Command,
    expires_at: Timestamp,
) -> Result<Applied> {
    conn.atomic(async |conn: &mut Conn| {
        let mut work = Work::begin(conn, booking.team, command.reservation()).await?;
        work.apply(conn, booking, command, expires_at).await
    })
    .await
}

/// Gives credits to a team.
///
/// # Errors
/// [`StoreError::Ledger`], [`StoreError::UnknownTeam`].
#[crate::boxed]
pub async fn grant(conn: &mut Conn, booking: &Booking<'_>, amount: i64) -> Result<Applied> {
    apply(conn, booking, &Command::Grant { amount }, booking.at).await
}

/// Spends for a team without a limit.
///
/// # Errors
/// [`StoreError::Ledger`], [`StoreError::UnknownTeam`].
#[crate::boxed]
pub async fn charge(conn: &mut Conn, booking: &Booking<'_>, amount: i64) -> Result<Applied> {
    apply(conn, booking, &Command::Charge { amount }, booking.at).await
}

/// Sets credits aside until `expires_at`. A repeat returns the reservation as it is now.
///
/// # Errors
/// [`LedgerError::Insufficient`] and the others in [`StoreError::Ledger`]; [`StoreError::UnknownTeam`].
#[crate::boxed]
pub async fn reserve(
    conn: &mut Conn,
    booking: &Booking<'_>,
    amount: i64,
    expires_at: Timestamp,
) -> Result<Reservation> {
    conn.atomic(async |conn: &mut Conn| {
        let command = Command::Reserve { amount };
        let mut work = Work::begin(conn, booking.team, None).await?;
        if let Applied::Before(_) = work.apply(conn, booking, &command, expires_at).await? {
            let found = reservation(conn, booking.team, booking.key).await?;
            return found
                .ok_or_else(|| StoreError::Inconsistent(format!("no reservation for the transfer {}", booking.key)));
        }
        Ok(booking.reservation(amount, expires_at))
    })
    .await
}

/// Spends from a reservation, for one of several things that it pays for. The booking's key names that thing.
///
/// # Errors
/// [`LedgerError::Overdrawn`], [`LedgerError::Closed`] and the others in [`StoreError::Ledger`].
#[crate::boxed]
pub async fn post(conn: &mut Conn, booking: &Booking<'_>, reservation: &str, amount: i64) -> Result<Applied> {
    let command = Command::Post { reservation: reservation.to_owned(), amount };
    apply(conn, booking, &command, booking.at).await
}

/// Spends `amount` of a reservation, zero included, and gives the rest back, in one transaction. A repeat with the
/// same amount changes nothing. Returns the reservation as it is then.
///
/// # Errors
/// [`LedgerError::Closed`] when it expired before, [`LedgerError::Overdrawn`] and the others in [`StoreError::Ledger`].
#[crate::boxed]
pub async fn settle(conn: &mut Conn, held: &Reservation, amount: i64, at: Timestamp) -> Result<Hold> {
    conn.atomic(async |conn: &mut Conn| {
        let (post_key, void_key) = (post_key(&held.key), void_key(&held.key));
        let booking = |key| Booking { key, team: &held.team, api_key: held.api_key.as_deref(), at };
        // Posting and giving back under one lock: nobody sees the reservation half settled.
        let mut work = Work::begin(conn, &held.team, Some(&held.key)).await?;
        if amount != 0 {
            let post = Command::Post { reservation: held.key.clone(), amount };
            work.apply(conn, &booking(&post_key), &post, at).await?;
        }
        let hold = work.hold.ok_or(LedgerError::UnknownReservation)?;
        if hold.remaining() > 0 {
            let void = Command::Void { reservation: held.key.clone() };
            work.apply(conn, &booking(&void_key), &void, at).await?;
        }
        work.hold.ok_or_else(|| LedgerError::UnknownReservation.into())
    })
    .await
}

/// Gives back what is left of a reservation. On a closed one it changes nothing.
///
/// # Errors
/// As [`settle`].
#[crate::boxed]
pub async fn void(conn: &mut Conn, held: &Reservation, at: Timestamp) -> Result<Hold> {
    settle(conn, held, 0, at).await
}

/// A reservation of this team.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn reservation(conn: &mut Conn, team: &str, key: &str) -> Result<Option<Reservation>> {
    let query = reservation::table.find(key).filter(reservation::team_id.eq(team));
    let row: Option<ReservationRow> =
        on!(conn, |c| query.select(ReservationRow::as_select()).get_result(c).await.optional())?;
    Ok(row.map(Reservation::from))
}

/// Voids up to `limit` open reservations whose time is over at `now`, each in its own transaction, and says how many.
/// Below the limit means that none is left.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); reservations that were voided before it stay voided.
#[crate::boxed]
pub async fn expire_reservations(conn: &mut Conn, now: Timestamp, limit: i64) -> Result<usize> {
    let due = reservation::table
        .filter(reservation::is_open)
        .filter(reservation::expires_at.le(DbTime::from(now)))
        .order(reservation::expires_at)
        .limit(limit);
    let rows: Vec<ReservationRow> = on!(conn, |c| due.select(ReservationRow::as_select()).load(c).await)?;
    let found = rows.len();
    for held in rows.into_iter().map(Reservation::from) {
        // Settled meanwhile is as good.
        conn.tx(async |conn: &mut Conn| void(conn, &held, now).await).await?;
    }
    Ok(found)
}

/// Up to `limit` transfers of a team in the order of their keys, beginning after `after`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn history(conn: &mut Conn, team: &str, after: Option<&str>, limit: i64) -> Result<Vec<Booked>> {
    let page = ledger_transfer::table
        .filter(ledger_transfer::team_id.eq(team))
        .filter(ledger_transfer::key.gt(after.unwrap_or_default()))
        .order(ledger_transfer::key)
        .limit(limit);
    let rows: Vec<TransferRow> = on!(conn, |c| page.select(TransferRow::as_select()).load(c).await)?;
    let keys: Vec<&String> = rows.iter().map(|row| &row.key).collect();
    // The entries of all transfers in one query, not one for each.
    let lines = ledger_entry::table.filter(ledger_entry::transfer_key.eq_any(&keys)).order(ledger_entry::account);
    let lines: Vec<EntryRow> = on!(conn, |c| lines.select(EntryRow::as_select()).load(c).await)?;
    Ok(rows.into_iter().map(|row| row.with_entries(&lines)).collect())
}

impl Booking<'_> {
    /// The reservation that is made under it.
    fn reservation(&self, amount: i64, expires_at: Timestamp) -> Reservation {
        Reservation {
            key: self.key.to_owned(),
            team: self.team.to_owned(),
            api_key: self.api_key.map(str::to_owned),
            hold: Hold { amount, posted: 0, voided: 0 },
            expires_at,
        }
    }
}

/// A team's locked account and one of its reservations, as they are in the course of a transaction.
struct Work {
    balance: Balance,
    hold: Option<Hold>,
}

impl Work {
    /// Locks the account row first, always: transactions that lock in one order cannot wait for each other in a ring.
    async fn begin(conn: &mut Conn, team: &str, key: Option<&str>) -> Result<Work> {
        let (balance, mut holds) = rows::lock(conn, team, key.as_slice()).await?;
        Ok(Work { balance, hold: key.and_then(|key| holds.remove(key)) })
    }

    async fn apply(
        &mut self,
        conn: &mut Conn,
        booking: &Booking<'_>,
        command: &Command,
        expires_at: Timestamp,
    ) -> Result<Applied> {
        let step = match billing::step(self.balance, self.hold, command) {
            Ok(step) => step,
            // A repeat of a booking that went through may be refused by now, as the balance has moved on. Its first answer
            // counts, so that is looked up before the refusal is believed.
            Err(refusal) => return rows::earlier(conn, booking, command).await?.ok_or(refusal.into()),
        };
        let change = Change {
            team: booking.team,
            at: booking.at,
            before: self.balance,
            after: step.balance,
            rows: &Rows::of(booking, command, (&step, expires_at)),
            // Credits are used when they are spent, not when they are set aside.
            spent: &match step.transfer {
                Transfer::Post | Transfer::Charge => BTreeMap::from([(booking.api_key, step.amount)]),
                _ => BTreeMap::new(),
            },
        };
        if !change.write(conn).await? {
            let lost =
                || StoreError::Inconsistent(format!("transfer {} not found though its key is taken", booking.key));
            return rows::earlier(conn, booking, command).await?.ok_or_else(lost);
        }
        (self.balance, self.hold) = (step.balance, step.hold);
        Ok(Applied::Now(step.amount))
    }
}

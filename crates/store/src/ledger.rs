//! Ledger of credits. [`billing::step`] decides what a command changes; this module writes that in one transaction with
//! the team's account row locked, so that commands of one team run one after another.
//!
//! Commands are idempotent: the key of a command names what it pays for, and a repeated key changes nothing and returns
//! the result of the first call.

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

/// Key, team, API key and time of a command.
#[derive(Debug, Clone, Copy)]
pub struct Booking<'a> {
    /// Idempotency key: what the booking is for, unique over all teams, for example `scrape:<id>`.
    pub key: &'a str,
    /// Id of the team.
    pub team: &'a str,
    /// Id of the API key, for the usage by key.
    pub api_key: Option<&'a str>,
    /// Time of the booking.
    pub at: Timestamp,
}

/// Reserved credits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// Key of its booking.
    pub key: String,
    /// Id of the team.
    pub team: String,
    /// Id of the API key that pays.
    pub api_key: Option<String>,
    /// Amounts reserved, spent and returned.
    pub hold: Hold,
    /// Time at which the rest is returned automatically.
    pub expires_at: Timestamp,
}

/// Transfer in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Booked {
    /// Key of the transfer.
    pub key: String,
    /// Kind of the transfer, from [`Transfer::as_str`].
    pub kind: String,
    /// Amount moved, in credits.
    pub amount: i64,
    /// Key of the reservation that it belongs to.
    pub reservation: Option<String>,
    /// Time of the booking.
    pub at: Timestamp,
    /// Account names (from [`billing::Account::as_str`]) and the amounts added to them, ordered by name.
    pub entries: Vec<(String, i64)>,
}

/// Returns the balance of a team.
///
/// # Errors
/// [`StoreError::UnknownTeam`].
#[crate::boxed]
pub async fn balance(conn: &mut Conn, team: &str) -> Result<Balance> {
    let query = account::table.find(team);
    let row: Option<AccountRow> = on!(conn, |c| query.select(AccountRow::as_select()).get_result(c).await.optional())?;
    row.map(Balance::from).ok_or(StoreError::UnknownTeam)
}

/// Runs any command. `expires_at` is the expiry of the reservation that [`Command::Reserve`] creates.
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
        let mut work = LockedAccount::begin(conn, booking.team, command.reservation()).await?;
        work.apply(conn, booking, command, expires_at).await
    })
    .await
}

/// Grants credits to a team.
///
/// # Errors
/// [`StoreError::Ledger`], [`StoreError::UnknownTeam`].
#[crate::boxed]
pub async fn grant(conn: &mut Conn, booking: &Booking<'_>, amount: i64) -> Result<Applied> {
    apply(conn, booking, &Command::Grant { amount }, booking.at).await
}

/// Spends credits of a team without a limit.
///
/// # Errors
/// [`StoreError::Ledger`], [`StoreError::UnknownTeam`].
#[crate::boxed]
pub async fn charge(conn: &mut Conn, booking: &Booking<'_>, amount: i64) -> Result<Applied> {
    apply(conn, booking, &Command::Charge { amount }, booking.at).await
}

/// Reserves credits until `expires_at`. A repeat returns the reservation in its present state.
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
        let mut work = LockedAccount::begin(conn, booking.team, None).await?;
        if let Applied::Before(_) = work.apply(conn, booking, &command, expires_at).await? {
            let found = reservation(conn, booking.team, booking.key).await?;
            return found
                .ok_or_else(|| StoreError::Inconsistent(format!("no reservation for the transfer {}", booking.key)));
        }
        Ok(booking.reservation(amount, expires_at))
    })
    .await
}

/// Spends from a reservation that pays for several things; the booking's key names one of them.
///
/// # Errors
/// [`LedgerError::Overdrawn`], [`LedgerError::Closed`] and the others in [`StoreError::Ledger`].
#[crate::boxed]
pub async fn post(conn: &mut Conn, booking: &Booking<'_>, reservation: &str, amount: i64) -> Result<Applied> {
    let command = Command::Post { reservation: reservation.to_owned(), amount };
    apply(conn, booking, &command, booking.at).await
}

/// Spends `amount` of a reservation, which may be zero, and returns the rest, in one transaction. A repeat with the
/// same amount changes nothing. Returns the reservation afterwards.
///
/// # Errors
/// [`LedgerError::Closed`] when it expired before, [`LedgerError::Overdrawn`] and the others in [`StoreError::Ledger`].
#[crate::boxed]
pub async fn settle(conn: &mut Conn, held: &Reservation, amount: i64, at: Timestamp) -> Result<Hold> {
    conn.atomic(async |conn: &mut Conn| {
        let (post_key, void_key) = (post_key(&held.key), void_key(&held.key));
        let booking = |key| Booking { key, team: &held.team, api_key: held.api_key.as_deref(), at };
        // Post and void under one lock: no other transaction sees the reservation half settled.
        let mut work = LockedAccount::begin(conn, &held.team, Some(&held.key)).await?;
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

/// Returns the rest of a reservation. Has no effect on a closed one.
///
/// # Errors
/// Those of [`settle`].
#[crate::boxed]
pub async fn void(conn: &mut Conn, held: &Reservation, at: Timestamp) -> Result<Hold> {
    settle(conn, held, 0, at).await
}

/// Returns a reservation of a team.
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

/// Voids up to `limit` open reservations that expired by `now`, each in its own transaction, and returns their number.
/// Fewer than the limit means that none is left.
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
        // If it was settled meanwhile, this has no effect.
        conn.tx(async |conn: &mut Conn| void(conn, &held, now).await).await?;
    }
    Ok(found)
}

/// Returns up to `limit` transfers of a team in the order of their keys, starting after `after`.
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
    // The entries of all transfers in one query.
    let lines = ledger_entry::table.filter(ledger_entry::transfer_key.eq_any(&keys)).order(ledger_entry::account);
    let lines: Vec<EntryRow> = on!(conn, |c| lines.select(EntryRow::as_select()).load(c).await)?;
    Ok(rows.into_iter().map(|row| row.with_entries(&lines)).collect())
}

impl Booking<'_> {
    /// Returns the reservation that this booking creates.
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

/// Locked account of a team and one of its reservations, updated by each command of the transaction.
struct LockedAccount {
    balance: Balance,
    hold: Option<Hold>,
}

impl LockedAccount {
    /// Locks the account row before anything else: a fixed lock order prevents deadlocks.
    async fn begin(conn: &mut Conn, team: &str, key: Option<&str>) -> Result<LockedAccount> {
        let (balance, mut holds) = rows::lock(conn, team, key.as_slice()).await?;
        Ok(LockedAccount { balance, hold: key.and_then(|key| holds.remove(key)) })
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
            // A repeat may be refused by now, because the balance has changed since the first call. That call's result
            // counts, so it is looked up before the refusal is returned.
            Err(refusal) => return rows::earlier(conn, booking, command).await?.ok_or(refusal.into()),
        };
        let change = Change {
            team: booking.team,
            at: booking.at,
            before: self.balance,
            after: step.balance,
            rows: &Rows::of(booking, command, &step, expires_at),
            // Usage counts credits when they are spent, not when they are reserved.
            spent: &match step.transfer {
                Transfer::Post | Transfer::Charge => BTreeMap::from([(booking.api_key, step.amount)]),
                _ => BTreeMap::new(),
            },
        };
        if !change.write(conn).await? {
            let lost =
                || StoreError::Inconsistent(format!("transfer {} not found although its key is taken", booking.key));
            return rows::earlier(conn, booking, command).await?.ok_or_else(lost);
        }
        (self.balance, self.hold) = (step.balance, step.hold);
        Ok(Applied::Now(step.amount))
    }
}

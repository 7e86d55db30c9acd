//! The rows of the ledger, one function per thing written.

use base::Timestamp;
use billing::{Applied, Balance, Command, Entry, Hold, LedgerError, Step};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::{Booked, Booking, Reservation};
use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::{Result, StoreError};
use crate::schema::{account, ledger_entry, ledger_transfer, reservation};

#[derive(Queryable, Selectable)]
#[diesel(table_name = account)]
pub(super) struct AccountRow {
    available: i64,
    reserved: i64,
    spent: i64,
    granted: i64,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = reservation, treat_none_as_default_value = false)]
pub(super) struct ReservationRow {
    key: String,
    team_id: String,
    api_key_id: Option<String>,
    amount: i64,
    posted: i64,
    voided: i64,
    is_open: bool,
    expires_at: DbTime,
    created_at: DbTime,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = ledger_transfer)]
pub(super) struct TransferRow {
    pub(super) key: String,
    kind: String,
    amount: i64,
    reservation: Option<String>,
    created_at: DbTime,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = ledger_entry)]
pub(super) struct EntryRow {
    transfer_key: String,
    account: String,
    amount: i64,
}

/// The answer of the first call with this key.
pub(super) async fn earlier(conn: &mut Conn, booking: &Booking<'_>, command: &Command) -> Result<Option<Applied>> {
    let query = ledger_transfer::table.find(booking.key);
    let found: Option<(String, TransferRow)> = on!(conn, |c| {
        query.select((ledger_transfer::team_id, TransferRow::as_select())).get_result(c).await.optional()
    })?;
    let Some((team, row)) = found else { return Ok(None) };
    // A key belongs to one booking for ever; the same key with other values is a mistake of the caller, not a repeat.
    let same = team == booking.team
        && row.kind == command.transfer().as_str()
        && row.reservation.as_deref() == command.reservation()
        && command.amount().is_none_or(|amount| amount == row.amount);
    if same { Ok(Some(Applied::Before(row.amount))) } else { Err(LedgerError::KeyReused.into()) }
}

/// `false` when the key is taken.
pub(super) async fn insert_transfer(
    conn: &mut Conn,
    booking: &Booking<'_>,
    command: &Command,
    step: &Step,
) -> Result<bool> {
    let row = (
        ledger_transfer::key.eq(booking.key),
        ledger_transfer::team_id.eq(booking.team),
        ledger_transfer::api_key_id.eq(booking.api_key),
        ledger_transfer::kind.eq(step.transfer.as_str()),
        ledger_transfer::amount.eq(step.amount),
        ledger_transfer::reservation.eq(command.reservation()),
        ledger_transfer::created_at.eq(DbTime::from(booking.at)),
    );
    let insert = diesel::insert_into(ledger_transfer::table).values(row).on_conflict(ledger_transfer::key).do_nothing();
    Ok(on!(conn, |c| insert.execute(c).await)? == 1)
}

pub(super) async fn insert_entries(conn: &mut Conn, key: &str, entries: &[Entry; 2]) -> Result<()> {
    let rows = entries.map(|Entry { account, amount }| {
        (
            ledger_entry::transfer_key.eq(key.to_owned()),
            ledger_entry::account.eq(account.as_str()),
            ledger_entry::amount.eq(amount),
        )
    });
    // diesel-async has no multi-row insert for SQLite, where there is no round trip to save anyway.
    on!(
        conn,
        pg | c | diesel::insert_into(ledger_entry::table).values(rows.to_vec()).execute(c).await.map(drop),
        sqlite | c | {
            for row in rows {
                diesel::insert_into(ledger_entry::table).values(row).execute(c).await?;
            }
            Ok(())
        }
    )?;
    Ok(())
}

/// Adds the difference, guarded: the row was locked, but a wrong balance must be impossible rather than unlikely.
pub(super) async fn update_account(conn: &mut Conn, team: &str, old: Balance, new: Balance) -> Result<()> {
    let (available, reserved) = (new.available - old.available, new.reserved - old.reserved);
    let guard = account::available.ge(-available).and(account::reserved.ge(-reserved));
    let sums = (
        account::available.eq(account::available + available),
        account::reserved.eq(account::reserved + reserved),
        account::spent.eq(account::spent + (new.spent - old.spent)),
        account::granted.eq(account::granted + (new.granted - old.granted)),
    );
    let query = diesel::update(account::table.find(team).filter(guard)).set(sums);
    match on!(conn, |c| query.execute(c).await)? {
        1 => Ok(()),
        _ => Err(StoreError::Inconsistent(format!("the account of {team} changed while it was locked"))),
    }
}

pub(super) async fn insert_reservation(
    conn: &mut Conn,
    booking: &Booking<'_>,
    hold: Hold,
    expires_at: Timestamp,
) -> Result<()> {
    let row = ReservationRow {
        key: booking.key.to_owned(),
        team_id: booking.team.to_owned(),
        api_key_id: booking.api_key.map(str::to_owned),
        amount: hold.amount,
        posted: hold.posted,
        voided: hold.voided,
        // Derived, but kept: the index of what can expire holds the open ones alone.
        is_open: hold.remaining() > 0,
        expires_at: expires_at.into(),
        created_at: booking.at.into(),
    };
    on!(conn, |c| diesel::insert_into(reservation::table).values(&row).execute(c).await)?;
    Ok(())
}

pub(super) async fn update_reservation(conn: &mut Conn, key: &str, hold: Hold) -> Result<()> {
    let set = (
        reservation::posted.eq(hold.posted),
        reservation::voided.eq(hold.voided),
        reservation::is_open.eq(hold.remaining() > 0),
    );
    on!(conn, |c| diesel::update(reservation::table.find(key)).set(set).execute(c).await)?;
    Ok(())
}

impl From<AccountRow> for Balance {
    fn from(row: AccountRow) -> Self {
        let AccountRow { available, reserved, spent, granted } = row;
        Balance { available, reserved, spent, granted }
    }
}

impl From<ReservationRow> for Reservation {
    fn from(row: ReservationRow) -> Self {
        let ReservationRow { key, team_id: team, api_key_id: api_key, amount, posted, voided, expires_at, .. } = row;
        Self { key, team, api_key, hold: Hold { amount, posted, voided }, expires_at: expires_at.into() }
    }
}

impl TransferRow {
    pub(super) fn with_entries(self, lines: &[EntryRow]) -> Booked {
        let own = lines.iter().filter(|line| line.transfer_key == self.key);
        let entries = own.map(|line| (line.account.clone(), line.amount)).collect();
        let TransferRow { key, kind, amount, reservation, created_at } = self;
        Booked { key, kind, amount, reservation, at: created_at.into(), entries }
    }
}

//! The rows of the ledger, one function per thing written.

use std::collections::BTreeMap;

use base::Timestamp;
use billing::{Applied, Balance, Command, Entry, Hold, LedgerError, Step, Transfer};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamp as SqlTimestamp};
use diesel_async::RunQueryDsl;

use super::{Booked, Booking, Reservation};
use crate::conn::{Conn, Link, on};
use crate::db_time::DbTime;
use crate::error::{Result, StoreError};
use crate::schema::{account, ledger_entry, ledger_transfer, reservation};
use crate::sql::Sql;

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

/// A transfer that is to be written.
pub(super) struct NewTransfer {
    pub(super) key: String,
    api_key: Option<String>,
    kind: Transfer,
    amount: i64,
    reservation: Option<String>,
    entries: [Entry; 2],
}

/// What several bookings of a team write, besides its account.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) transfers: Vec<NewTransfer>,
    /// New ones, of which nothing is spent yet.
    pub(super) reservations: Vec<Reservation>,
    /// Reservations that were there before, as they are now.
    pub(super) changed: BTreeMap<String, Hold>,
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
pub(super) async fn insert_transfer(conn: &mut Conn, new: &NewTransfer, team: &str, at: Timestamp) -> Result<bool> {
    let row = (
        ledger_transfer::key.eq(&new.key),
        ledger_transfer::team_id.eq(team),
        ledger_transfer::api_key_id.eq(new.api_key.as_deref()),
        ledger_transfer::kind.eq(new.kind.as_str()),
        ledger_transfer::amount.eq(new.amount),
        ledger_transfer::reservation.eq(new.reservation.as_deref()),
        ledger_transfer::created_at.eq(DbTime::from(at)),
    );
    let insert = diesel::insert_into(ledger_transfer::table).values(row).on_conflict(ledger_transfer::key).do_nothing();
    Ok(on!(conn, |c| insert.execute(c).await)? == 1)
}

pub(super) async fn insert_entries(conn: &mut Conn, new: &NewTransfer) -> Result<()> {
    let rows = new.entries.map(|Entry { account, amount }| {
        (
            ledger_entry::transfer_key.eq(new.key.clone()),
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

pub(super) async fn insert_reservation(conn: &mut Conn, new: &Reservation, at: Timestamp) -> Result<()> {
    let row = ReservationRow {
        key: new.key.clone(),
        team_id: new.team.clone(),
        api_key_id: new.api_key.clone(),
        amount: new.hold.amount,
        posted: new.hold.posted,
        voided: new.hold.voided,
        // Derived, but kept: the index of what can expire holds the open ones alone.
        is_open: new.hold.remaining() > 0,
        expires_at: new.expires_at.into(),
        created_at: at.into(),
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

/// What is set aside, spent and given back of these reservations of a team.
pub(super) async fn holds(conn: &mut Conn, team: &str, keys: &[&str]) -> Result<BTreeMap<String, Hold>> {
    if keys.is_empty() {
        return Ok(BTreeMap::new());
    }
    let of_team = reservation::table.filter(reservation::team_id.eq(team));
    let rows: Vec<ReservationRow> = on!(
        conn,
        pg | c | of_team.filter(reservation::key.eq_any(keys)).select(ReservationRow::as_select()).load(c).await,
        // SQLite compiles a list anew each time, and has no round trips to save.
        sqlite | c | {
            let mut rows = Vec::with_capacity(keys.len());
            for key in keys {
                let one = of_team.filter(reservation::key.eq(key)).select(ReservationRow::as_select());
                rows.extend(one.get_result(c).await.optional()?);
            }
            Ok(rows)
        }
    )?;
    Ok(rows.into_iter().map(Reservation::from).map(|found| (found.key, found.hold)).collect())
}

impl NewTransfer {
    pub(super) fn of(booking: &Booking<'_>, command: &Command, step: &Step) -> Self {
        Self {
            key: booking.key.to_owned(),
            api_key: booking.api_key.map(str::to_owned),
            kind: step.transfer,
            amount: step.amount,
            reservation: command.reservation().map(str::to_owned),
            entries: step.entries,
        }
    }
}

/// A transfer whose key is taken fails on its entries, or is not counted.
const POSTGRES_ROWS: &str = "WITH t AS (
    INSERT INTO ledger_transfer (team_id, created_at, key, api_key_id, kind, amount, reservation)
    SELECT {}, {}, u.* FROM unnest({}, {}, {}, {}, {}) AS u ON CONFLICT (key) DO NOTHING RETURNING 1
), e AS (
    INSERT INTO ledger_entry (transfer_key, account, amount) SELECT u.* FROM unnest({}, {}, {}) AS u
), r AS (
    INSERT INTO reservation (team_id, created_at, posted, voided, key, api_key_id, amount, is_open, expires_at)
    SELECT $1, $2, 0, 0, u.* FROM unnest({}, {}, {}, {}, {}) AS u
), s AS (
    UPDATE reservation AS r SET posted = u.posted, voided = u.voided, is_open = u.posted + u.voided < r.amount
    FROM unnest({}, {}, {}) AS u(key, posted, voided) WHERE r.key = u.key
)
SELECT count(*) FROM t";

impl Rows {
    /// Writes them, and says how many of the transfers were new.
    pub(super) async fn insert(&self, conn: &mut Conn, team: &str, at: Timestamp) -> Result<usize> {
        if let Link::Pg(link) = &mut conn.link {
            let new: i64 = self.to_postgres(team, at).get_result(&mut **link).await?;
            return Ok(usize::try_from(new).unwrap_or(0));
        }
        let mut new = 0;
        for transfer in &self.transfers {
            new += usize::from(insert_transfer(conn, transfer, team, at).await?);
            insert_entries(conn, transfer).await?;
        }
        for reservation in &self.reservations {
            insert_reservation(conn, reservation, at).await?;
        }
        for (key, hold) in &self.changed {
            update_reservation(conn, key, *hold).await?;
        }
        Ok(new)
    }

    fn to_postgres<'a>(&'a self, team: &'a str, at: Timestamp) -> Sql<'a, Pg, BigInt> {
        fn column<'r, R: 'r, T>(rows: impl IntoIterator<Item = &'r R>, value: impl Fn(&'r R) -> T) -> Vec<T> {
            rows.into_iter().map(value).collect()
        }
        let Self { transfers, reservations, changed } = self;
        let entries = || transfers.iter().flat_map(|new| new.entries.iter().map(move |entry| (&*new.key, entry)));
        Sql::new(POSTGRES_ROWS)
            .bind::<Text, _>(team)
            .bind::<SqlTimestamp, _>(DbTime::from(at))
            .bind::<Array<Text>, _>(column(transfers, |new| &*new.key))
            .bind::<Array<Nullable<Text>>, _>(column(transfers, |new| new.api_key.as_deref()))
            .bind::<Array<Text>, _>(column(transfers, |new| new.kind.as_str()))
            .bind::<Array<BigInt>, _>(column(transfers, |new| new.amount))
            .bind::<Array<Nullable<Text>>, _>(column(transfers, |new| new.reservation.as_deref()))
            .bind::<Array<Text>, _>(entries().map(|(key, _)| key).collect::<Vec<_>>())
            .bind::<Array<Text>, _>(entries().map(|(_, entry)| entry.account.as_str()).collect::<Vec<_>>())
            .bind::<Array<BigInt>, _>(entries().map(|(_, entry)| entry.amount).collect::<Vec<_>>())
            .bind::<Array<Text>, _>(column(reservations, |new| &*new.key))
            .bind::<Array<Nullable<Text>>, _>(column(reservations, |new| new.api_key.as_deref()))
            .bind::<Array<BigInt>, _>(column(reservations, |new| new.hold.amount))
            .bind::<Array<Bool>, _>(column(reservations, |new| new.hold.remaining() > 0))
            .bind::<Array<SqlTimestamp>, _>(column(reservations, |new| DbTime::from(new.expires_at)))
            .bind::<Array<Text>, _>(changed.keys().map(String::as_str).collect::<Vec<_>>())
            .bind::<Array<BigInt>, _>(changed.values().map(|hold| hold.posted).collect::<Vec<_>>())
            .bind::<Array<BigInt>, _>(changed.values().map(|hold| hold.voided).collect::<Vec<_>>())
    }
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

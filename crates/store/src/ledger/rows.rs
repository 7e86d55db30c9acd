//! Rows of the ledger and the statements that write them.

use std::collections::BTreeMap;

use base::Timestamp;
use billing::{Applied, Balance, Command, Entry, Hold, LedgerError, Posting, Transfer};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamp as SqlTimestamp};
use diesel::sqlite::Sqlite;
use diesel_async::RunQueryDsl;
use futures_util::future::try_join;

use super::{Booked, Booking, Reservation};
use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::{Result, StoreError};
use crate::schema::{account, ledger_entry, ledger_transfer, reservation};
use crate::sql::Sql;
use crate::sqlite::AsyncSqlite;
use crate::usage;

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

/// Transfer to be written.
pub(super) struct NewTransfer {
    pub(super) key: String,
    api_key: Option<String>,
    kind: Transfer,
    amount: i64,
    reservation: Option<String>,
    entries: [Entry; 2],
}

/// Rows that several bookings of a team write, besides its account.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) transfers: Vec<NewTransfer>,
    /// New reservations.
    pub(super) reservations: Vec<Reservation>,
    /// Existing reservations with their new amounts.
    pub(super) changed: BTreeMap<String, Hold>,
}

/// Returns the result of the first call with this key, if there was one.
pub(super) async fn earlier(conn: &mut Conn, booking: &Booking<'_>, command: &Command) -> Result<Option<Applied>> {
    let query = ledger_transfer::table.find(booking.key);
    let found: Option<(String, TransferRow)> = on!(conn, |c| {
        query.select((ledger_transfer::team_id, TransferRow::as_select())).get_result(c).await.optional()
    })?;
    let Some((team, row)) = found else { return Ok(None) };
    // A key belongs to one booking for good: the same key with other values is an error of the caller, not a repeat.
    let same = team == booking.team
        && row.kind == command.transfer().as_str()
        && row.reservation.as_deref() == command.reservation()
        && command.amount().is_none_or(|amount| amount == row.amount);
    if same { Ok(Some(Applied::Before(row.amount))) } else { Err(LedgerError::KeyReused.into()) }
}

/// Locks the account of a team and returns its balance, with the amounts of the given reservations.
pub(super) async fn lock(conn: &mut Conn, team: &str, keys: &[&str]) -> Result<(Balance, BTreeMap<String, Hold>)> {
    let (account, of_team) = (account::table.find(team), reservation::table.filter(reservation::team_id.eq(team)));
    let (account, held): (Option<AccountRow>, Vec<ReservationRow>) = on!(
        conn,
        pg | c | {
            let (c, account) = (&*c, account.select(AccountRow::as_select()).for_update());
            let lock = async { account.get_result(&mut &*c).await.optional() };
            if keys.is_empty() {
                (lock.await?, Vec::new())
            } else {
                let held = of_team.filter(reservation::key.eq_any(keys)).select(ReservationRow::as_select());
                // Pipelined, but the server runs the second statement after it has the lock.
                try_join(lock, async { held.load(&mut &*c).await }).await?
            }
        },
        // The transaction began with BEGIN IMMEDIATE, so it is the only writer.
        sqlite | c | {
            let account = account.select(AccountRow::as_select()).get_result(c).await.optional()?;
            // SQLite compiles a list again for each length, and has no round trips to save.
            let mut held = Vec::with_capacity(keys.len());
            for key in keys {
                let one = of_team.filter(reservation::key.eq(key)).select(ReservationRow::as_select());
                held.extend(one.get_result(c).await.optional()?);
            }
            (account, held)
        }
    );
    let balance = account.map(Balance::from).ok_or(StoreError::UnknownTeam)?;
    let held = held.into_iter().map(Reservation::from).map(|found| (found.key, found.hold));
    Ok((balance, held.collect()))
}

/// Inserts a transfer; `false` if its key is taken.
async fn insert_transfer(conn: &mut AsyncSqlite, new: &NewTransfer, team: &str, at: Timestamp) -> Result<bool> {
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
    Ok(insert.execute(conn).await? == 1)
}

async fn insert_entries(conn: &mut AsyncSqlite, new: &NewTransfer) -> Result<()> {
    for Entry { account, amount } in new.entries {
        let row = (
            ledger_entry::transfer_key.eq(&new.key),
            ledger_entry::account.eq(account.as_str()),
            ledger_entry::amount.eq(amount),
        );
        diesel::insert_into(ledger_entry::table).values(row).execute(conn).await?;
    }
    Ok(())
}

async fn insert_reservation(conn: &mut AsyncSqlite, new: &Reservation, at: Timestamp) -> Result<()> {
    let row = ReservationRow {
        key: new.key.clone(),
        team_id: new.team.clone(),
        api_key_id: new.api_key.clone(),
        amount: new.hold.amount,
        posted: new.hold.posted,
        voided: new.hold.voided,
        // Derived, but stored: the partial index for expiry covers open reservations only.
        is_open: new.hold.remaining() > 0,
        expires_at: new.expires_at.into(),
        created_at: at.into(),
    };
    diesel::insert_into(reservation::table).values(&row).execute(conn).await?;
    Ok(())
}

async fn update_reservation(conn: &mut AsyncSqlite, key: &str, hold: Hold) -> Result<()> {
    let query = Sql::<Sqlite>::new("UPDATE reservation SET posted = {}, voided = {}, is_open = {} WHERE key = {}")
        .bind::<BigInt, _>(hold.posted)
        .bind::<BigInt, _>(hold.voided)
        .bind::<Bool, _>(hold.remaining() > 0)
        .bind::<Text, _>(key);
    query.execute(conn).await?;
    Ok(())
}

impl NewTransfer {
    pub(super) fn of(booking: &Booking<'_>, command: &Command, step: &Posting) -> Self {
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

impl Rows {
    /// Returns the rows of one command; `expires_at` is the expiry of a reservation that it creates.
    pub(super) fn of(booking: &Booking<'_>, command: &Command, step: &Posting, expires_at: Timestamp) -> Self {
        let mut rows = Self { transfers: vec![NewTransfer::of(booking, command, step)], ..Self::default() };
        match (command.reservation(), step.hold) {
            (Some(key), Some(hold)) => drop(rows.changed.insert(key.to_owned(), hold)),
            (None, Some(hold)) => rows.reservations.push(booking.reservation(hold.amount, expires_at)),
            (_, None) => {}
        }
        rows
    }
}

/// All changes by bookings of one team.
pub(super) struct Change<'a> {
    pub(super) team: &'a str,
    pub(super) at: Timestamp,
    /// Balance of the locked account before the bookings; `after` is the new one.
    pub(super) before: Balance,
    pub(super) after: Balance,
    pub(super) rows: &'a Rows,
    /// Credits spent, by API key.
    pub(super) spent: &'a BTreeMap<Option<&'a str>, i64>,
}

// Writes all changes in one statement. If the key of a transfer is taken, only the other transfers are written.
// - `v`: the scalar parameters: $1 team, $2 time, $3 number of transfers, $4 to $7 changes of the account, $8 day of
//   usage.
// - `t`: inserts the transfers ($9 to $13), skipping taken keys.
// - `w`: the row of `v` if every transfer was new, else empty; everything below selects from it and then does nothing.
// - `e`, `r`, `s`: insert the ledger entries ($14 to $16) and new reservations ($17 to $21), update existing ones ($22
//   to $24).
// - `d`: adds the spent credits to the usage of the day ($25 API keys, empty for calls without one; $26 credits).
// - `a`: updates the account. Its guard makes a negative balance impossible even if the locking were wrong.
// - The SELECT returns whether all transfers were new and whether the account was changed.
const POSTGRES: &str = "WITH v AS (
    SELECT {} AS team, {} AS at, {} AS transfers, {} AS available, {} AS reserved, {} AS spent, {} AS granted, {} AS day
), t AS (
    INSERT INTO ledger_transfer (team_id, created_at, key, api_key_id, kind, amount, reservation)
    SELECT v.team, v.at, u.* FROM v, unnest({}, {}, {}, {}, {}) AS u ON CONFLICT (key) DO NOTHING RETURNING 1
), w AS (
    SELECT v.* FROM v WHERE v.transfers = (SELECT count(*) FROM t)
), e AS (
    INSERT INTO ledger_entry (transfer_key, account, amount) SELECT u.* FROM w, unnest({}, {}, {}) AS u
), r AS (
    INSERT INTO reservation (team_id, created_at, posted, voided, key, api_key_id, amount, is_open, expires_at)
    SELECT w.team, w.at, 0, 0, u.* FROM w, unnest({}, {}, {}, {}, {}) AS u
), s AS (
    UPDATE reservation AS r SET posted = u.posted, voided = u.voided, is_open = u.posted + u.voided < r.amount
    FROM w, unnest({}, {}, {}) AS u(key, posted, voided) WHERE r.key = u.key
), d AS (
    INSERT INTO usage_day AS d (team_id, day, api_key_id, credits)
    SELECT w.team, w.day, u.* FROM w, unnest({}, {}) AS u
    ON CONFLICT (team_id, day, api_key_id) DO UPDATE SET credits = d.credits + excluded.credits
), a AS (
    UPDATE account AS a SET available = a.available + w.available, reserved = a.reserved + w.reserved,
        spent = a.spent + w.spent, granted = a.granted + w.granted
    FROM w WHERE a.team_id = w.team AND a.available >= -w.available AND a.reserved >= -w.reserved RETURNING 1
)
SELECT EXISTS (SELECT 1 FROM w), EXISTS (SELECT 1 FROM a)";

// Guarded like `a` in `POSTGRES`. Parameters: ?1 to ?4 changes of the account, ?5 team.
const SQLITE_ACCOUNT: &str =
    "UPDATE account SET available = available + {}, reserved = reserved + {}, spent = spent + {},
    granted = granted + {} WHERE team_id = {} AND available >= -?1 AND reserved >= -?2";

impl Change<'_> {
    /// Writes the changes; `false` if a key is taken, and then they are incomplete.
    pub(super) async fn write(&self, conn: &mut Conn) -> Result<bool> {
        let (are_new, is_changed): (bool, bool) =
            on!(conn, pg | c | self.to_postgres().get_result(c).await?, sqlite | c | self.to_sqlite(c).await?);
        if are_new && !is_changed {
            return Err(StoreError::Inconsistent(format!("the account of {} changed while it was locked", self.team)));
        }
        Ok(are_new)
    }

    /// Writes the changes on SQLite. Returns whether all transfers were new and whether the account was changed.
    async fn to_sqlite(&self, conn: &mut AsyncSqlite) -> Result<(bool, bool)> {
        let Self { team, at, rows, .. } = *self;
        for transfer in &rows.transfers {
            if !insert_transfer(conn, transfer, team, at).await? {
                return Ok((false, false));
            }
            insert_entries(conn, transfer).await?;
        }
        for reservation in &rows.reservations {
            insert_reservation(conn, reservation, at).await?;
        }
        for (key, hold) in &rows.changed {
            update_reservation(conn, key, *hold).await?;
        }
        for (api_key, credits) in self.spent {
            usage::record(conn, team, *api_key, at, *credits).await?;
        }
        Ok((true, self.update_account(conn).await?))
    }

    async fn update_account(&self, conn: &mut AsyncSqlite) -> Result<bool> {
        let [available, reserved, spent, granted] = self.sums();
        let query = Sql::<Sqlite>::new(SQLITE_ACCOUNT)
            .bind::<BigInt, _>(available)
            .bind::<BigInt, _>(reserved)
            .bind::<BigInt, _>(spent)
            .bind::<BigInt, _>(granted)
            .bind::<Text, _>(self.team);
        Ok(query.execute(conn).await? == 1)
    }

    /// Returns the amounts to add to the account: available, reserved, spent, granted.
    fn sums(&self) -> [i64; 4] {
        let (old, new) = (self.before, self.after);
        [new.available - old.available, new.reserved - old.reserved, new.spent - old.spent, new.granted - old.granted]
    }

    fn to_postgres(&self) -> Sql<'_, Pg, (Bool, Bool)> {
        fn column<'r, R: 'r, T>(rows: impl IntoIterator<Item = &'r R>, value: impl Fn(&'r R) -> T) -> Vec<T> {
            rows.into_iter().map(value).collect()
        }
        let Rows { transfers, reservations, changed } = self.rows;
        let entries = || transfers.iter().flat_map(|new| new.entries.iter().map(move |entry| (&*new.key, entry)));
        let [available, reserved, spent, granted] = self.sums();
        Sql::new(POSTGRES)
            .bind::<Text, _>(self.team)
            .bind::<SqlTimestamp, _>(DbTime::from(self.at))
            .bind::<BigInt, _>(i64::try_from(transfers.len()).unwrap_or(i64::MAX))
            .bind::<BigInt, _>(available)
            .bind::<BigInt, _>(reserved)
            .bind::<BigInt, _>(spent)
            .bind::<BigInt, _>(granted)
            .bind::<Text, _>(usage::day(self.at))
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
            .bind::<Array<Text>, _>(self.spent.keys().map(|key| key.unwrap_or_default()).collect::<Vec<_>>())
            .bind::<Array<BigInt>, _>(self.spent.values().copied().collect::<Vec<_>>())
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

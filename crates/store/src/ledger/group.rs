//! Group booking: several orders of one team with the number of statements of one.

use std::collections::BTreeMap;

use base::Timestamp;
use billing::{Balance, Command, Hold, LedgerError, Transfer, post_key, void_key};

use super::rows::{self, Change, NewTransfer, Rows};
use super::{Booking, Reservation};
use crate::conn::Conn;
use crate::error::{Result, StoreError};

/// Order of a group booking.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// Key of the booking; for [`Task::Settle`] that of the reservation.
    pub key: &'a str,
    /// Id of the API key, for the usage by key; for [`Task::Settle`] that of the reservation.
    pub api_key: Option<&'a str>,
    /// Operation to book.
    pub task: Task<'a>,
}

/// Operation of an order.
#[derive(Debug, Clone, Copy)]
pub enum Task<'a> {
    /// Reserves credits, as [`reserve`](super::reserve).
    Reserve {
        /// Credits.
        amount: i64,
        /// Time at which the rest is returned automatically.
        expires_at: Timestamp,
    },
    /// Settles a reservation, as [`settle`](super::settle).
    Settle {
        /// Reservation to settle.
        held: &'a Reservation,
        /// Credits to spend; zero returns all of them.
        amount: i64,
    },
    /// Charges credits, as [`charge`](super::charge).
    Charge {
        /// Credits.
        amount: i64,
    },
}

/// Result of an order: the reservation that it created, or the refusal.
pub type Outcome = std::result::Result<Option<Reservation>, LedgerError>;

/// Books orders of one team as if one after another. A refused reservation does not prevent the other orders. Must be
/// called in a transaction, which must not be committed after an error.
///
/// # Errors
/// [`StoreError::UnknownTeam`], [`StoreError::Ledger`] when an order other than a reservation is refused, and
/// [`StoreError::Inconsistent`] when an order is a repeat: then each order must be booked alone.
#[crate::boxed]
pub async fn book_all(conn: &mut Conn, team: &str, orders: &[Order<'_>], at: Timestamp) -> Result<Vec<Outcome>> {
    let keys: Vec<&str> = orders.iter().filter_map(Order::reservation).collect();
    let (balance, holds) = rows::lock(conn, team, &keys).await?;
    let mut group = Group { team, at, before: balance, balance, holds, rows: Rows::default(), spent: BTreeMap::new() };
    let mut booked = Vec::with_capacity(orders.len());
    for order in orders {
        booked.push(match group.book(order) {
            Ok(made) => Ok(made),
            Err(refusal) => group.refuse(conn, order, refusal).await?,
        });
    }
    group.write(conn).await?;
    Ok(booked)
}

/// State of the account and its reservations after the orders so far, and the rows to write.
struct Group<'a> {
    team: &'a str,
    at: Timestamp,
    before: Balance,
    balance: Balance,
    holds: BTreeMap<String, Hold>,
    rows: Rows,
    /// Credits spent, by API key.
    spent: BTreeMap<Option<&'a str>, i64>,
}

impl<'a> Order<'a> {
    fn reservation(&self) -> Option<&'a str> {
        match self.task {
            Task::Settle { held, .. } => Some(&held.key),
            Task::Reserve { .. } | Task::Charge { .. } => None,
        }
    }
}

impl<'a> Group<'a> {
    fn book(&mut self, order: &Order<'a>) -> Outcome {
        match order.task {
            Task::Reserve { amount, expires_at } => {
                self.step(order.key, order.api_key, &Command::Reserve { amount })?;
                let made = self.booking(order.key, order.api_key).reservation(amount, expires_at);
                self.rows.reservations.push(made.clone());
                Ok(Some(made))
            }
            Task::Settle { held, amount } => self.settle(order, held, amount).map(|()| None),
            Task::Charge { amount } => {
                self.step(order.key, order.api_key, &Command::Charge { amount })?;
                Ok(None)
            }
        }
    }

    fn settle(&mut self, order: &Order<'a>, held: &Reservation, amount: i64) -> std::result::Result<(), LedgerError> {
        let reservation = || held.key.clone();
        if amount != 0 {
            let post = Command::Post { reservation: reservation(), amount };
            self.step(&post_key(&held.key), order.api_key, &post)?;
        }
        let hold = self.holds.get(&held.key).ok_or(LedgerError::UnknownReservation)?;
        if hold.remaining() > 0 {
            let void = Command::Void { reservation: reservation() };
            self.step(&void_key(&held.key), order.api_key, &void)?;
        }
        Ok(())
    }

    /// Applies one command.
    fn step(&mut self, key: &str, api_key: Option<&'a str>, command: &Command) -> std::result::Result<(), LedgerError> {
        let hold = command.reservation().and_then(|reservation| self.holds.get(reservation)).copied();
        let step = billing::step(self.balance, hold, command)?;
        if let (Some(reservation), Some(hold)) = (command.reservation(), step.hold) {
            self.holds.insert(reservation.to_owned(), hold);
            self.rows.changed.insert(reservation.to_owned(), hold);
        }
        if matches!(step.transfer, Transfer::Post | Transfer::Charge) {
            *self.spent.entry(api_key).or_default() += step.amount;
        }
        let transfer = NewTransfer::of(&self.booking(key, api_key), command, &step);
        self.rows.transfers.push(transfer);
        self.balance = step.balance;
        Ok(())
    }

    fn booking<'b>(&self, key: &'b str, api_key: Option<&'b str>) -> Booking<'b>
    where
        'a: 'b,
    {
        Booking { key, team: self.team, api_key, at: self.at }
    }

    /// Accepts a refusal only for a reservation that is not a repeat of a successful one.
    async fn refuse(&self, conn: &mut Conn, order: &Order<'_>, refusal: LedgerError) -> Result<Outcome> {
        let Task::Reserve { amount, .. } = order.task else { return Err(refusal.into()) };
        if self.rows.transfers.iter().any(|new| new.key == order.key) {
            return Err(repeat(order.key));
        }
        let booking = self.booking(order.key, order.api_key);
        match rows::earlier(conn, &booking, &Command::Reserve { amount }).await {
            Ok(None) => Ok(Err(refusal)),
            Ok(Some(_)) => Err(repeat(order.key)),
            Err(StoreError::Ledger(refusal)) => Ok(Err(refusal)),
            Err(error) => Err(error),
        }
    }

    async fn write(self, conn: &mut Conn) -> Result<()> {
        let Self { team, at, before, balance: after, rows, spent, .. } = self;
        let Some(last) = rows.transfers.last() else { return Ok(()) };
        let change = Change { team, at, before, after, rows: &rows, spent: &spent };
        if change.write(conn).await? { Ok(()) } else { Err(repeat(&last.key)) }
    }
}

fn repeat(key: &str) -> StoreError {
    StoreError::Inconsistent(format!("{key}, or an order of the same group, is booked already"))
}

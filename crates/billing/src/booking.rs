//! One step of the ledger: takes a balance and a command, returns the entries and the new balance.
//!
//! Both the database and the in-memory model use this step, so they cannot diverge.

use thiserror::Error;

/// Accounts of a team. All entries on the four accounts add up to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// Credits available to be reserved.
    Available,
    /// Credits reserved for work in progress.
    Reserved,
    /// Credits spent.
    Spent,
    /// Source of all credits; its entries are negative.
    Granted,
}

/// Kind of a transfer between two accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transfer {
    /// Granted → available.
    Grant,
    /// Available → reserved.
    Reserve,
    /// Reserved → spent.
    Post,
    /// Reserved → available.
    Void,
    /// Granted → spent: a team with unlimited credits is charged afterwards, without a reservation.
    Charge,
}

/// Signed amount, in credits, on one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Account that changes.
    pub account: Account,
    /// Amount added; negative amounts are deducted.
    pub amount: i64,
}

/// Command to the ledger. Amounts are in credits and positive. A reservation is identified by the key of its
/// [`Command::Reserve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Grants credits to a team.
    Grant {
        /// Amount in credits.
        amount: i64,
    },
    /// Reserves credits.
    Reserve {
        /// Amount in credits.
        amount: i64,
    },
    /// Spends from a reservation. The reservation closes when nothing is left.
    Post {
        /// Key of the reservation.
        reservation: String,
        /// Amount in credits; at most what is left of the reservation.
        amount: i64,
    },
    /// Returns what is left of a reservation, and closes it.
    Void {
        /// Key of the reservation.
        reservation: String,
    },
    /// Spends without a reservation, for a team with unlimited credits.
    Charge {
        /// Amount in credits.
        amount: i64,
    },
}

/// Balance of a team, in credits. `available + reserved + spent == granted`, and no field is ever negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Balance {
    /// Credits available to be reserved.
    pub available: i64,
    /// Credits reserved.
    pub reserved: i64,
    /// Credits spent.
    pub spent: i64,
    /// Credits granted in total, including charges to a team with unlimited credits.
    pub granted: i64,
}

/// State of a reservation, in credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// Amount reserved.
    pub amount: i64,
    /// Amount spent from it.
    pub posted: i64,
    /// Amount returned.
    pub voided: i64,
}

/// Result of a command: the rows to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// Kind of the transfer.
    pub transfer: Transfer,
    /// Amount moved; for a void, what was left of the reservation.
    pub amount: i64,
    /// The two entries of the transfer.
    pub entries: [Entry; 2],
    /// Balance after the transfer.
    pub balance: Balance,
    /// Reservation after the transfer, if the command has one.
    pub hold: Option<Hold>,
}

/// Reason why a command is refused. Nothing is written in that case.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LedgerError {
    /// The amount is zero or negative, or a sum overflows 64 bits.
    #[error("amount {0} cannot be booked: it is not positive, or a sum overflows")]
    Amount(i64),
    /// The team has too few credits.
    #[error("insufficient credits: {needed} needed, {available} available")]
    Insufficient {
        /// Credits requested.
        needed: i64,
        /// Credits available.
        available: i64,
    },
    /// The amount exceeds what is left of the reservation.
    #[error("cannot post {needed} credits: the reservation has {remaining} left")]
    Overdrawn {
        /// Credits requested.
        needed: i64,
        /// Credits left in the reservation.
        remaining: i64,
    },
    /// The team has no reservation with this key.
    #[error("unknown reservation")]
    UnknownReservation,
    /// The reservation was settled, or it expired.
    #[error("the reservation is closed")]
    Closed,
    /// The key was used for another command.
    #[error("the idempotency key was used for another command")]
    KeyReused,
}

/// Returns the two entries of a transfer. They add up to zero.
#[must_use]
pub fn entries(transfer: Transfer, amount: i64) -> [Entry; 2] {
    let (from, to) = match transfer {
        Transfer::Grant => (Account::Granted, Account::Available),
        Transfer::Reserve => (Account::Available, Account::Reserved),
        Transfer::Post => (Account::Reserved, Account::Spent),
        Transfer::Void => (Account::Reserved, Account::Available),
        Transfer::Charge => (Account::Granted, Account::Spent),
    };
    [Entry { account: from, amount: -amount }, Entry { account: to, amount }]
}

/// Applies a command to a balance. `hold` is the team's reservation that a post or void refers to, if it exists.
///
/// # Errors
/// [`LedgerError`], except [`LedgerError::KeyReused`], which the caller detects because it knows the keys.
pub fn step(balance: Balance, hold: Option<Hold>, command: &Command) -> Result<Posting, LedgerError> {
    let (transfer, amount, hold) = match command {
        Command::Grant { amount } => (Transfer::Grant, positive(*amount)?, None),
        Command::Charge { amount } => (Transfer::Charge, positive(*amount)?, None),
        Command::Reserve { amount } => {
            let amount = positive(*amount)?;
            if balance.available < amount {
                return Err(LedgerError::Insufficient { needed: amount, available: balance.available });
            }
            (Transfer::Reserve, amount, Some(Hold { amount, posted: 0, voided: 0 }))
        }
        Command::Post { amount, .. } => {
            let (needed, hold) = (positive(*amount)?, open(hold)?);
            if hold.remaining() < needed {
                return Err(LedgerError::Overdrawn { needed, remaining: hold.remaining() });
            }
            (Transfer::Post, needed, Some(Hold { posted: hold.posted + needed, ..hold }))
        }
        Command::Void { .. } => {
            let hold = open(hold)?;
            (Transfer::Void, hold.remaining(), Some(Hold { voided: hold.remaining(), ..hold }))
        }
    };
    let entries = entries(transfer, amount);
    Ok(Posting { transfer, amount, entries, balance: balance.after(&entries)?, hold })
}

/// Returns the key for spending a reservation that is settled in one go.
#[must_use]
pub fn post_key(reservation: &str) -> String {
    format!("{reservation}/post")
}

/// Returns the key for returning the rest of a reservation. One key per reservation makes the void idempotent.
#[must_use]
pub fn void_key(reservation: &str) -> String {
    format!("{reservation}/void")
}

impl Account {
    /// All accounts.
    pub const ALL: [Account; 4] = [Account::Available, Account::Reserved, Account::Spent, Account::Granted];

    /// Returns the name in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Account::Available => "available",
            Account::Reserved => "reserved",
            Account::Spent => "spent",
            Account::Granted => "granted",
        }
    }
}

impl Transfer {
    /// All kinds of transfers.
    pub const ALL: [Transfer; 5] =
        [Transfer::Grant, Transfer::Reserve, Transfer::Post, Transfer::Void, Transfer::Charge];

    /// Returns the name in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Transfer::Grant => "grant",
            Transfer::Reserve => "reserve",
            Transfer::Post => "post",
            Transfer::Void => "void",
            Transfer::Charge => "charge",
        }
    }
}

impl Command {
    /// Returns the kind of transfer that the command makes.
    #[must_use]
    pub const fn transfer(&self) -> Transfer {
        match self {
            Command::Grant { .. } => Transfer::Grant,
            Command::Reserve { .. } => Transfer::Reserve,
            Command::Post { .. } => Transfer::Post,
            Command::Void { .. } => Transfer::Void,
            Command::Charge { .. } => Transfer::Charge,
        }
    }

    /// Returns the amount of the command; a void has none.
    #[must_use]
    pub const fn amount(&self) -> Option<i64> {
        match self {
            Command::Grant { amount }
            | Command::Reserve { amount }
            | Command::Charge { amount }
            | Command::Post { amount, .. } => Some(*amount),
            Command::Void { .. } => None,
        }
    }

    /// Returns the key of the existing reservation that the command works on.
    #[must_use]
    pub fn reservation(&self) -> Option<&str> {
        match self {
            Command::Post { reservation, .. } | Command::Void { reservation } => Some(reservation),
            Command::Grant { .. } | Command::Reserve { .. } | Command::Charge { .. } => None,
        }
    }
}

impl Balance {
    /// Returns the balance after the entries.
    ///
    /// # Errors
    /// [`LedgerError::Amount`] if a sum overflows 64 bits.
    pub fn after(self, entries: &[Entry]) -> Result<Balance, LedgerError> {
        let mut next = self;
        for Entry { account, amount } in entries {
            let (sum, change) = match account {
                Account::Available => (&mut next.available, *amount),
                Account::Reserved => (&mut next.reserved, *amount),
                Account::Spent => (&mut next.spent, *amount),
                // Entries on this account are negative, but the balance counts what was granted as positive.
                Account::Granted => (&mut next.granted, -*amount),
            };
            *sum = sum.checked_add(change).ok_or(LedgerError::Amount(*amount))?;
        }
        Ok(next)
    }
}

impl Hold {
    /// Returns the credits that can still be posted; zero means closed.
    #[must_use]
    pub const fn remaining(&self) -> i64 {
        self.amount - self.posted - self.voided
    }
}

fn positive(amount: i64) -> Result<i64, LedgerError> {
    if amount > 0 { Ok(amount) } else { Err(LedgerError::Amount(amount)) }
}

fn open(hold: Option<Hold>) -> Result<Hold, LedgerError> {
    let hold = hold.ok_or(LedgerError::UnknownReservation)?;
    if hold.remaining() > 0 { Ok(hold) } else { Err(LedgerError::Closed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RICH: Balance = Balance { available: 10, reserved: 0, spent: 0, granted: 10 };

    #[test]
    fn every_transfer_adds_up_to_zero() {
        for transfer in Transfer::ALL {
            assert_eq!(entries(transfer, 7).iter().map(|entry| entry.amount).sum::<i64>(), 0, "{transfer:?}");
        }
    }

    #[test]
    fn refusals_name_their_reason() {
        let check = |hold: Option<Hold>, command: Command, expect: LedgerError| {
            assert_eq!(step(RICH, hold, &command), Err(expect), "{command:?}");
        };
        let post = |amount| Command::Post { reservation: "r".into(), amount };
        let void = Command::Void { reservation: "r".into() };
        let half = Some(Hold { amount: 4, posted: 2, voided: 0 });
        check(None, Command::Grant { amount: 0 }, LedgerError::Amount(0));
        check(None, Command::Grant { amount: i64::MAX }, LedgerError::Amount(-i64::MAX));
        check(None, Command::Charge { amount: -1 }, LedgerError::Amount(-1));
        check(None, Command::Reserve { amount: 11 }, LedgerError::Insufficient { needed: 11, available: 10 });
        check(None, post(1), LedgerError::UnknownReservation);
        check(half, post(3), LedgerError::Overdrawn { needed: 3, remaining: 2 });
        check(Some(Hold { amount: 4, posted: 4, voided: 0 }), void, LedgerError::Closed);
    }
}

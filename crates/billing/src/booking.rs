//! One step of the ledger: a balance and a command in, entries and the new balance out.
//!
//! The database and the model both take this step, so what they book cannot differ.

use thiserror::Error;

/// The four accounts of a team. Their entries always add up to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// Credits that can be reserved.
    Available,
    /// Credits set aside for work that has begun.
    Reserved,
    /// Credits used up.
    Spent,
    /// Where credits come from: its entries are negative.
    Granted,
}

/// The kinds of transfer, each from one account to another.
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
    /// Granted → spent: a team without a limit pays nothing in advance.
    Charge,
}

/// A signed amount, in credits, on one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The account.
    pub account: Account,
    /// What is added to it; negative takes away.
    pub amount: i64,
}

/// What is asked of the ledger. Amounts are in credits and above zero. A reservation is named by the key of its
/// [`Command::Reserve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Give credits to a team.
    Grant {
        /// Credits.
        amount: i64,
    },
    /// Set credits aside.
    Reserve {
        /// Credits.
        amount: i64,
    },
    /// Spend from a reservation. It closes when nothing is left.
    Post {
        /// The key of the reservation.
        reservation: String,
        /// Credits; at most what is left.
        amount: i64,
    },
    /// Give back what is left of a reservation, and close it.
    Void {
        /// The key of the reservation.
        reservation: String,
    },
    /// Spend without a limit.
    Charge {
        /// Credits.
        amount: i64,
    },
}

/// What a team has, in credits. `available + reserved + spent == granted`, and none is ever below zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Balance {
    /// Can be reserved.
    pub available: i64,
    /// Set aside.
    pub reserved: i64,
    /// Used up.
    pub spent: i64,
    /// Ever given, charges of a team without a limit included.
    pub granted: i64,
}

/// A reservation, in credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// What was set aside.
    pub amount: i64,
    /// What was spent of it.
    pub posted: i64,
    /// What was given back.
    pub voided: i64,
}

/// A command carried out: what to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The kind.
    pub transfer: Transfer,
    /// The amount moved; for a void, what was left.
    pub amount: i64,
    /// The two entries.
    pub entries: [Entry; 2],
    /// The balance after it.
    pub balance: Balance,
    /// The reservation after it, when the command has one.
    pub hold: Option<Hold>,
}

/// Why a command is refused. Nothing is written then.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LedgerError {
    /// The amount is zero or negative, or the sum leaves 64 bits.
    #[error("amount {0} cannot be booked")]
    Amount(i64),
    /// The team has too little.
    #[error("{needed} credits are needed and {available} are available")]
    Insufficient {
        /// What was asked for.
        needed: i64,
        /// What there is.
        available: i64,
    },
    /// More is to be spent than the reservation has left.
    #[error("{needed} credits are to be posted and the reservation has {remaining} left")]
    Overdrawn {
        /// What was asked for.
        needed: i64,
        /// What is left.
        remaining: i64,
    },
    /// The team has no reservation of that name.
    #[error("there is no such reservation")]
    UnknownReservation,
    /// The reservation has nothing left: it was settled, or it expired.
    #[error("the reservation is closed")]
    Closed,
    /// The key names another command.
    #[error("the key was used for another command")]
    KeyReused,
}

/// The two entries of a transfer. They add up to zero.
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

/// Carries out a command on a balance. `hold` is the team's reservation that a post or a void names, if it exists.
///
/// # Errors
/// [`LedgerError`], except [`LedgerError::KeyReused`], which needs to know the keys.
pub fn step(balance: Balance, hold: Option<Hold>, command: &Command) -> Result<Step, LedgerError> {
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
    Ok(Step { transfer, amount, entries, balance: balance.after(&entries)?, hold })
}

/// The key under which a reservation that is settled in one go is spent.
#[must_use]
pub fn post_key(reservation: &str) -> String {
    format!("{reservation}/post")
}

/// The key under which what is left of a reservation is given back. There is one, so it happens once.
#[must_use]
pub fn void_key(reservation: &str) -> String {
    format!("{reservation}/void")
}

impl Account {
    /// All of them.
    pub const ALL: [Account; 4] = [Account::Available, Account::Reserved, Account::Spent, Account::Granted];

    /// The name in the database.
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
    /// All of them.
    pub const ALL: [Transfer; 5] =
        [Transfer::Grant, Transfer::Reserve, Transfer::Post, Transfer::Void, Transfer::Charge];

    /// The name in the database.
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
    /// The kind of transfer it makes.
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

    /// The amount it names; a void names none.
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

    /// The reservation it works on, when it is not the one it makes.
    #[must_use]
    pub fn reservation(&self) -> Option<&str> {
        match self {
            Command::Post { reservation, .. } | Command::Void { reservation } => Some(reservation),
            Command::Grant { .. } | Command::Reserve { .. } | Command::Charge { .. } => None,
        }
    }
}

impl Balance {
    /// The balance after some entries.
    ///
    /// # Errors
    /// [`LedgerError::Amount`] when a sum leaves 64 bits.
    pub fn after(self, entries: &[Entry]) -> Result<Balance, LedgerError> {
        let mut next = self;
        for Entry { account, amount } in entries {
            let (sum, change) = match account {
                Account::Available => (&mut next.available, *amount),
                Account::Reserved => (&mut next.reserved, *amount),
                Account::Spent => (&mut next.spent, *amount),
                Account::Granted => (&mut next.granted, -*amount),
            };
            *sum = sum.checked_add(change).ok_or(LedgerError::Amount(*amount))?;
        }
        Ok(next)
    }
}

impl Hold {
    /// What can still be posted; zero means closed.
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

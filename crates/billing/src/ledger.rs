//! In-memory ledger: the simplest implementation of the rules, used as the model in tests of the database.

use std::collections::BTreeMap;

use crate::booking::{Balance, Command, Entry, Hold, LedgerError, Posting, step};

/// Balances, reservations and transfers of any number of teams.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    balances: BTreeMap<String, Balance>,
    holds: BTreeMap<String, (String, Hold)>,
    records: BTreeMap<String, Record>,
}

/// Booked transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Team of the transfer.
    pub team: String,
    /// Command that made the transfer.
    pub command: Command,
    /// Amount moved, in credits.
    pub amount: i64,
    /// Entries of the transfer.
    pub entries: [Entry; 2],
}

/// Result of a command that was not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// Booked by this call; contains the amount moved, in credits.
    Now(i64),
    /// Already booked by an earlier call with the same key; contains the amount moved then.
    Before(i64),
}

impl Ledger {
    /// Applies `command` under an idempotency key that is unique across teams. Repeating it changes nothing.
    ///
    /// # Errors
    /// [`LedgerError`]; nothing is changed in that case.
    pub fn apply(&mut self, team: &str, key: &str, command: &Command) -> Result<Applied, LedgerError> {
        if let Some(record) = self.records.get(key) {
            let same = record.team == team && record.command == *command;
            return if same { Ok(Applied::Before(record.amount)) } else { Err(LedgerError::KeyReused) };
        }
        // A reserve command names its own reservation: it is stored under the key of the command.
        let named = command.reservation().unwrap_or(key);
        let hold = self.holds.get(named).filter(|(owner, _)| owner == team).map(|(_, hold)| *hold);
        let Posting { amount, entries, balance, hold, .. } = step(self.balance(team), hold, command)?;
        if let Some(hold) = hold {
            self.holds.insert(named.to_owned(), (team.to_owned(), hold));
        }
        self.balances.insert(team.to_owned(), balance);
        let record = Record { team: team.to_owned(), command: command.clone(), amount, entries };
        self.records.insert(key.to_owned(), record);
        Ok(Applied::Now(amount))
    }

    /// Returns the balance of a team; all zero for an unknown team.
    #[must_use]
    pub fn balance(&self, team: &str) -> Balance {
        self.balances.get(team).copied().unwrap_or_default()
    }

    /// Returns a reservation of a team.
    #[must_use]
    pub fn hold(&self, team: &str, reservation: &str) -> Option<Hold> {
        self.holds.get(reservation).filter(|(owner, _)| owner == team).map(|(_, hold)| *hold)
    }

    /// Returns every transfer with its key.
    pub fn records(&self) -> impl Iterator<Item = (&str, &Record)> {
        self.records.iter().map(|(key, record)| (key.as_str(), record))
    }

    /// Checks the invariants of the ledger and reports the first that is violated.
    ///
    /// # Errors
    /// Description of the violated invariant, with its figures.
    pub fn invariants(&self) -> Result<(), String> {
        for (key, record) in &self.records {
            if record.entries.iter().map(|entry| entry.amount).sum::<i64>() != 0 {
                return Err(format!("transfer {key} does not add up to zero"));
            }
        }
        for (reservation, (_, hold)) in &self.holds {
            if hold.posted < 0 || hold.voided < 0 || hold.remaining() < 0 {
                return Err(format!("reservation {reservation} is out of bounds: {hold:?}"));
            }
        }
        self.balances.keys().try_for_each(|team| self.check_team(team))
    }

    fn check_team(&self, team: &str) -> Result<(), String> {
        let balance = self.balance(team);
        let Balance { available, reserved, spent, granted } = balance;
        if available < 0 || reserved < 0 || spent < 0 || available + reserved + spent != granted {
            return Err(format!("balance of {team} is out of bounds: {balance:?}"));
        }
        let mut sum = Balance::default();
        for record in self.records.values().filter(|record| record.team == team) {
            sum = sum.after(&record.entries).map_err(|error| error.to_string())?;
        }
        if sum != balance {
            return Err(format!("balance of {team} is {balance:?} and its entries add up to {sum:?}"));
        }
        let held: i64 = self.holds.values().filter(|(owner, _)| owner == team).map(|(_, hold)| hold.remaining()).sum();
        if held != reserved {
            return Err(format!("{team} has {reserved} reserved and holds of {held}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_key_changes_nothing() {
        let mut ledger = Ledger::default();
        let grant = Command::Grant { amount: 5 };
        assert_eq!(ledger.apply("a", "k", &grant), Ok(Applied::Now(5)));
        assert_eq!(ledger.apply("a", "k", &grant), Ok(Applied::Before(5)));
        assert_eq!(ledger.apply("a", "k", &Command::Grant { amount: 6 }), Err(LedgerError::KeyReused));
        assert_eq!(ledger.apply("b", "k", &grant), Err(LedgerError::KeyReused));
        assert_eq!(ledger.balance("a").available, 5);
        assert_eq!(ledger.invariants(), Ok(()));
    }

    #[test]
    fn a_reservation_belongs_to_its_team() {
        let mut ledger = Ledger::default();
        ledger.apply("a", "g", &Command::Grant { amount: 5 }).unwrap();
        ledger.apply("a", "r", &Command::Reserve { amount: 3 }).unwrap();
        let void = Command::Void { reservation: "r".into() };
        assert_eq!(ledger.apply("b", "v", &void), Err(LedgerError::UnknownReservation));
        assert_eq!(ledger.apply("a", "v", &void), Ok(Applied::Now(3)));
        assert_eq!(ledger.apply("a", "w", &void), Err(LedgerError::Closed));
        assert_eq!(ledger.balance("a"), Balance { available: 5, reserved: 0, spent: 0, granted: 5 });
    }
}

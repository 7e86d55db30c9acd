//! The ledger in memory: the plainest thing that keeps the rules, against which the database is tested.

use std::collections::BTreeMap;

use crate::booking::{Balance, Command, Entry, Hold, LedgerError, Step, step};

/// Balances, reservations and the transfers that led to them, for any number of teams.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    balances: BTreeMap<String, Balance>,
    holds: BTreeMap<String, (String, Hold)>,
    records: BTreeMap<String, Record>,
}

/// A transfer that was booked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The team that it belongs to.
    pub team: String,
    /// What was asked.
    pub command: Command,
    /// What was moved, in credits.
    pub amount: i64,
    /// What was written.
    pub entries: [Entry; 2],
}

/// The answer to a command that is not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// Booked by this call; the amount moved, in credits.
    Now(i64),
    /// Booked by an earlier call with the same key; the amount moved then.
    Before(i64),
}

impl Ledger {
    /// Carries out `command` under a key that is unique over all teams. A repeat changes nothing.
    ///
    /// # Errors
    /// [`LedgerError`]; nothing is changed then.
    pub fn apply(&mut self, team: &str, key: &str, command: &Command) -> Result<Applied, LedgerError> {
        if let Some(record) = self.records.get(key) {
            let same = record.team == team && record.command == *command;
            return if same { Ok(Applied::Before(record.amount)) } else { Err(LedgerError::KeyReused) };
        }
        let named = command.reservation().unwrap_or(key);
        let hold = self.holds.get(named).filter(|(owner, _)| owner == team).map(|(_, hold)| *hold);
        let Step { amount, entries, balance, hold, .. } = step(self.balance(team), hold, command)?;
        if let Some(hold) = hold {
            self.holds.insert(named.to_owned(), (team.to_owned(), hold));
        }
        self.balances.insert(team.to_owned(), balance);
        let record = Record { team: team.to_owned(), command: command.clone(), amount, entries };
        self.records.insert(key.to_owned(), record);
        Ok(Applied::Now(amount))
    }

    /// What a team has; zeroes for a team the ledger never heard of.
    #[must_use]
    pub fn balance(&self, team: &str) -> Balance {
        self.balances.get(team).copied().unwrap_or_default()
    }

    /// A team's reservation.
    #[must_use]
    pub fn hold(&self, team: &str, reservation: &str) -> Option<Hold> {
        self.holds.get(reservation).filter(|(owner, _)| owner == team).map(|(_, hold)| *hold)
    }

    /// Every transfer by its key.
    pub fn records(&self) -> impl Iterator<Item = (&str, &Record)> {
        self.records.iter().map(|(key, record)| (key.as_str(), record))
    }

    /// Checks what must always hold; the text names the first thing that does not.
    ///
    /// # Errors
    /// The broken rule and its figures.
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

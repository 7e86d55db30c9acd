//! Teams with credits, and the audit of their ledger.

use base::Timestamp;
use billing::Balance;
use store::ledger::{self, Booking};
use store::teams::{self, Team};
use store::{Conn, Store};

use crate::at;

/// Returns a booking without an API key.
pub(crate) fn booking<'a>(key: &'a str, team: &'a str, at: Timestamp) -> Booking<'a> {
    Booking { key, team, api_key: None, at }
}

/// Creates a team with these credits.
pub(crate) async fn rich_team(store: &Store, team: &str, credits: i64) {
    let mut conn = store.conn().await.unwrap();
    teams::create(&mut conn, &Team::new(team, team, at(0))).await.unwrap();
    if credits > 0 {
        ledger::grant(&mut conn, &booking(&format!("plan:{team}"), team, at(0)), credits).await.unwrap();
    }
}

/// Checks that the entries of each transfer add up to zero and those of the team to its balance; returns the balance.
pub(crate) async fn audit(conn: &mut Conn, team: &str) -> Balance {
    let mut sums = [("available", 0), ("granted", 0), ("reserved", 0), ("spent", 0)];
    for booked in ledger::history(conn, team, None, 100_000).await.unwrap() {
        assert_eq!(booked.entries.len(), 2, "{booked:?}");
        assert_eq!(booked.entries.iter().map(|(_, amount)| amount).sum::<i64>(), 0, "{booked:?}");
        for (account, amount) in &booked.entries {
            sums.iter_mut().find(|(name, _)| name == account).unwrap().1 += amount;
        }
    }
    let [(_, available), (_, granted), (_, reserved), (_, spent)] = sums;
    let balance = ledger::balance(conn, team).await.unwrap();
    assert_eq!(balance, Balance { available, reserved, spent, granted: -granted });
    balance
}

//! Bookings of requests: their changes, and how a group of them becomes one transaction. [`lines`] does the queueing.

mod lines;
mod record;

use std::collections::BTreeMap;

use base::Timestamp;
use cache::{PageToKeep, write_pages};
use store::ledger::{self, Booking, Order, Reservation, Task};
use store::{Conn, StoreError};

use crate::App;

use self::lines::Waiting;

pub(crate) use self::lines::Bookings;
pub use self::record::Record;

/// Source of the credits for a request.
#[derive(Clone)]
pub(crate) enum Source {
    Reserved(Held),
    /// A team without a credit limit: nothing is reserved, the charge is booked at the end.
    Unlimited {
        key: String,
        team: String,
        api_key: Option<String>,
    },
}

/// Reservations of one request: the first one, and those that were added when it turned out to cost more.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) first: Reservation,
    pub(crate) more: Vec<Reservation>,
}

impl Held {
    /// Distributes `credits` over the reservations, earlier ones first.
    fn parts(&self, credits: i64) -> impl Iterator<Item = (&Reservation, i64)> {
        let mut left = credits;
        std::iter::once(&self.first).chain(&self.more).enumerate().map(move |(index, held)| {
            // The last one gets all that is left, so that an amount beyond all reservations is refused.
            let part = if index == self.more.len() { left } else { left.min(held.hold.amount) };
            left -= part;
            (held, part)
        })
    }

    pub(crate) fn amount(&self) -> i64 {
        std::iter::once(&self.first).chain(&self.more).map(|held| held.hold.amount).sum()
    }

    fn orders(&self, credits: i64) -> Vec<Order<'_>> {
        let order = |(held, amount): (_, _)| {
            let held: &Reservation = held;
            Order { key: &held.key, api_key: held.api_key.as_deref(), task: Task::Settle { held, amount } }
        };
        self.parts(credits).map(order).collect()
    }

    async fn settle(&self, conn: &mut Conn, credits: i64, at: Timestamp) -> Result<(), StoreError> {
        for (held, amount) in self.parts(credits) {
            ledger::settle(conn, held, amount, at).await?;
        }
        Ok(())
    }
}

/// Change to be written.
pub(crate) enum Change {
    Reserve {
        source: Source,
        amount: i64,
        expires_at: Timestamp,
    },
    /// Charges, returns the rest, and inserts the row of the request and its page.
    Settle {
        source: Source,
        credits: i64,
        record: Option<Record>,
        page: Option<PageToKeep>,
    },
    /// Returns everything that is reserved.
    Release(Held),
}

/// Result of a change: the reservation that [`Change::Reserve`] made.
type Written = Result<Option<Reservation>, StoreError>;

impl Change {
    fn team(&self) -> &str {
        match self {
            Self::Reserve { source, .. } | Self::Settle { source, .. } => source.team(),
            Self::Release(held) => &held.first.team,
        }
    }

    /// Returns the page to be written with the change.
    fn page(&self) -> Option<&PageToKeep> {
        match self {
            Self::Settle { page, .. } => page.as_ref(),
            Self::Reserve { .. } | Self::Release(_) => None,
        }
    }

    /// Returns the row to be written with the change.
    fn record(&self) -> Option<&Record> {
        match self {
            Self::Settle { record, .. } => record.as_ref(),
            Self::Reserve { .. } | Self::Release(_) => None,
        }
    }

    /// Returns the ledger orders of the change, in sequence. A team without a limit books nothing for free requests.
    fn orders(&self) -> Vec<Order<'_>> {
        match self {
            Self::Reserve { source, amount, expires_at } => vec![source.reserve(*amount, *expires_at)],
            Self::Settle { source: Source::Reserved(held), credits, .. } => held.orders(*credits),
            Self::Settle { source: Source::Unlimited { key, api_key, .. }, credits, .. } if *credits > 0 => {
                vec![Order { key, api_key: api_key.as_deref(), task: Task::Charge { amount: *credits } }]
            }
            Self::Settle { .. } => Vec::new(),
            Self::Release(held) => held.orders(0),
        }
    }

    /// Writes everything except the page.
    async fn write(&self, conn: &mut Conn, at: Timestamp) -> Written {
        match self {
            Self::Reserve { source, amount, expires_at } => {
                ledger::reserve(conn, &source.booking(at), *amount, *expires_at).await.map(Some)
            }
            Self::Settle { source, credits, record, .. } => {
                settle(conn, source, *credits, at).await?;
                if let Some(record) = record {
                    record.insert(conn).await?;
                }
                Ok(None)
            }
            Self::Release(held) => held.settle(conn, 0, at).await.map(|()| None),
        }
    }
}

impl Source {
    pub(crate) fn team(&self) -> &str {
        match self {
            Self::Reserved(held) => &held.first.team,
            Self::Unlimited { team, .. } => team,
        }
    }

    /// Returns the ledger key, and the id of the API key.
    fn key(&self) -> (&str, Option<&str>) {
        match self {
            Self::Reserved(held) => (&held.first.key, held.first.api_key.as_deref()),
            Self::Unlimited { key, api_key, .. } => (key, api_key.as_deref()),
        }
    }

    fn booking(&self, at: Timestamp) -> Booking<'_> {
        let (key, api_key) = self.key();
        Booking { key, team: self.team(), api_key, at }
    }

    fn reserve(&self, amount: i64, expires_at: Timestamp) -> Order<'_> {
        let (key, api_key) = self.key();
        Order { key, api_key, task: Task::Reserve { amount, expires_at } }
    }
}

/// Charges, and returns the rest.
pub(crate) async fn settle(conn: &mut Conn, source: &Source, credits: i64, at: Timestamp) -> Result<(), StoreError> {
    match source {
        Source::Reserved(held) => held.settle(conn, credits, at).await,
        Source::Unlimited { .. } if credits > 0 => ledger::charge(conn, &source.booking(at), credits).await.map(drop),
        Source::Unlimited { .. } => Ok(()),
    }
}

/// Writes a group in one transaction; if that fails, writes each change on its own.
async fn write_group(app: &App, group: Vec<Waiting>) {
    let mut conn = match app.store().writing().await {
        Ok(conn) => conn,
        Err(error) => return group.into_iter().for_each(|waiting| waiting.tell(Err(error.again()))),
    };
    let at = app.now();
    // A single change needs no group attempt first.
    let group = match <[Waiting; 1]>::try_from(group) {
        Ok([alone]) => return write_alone(&mut conn, alone, at).await,
        Err(group) => group,
    };
    match together(&mut conn, &group, at).await {
        Ok(written) => group.into_iter().zip(written).for_each(|(waiting, written)| waiting.tell(written)),
        // Unknown whether it was committed. Callers that get an error return their reservations, under a key that
        // counts once.
        Err(error) if error.is_away() => group.into_iter().for_each(|waiting| waiting.tell(Err(error.again()))),
        Err(error) => {
            tracing::debug!(%error, changes = group.len(), "could not write a group of bookings; writing each on its own");
            for waiting in group {
                write_alone(&mut conn, waiting, at).await;
            }
        }
    }
}

async fn write_alone(conn: &mut Conn, waiting: Waiting, at: Timestamp) {
    let change = &waiting.change;
    let write = conn.tx(async |conn: &mut Conn| {
        let written = change.write(conn, at).await?;
        write_pages(conn, change.page().into_iter().collect()).await?;
        Ok(written)
    });
    let written = write.await;
    waiting.tell(written);
}

/// Writes a group in one transaction. A refused reservation does not affect the others.
async fn together(conn: &mut Conn, group: &[Waiting], at: Timestamp) -> Result<Vec<Written>, StoreError> {
    fail::fail_point!("bookings_together", |_| { Err(StoreError::Inconsistent("on purpose".to_owned())) });
    conn.tx(async |conn: &mut Conn| {
        let mut booked = BTreeMap::new();
        for (team, orders) in by_team(group) {
            let (places, orders): (Vec<usize>, Vec<Order<'_>>) = orders.into_iter().unzip();
            let outcomes = ledger::book_all(conn, team, &orders, at).await?;
            booked.extend(places.into_iter().zip(outcomes));
        }
        record::insert_all(conn, group.iter().filter_map(|waiting| waiting.change.record())).await?;
        write_pages(conn, group.iter().filter_map(|waiting| waiting.change.page()).collect()).await?;
        let outcome = |place| booked.remove(&place).unwrap_or(Ok(None)).map_err(StoreError::Ledger);
        Ok((0..group.len()).map(outcome).collect())
    })
    .await
}

/// Returns the orders with their places in the group, by team.
fn by_team(group: &[Waiting]) -> BTreeMap<&str, Vec<(usize, Order<'_>)>> {
    let mut teams: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (place, Waiting { change, .. }) in group.iter().enumerate() {
        for order in change.orders() {
            teams.entry(change.team()).or_default().push((place, order));
        }
    }
    teams
}

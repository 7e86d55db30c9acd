//! Bookings of requests: what is to be written, and how a group of them becomes one transaction. Who waits for whom is
//! decided by [`lines`].

mod lines;

use std::collections::BTreeMap;

use base::Timestamp;
use store::ledger::{self, Booking, Order, Reservation, Task};
use store::scrapes::{self, Scrape};
use store::{Conn, StoreError};

use crate::App;
use crate::cache::{NewCopy, write_copies};

use self::lines::Waiting;

pub(crate) use self::lines::{AtWork, Bookings};

/// Who pays, and from what.
#[derive(Clone)]
pub(crate) enum Source {
    Reserved(Held),
    /// A team without a limit: nothing is set aside, the charge is booked at the end.
    Unlimited {
        key: String,
        team: String,
        api_key: Option<String>,
    },
}

/// What was set aside for one request: the first reservation, and those that were added when it turned out to cost more.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) first: Reservation,
    pub(crate) more: Vec<Reservation>,
}

impl Held {
    /// All reservations, each with its part of `credits`: those before pay first.
    fn parts(&self, credits: i64) -> impl Iterator<Item = (&Reservation, i64)> {
        let mut left = credits;
        std::iter::once(&self.first).chain(&self.more).enumerate().map(move |(index, held)| {
            // The last one is asked for all that is left, so that what no reservation covers is refused.
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

/// What is to be written.
pub(crate) enum Change {
    Reserve {
        source: Source,
        amount: i64,
        expires_at: Timestamp,
    },
    /// Charges, gives the rest back, and adds the row of the scrape and the copy of its page.
    Settle {
        source: Source,
        credits: i64,
        row: Option<Box<Scrape>>,
        copy: Option<Box<NewCopy>>,
    },
    /// Gives all of it back.
    Release(Held),
}

/// The reservation that [`Change::Reserve`] made.
type Written = Result<Option<Reservation>, StoreError>;

impl Change {
    fn team(&self) -> &str {
        match self {
            Self::Reserve { source, .. } | Self::Settle { source, .. } => source.team(),
            Self::Release(held) => &held.first.team,
        }
    }

    /// The copy that is to be written with it.
    fn copy(&self) -> Option<&NewCopy> {
        match self {
            Self::Settle { copy, .. } => copy.as_deref(),
            Self::Reserve { .. } | Self::Release(_) => None,
        }
    }

    /// The row that is to be written with it.
    fn row(&self) -> Option<&Scrape> {
        match self {
            Self::Settle { row, .. } => row.as_deref(),
            Self::Reserve { .. } | Self::Release(_) => None,
        }
    }

    /// What is booked, one after the other; a team without a limit books nothing for what costs nothing.
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

    /// Writes all but the copy.
    async fn write(&self, conn: &mut Conn, at: Timestamp) -> Written {
        match self {
            Self::Reserve { source, amount, expires_at } => {
                ledger::reserve(conn, &source.booking(at), *amount, *expires_at).await.map(Some)
            }
            Self::Settle { source, credits, row, .. } => {
                settle(conn, source, *credits, row.as_deref(), at).await.map(|()| None)
            }
            Self::Release(held) => held.settle(conn, 0, at).await.map(|()| None),
        }
    }
}

impl Source {
    fn team(&self) -> &str {
        match self {
            Self::Reserved(held) => &held.first.team,
            Self::Unlimited { team, .. } => team,
        }
    }

    /// Under which it is booked, and the id of the API key.
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

/// Charges, gives the rest back, and adds the row of the scrape.
pub(crate) async fn settle(
    conn: &mut Conn,
    source: &Source,
    credits: i64,
    row: Option<&Scrape>,
    at: Timestamp,
) -> Result<(), StoreError> {
    match source {
        Source::Reserved(held) => held.settle(conn, credits, at).await?,
        Source::Unlimited { .. } if credits > 0 => {
            ledger::charge(conn, &source.booking(at), credits).await?;
        }
        Source::Unlimited { .. } => {}
    }
    match row {
        Some(row) => scrapes::insert(conn, row).await,
        None => Ok(()),
    }
}

/// Writes them together; when one of them cannot be written, each alone.
async fn write_group(app: &App, group: Vec<Waiting>) {
    let mut conn = match app.store.writing().await {
        Ok(conn) => conn,
        Err(error) => return group.into_iter().for_each(|waiting| waiting.tell(Err(error.again()))),
    };
    let at = app.now();
    // One change needs no attempt together first.
    let group = match <[Waiting; 1]>::try_from(group) {
        Ok([alone]) => return write_alone(&mut conn, alone, at).await,
        Err(group) => group,
    };
    match together(&mut conn, &group, at).await {
        Ok(written) => group.into_iter().zip(written).for_each(|(waiting, written)| waiting.tell(written)),
        // Whether it was written is not known. Whoever is told an error gives back what it holds, under a key that
        // counts once.
        Err(error) if error.is_away() => group.into_iter().for_each(|waiting| waiting.tell(Err(error.again()))),
        Err(error) => {
            tracing::debug!(%error, changes = group.len(), "group of bookings not written, each is retried alone");
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
        write_copies(conn, change.copy().into_iter().collect()).await?;
        Ok(written)
    });
    let written = write.await;
    waiting.tell(written);
}

/// One transaction. A reservation that is refused does not keep the others from being written.
async fn together(conn: &mut Conn, group: &[Waiting], at: Timestamp) -> Result<Vec<Written>, StoreError> {
    fail::fail_point!("bookings_together", |_| { Err(StoreError::Inconsistent("on purpose".to_owned())) });
    conn.tx(async |conn: &mut Conn| {
        let mut booked = BTreeMap::new();
        for (team, orders) in by_team(group) {
            let (places, orders): (Vec<usize>, Vec<Order<'_>>) = orders.into_iter().unzip();
            let outcomes = ledger::book_all(conn, team, &orders, at).await?;
            booked.extend(places.into_iter().zip(outcomes));
        }
        let rows: Vec<Scrape> = group.iter().filter_map(|waiting| waiting.change.row().cloned()).collect();
        scrapes::insert_all(conn, rows).await?;
        write_copies(conn, group.iter().filter_map(|waiting| waiting.change.copy()).collect()).await?;
        let outcome = |place| booked.remove(&place).unwrap_or(Ok(None)).map_err(StoreError::Ledger);
        Ok((0..group.len()).map(outcome).collect())
    })
    .await
}

/// What is to be booked, with its place in the group, by team.
fn by_team(group: &[Waiting]) -> BTreeMap<&str, Vec<(usize, Order<'_>)>> {
    let mut teams: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (place, Waiting { change, .. }) in group.iter().enumerate() {
        for order in change.orders() {
            teams.entry(change.team()).or_default().push((place, order));
        }
    }
    teams
}

//! Bookings of requests, written in groups: what comes while one transaction is being written goes into the next together,
//! and while many come, each transaction waits a little for more. Each booking waits until its own is written.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::Timestamp;
use parking_lot::Mutex;
use store::ledger::{self, Booking, Order, Reservation, Task};
use store::scrapes::{self, Scrape};
use store::{Conn, Store, StoreError};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::App;
use crate::cache::{NewCopy, write_copies};

/// Changes of one transaction.
const MAX_GROUP: usize = 64;
/// Transactions at a time, where the database writes more than one. Changes of one team go to the same line: their
/// transactions could only wait for each other.
const PARALLEL_LINES: usize = 4;
/// The least time from the beginning of one transaction to that of the next, unless all requests at work wait for it: one
/// transaction costs nearly the same for several changes as for one.
const GATHER: Duration = Duration::from_millis(3);

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

/// The lines in which changes wait. They are as long as there are requests at work, which have bounds of their own.
pub(crate) struct Bookings {
    lines: Vec<Arc<Line>>,
    /// Whether a transaction may hold several teams. Where several are written at a time it may not: they would wait for
    /// each other's accounts in a ring.
    mixes_teams: bool,
    at_work: Arc<AtomicUsize>,
    gather: Duration,
}

/// A request that is at work and will have something to write, until this is dropped.
pub(crate) struct AtWork(Arc<AtomicUsize>);

#[derive(Default)]
struct Line {
    state: Mutex<LineState>,
    /// All that are at work wait.
    complete: Notify,
}

#[derive(Default)]
struct LineState {
    waiting: Vec<Waiting>,
    is_served: bool,
    /// When the last transaction began.
    begun: Option<Instant>,
}

struct Waiting {
    change: Change,
    written: oneshot::Sender<Written>,
}

/// Writes what waits in a line. When it is dropped before its end, as by a panic, those who wait get an error.
struct Service {
    line: Arc<Line>,
    mixes_teams: bool,
    at_work: Arc<AtomicUsize>,
    gather: Duration,
    is_over: bool,
}

impl Bookings {
    pub(crate) fn new(store: &Store) -> Self {
        let (lines, mixes_teams) = if store.parallel_writers() { (PARALLEL_LINES, false) } else { (1, true) };
        let lines = (0..lines).map(|_| Arc::default()).collect();
        Self { lines, mixes_teams, at_work: Arc::default(), gather: GATHER }
    }

    /// Counts a request that begins.
    pub(crate) fn begin(&self) -> AtWork {
        self.at_work.fetch_add(1, Ordering::Relaxed);
        AtWork(Arc::clone(&self.at_work))
    }

    /// Writes a change, all or nothing. When the future is dropped before, the change is written all the same.
    ///
    /// # Errors
    /// Those of [`ledger::reserve`], [`ledger::settle`] and [`ledger::charge`]. Nothing is written then.
    pub(crate) async fn write(&self, app: &App, change: Change) -> Written {
        let (written, answer) = oneshot::channel();
        let line = self.line_of(change.team());
        // Adding and asking under one lock: otherwise a service could end between the two, and nobody would write the change.
        let (was_served, is_complete) = {
            let mut state = line.state.lock();
            state.waiting.push(Waiting { change, written });
            (mem::replace(&mut state.is_served, true), state.is_complete(&self.at_work))
        };
        if is_complete {
            line.complete.notify_waiters();
        }
        if !was_served {
            let (mixes_teams, at_work) = (self.mixes_teams, Arc::clone(&self.at_work));
            let service = Service { line: Arc::clone(line), mixes_teams, at_work, gather: self.gather, is_over: false };
            app.tracker.spawn_on(service.run(app.clone()), &app.store.writing_runtime());
        }
        answer.await.unwrap_or_else(|_| Err(StoreError::Inconsistent("the booking was lost".to_owned())))
    }

    fn line_of(&self, team: &str) -> &Arc<Line> {
        // Without a random seed, so that a team stays in its line.
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(team);
        let lines = self.lines.len() as u64;
        &self.lines[usize::try_from(hash % lines).unwrap_or(0)]
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl LineState {
    /// Whether there is nobody to wait for.
    fn is_complete(&self, at_work: &AtomicUsize) -> bool {
        self.waiting.len() >= at_work.load(Ordering::Relaxed).min(MAX_GROUP)
    }
}

impl Service {
    async fn run(mut self, app: App) {
        loop {
            self.gather().await;
            let Some(group) = self.next() else { return };
            write_group(&app, group).await;
        }
    }

    /// Waits for more, where the last transaction began just now.
    async fn gather(&self) {
        let mut complete = pin!(self.line.complete.notified());
        // From here on it hears of what is added.
        complete.as_mut().enable();
        let until = {
            let state = self.line.state.lock();
            let until = state.begun.map(|begun| begun + self.gather).filter(|until| *until > Instant::now());
            until.filter(|_| !state.waiting.is_empty() && !state.is_complete(&self.at_work))
        };
        if let Some(until) = until {
            // In time or not, what is there is written.
            let _ = timeout_at(until, complete).await;
        }
    }

    /// Those that wait now, up to a bound; `None` when there are none, and the line is no longer served.
    fn next(&mut self) -> Option<Vec<Waiting>> {
        let mut state = self.line.state.lock();
        if state.waiting.is_empty() {
            (state.is_served, self.is_over) = (false, true);
            return None;
        }
        state.begun = Some(Instant::now());
        let first = state.waiting[0].change.team().to_owned();
        let mut left = MAX_GROUP;
        let belongs = |waiting: &mut Waiting| {
            let belongs = left > 0 && (self.mixes_teams || waiting.change.team() == first);
            left -= usize::from(belongs);
            belongs
        };
        Some(state.waiting.extract_if(.., belongs).collect())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !self.is_over {
            *self.line.state.lock() = LineState::default();
        }
    }
}

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
        Err(error) => return group.into_iter().for_each(|waiting| waiting.tell(Err(lost(&error)))),
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
        Err(error) if error.is_away() => group.into_iter().for_each(|waiting| waiting.tell(Err(lost(&error)))),
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

impl Waiting {
    fn tell(self, written: Written) {
        // The caller may have hung up; what was written stays written.
        let _ = self.written.send(written);
    }
}

/// The same error for each of a group.
fn lost(error: &StoreError) -> StoreError {
    StoreError::Pool(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::tests::app;

    fn charge(team: &str, number: usize) -> Change {
        let source = Source::Unlimited { key: format!("scrape:{number}"), team: team.to_owned(), api_key: None };
        Change::Settle { source, credits: 1, row: None, copy: None }
    }

    /// A transaction waits until all that are at work have come, and no longer.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn those_that_come_together_are_written_together() {
        let (app, caller, _folder) = app().await;
        let bookings = Bookings { gather: Duration::from_secs(60), ..Bookings::new(&app.store) };
        let team = &caller.team.id;
        // Nobody waits for the first.
        bookings.write(&app, charge(team, 0)).await.unwrap();
        let at_work: Vec<AtWork> = (0..3).map(|_| bookings.begin()).collect();
        let late = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            bookings.write(&app, charge(team, 3)).await
        };
        let begun = Instant::now();
        let (one, other, last) =
            tokio::join!(bookings.write(&app, charge(team, 1)), bookings.write(&app, charge(team, 2)), late);
        (one.and(other).and(last)).unwrap();
        assert!(begun.elapsed() < bookings.gather);
        drop(at_work);
        // Alone, it has nobody to wait for.
        bookings.write(&app, charge(team, 4)).await.unwrap();
        assert!(begun.elapsed() < bookings.gather);
        let written = ledger::history(&mut app.conn().await.unwrap(), team, Some("scrape:"), 5).await.unwrap();
        let times: Vec<Timestamp> = written.iter().map(|booked| booked.at).collect();
        assert_eq!(times.len(), 5);
        assert!(times[0] < times[1] && times[3] < times[4], "{times:?}");
        assert_eq!(times[1..4], [times[1]; 3]);
        app.drain().await;
    }
}

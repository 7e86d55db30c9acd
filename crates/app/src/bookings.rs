//! Bookings of requests, written in groups: what comes while one transaction is being written goes into the next together.
//! Each waits until its own is written.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::mem;
use std::sync::Arc;

use base::Timestamp;
use parking_lot::Mutex;
use store::ledger::{self, Booking, Reservation};
use store::scrapes::{self, Scrape};
use store::{Conn, Store, StoreError};
use tokio::sync::oneshot;

use crate::App;
use crate::cache::{NewCopy, write_copies};

/// Changes of one transaction.
const MAX_GROUP: usize = 64;
/// Transactions at a time, where the database writes more than one. Changes of one team go to the same line: their
/// transactions could only wait for each other.
const PARALLEL_LINES: usize = 4;

/// Who pays, and from what.
#[derive(Clone)]
pub(crate) enum Source {
    Reserved(Reservation),
    /// A team without a limit: nothing is set aside, the charge is booked at the end.
    Unlimited {
        key: String,
        team: String,
        api_key: Option<String>,
    },
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
    Release(Reservation),
}

/// The reservation that [`Change::Reserve`] made.
type Written = Result<Option<Reservation>, StoreError>;

/// The lines in which changes wait. They are as long as there are requests at work, which have bounds of their own.
pub(crate) struct Bookings {
    lines: Vec<Arc<Mutex<Line>>>,
    /// Whether a transaction may hold several teams. Where several are written at a time it may not: they would wait for
    /// each other's accounts in a ring.
    mixes_teams: bool,
}

#[derive(Default)]
struct Line {
    waiting: Vec<Waiting>,
    is_served: bool,
}

struct Waiting {
    change: Change,
    written: oneshot::Sender<Written>,
}

/// Writes what waits in a line. When it is dropped before its end, as by a panic, those who wait get an error.
struct Service {
    line: Arc<Mutex<Line>>,
    mixes_teams: bool,
    is_over: bool,
}

impl Bookings {
    pub(crate) fn new(store: &Store) -> Self {
        let (lines, mixes_teams) = if store.parallel_writers() { (PARALLEL_LINES, false) } else { (1, true) };
        Self { lines: (0..lines).map(|_| Arc::default()).collect(), mixes_teams }
    }

    /// Writes a change, all or nothing. When the future is dropped before, the change is written all the same.
    ///
    /// # Errors
    /// Those of [`ledger::reserve`], [`ledger::settle`] and [`ledger::charge`]. Nothing is written then.
    pub(crate) async fn write(&self, app: &App, change: Change) -> Written {
        let (written, answer) = oneshot::channel();
        let line = self.line_of(change.team());
        // Adding and asking under one lock: otherwise a service could end between the two, and nobody would write the change.
        let was_served = {
            let mut line = line.lock();
            line.waiting.push(Waiting { change, written });
            mem::replace(&mut line.is_served, true)
        };
        if !was_served {
            let service = Service { line: Arc::clone(line), mixes_teams: self.mixes_teams, is_over: false };
            app.tracker.spawn_on(service.run(app.clone()), &app.store.writing_runtime());
        }
        answer.await.unwrap_or_else(|_| Err(StoreError::Inconsistent("the booking was lost".to_owned())))
    }

    fn line_of(&self, team: &str) -> &Arc<Mutex<Line>> {
        // Without a random seed, so that a team stays in its line.
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(team);
        let lines = self.lines.len() as u64;
        &self.lines[usize::try_from(hash % lines).unwrap_or(0)]
    }
}

impl Service {
    async fn run(mut self, app: App) {
        while let Some(group) = self.next() {
            write_group(&app, group).await;
        }
    }

    /// Those that wait now, up to a bound; `None` when there are none, and the line is no longer served.
    fn next(&mut self) -> Option<Vec<Waiting>> {
        let mut line = self.line.lock();
        if line.waiting.is_empty() {
            (line.is_served, self.is_over) = (false, true);
            return None;
        }
        let first = line.waiting[0].change.team().to_owned();
        let mut left = MAX_GROUP;
        let belongs = |waiting: &mut Waiting| {
            let belongs = left > 0 && (self.mixes_teams || waiting.change.team() == first);
            left -= usize::from(belongs);
            belongs
        };
        Some(line.waiting.extract_if(.., belongs).collect())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !self.is_over {
            *self.line.lock() = Line::default();
        }
    }
}

impl Change {
    fn team(&self) -> &str {
        match self {
            Self::Reserve { source, .. } | Self::Settle { source, .. } => source.team(),
            Self::Release(held) => &held.team,
        }
    }

    /// The copy that is to be written with it.
    fn copy(&self) -> Option<&NewCopy> {
        match self {
            Self::Settle { copy, .. } => copy.as_deref(),
            Self::Reserve { .. } | Self::Release(_) => None,
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
            Self::Release(held) => ledger::void(conn, held, at).await.map(|_| None),
        }
    }

    /// A reservation is refused before anything is written.
    fn is_refused(&self, error: &StoreError) -> bool {
        matches!((self, error), (Self::Reserve { .. }, StoreError::Ledger(_) | StoreError::UnknownTeam))
    }
}

impl Source {
    fn team(&self) -> &str {
        match self {
            Self::Reserved(held) => &held.team,
            Self::Unlimited { team, .. } => team,
        }
    }

    fn booking(&self, at: Timestamp) -> Booking<'_> {
        match self {
            Self::Reserved(held) => Booking { key: &held.key, team: &held.team, api_key: held.api_key.as_deref(), at },
            Self::Unlimited { key, team, api_key } => Booking { key, team, api_key: api_key.as_deref(), at },
        }
    }
}

async fn settle(
    conn: &mut Conn,
    source: &Source,
    credits: i64,
    row: Option<&Scrape>,
    at: Timestamp,
) -> Result<(), StoreError> {
    match source {
        Source::Reserved(held) => {
            ledger::settle(conn, held, credits, at).await?;
        }
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
        let mut all = Vec::with_capacity(group.len());
        for Waiting { change, .. } in group {
            match change.write(conn, at).await {
                Err(error) if !change.is_refused(&error) => return Err(error),
                // A refusal was decided before anything was written, so the transaction is still good.
                written => all.push(written),
            }
        }
        write_copies(conn, group.iter().filter_map(|waiting| waiting.change.copy()).collect()).await?;
        Ok(all)
    })
    .await
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

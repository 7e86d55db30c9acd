//! A session in the process that runs it, and all of them together.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use ::browser::{Client, RelayEnd, Session, Viewer};
use base::{Secret, Timestamp};
use chrono::TimeDelta;
use interact::{Code, OrderError, Ran, Work};
use parking_lot::Mutex;
use store::browser::{self as rows, Call, Session as Row, Tokens};
use tokio::sync::{Mutex as AsyncMutex, MutexGuard, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::{Executed, Language, SessionEnded};

use super::keeper;
use super::orders::{Order, Orders, refused};
use crate::active::{Active, Slot};
use crate::auth::Caller;
use crate::profiles::Opened;
use crate::reservation::Funds;
use crate::{App, AppError, KeyHold};

/// How long a row says that its session lives, unless it is told so again.
pub(super) const ALIVE: TimeDelta = TimeDelta::seconds(30);
/// Clients and viewers of one session at the same time.
const MAX_GUESTS: usize = 8;

/// The sessions of a process.
#[derive(Default)]
pub(crate) struct Sessions {
    live: Mutex<HashMap<Uuid, Arc<Live>>>,
    /// Scrapes whose page is being opened.
    opening: Mutex<HashMap<Uuid, Weak<AsyncMutex<()>>>>,
    places: Active,
    closing: CancellationToken,
}

/// What a session begins with.
pub(crate) struct Beginning {
    pub(crate) id: Uuid,
    /// The scrape whose page it shows.
    pub(crate) scrape: Option<Uuid>,
    pub(crate) life: Duration,
    /// After how long a rest it ends.
    pub(crate) rest: Duration,
    pub(crate) is_watchable: bool,
    pub(crate) place: Slot,
    pub(crate) funds: Funds,
    pub(crate) profile: Option<Opened>,
    pub(crate) session: Session,
    /// The idempotency key of the call that starts it.
    pub(crate) call: Option<Call>,
}

/// A session that runs here.
pub(crate) struct Live {
    pub(super) app: App,
    pub(super) id: Uuid,
    pub(super) browser: Session,
    pub(super) began: Instant,
    pub(super) ends: Instant,
    pub(super) rest: Duration,
    row: Row,
    /// Orders in words, and what pays for them.
    pub(super) orders: Orders,
    uses: Mutex<Uses>,
    /// What stays of code from one call to the next; taken while code runs, so that one call does at a time.
    work: AsyncMutex<Work>,
    /// Ends everything that goes on in it.
    pub(super) stop: CancellationToken,
    /// The key that started it, with which it ends.
    pub(super) key: KeyHold,
    /// How it ended, once it has.
    pub(super) ended: watch::Sender<Option<SessionEnded>>,
}

struct Uses {
    last: Instant,
    last_at: Timestamp,
    /// Calls that run.
    running: usize,
    /// Clients and viewers.
    guests: usize,
}

/// A call that runs, or a guest: the session does not rest meanwhile. Taken off when dropped.
pub(super) struct Use<'a> {
    live: &'a Live,
    is_guest: bool,
}

impl Sessions {
    /// A place for one more session of a team.
    pub(crate) fn place(&self, app: &App, team: &str) -> Result<Slot, AppError> {
        let settings = &app.settings.sessions;
        if self.closing.is_cancelled() {
            return Err(AppError::ShuttingDown);
        }
        let of_team = settings.max_of_team;
        let limited = |what: &'static str, limit| AppError::SessionsLimited { what, limit };
        let place = self.places.enter(team, of_team).ok_or_else(|| limited("team", of_team))?;
        // Counted with its own.
        if self.places.total() > settings.max { Err(limited("server", settings.max)) } else { Ok(place) }
    }

    pub(crate) fn find(&self, id: Uuid) -> Option<Arc<Live>> {
        self.live.lock().get(&id).cloned()
    }

    /// How many are open.
    pub(crate) fn count(&self) -> u32 {
        self.places.total()
    }

    /// The session that shows the page of a scrape.
    pub(crate) fn of_scrape(&self, team: &str, scrape: Uuid) -> Option<Arc<Live>> {
        let scrape = scrape.to_string();
        let is_it = |live: &&Arc<Live>| live.row.scrape_id.as_deref() == Some(&scrape) && live.team() == team;
        self.live.lock().values().find(is_it).cloned()
    }

    /// Held by the one call that opens the page of a scrape.
    pub(crate) fn opening(&self, scrape: Uuid) -> Arc<AsyncMutex<()>> {
        let mut opening = self.opening.lock();
        if let Some(known) = opening.get(&scrape).and_then(Weak::upgrade) {
            return known;
        }
        // Not more than there are calls.
        opening.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        opening.insert(scrape, Arc::downgrade(&turn));
        turn
    }

    pub(super) fn remove(&self, id: Uuid) {
        self.live.lock().remove(&id);
    }

    pub(super) fn close(&self) {
        self.closing.cancel();
    }

    pub(super) fn closing(&self) -> &CancellationToken {
        &self.closing
    }
}

/// Writes the session down and lets it live.
pub(crate) async fn begin(
    app: &App,
    caller: &Caller,
    beginning: Beginning,
    expires_at: Timestamp,
) -> Result<Arc<Live>, AppError> {
    let Beginning { id, scrape, life, rest, is_watchable, place, funds, profile, session, call } = beginning;
    let now = app.now();
    let row = Row {
        id: id.to_string(),
        team_id: caller.team.id.clone(),
        scrape_id: scrape.map(|scrape| scrape.to_string()),
        owner: app.settings.sessions.public_url.clone().unwrap_or_default(),
        tokens: Tokens { cdp: token(), view: token(), hand: token() },
        is_watchable,
        created_at: now,
        last_used_at: now,
        expires_at,
        alive_until: now + ALIVE,
        ended_at: None,
        credits: 0,
        call,
    };
    rows::insert(&mut app.conn().await?, &row).await?;
    let began = Instant::now();
    let live = Arc::new(Live {
        app: app.clone(),
        id,
        began,
        ends: began + life,
        rest,
        row,
        orders: Orders::default(),
        uses: Mutex::new(Uses { last: began, last_at: now, running: 0, guests: 0 }),
        browser: session,
        work: AsyncMutex::default(),
        stop: CancellationToken::new(),
        key: app.hold_key(caller.key.as_deref()),
        ended: watch::Sender::new(None),
    });
    app.sessions().live.lock().insert(id, Arc::clone(&live));
    let kept = keeper::Kept { place, funds, profile };
    app.tracker.spawn(keeper::keep(Arc::clone(&live), kept));
    Ok(live)
}

/// 128 bits from the operating system's generator.
fn token() -> Secret {
    Secret::new(hex::encode(rand::random::<[u8; 16]>()))
}

impl Live {
    pub(crate) fn team(&self) -> &str {
        &self.row.team_id
    }

    /// The row as it was written at the beginning, which says where the session is.
    pub(crate) fn row(&self) -> Row {
        self.row.clone()
    }

    pub(crate) fn id(&self) -> Uuid {
        self.id
    }

    /// Whether nobody can come in any more.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Runs code when what runs before has ended.
    ///
    /// # Errors
    /// [`AppError::SessionEnded`] when the session ends meanwhile, [`AppError::SessionBusy`] when there is no time left, those
    /// of [`interact::Interact::run`]. What goes wrong in the code is in the answer.
    pub(crate) async fn run(&self, language: Language, text: &str, deadline: Instant) -> Result<Executed, AppError> {
        let _use = self.enter(false)?;
        let running = async {
            let mut work = self.turn(deadline).await?;
            let hands = self.browser.hands().await?;
            let timeout = deadline.saturating_duration_since(Instant::now());
            let code = Code { language: spoken(language), text, timeout };
            Ok(executed(self.app.interact.run(&hands, &code, &mut work).await?))
        };
        self.while_it_lives(running).await
    }

    /// Does what a sentence says, which [`Live::pay`] was asked for, when what runs before has ended. Returns what was done
    /// and read, and what went wrong then.
    ///
    /// # Errors
    /// As [`Live::run`], and [`AppError::OrderRefused`] for a sentence that is not understood.
    pub(crate) async fn obey(&self, prompt: &str, deadline: Instant) -> Result<(String, Option<String>), AppError> {
        let _use = self.enter(false)?;
        let obeying = async {
            let _turn = self.turn(deadline).await?;
            let hands = self.browser.hands().await?;
            let timeout = deadline.saturating_duration_since(Instant::now());
            self.orders.begin();
            let done = self.app.interact.obey(&hands, prompt, timeout).await;
            self.orders.decide(counts(&done));
            match done {
                Ok(told) => Ok((told, None)),
                Err(OrderError::Failed { failure, did }) => Ok((did, Some(failure.to_string()))),
                Err(error) => Err(refused(&error)),
            }
        };
        self.while_it_lives(obeying).await
    }

    /// The right to work on the page alone.
    async fn turn(&self, deadline: Instant) -> Result<MutexGuard<'_, Work>, AppError> {
        timeout_at(deadline, self.work.lock()).await.map_err(|_| AppError::SessionBusy)
    }

    async fn while_it_lives<T>(&self, work: impl Future<Output = Result<T, AppError>>) -> Result<T, AppError> {
        self.stop.run_until_cancelled(work).await.unwrap_or(Err(AppError::SessionEnded))
    }

    /// Lets an order in words be paid for: `reserve` sets aside what orders cost on top, if none has come before.
    ///
    /// # Errors
    /// Those of `reserve`.
    pub(crate) async fn pay(
        &self,
        reserve: impl Future<Output = Result<Funds, AppError>>,
    ) -> Result<Order<'_>, AppError> {
        self.orders.pay(reserve).await
    }

    /// Lets a client speak the DevTools protocol, until it or the session ends.
    pub(super) async fn relay(&self, client: Client) -> Result<RelayEnd, AppError> {
        let _use = self.enter(true)?;
        let end = self.stop.run_until_cancelled(self.browser.relay(client)).await;
        Ok(end.unwrap_or(RelayEnd::Gone))
    }

    /// Shows the session to a viewer, until it or the session ends.
    pub(super) async fn show(&self, viewer: Viewer) -> Result<(), AppError> {
        let _use = self.enter(true)?;
        self.stop.run_until_cancelled(self.browser.show(viewer)).await;
        Ok(())
    }

    /// Notes that somebody has just done something in it.
    pub(crate) fn touch(&self) {
        let mut uses = self.uses.lock();
        (uses.last, uses.last_at) = (Instant::now(), self.app.now());
    }

    /// Whether nobody has done anything in it for as long as it may rest.
    pub(super) fn has_rested(&self) -> bool {
        let uses = self.uses.lock();
        uses.running == 0 && uses.last.elapsed() >= self.rest
    }

    pub(super) fn last_used_at(&self) -> Timestamp {
        self.uses.lock().last_at
    }

    pub(super) fn enter(&self, is_guest: bool) -> Result<Use<'_>, AppError> {
        if self.stop.is_cancelled() {
            return Err(AppError::SessionEnded);
        }
        {
            let mut uses = self.uses.lock();
            if is_guest && uses.guests >= MAX_GUESTS {
                return Err(AppError::SessionsLimited {
                    what: "session",
                    limit: u32::try_from(MAX_GUESTS).unwrap_or(0),
                });
            }
            uses.guests += usize::from(is_guest);
            uses.running += usize::from(!is_guest);
        }
        self.touch();
        Ok(Use { live: self, is_guest })
    }

    /// Ends it, and waits until it has.
    pub(crate) async fn end(&self) -> Result<SessionEnded, AppError> {
        self.stop.cancel();
        let mut ended = self.ended.subscribe();
        let ended = ended.wait_for(Option::is_some).await.map_err(AppError::internal)?;
        ended.clone().ok_or(AppError::SessionEnded)
    }
}

impl Drop for Use<'_> {
    fn drop(&mut self) {
        self.live.touch();
        let mut uses = self.live.uses.lock();
        uses.guests -= usize::from(self.is_guest);
        uses.running -= usize::from(!self.is_guest);
    }
}

/// Whether an order is charged for: not one that was never carried out, nor one that lost its page before it did anything.
fn counts(done: &Result<String, OrderError>) -> bool {
    match done {
        Ok(_) => true,
        Err(OrderError::Failed { failure, did }) => !failure.is_final || !did.is_empty(),
        Err(OrderError::NotPlain { .. } | OrderError::TooMany) => false,
    }
}

fn spoken(language: Language) -> interact::Language {
    match language {
        Language::Node => interact::Language::Node,
        Language::Python => interact::Language::Python,
        Language::Bash => interact::Language::Bash,
    }
}

/// What code has brought, as clients get it.
fn executed(ran: Ran) -> Executed {
    Executed {
        success: true,
        output: None,
        stdout: ran.stdout,
        result: ran.result,
        stderr: ran.stderr,
        exit_code: ran.exit_code,
        killed: ran.killed,
        truncated: ran.truncated,
        urls: None,
        error: ran.error,
    }
}

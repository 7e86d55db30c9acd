//! Live sessions of this process.

use std::time::Duration;

use ::browser::{Client, RelayEnd, Session, Viewer};
use base::Timestamp;
use chrono::TimeDelta;
use interact::{Code, OrderError, Ran, Work};
use kernel::reservation::Funds;
use kernel::{AppError, KeyHold};
use parking_lot::Mutex;
use store::browser::Session as Row;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::{Executed, Language, SessionEnded};

use super::orders::{Order, Orders, refused};
use crate::{Sessions, SessionsError};

/// Lease of a session's row: after this time without renewal the session counts as dead.
pub(super) const ALIVE: TimeDelta = TimeDelta::seconds(30);
/// Maximum number of clients and viewers of one session at a time.
const MAX_GUESTS: usize = 8;

/// Session that runs in this process.
pub(crate) struct Live {
    pub(super) sessions: Sessions,
    pub(super) id: Uuid,
    pub(super) browser: Session,
    pub(super) began: Instant,
    pub(super) ends: Instant,
    pub(super) rest: Duration,
    pub(super) row: Row,
    /// Prompts and their reservation.
    pub(super) orders: Orders,
    pub(super) uses: Mutex<Uses>,
    /// State of the code interpreters between calls; locked while code runs, so that calls run one at a time.
    pub(super) work: AsyncMutex<Work>,
    /// Token that ends everything running in the session.
    pub(super) stop: CancellationToken,
    /// API key that started it; the session ends when the key is revoked.
    pub(super) key: KeyHold,
    /// Result of the session, once it has ended.
    pub(super) ended: watch::Sender<Option<SessionEnded>>,
}

/// Calls and guests of a session, and when it was last used.
pub(super) struct Uses {
    pub(super) last: Instant,
    pub(super) last_at: Timestamp,
    /// Number of running calls.
    pub(super) running: usize,
    /// Number of clients and viewers.
    pub(super) guests: usize,
}

/// Guard of a running call or guest; the session is not idle while it exists.
pub(super) struct Use<'a> {
    live: &'a Live,
    is_guest: bool,
}

impl Live {
    pub(crate) fn team(&self) -> &str {
        &self.row.team_id
    }

    /// Returns the row as inserted, which says where the session runs.
    pub(crate) fn row(&self) -> Row {
        self.row.clone()
    }

    /// Whether it shows the page of this scrape.
    pub(crate) fn shows(&self, scrape: &str) -> bool {
        self.row.scrape_id.as_deref() == Some(scrape)
    }

    pub(crate) fn id(&self) -> Uuid {
        self.id
    }

    /// Whether the session accepts no more clients.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Runs code after earlier calls have ended.
    ///
    /// # Errors
    /// [`SessionsError::SessionEnded`] when the session ends meanwhile, [`SessionsError::SessionBusy`] when there is no time
    /// left, and those of [`interact::Interact::run`]. Errors of the code itself are in the answer.
    pub(crate) async fn run(
        &self,
        language: Language,
        text: &str,
        deadline: Instant,
    ) -> Result<Executed, SessionsError> {
        let _use = self.enter(false)?;
        let running = async {
            let mut work = self.turn(deadline).await?;
            let hands = self.browser.hands().await?;
            let timeout = deadline.saturating_duration_since(Instant::now());
            let code = Code { language: spoken(language), text, timeout };
            Ok(executed(self.sessions.interact().run(&hands, &code, &mut work).await?))
        };
        self.while_it_lives(running).await
    }

    /// Carries out a prompt that [`Live::pay`] has reserved credits for, after earlier calls have ended. Returns the
    /// output, and the error if a step failed.
    ///
    /// # Errors
    /// Errors of [`Live::run`], and [`SessionsError::OrderRefused`] for a prompt that is not understood.
    pub(crate) async fn obey(
        &self,
        prompt: &str,
        deadline: Instant,
    ) -> Result<(String, Option<String>), SessionsError> {
        let _use = self.enter(false)?;
        let obeying = async {
            let _turn = self.turn(deadline).await?;
            let hands = self.browser.hands().await?;
            let timeout = deadline.saturating_duration_since(Instant::now());
            self.orders.begin();
            let done = self.sessions.interact().obey(&hands, prompt, timeout).await;
            self.orders.decide(counts(&done));
            match done {
                Ok(told) => Ok((told, None)),
                Err(OrderError::Failed { failure, did }) => Ok((did, Some(failure.to_string()))),
                Err(error) => Err(refused(&error)),
            }
        };
        self.while_it_lives(obeying).await
    }

    /// Waits for exclusive access to the page.
    async fn turn(&self, deadline: Instant) -> Result<MutexGuard<'_, Work>, SessionsError> {
        timeout_at(deadline, self.work.lock()).await.map_err(|_| SessionsError::SessionBusy)
    }

    async fn while_it_lives<T>(
        &self,
        work: impl Future<Output = Result<T, SessionsError>>,
    ) -> Result<T, SessionsError> {
        self.stop.run_until_cancelled(work).await.unwrap_or(Err(SessionsError::SessionEnded))
    }

    /// Reserves credits for a prompt: `reserve` covers all prompts of the session, so it runs once.
    ///
    /// # Errors
    /// Errors of `reserve`.
    pub(crate) async fn pay(
        &self,
        reserve: impl Future<Output = Result<Funds, AppError>>,
    ) -> Result<Order<'_>, AppError> {
        self.orders.pay(reserve).await
    }

    /// Connects a client to the DevTools protocol, until it disconnects or the session ends.
    pub(super) async fn relay(&self, client: Client) -> Result<RelayEnd, SessionsError> {
        let _use = self.enter(true)?;
        let end = self.stop.run_until_cancelled(self.browser.relay(client)).await;
        Ok(end.unwrap_or(RelayEnd::Gone))
    }

    /// Shows the session to a viewer, until it disconnects or the session ends.
    pub(super) async fn show(&self, viewer: Viewer) -> Result<(), SessionsError> {
        let _use = self.enter(true)?;
        self.stop.run_until_cancelled(self.browser.show(viewer)).await;
        Ok(())
    }

    /// Records activity, which restarts the idle timeout.
    pub(crate) fn touch(&self) {
        let mut uses = self.uses.lock();
        (uses.last, uses.last_at) = (Instant::now(), self.sessions.app().now());
    }

    /// Whether the idle timeout has passed.
    pub(super) fn has_rested(&self) -> bool {
        let uses = self.uses.lock();
        uses.running == 0 && uses.last.elapsed() >= self.rest
    }

    pub(super) fn last_used_at(&self) -> Timestamp {
        self.uses.lock().last_at
    }

    pub(super) fn enter(&self, is_guest: bool) -> Result<Use<'_>, SessionsError> {
        if self.stop.is_cancelled() {
            return Err(SessionsError::SessionEnded);
        }
        {
            let mut uses = self.uses.lock();
            if is_guest && uses.guests >= MAX_GUESTS {
                return Err(SessionsError::SessionsLimited {
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

    /// Ends the session and waits for its result.
    pub(crate) async fn end(&self) -> Result<SessionEnded, SessionsError> {
        self.stop.cancel();
        let mut ended = self.ended.subscribe();
        let ended = ended.wait_for(Option::is_some).await.map_err(AppError::internal)?;
        ended.clone().ok_or(SessionsError::SessionEnded)
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

/// Whether a prompt is charged: only if it was carried out, and did not lose its page before it did anything.
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

/// Converts the result of code to the form that clients get.
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

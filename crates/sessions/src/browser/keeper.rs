//! End of sessions: a task per session waits for its end, saves its profile, charges it and records its end.

use std::sync::Arc;
use std::time::Duration;

use billing::SessionKind;
use kernel::reservation::Funds;
use kernel::{AppError, Refusal as _, Slot};
use scraping::profiles::Opened;
use store::browser as rows;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use wire::{SessionEnded, SessionStatus};

use super::live::{ALIVE, Live};

/// Interval at which the idle timeout is checked.
const LOOK: Duration = Duration::from_secs(1);
/// Interval at which the row is renewed; [`ALIVE`] leaves room for two failures.
const RENEW: Duration = Duration::from_secs(10);
/// Timeout for reading the browser's state at the end.
const SAVE: Duration = Duration::from_secs(15);

/// Resources of a session that only its end needs.
pub(super) struct Kept {
    pub(super) place: Slot,
    pub(super) funds: Funds,
    pub(super) profile: Option<Opened>,
}

/// Waits for the end of a session, and ends it.
pub(super) async fn keep(live: Arc<Live>, kept: Kept) {
    let why = tokio::select! {
        why = wait(&live) => why,
        () = live.stop.cancelled() => "ended by a client",
        () = live.sessions.closing().cancelled() => "the server is shutting down",
        () = live.browser.gone() => "the browser is gone",
        () = live.key.revoked() => "the API key was revoked",
    };
    // From here on clients are refused, and running calls end.
    live.stop.cancel();
    let lived = live.began.elapsed().min(live.ends - live.began);
    finish(&live, kept, lived, why).await;
}

/// Waits for the maximum lifetime, the idle timeout, or the end of the row by another server.
async fn wait(live: &Live) -> &'static str {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut renewed = Instant::now();
    loop {
        tokio::select! {
            () = sleep_until(live.ends) => return "maximum lifetime reached",
            _ = looks.tick() => {}
        }
        if live.has_rested() {
            return "idle timeout";
        }
        if renewed.elapsed() >= RENEW {
            renewed = Instant::now();
            match renew(live).await {
                Ok(true) => {}
                Ok(false) => return "its row was already ended",
                Err(error) if error.is_outage() => {}
                Err(error) => tracing::warn!(?error, session = %live.id, "could not renew a session's row, retrying"),
            }
        }
    }
}

async fn renew(live: &Live) -> Result<bool, AppError> {
    let mut conn = live.sessions.app().conn().await?;
    Ok(rows::renew(&mut conn, &live.id.to_string(), live.last_used_at(), live.sessions.app().now() + ALIVE).await?)
}

async fn finish(live: &Arc<Live>, kept: Kept, lived: Duration, why: &'static str) {
    let Kept { place, funds, profile } = kept;
    let app = live.sessions.app();
    // Checked before closing: afterwards the browser is gone in any case.
    let lost_browser = live.browser.is_gone();
    if let Some(Opened { state: before, saver: Some(saver) }) = profile {
        match timeout(SAVE, live.browser.state(&before, Instant::now() + SAVE)).await {
            // No caller is left to report an unsaved profile to; it is logged.
            Ok(Ok(state)) => drop(saver.save_at_end(state).await),
            _ => tracing::debug!(session = %live.id, "could not read the state of a session; its profile is not saved"),
        }
    }
    live.browser.close().await;
    let credits = charge(live, funds, lived, lost_browser).await;
    let now = app.now();
    let written =
        async { rows::end(&mut app.conn().await?, &live.id.to_string(), now, credits).await.map_err(AppError::from) };
    if let Err(error) = written.await {
        tracing::warn!(?error, session = %live.id, "could not record the end of a session; upkeep will do it");
    }
    tracing::debug!(session = %live.id, team = live.team(), why, credits, "session ended");
    let session_duration_ms = i64::try_from(lived.as_millis()).unwrap_or(i64::MAX);
    let status = SessionStatus::Destroyed;
    live.ended.send_replace(Some(SessionEnded { success: true, status, session_duration_ms, credits_billed: credits }));
    // Removed last: a concurrent call to end the session still gets its result.
    live.sessions.remove(live.id);
    drop(place);
}

/// Charges the cost of a session. Amounts that cannot be booked are returned and not charged.
async fn charge(live: &Live, funds: Funds, lived: Duration, lost_browser: bool) -> i64 {
    let mut charged = 0;
    let orders = live.orders.take_funds(lost_browser);
    let parts = [(Some(funds), billing::session(lived, SessionKind::Plain)), (orders, billing::prompt_extra(lived))];
    for (funds, price) in parts {
        let Some(funds) = funds else { continue };
        match funds.settle(price, None, None).await {
            Ok(()) => charged += price,
            Err(error) => tracing::warn!(?error, session = %live.id, "session not charged, its credits are returned"),
        }
    }
    charged
}

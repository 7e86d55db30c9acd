//! The end of sessions: one task for each, which waits for it, saves, charges and writes it down.

use std::sync::Arc;
use std::time::Duration;

use billing::SessionKind;
use store::browser as rows;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use wire::{SessionEnded, SessionStatus};

use super::live::{ALIVE, Live};
use crate::AppError;
use crate::active::Slot;
use crate::profiles::Opened;
use crate::reservation::Funds;

/// Pause between two looks at whether a session rests.
const LOOK: Duration = Duration::from_secs(1);
/// Pause between two renewals of its row; [`ALIVE`] has room for two that fail.
const RENEW: Duration = Duration::from_secs(10);
/// How long the state of a browser may take to be read at its end.
const SAVE: Duration = Duration::from_secs(15);

/// What only the keeper needs.
pub(super) struct Kept {
    pub(super) place: Slot,
    pub(super) funds: Funds,
    pub(super) profile: Option<Opened>,
}

/// Lets a session live until its end, whatever that is, and ends it.
pub(super) async fn keep(live: Arc<Live>, kept: Kept) {
    let why = tokio::select! {
        why = wait(&live) => why,
        () = live.stop.cancelled() => "asked to",
        () = live.app.sessions().closing().cancelled() => "the server stops",
        () = live.browser.gone() => "its browser is gone",
        () = live.key.revoked() => "its key was revoked",
    };
    // From here on nobody gets in, and what goes on in it ends.
    live.stop.cancel();
    let lived = live.began.elapsed().min(live.ends - live.began);
    finish(&live, kept, lived, why).await;
}

/// Returns when its time or its rest is over, or others have ended it.
async fn wait(live: &Live) -> &'static str {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut renewed = Instant::now();
    loop {
        tokio::select! {
            () = sleep_until(live.ends) => return "its time is over",
            _ = looks.tick() => {}
        }
        if live.has_rested() {
            return "it rested";
        }
        if renewed.elapsed() >= RENEW {
            renewed = Instant::now();
            match renew(live).await {
                Ok(true) => {}
                Ok(false) => return "its row has ended",
                Err(error) if error.is_outage() => {}
                Err(error) => tracing::warn!(?error, session = %live.id, "row of a session not renewed"),
            }
        }
    }
}

async fn renew(live: &Live) -> Result<bool, AppError> {
    let mut conn = live.app.conn().await?;
    Ok(rows::renew(&mut conn, &live.id.to_string(), live.last_used_at(), live.app.now() + ALIVE).await?)
}

async fn finish(live: &Arc<Live>, kept: Kept, lived: Duration, why: &'static str) {
    let Kept { place, funds, profile } = kept;
    let app = &live.app;
    // Later it is gone in any case.
    let lost_browser = live.browser.is_gone();
    if let Some(Opened { state: before, saver: Some(saver) }) = profile {
        match timeout(SAVE, live.browser.state(&before, Instant::now() + SAVE)).await {
            // Nobody is there to be told but the log.
            Ok(Ok(state)) => drop(saver.save_at_end(state).await),
            _ => tracing::debug!(session = %live.id, "the state of a session cannot be read any more"),
        }
    }
    live.browser.close().await;
    let credits = charge(live, funds, lived, lost_browser).await;
    let now = app.now();
    let written =
        async { rows::end(&mut app.conn().await?, &live.id.to_string(), now, credits).await.map_err(AppError::from) };
    if let Err(error) = written.await {
        tracing::warn!(?error, session = %live.id, "end of a session not written down, upkeep will do it");
    }
    tracing::debug!(session = %live.id, team = live.team(), why, credits, "session ended");
    let session_duration_ms = i64::try_from(lived.as_millis()).unwrap_or(i64::MAX);
    let status = SessionStatus::Destroyed;
    live.ended.send_replace(Some(SessionEnded { success: true, status, session_duration_ms, credits_billed: credits }));
    // Not found any more only now: who asks at the same moment is still told how it ended.
    app.sessions().remove(live.id);
    drop(place);
}

/// Charges what it has cost; what cannot be booked is given back, and costs nothing.
async fn charge(live: &Live, funds: Funds, lived: Duration, lost_browser: bool) -> i64 {
    let mut charged = 0;
    let orders = live.orders.take_funds(lost_browser);
    let parts = [(Some(funds), billing::session(lived, SessionKind::Plain)), (orders, billing::prompt_extra(lived))];
    for (funds, price) in parts {
        let Some(funds) = funds else { continue };
        match funds.settle(price, None, None).await {
            Ok(()) => charged += price,
            Err(error) => tracing::warn!(?error, session = %live.id, "session not charged"),
        }
    }
    charged
}

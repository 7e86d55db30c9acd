//! The door for requests that are answered while the caller waits.

use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use scrape::ScrapeError;
use tokio::time::{Instant, timeout_at};

use crate::active::Slot;
use crate::auth::Caller;
use crate::reservation::Funds;
use crate::{App, AppError};

/// What a request needs before its work begins.
pub(crate) struct Entry {
    pub(crate) started: Instant,
    /// The time for all of it.
    pub(crate) timeout: Duration,
    /// What the ledger knows it by.
    pub(crate) key: String,
    /// The most that it can cost, in credits.
    pub(crate) price: i64,
}

/// A request that may begin. Dropped, it gives back what it holds.
pub(crate) struct Admitted {
    /// One of those that the team may have in flight.
    pub(crate) slot: Slot,
    pub(crate) funds: Funds,
    pub(crate) deadline: Instant,
}

/// Lets a request in: the service must be open, `check` must pass, the team must have a slot and the credits.
///
/// # Errors
/// [`AppError::ShuttingDown`], those of `check`, [`AppError::ConcurrencyLimited`], those of [`Funds::reserve`], in this order.
/// [`ScrapeError::Timeout`] when the reservation takes all the time.
pub(crate) async fn admit(
    app: &App,
    caller: &Caller,
    entry: Entry,
    check: impl FnOnce() -> Result<(), AppError>,
) -> Result<Admitted, AppError> {
    check_open(app)?;
    check()?;
    let slot = slot(app, caller)?;
    let Entry { started, timeout, key, price } = entry;
    let deadline = started + timeout;
    let life = TimeDelta::from_std(timeout + app.settings.reservation_grace).unwrap_or(TimeDelta::MAX);
    let expires_at = app.now().checked_add_signed(life).unwrap_or(Timestamp::MAX_UTC);
    let reserved = timeout_at(deadline, Funds::reserve(app, caller, key, price, expires_at)).await;
    let funds = reserved.unwrap_or(Err(ScrapeError::Timeout.into()))?;
    Ok(Admitted { slot, funds, deadline })
}

/// Refuses everything once the service is going down.
pub(crate) fn check_open(app: &App) -> Result<(), AppError> {
    if app.tracker.is_closed() { Err(AppError::ShuttingDown) } else { Ok(()) }
}

/// One more request of the team in flight, if it may have one.
pub(crate) fn slot(app: &App, caller: &Caller) -> Result<Slot, AppError> {
    let limit = u32::try_from(caller.team.concurrency).unwrap_or(0);
    app.active.enter(&caller.team.id, limit).ok_or(AppError::ConcurrencyLimited { limit })
}

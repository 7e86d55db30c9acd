//! Admission of requests that are answered while the caller waits.

use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use tokio::time::{Instant, timeout_at};

use crate::auth::Caller;
use crate::reservation::Funds;
use crate::{App, AppError, Slot};

/// Parameters of admission.
pub struct Entry {
    /// Start of the request.
    pub started: Instant,
    /// Timeout of the whole request.
    pub timeout: Duration,
    /// Ledger key of the reservation.
    pub key: String,
    /// Maximum cost in credits.
    pub price: i64,
}

/// Admitted request. Dropping it frees its slot and returns its credits.
pub struct Admitted {
    /// Slot among the team's requests in flight.
    pub slot: Slot,
    /// Reserved credits.
    pub funds: Funds,
    /// Deadline of the whole request.
    pub deadline: Instant,
}

/// Admits a request: the service must be running, `check` must pass, and the team must have a free slot and the
/// credits.
///
/// # Errors
/// [`AppError::ShuttingDown`], the errors of `check`, [`AppError::ConcurrencyLimited`], and those of
/// [`Funds::reserve`], in this order. [`AppError::Timeout`] when the reservation takes the whole timeout.
pub async fn admit(
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
    let life = TimeDelta::from_std(timeout + app.settings().reservation_grace).unwrap_or(TimeDelta::MAX);
    let expires_at = app.now().checked_add_signed(life).unwrap_or(Timestamp::MAX_UTC);
    let reserved = timeout_at(deadline, Funds::reserve(app, caller, key, price, expires_at)).await;
    let funds = reserved.unwrap_or(Err(AppError::Timeout))?;
    Ok(Admitted { slot, funds, deadline })
}

/// Returns an error when the service is shutting down.
///
/// # Errors
/// [`AppError::ShuttingDown`].
pub fn check_open(app: &App) -> Result<(), AppError> {
    if app.tracker().is_closed() { Err(AppError::ShuttingDown) } else { Ok(()) }
}

/// Takes a slot for a request of the team, if one is free.
///
/// # Errors
/// [`AppError::ConcurrencyLimited`].
pub fn slot(app: &App, caller: &Caller) -> Result<Slot, AppError> {
    let limit = u32::try_from(caller.team.concurrency).unwrap_or(0);
    app.active().enter(&caller.team.id, limit).ok_or(AppError::ConcurrencyLimited { limit })
}

//! What has to be done now and then, by one process of all that share a database.

use std::time::Duration;

use base::{Timestamp, new_id};
use chrono::TimeDelta;
use store::{leases, ledger, robots, scrapes, webhooks};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::cache::{self, Swept};
use crate::{App, AppError};

/// The lease that makes one process the leader.
const LEASE: &str = "maintenance";
/// Rounds that a leader may miss before another takes over.
const MISSED_ROUNDS: u32 = 3;
/// Rows that one step works on: few enough that other writers do not wait for long.
const BATCH: i64 = 500;

/// What one round did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Round {
    /// Reservations given back that nobody settled in time.
    pub reservations: usize,
    /// Rows of old scrapes removed.
    pub scrapes: usize,
    /// Answers for robots.txt removed that no longer hold.
    pub robots: usize,
    /// Old webhook deliveries removed from the log.
    pub webhooks: usize,
    /// What left the cache.
    pub cache: Swept,
}

/// Does a round every [`maintain_every`](crate::Settings::maintain_every) until `stop`, as long as no other process is
/// the leader. A round that fails is logged, and tried again at the next.
pub async fn maintain(app: App, stop: CancellationToken) {
    let holder = new_id().to_string();
    let mut ticks = interval(app.settings.maintain_every.max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        // A round in progress is not cut: it is short, and each of its steps is a transaction.
        match lead(&app, &holder).await {
            Ok(Some(round)) if round != Round::default() => {
                let Round { reservations, scrapes, robots, webhooks, cache: Swept { rows, bodies } } = round;
                tracing::info!(
                    reservations,
                    scrapes,
                    robots,
                    webhooks,
                    cache.rows = rows,
                    cache.bodies = bodies,
                    "expired things removed"
                );
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(?error, "maintenance failed, it is tried again"),
        }
    }
    if let Err(error) = resign(&app, &holder).await {
        tracing::debug!(?error, "maintenance lease not given back, it will expire");
    }
}

/// One round, whoever leads: for commands and tests.
///
/// # Errors
/// [`AppError::Internal`]; what was done before stays done.
pub async fn maintain_once(app: &App) -> Result<Round, AppError> {
    Ok(Round {
        reservations: give_back(app).await?,
        scrapes: forget_scrapes(app).await?,
        robots: forget_robots(app).await?,
        webhooks: forget_webhooks(app).await?,
        cache: cache::sweep(app).await?,
    })
}

async fn give_back(app: &App) -> Result<usize, AppError> {
    let mut sum = 0;
    loop {
        let done = ledger::expire_reservations(&mut app.conn().await?, app.now(), BATCH).await?;
        sum += done;
        if is_last(done) {
            return Ok(sum);
        }
    }
}

async fn forget_scrapes(app: &App) -> Result<usize, AppError> {
    let retention = TimeDelta::from_std(app.settings.scrape_retention).unwrap_or(TimeDelta::MAX);
    let before = app.now().checked_sub_signed(retention).unwrap_or(Timestamp::UNIX_EPOCH);
    let mut sum = 0;
    loop {
        let done = scrapes::forget(&mut app.conn().await?, before, BATCH).await?;
        sum += done;
        if is_last(done) {
            return Ok(sum);
        }
    }
}

async fn forget_robots(app: &App) -> Result<usize, AppError> {
    let mut sum = 0;
    loop {
        let done = robots::forget(&mut app.conn().await?, app.now(), BATCH).await?;
        sum += done;
        if is_last(done) {
            return Ok(sum);
        }
    }
}

async fn forget_webhooks(app: &App) -> Result<usize, AppError> {
    let retention = TimeDelta::from_std(app.settings.webhook_retention).unwrap_or(TimeDelta::MAX);
    let before = app.now().checked_sub_signed(retention).unwrap_or(Timestamp::UNIX_EPOCH);
    let mut sum = 0;
    loop {
        let done = webhooks::forget(&mut app.conn().await?, before, BATCH).await?;
        sum += done;
        if is_last(done) {
            return Ok(sum);
        }
    }
}

/// Less than a batch means that nothing is left.
fn is_last(done: usize) -> bool {
    i64::try_from(done).unwrap_or(BATCH) < BATCH
}

async fn lead(app: &App, holder: &str) -> Result<Option<Round>, AppError> {
    let now = app.now();
    let lease = app.settings.maintain_every.saturating_mul(MISSED_ROUNDS);
    let until = now + TimeDelta::from_std(lease).unwrap_or_default();
    if !leases::acquire(&mut app.conn().await?, LEASE, holder, now, until).await? {
        return Ok(None);
    }
    maintain_once(app).await.map(Some)
}

async fn resign(app: &App, holder: &str) -> Result<(), AppError> {
    leases::release(&mut app.conn().await?, LEASE, holder).await?;
    Ok(())
}

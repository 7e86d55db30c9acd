//! What has to be done now and then, by one process of all that share a database.

use std::time::Duration;

use base::{Timestamp, new_id};
use chrono::TimeDelta;
use store::{crawls, hosts, jobs, leases, ledger, robots, scrapes, webhooks};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::cache::{self, Swept};
use crate::{App, AppError, orphans};

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
    /// Crawls and batches removed with their documents.
    pub crawls: usize,
    /// Bodies of documents removed that no document knew.
    pub orphans: usize,
    /// Lanes, hosts and dead letters that the queue no longer needs.
    pub queue: usize,
    /// What left the cache.
    pub cache: Swept,
}

/// Does a round every [`maintain_every`](crate::Settings::maintain_every) until `stop`, as long as no other process is
/// the leader. A round that fails is logged, and tried again at the next.
#[crate::boxed]
pub async fn maintain(app: App, stop: CancellationToken) {
    let holder = new_id().to_string();
    let mut ticks = interval(app.settings.maintain_every.max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        // A round in progress is not cut: it is short, and each of its steps is a transaction.
        match lead(&app, &holder).await {
            Ok(Some(round)) if round != Round::default() => {
                let Round { reservations, scrapes, robots, webhooks, crawls, orphans, queue, cache } = round;
                let Swept { rows, bodies } = cache;
                tracing::info!(
                    reservations,
                    scrapes,
                    robots,
                    webhooks,
                    crawls,
                    orphans,
                    queue,
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
#[crate::boxed]
pub async fn maintain_once(app: &App) -> Result<Round, AppError> {
    Ok(Round {
        reservations: give_back(app).await?,
        scrapes: forget_scrapes(app).await?,
        robots: forget_robots(app).await?,
        webhooks: forget_webhooks(app).await?,
        crawls: forget_crawls(app).await?,
        orphans: orphans::sweep(app).await?,
        queue: sweep_queue(app).await?,
        cache: cache::sweep(app).await?,
    })
}

/// Does a step until it had nothing more to do, and gives what all of them did.
macro_rules! to_the_end {
    ($app:expr, |$conn:ident| $step:expr) => {{
        let mut sum = 0;
        loop {
            let $conn = &mut $app.conn().await?;
            let done = $step.await?;
            sum += done;
            if is_last(done) {
                break sum;
            }
        }
    }};
}

async fn give_back(app: &App) -> Result<usize, AppError> {
    Ok(to_the_end!(app, |conn| ledger::expire_reservations(conn, app.now(), BATCH)))
}

async fn forget_scrapes(app: &App) -> Result<usize, AppError> {
    let before = before(app, app.settings.retention.scrapes);
    Ok(to_the_end!(app, |conn| scrapes::forget(conn, before, BATCH)))
}

async fn forget_robots(app: &App) -> Result<usize, AppError> {
    Ok(to_the_end!(app, |conn| robots::forget(conn, app.now(), BATCH)))
}

async fn forget_webhooks(app: &App) -> Result<usize, AppError> {
    let before = before(app, app.settings.retention.deliveries);
    let emptied = to_the_end!(app, |conn| webhooks::drop_bodies(conn, app.now(), BATCH));
    tracing::debug!(deliveries = emptied, "bodies of webhooks removed with their jobs");
    Ok(to_the_end!(app, |conn| webhooks::forget(conn, before, BATCH)))
}

/// Crawls and batches whose results have expired.
async fn forget_crawls(app: &App) -> Result<usize, AppError> {
    let mut sum = 0;
    loop {
        let found = crawls::expired(&mut app.conn().await?, app.now()).await?;
        let Some(crawl) = found else { return Ok(sum) };
        crate::crawl::erase(app, &crawl).await?;
        sum += 1;
    }
}

/// What the queue keeps of jobs that are over: empty lanes, hosts, dead letters.
async fn sweep_queue(app: &App) -> Result<usize, AppError> {
    let retention = app.settings.retention;
    let lanes = to_the_end!(app, |conn| jobs::sweep_lanes(conn, BATCH));
    let hosts = to_the_end!(app, |conn| hosts::forget(conn, before(app, retention.hosts), BATCH));
    let dead = to_the_end!(app, |conn| jobs::forget_dead(conn, before(app, retention.dead_jobs), BATCH));
    Ok(lanes + hosts + dead)
}

fn before(app: &App, age: Duration) -> Timestamp {
    let age = TimeDelta::from_std(age).unwrap_or(TimeDelta::MAX);
    app.now().checked_sub_signed(age).unwrap_or(Timestamp::UNIX_EPOCH)
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

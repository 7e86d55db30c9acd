//! The list of periodic tasks, and the sweeps: removal of expired data, by one of the processes that share a database. A
//! sweep is a line in [`TASKS`] and a function that returns how many items it has removed.

use std::time::Duration;

use ::runs::orphans;
use base::Timestamp;
use cache::Swept;
use chrono::TimeDelta;
use crawls::crawl;
use kernel::{App, AppError, Refused};
use scraping::{ScrapingError, files, profiles};
use store::{browser, feedback, hosts, jobs, leases, ledger, robots, scrapes, search, versions, webhooks};

use crate::Operations;
use crate::task::Task;

/// Maximum number of rows that one transaction removes, so that other writers never wait long.
const BATCH: i64 = 500;
/// Time after the end of a hold on a page's versions until its scrape counts as broken off: it may still be storing a body.
const ABANDONED_AFTER: TimeDelta = TimeDelta::minutes(10);

/// All periodic tasks.
pub(crate) const TASKS: &[Task] = &[
    Task::sweep("reservations", |operations| Box::pin(release_reservations(operations))),
    Task::sweep("scrapes", |operations| Box::pin(forget_scrapes(operations))),
    Task::sweep("searches", |operations| Box::pin(forget_searches(operations))),
    Task::sweep("robots", |operations| Box::pin(forget_robots(operations))),
    Task::sweep("webhooks", |operations| Box::pin(forget_webhooks(operations))),
    Task::sweep("runs", |operations| Box::pin(erase_runs(operations))),
    Task::sweep("waiting", |operations| Box::pin(release_waiting(operations))),
    Task::sweep("files", |operations| Box::pin(async move { Ok(files::sweep(&operations.app).await?) })),
    Task::sweep("orphans", |operations| Box::pin(async move { Ok(orphans::sweep(&operations.runs).await?) })),
    Task::sweep("fires", |operations| {
        Box::pin(async move { Ok(monitors::upkeep::repair(&operations.monitors).await?) })
    }),
    Task::sweep("monitors", |operations| {
        Box::pin(async move { Ok(monitors::upkeep::sweep(&operations.monitors).await?) })
    }),
    Task::sweep("sessions", |operations| Box::pin(sweep_sessions(operations))),
    Task::sweep("profiles", |operations| Box::pin(forget_profiles(operations))),
    Task::sweep("versions", |operations| Box::pin(forget_versions(operations))),
    Task::sweep("queue", |operations| Box::pin(sweep_queue(operations))),
    Task::sweep("cache", |operations| Box::pin(sweep_cache(operations))),
];

/// Repeats a step until it has nothing more to do, and sums up its results.
macro_rules! to_the_end {
    ($app:expr, |$conn:ident| $step:expr) => {{
        let mut sum = 0;
        loop {
            // Each step takes a connection of its own, so that others get one in between.
            let $conn = &mut $app.conn().await?;
            let done = $step.await.map_err(AppError::from)?;
            sum += done;
            if is_last(done) {
                break sum;
            }
        }
    }};
}

/// Returns the credits of expired reservations.
async fn release_reservations(operations: Operations) -> Result<usize, Refused> {
    let app = &operations.app;
    Ok(to_the_end!(app, |conn| ledger::expire_reservations(conn, app.now(), BATCH)))
}

/// Removes rows of old scrapes.
async fn forget_scrapes(operations: Operations) -> Result<usize, Refused> {
    let app = &operations.app;
    let before = before(app, operations.upkeep.retention.scrapes);
    Ok(to_the_end!(app, |conn| scrapes::forget(conn, before, BATCH)))
}

/// Removes rows of old searches, and old feedback.
async fn forget_searches(operations: Operations) -> Result<usize, Refused> {
    let app = &operations.app;
    let before = before(app, operations.upkeep.retention.scrapes);
    let feedback = to_the_end!(app, |conn| feedback::forget(conn, before, BATCH));
    Ok(feedback + to_the_end!(app, |conn| search::forget(conn, before, BATCH)))
}

/// Removes expired robots.txt answers.
async fn forget_robots(operations: Operations) -> Result<usize, Refused> {
    let app = &operations.app;
    Ok(to_the_end!(app, |conn| robots::forget(conn, app.now(), BATCH)))
}

/// Removes old webhook deliveries, and the bodies of those whose jobs are gone.
async fn forget_webhooks(operations: Operations) -> Result<usize, Refused> {
    let app = &operations.app;
    let before = before(app, operations.upkeep.retention.deliveries);
    let emptied = to_the_end!(app, |conn| webhooks::drop_bodies(conn, app.now(), BATCH));
    tracing::debug!(deliveries = emptied, "removed webhook bodies of expired jobs");
    Ok(to_the_end!(app, |conn| webhooks::forget(conn, before, BATCH)))
}

/// Removes runs whose results have expired, with their documents.
async fn erase_runs(operations: Operations) -> Result<usize, Refused> {
    let app = &operations.app;
    let mut sum = 0;
    loop {
        let found = store::runs::expired(&mut app.conn().await?, app.now()).await.map_err(AppError::from)?;
        let Some(run) = found else { return Ok(sum) };
        runs::erase(app, &run).await?;
        sum += 1;
    }
}

/// Releases pages that wait for ended pages. Nothing is removed.
async fn release_waiting(operations: Operations) -> Result<usize, Refused> {
    crawl::release_waiting(&operations.runs).await?;
    Ok(0)
}

/// Ends sessions whose server is gone, and removes the rows of old ones.
async fn sweep_sessions(operations: Operations) -> Result<usize, Refused> {
    let app = &operations.app;
    let before = before(app, operations.upkeep.retention.scrapes);
    let ended = to_the_end!(app, |conn| browser::end_lost(conn, app.now(), BATCH));
    Ok(ended + to_the_end!(app, |conn| browser::forget(conn, before, BATCH)))
}

/// Removes unused profiles, and expired leases of profiles.
async fn forget_profiles(operations: Operations) -> Result<usize, Refused> {
    let app = &operations.app;
    let before = before(app, operations.upkeep.retention.profiles);
    let leases = to_the_end!(app, |conn| leases::forget(conn, profiles::LEASE, app.now(), BATCH));
    Ok(leases + to_the_end!(app, |conn| store::profiles::forget(conn, before, BATCH)))
}

/// Removes versions of pages that are not asked for any more, and what scrapes that broke off have stored for new ones.
/// Bodies in the blob store are removed by the sweep of the cache.
async fn forget_versions(operations: Operations) -> Result<usize, Refused> {
    let app = &operations.app;
    let before = before(app, operations.upkeep.retention.versions);
    let abandoned = to_the_end!(app, |conn| versions::abandoned(conn, app.now() - ABANDONED_AFTER, BATCH));
    Ok(abandoned + to_the_end!(app, |conn| versions::forget(conn, before, BATCH)))
}

/// Removes remains of finished jobs from the queue: empty lanes, hosts, dead letters.
async fn sweep_queue(operations: Operations) -> Result<usize, Refused> {
    let app = &operations.app;
    let retention = operations.upkeep.retention;
    let lanes = to_the_end!(app, |conn| jobs::sweep_lanes(conn, BATCH));
    let hosts = to_the_end!(app, |conn| hosts::forget(conn, before(app, retention.hosts), BATCH));
    let dead = to_the_end!(app, |conn| jobs::forget_dead(conn, before(app, retention.dead_jobs), BATCH));
    Ok(lanes + hosts + dead)
}

/// Removes expired and evicted copies from the cache, with their bodies.
async fn sweep_cache(operations: Operations) -> Result<usize, Refused> {
    let Swept { rows, bodies } = operations.scraper.cache().sweep().await.map_err(ScrapingError::from)?;
    Ok(rows + bodies)
}

fn before(app: &App, age: Duration) -> Timestamp {
    let age = TimeDelta::from_std(age).unwrap_or(TimeDelta::MAX);
    app.now().checked_sub_signed(age).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Whether this was the last batch: it was not full.
fn is_last(done: usize) -> bool {
    i64::try_from(done).unwrap_or(BATCH) < BATCH
}

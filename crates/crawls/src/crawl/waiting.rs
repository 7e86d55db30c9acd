//! Release of pages that wait for a page that has already ended, as workers of an older version leave them.

use std::collections::BTreeMap;

use ::runs::{PAGES, Recording, Runs, save};
use kernel::AppError;
use store::{Conn, StoreError, jobs, runs as rows};

use super::frontier::CrawlRun;
use super::record::CrawlRecord;

/// Maximum number of pages released in one round.
const MOST: i64 = 500;

/// Releases such pages, as the end of the other page normally does.
///
/// # Errors
/// [`AppError`] of the database; the next call continues.
#[crate::boxed]
pub async fn release(runs: &Runs) -> Result<(), AppError> {
    let found = rows::awaited(&mut runs.app().conn().await?, MOST).await?;
    let mut ended: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for awaited in found {
        ended.entry(awaited.run).or_default().push(awaited.page);
    }
    for (run, ended) in ended {
        tracing::info!(run, pages = ended.len(), "released pages that a worker of an older version had left waiting");
        release_of(runs, &run, ended).await?;
        runs.changed(&run);
        runs.app().waker().wake(PAGES);
    }
    Ok(())
}

async fn release_of(runs: &Runs, run: &str, ended: Vec<String>) -> Result<(), AppError> {
    let mut conn = runs.app().conn().await?;
    let released: Result<(), StoreError> = conn.tx(async |conn: &mut Conn| write(runs, conn, run, ended).await).await;
    Ok(released?)
}

async fn write(runs: &Runs, conn: &mut Conn, run: &str, ended: Vec<String>) -> Result<(), StoreError> {
    let Some(row) = rows::find(conn, run).await? else { return Ok(()) };
    // Every transaction locks the team before the run: another order would deadlock.
    jobs::lock_team(conn, PAGES.name, &row.team_id).await?;
    let Some(mut progress) = rows::lock(conn, run).await? else { return Ok(()) };
    let context = runs.context_of(conn, &row).await?;
    let Some(crawl) = CrawlRun::of(&context) else { return Ok(()) };
    let recording = Recording { context: &context, pages: &[], now: runs.app().now() };
    let mut record = CrawlRecord::begin(conn, crawl, &mut progress, recording).await?;
    record.release(conn, &mut progress, ended).await?;
    record.enqueue(conn, &mut progress).await?;
    save(runs, conn, context.kind, &mut progress).await?;
    if !progress.is_open {
        crawl.known.clear();
        runs.forget(&context.id);
    }
    Ok(())
}

//! `cargo xtask chaos zombie`: a worker is paused until its leases expire and another takes its jobs, and is then resumed.

use std::time::Duration;

use anyhow::{Result, ensure};
use wire::JobProgress;
use xtask::db::Cluster;
use xtask::say;

use crate::made_site::MadeSite;
use crate::team::{Team, shown, whole_crawl};

const PAGES: usize = 300;

pub(crate) async fn run() -> Result<()> {
    let site = MadeSite::slow(PAGES, Duration::from_millis(50)).await;
    let cluster = Cluster::start()?;
    let installation = super::installation(site.addr())?
        .set("store.url", cluster.url())
        .set("worker.lease_s", "3")
        .set("worker.embedded", "false");
    let server = installation.server()?;
    let zombie = installation.worker()?;
    let addr = server.addr();
    let team = Team::new(addr, "zombie", 10_000).await?;
    let run = team.crawl(addr, &whole_crawl(&site.url(0), PAGES + 5, 8)).await?;
    while team.status(addr, run).await?.completed < 10 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    zombie.pause()?;
    let _other = installation.worker()?;
    let end = team.finished(addr, run, Duration::from_secs(300)).await?;
    ensure!(end.completed == PAGES as u64, "ended as {}", shown(&end));
    zombie.resume()?;
    // It now tries to commit the jobs that it had in progress.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let after = team.status(addr, run).await?;
    let figures = |of: &JobProgress| (of.status, of.completed, of.total, of.credits_used);
    ensure!(figures(&after) == figures(&end), "it was {} and is {} after the return", shown(&end), shown(&after));
    ensure!(team.credits(addr).await? == 10_000 - PAGES as i64, "credits do not add up");
    ensure!(team.addresses(addr, run).await?.len() == PAGES, "documents are missing or doubled");
    say!("a paused worker came back after its jobs were done: 0 of its writes accepted");
    Ok(())
}

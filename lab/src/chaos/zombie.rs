//! `cargo xtask chaos zombie`: a worker is paused until its jobs are given to another, and then goes on.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::client::{Team, crawl};
use super::node::Place;
use crate::db::Cluster;
use crate::made_site::MadeSite;
use crate::say;

const PAGES: usize = 300;

pub(crate) async fn run() -> Result<()> {
    let site = MadeSite::slow(PAGES, Duration::from_millis(50)).await;
    let cluster = Cluster::start()?;
    let settings = [
        ("QUARRY__STORE__URL", cluster.url()),
        ("QUARRY__WORKER__LEASE_S", "3".to_owned()),
        ("QUARRY__WORKER__EMBEDDED", "false".to_owned()),
    ];
    let place = Place::new(site.addr(), &settings)?;
    let server = place.server(&[])?;
    let zombie = place.worker()?;
    let team = Team::new(server.addr, "zombie", 10_000).await?;
    let job = team.start(server.addr, "/v2/crawl", &crawl(&site.url(0), PAGES + 5, 8)).await?;
    while team.status(server.addr, &job).await?["completed"].as_u64().unwrap_or(0) < 10 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    zombie.pause()?;
    let _other = place.worker()?;
    let end = team.finished(server.addr, &job, Duration::from_secs(300)).await?;
    ensure!(end["completed"] == PAGES as u64, "ended as {end}");
    zombie.go_on()?;
    // What it had in hand it now tries to write down.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let after = team.status(server.addr, &job).await?;
    for key in ["status", "completed", "total", "creditsUsed"] {
        ensure!(after[key] == end[key], "{key} was {} and is {} after the return", end[key], after[key]);
    }
    ensure!(team.credits(server.addr).await? == 10_000 - PAGES as i64, "credits do not add up");
    ensure!(team.documents(server.addr, &job).await?.len() == PAGES, "documents are missing or doubled");
    say!("a paused worker came back after its jobs were done: 0 of its writes accepted");
    Ok(())
}

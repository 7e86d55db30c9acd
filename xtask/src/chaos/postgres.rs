//! `cargo xtask chaos pg`: PostgreSQL stops as in a crash, several times during a crawl.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::client::{Team, crawl};
use super::node::Place;
use crate::db::Cluster;
use crate::hostile::http;
use crate::made_site::MadeSite;
use crate::say;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How often.
    #[arg(long, default_value_t = 5)]
    times: usize,
    /// Pages of the crawl.
    #[arg(long, default_value_t = 1000)]
    pages: usize,
}

/// Longest time from the database's return to a ready service.
const READY: Duration = Duration::from_secs(10);

pub(crate) async fn run(args: Args) -> Result<()> {
    let site = MadeSite::slow(args.pages, Duration::from_millis(20)).await;
    let cluster = Cluster::start()?;
    let settings = [("QUARRY__STORE__URL", cluster.url()), ("QUARRY__WORKER__LEASE_S", "5".to_owned())];
    let place = Place::new(site.addr(), &settings)?;
    let server = place.server(&[])?;
    let team = Team::new(server.addr, "pg", 1_000_000).await?;
    let job = team.start(server.addr, "/v2/crawl", &crawl(&site.url(0), args.pages + 5, 4)).await?;
    let mut longest = Duration::ZERO;
    for _ in 0..args.times {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        cluster.crash()?;
        let live = http::get(server.addr, "/health/live", "").await?;
        ensure!(live.status == 200, "not live without its database: {}", live.status);
        tokio::time::sleep(Duration::from_millis(500)).await;
        cluster.restart()?;
        let started = Instant::now();
        while http::get(server.addr, "/health/ready", "").await.map_or(0, |answer| answer.status) != 200 {
            ensure!(started.elapsed() < READY, "not ready within {} s", READY.as_secs());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        longest = longest.max(started.elapsed());
    }
    let end = team.finished(server.addr, &job, Duration::from_secs(600)).await?;
    let pages = args.pages as u64;
    ensure!(end["status"] == "completed" && end["completed"] == pages && end["creditsUsed"] == pages, "ended as {end}");
    ensure!(team.credits(server.addr).await? == 1_000_000 - pages as i64, "credits do not add up");
    ensure!(team.documents(server.addr, &job).await?.len() == args.pages, "documents are missing");
    say!(
        "PostgreSQL crashed {} times: 0 of {pages} pages lost, 0 charged twice, ready {:.1} s after its return at most",
        args.times,
        longest.as_secs_f64()
    );
    Ok(())
}

//! `cargo xtask chaos pg`: PostgreSQL stops as in a crash, several times during a crawl, and then answers nobody for a while.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rustix::process::Signal;

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
    /// Seconds for which it then stands still.
    #[arg(long, default_value_t = 30)]
    hang: u64,
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
        longest = longest.max(ready(server.addr).await?);
    }
    let after_hang = hang(&cluster, server.addr, Duration::from_secs(args.hang)).await?;
    let end = team.finished(server.addr, &job, Duration::from_secs(600)).await?;
    let pages = args.pages as u64;
    ensure!(end["status"] == "completed" && end["completed"] == pages && end["creditsUsed"] == pages, "ended as {end}");
    ensure!(team.credits(server.addr).await? == 1_000_000 - pages as i64, "credits do not add up");
    ensure!(team.documents(server.addr, &job).await?.len() == args.pages, "documents are missing");
    say!(
        "PostgreSQL crashed {} times and stood still for {} s: 0 of {pages} pages lost, 0 charged twice, ready {:.1} s after \
         a crash and {:.1} s after the standstill at most",
        args.times,
        args.hang,
        longest.as_secs_f64(),
        after_hang.as_secs_f64()
    );
    Ok(())
}

/// How long it takes until the service is ready.
async fn ready(server: SocketAddr) -> Result<Duration> {
    let started = Instant::now();
    while http::get(server, "/health/ready", "").await.map_or(0, |answer| answer.status) != 200 {
        ensure!(started.elapsed() < READY, "not ready within {} s", READY.as_secs());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(started.elapsed())
}

/// Nobody is told to come while the database answers nobody.
async fn hang(cluster: &Cluster, server: SocketAddr, time: Duration) -> Result<Duration> {
    cluster.signal(Signal::STOP)?;
    let started = Instant::now();
    let asked = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let ready = http::get(server, "/health/ready", "").await?.status;
        let live = http::get(server, "/health/live", "").await?.status;
        ensure!((ready, live) == (503, 200), "ready {ready} and live {live} while the database stands still");
        Ok(())
    };
    let asked = asked.await;
    tokio::time::sleep(time.saturating_sub(started.elapsed())).await;
    cluster.signal(Signal::CONT)?;
    asked?;
    ready(server).await
}

//! `cargo xtask chaos pg`: PostgreSQL crashes several times during a crawl, and then hangs for a while.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use lab::service;
use rustix::process::Signal;
use wire::JobStatus;
use xtask::db::Cluster;
use xtask::say;

use crate::made_site::MadeSite;
use crate::team::{Team, shown, whole_crawl};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of crashes.
    #[arg(long, default_value_t = 5)]
    times: usize,
    /// Number of pages of the crawl.
    #[arg(long, default_value_t = 1000)]
    pages: usize,
    /// Duration of the hang in seconds.
    #[arg(long, default_value_t = 30)]
    hang: u64,
}

/// Timeout from the database's return to a ready service.
const MAX_READY: Duration = Duration::from_secs(10);

pub(crate) async fn run(args: Args) -> Result<()> {
    let site = MadeSite::slow(args.pages, Duration::from_millis(20)).await;
    let cluster = Cluster::start()?;
    let installation = super::installation(site.addr())?.set("store.url", cluster.url()).set("worker.lease_s", "5");
    let server = installation.server()?;
    let addr = server.addr();
    let team = Team::new(addr, "pg", 1_000_000).await?;
    let run = team.crawl(addr, &whole_crawl(&site.url(0), args.pages + 5, 4)).await?;
    let mut longest = Duration::ZERO;
    for _ in 0..args.times {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        cluster.crash()?;
        let live = service::get(addr, "/health/live").await?;
        ensure!(live.status == 200, "not live without its database: {}", live.status);
        tokio::time::sleep(Duration::from_millis(500)).await;
        cluster.restart()?;
        longest = longest.max(ready(addr).await?);
    }
    let after_hang = hang(&cluster, addr, Duration::from_secs(args.hang)).await?;
    let end = team.finished(addr, run, Duration::from_secs(600)).await?;
    let pages = args.pages;
    let whole = (JobStatus::Completed, pages as u64, pages as i64);
    ensure!((end.status, end.completed, end.credits_used) == whole, "ended as {}", shown(&end));
    ensure!(team.credits(addr).await? == 1_000_000 - pages as i64, "credits do not add up");
    ensure!(team.addresses(addr, run).await?.len() == pages, "documents are missing");
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

/// Returns the time until the service is ready.
async fn ready(server: SocketAddr) -> Result<Duration> {
    let started = Instant::now();
    while service::get(server, "/health/ready").await.map_or(0, |answer| answer.status) != 200 {
        ensure!(started.elapsed() < MAX_READY, "not ready within {} s", MAX_READY.as_secs());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(started.elapsed())
}

/// Stops PostgreSQL for `time`, checks that the service is live but not ready meanwhile, and returns the time until it
/// is ready again.
async fn hang(cluster: &Cluster, server: SocketAddr, time: Duration) -> Result<Duration> {
    cluster.signal(Signal::STOP)?;
    let started = Instant::now();
    let asked = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let ready = service::get(server, "/health/ready").await?.status;
        let live = service::get(server, "/health/live").await?.status;
        ensure!((ready, live) == (503, 200), "ready {ready} and live {live} while the database hangs");
        Ok(())
    };
    let asked = asked.await;
    tokio::time::sleep(time.saturating_sub(started.elapsed())).await;
    cluster.signal(Signal::CONT)?;
    asked?;
    ready(server).await
}

//! `cargo xtask chaos fairness`: teams with one page each, alone and next to a team with a hundred thousand.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;
use wire::JobStatus;
use xtask::say;

use crate::made_site::MadeSite;
use crate::team::{Team, shown};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of pages of the large team.
    #[arg(long, default_value_t = 100_000)]
    jobs: usize,
    /// Number of small teams.
    #[arg(long, default_value_t = 100)]
    teams: usize,
}

/// Maximum ratio of a small team's page time next to the large team and alone, at the 99th percentile.
const MAX_RATIO: f64 = 3.0;
/// Maximum waiting time.
const MAX_WAIT: Duration = Duration::from_secs(5);

pub(crate) async fn run(args: Args) -> Result<()> {
    let site = MadeSite::slow(1000, Duration::from_millis(200)).await;
    let server = super::installation(site.addr())?.set("worker.per_host", "1000").server()?;
    let addr = server.addr();
    let mut teams = Vec::with_capacity(args.teams);
    for number in 0..args.teams {
        teams.push(Team::new(addr, &format!("small {number}"), 1000).await?);
    }
    let alone = small(addr, &teams, &site).await?;
    let large = Team::new(addr, "large", 1_000_000).await?;
    let urls: Vec<String> = (0..args.jobs).map(|number| site.url(number % 1000)).collect();
    let options = json!({ "urls": urls, "formats": ["markdown"], "maxAge": 0, "storeInCache": false });
    let run = large.batch(addr, &options).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let beside = small(addr, &teams, &site).await?;
    let progress = large.status(addr, run).await?;
    let working = progress.status == JobStatus::Scraping;
    ensure!(working, "the large team was done before the small ones: {}", shown(&progress));
    let ratio = beside.as_secs_f64() / alone.as_secs_f64();
    say!(
        "{} teams with one page: p99 {:.0} ms alone, {:.0} ms beside {} pages of one team ({} done by then): {ratio:.2} times",
        args.teams,
        alone.as_secs_f64() * 1e3,
        beside.as_secs_f64() * 1e3,
        args.jobs,
        progress.completed
    );
    ensure!(ratio <= MAX_RATIO, "it should be {MAX_RATIO} times at most");
    ensure!(beside <= MAX_WAIT, "a small team waited for {:.1} s", beside.as_secs_f64());
    Ok(())
}

/// Returns the 99th percentile of the time from request to document, with the teams in quick succession.
async fn small(addr: SocketAddr, teams: &[Team], site: &MadeSite) -> Result<Duration> {
    let mut jobs = Vec::with_capacity(teams.len());
    for (number, team) in teams.iter().enumerate() {
        let (team, url) = (team.clone(), site.url(number % 1000));
        jobs.push(tokio::spawn(async move {
            let started = Instant::now();
            let request = json!({ "urls": [url], "formats": ["markdown"], "maxAge": 0, "storeInCache": false });
            let run = team.batch(addr, &request).await?;
            let end = team.finished(addr, run, Duration::from_secs(60)).await?;
            ensure!(end.completed == 1, "ended as {}", shown(&end));
            Ok(started.elapsed())
        }));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut times = Vec::with_capacity(jobs.len());
    for job in jobs {
        times.push(job.await??);
    }
    times.sort();
    Ok(times[(times.len() - 1) * 99 / 100])
}

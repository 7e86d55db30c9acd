//! `cargo xtask chaos poison`: pages of one job whose results can never be written, next to another team's work.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use client::Run;
use lab::programs;
use serde_json::json;
use xtask::say;

use crate::hostile::innocent::{Bystander, p99};
use crate::made_site::MadeSite;
use crate::team::Team;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Method that makes the pages fail.
    #[arg(long, value_enum, default_value_t = PoisonMethod::FailPoint)]
    by: PoisonMethod,
    /// Number of pages that cannot be written.
    #[arg(long, default_value_t = 600)]
    pages: usize,
    /// Duration in seconds of the other team's work, alone and next to these pages.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PoisonMethod {
    /// The server's fail point `commit_poison`.
    FailPoint,
    /// Pages that cost more than was reserved, appended to a batch with `appendToId`.
    Append,
}

/// Maximum ratio of the other team's waiting times at the 99th percentile.
const MAX_RATIO: f64 = 1.2;
/// Timeout of the job, which must end; a server that retries for ever does not end it.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) async fn run(args: Args) -> Result<()> {
    let site = MadeSite::slow(args.pages + 1, Duration::from_millis(200)).await;
    let installation = super::installation_of(programs::with_fail_points()?, site.addr())?
        .set("worker.per_host", "1000")
        .env("FAILPOINTS", if args.by == PoisonMethod::FailPoint { "commit_poison=return" } else { "" });
    let server = installation.server()?;
    let addr = server.addr();
    let bad = Team::new(addr, "bad", 1_000_000).await?;
    let good = Team::new(addr, "good", 1_000_000).await?;
    let innocent = bystander(addr, &good, args.seconds, site.url(args.pages));
    let urls: Vec<String> = (0..args.pages).map(|number| site.url(number)).collect();
    if args.by == PoisonMethod::Append {
        let copies = bad.batch(addr, &json!({ "urls": urls })).await?;
        bad.finished(addr, copies, PATIENCE).await?;
    }
    let attack = async {
        match args.by {
            PoisonMethod::FailPoint => poisoned(&bad, addr, &urls).await,
            PoisonMethod::Append => appended(&bad, addr, &urls).await,
        }
    };
    let (run, waits) = innocent.beside(attack).await?;
    let (alone, beside) = (p99(&waits.alone), p99(&waits.work));
    say!(
        "batches of another team: p99 {alone:.0} ms of {} alone, {beside:.0} ms of {} beside {} pages that cannot be written \
         down: {:.2} times",
        waits.alone.len(),
        waits.work.len(),
        args.pages,
        beside / alone
    );
    let end = bad.finished(addr, run, PATIENCE).await.context("the job with these pages does not end")?;
    say!("their job ended as {:?}, {} of {} pages completed", end.status.as_str(), end.completed, end.total);
    ensure!(beside <= alone * MAX_RATIO, "it should be {MAX_RATIO} times at most");
    if args.by == PoisonMethod::FailPoint {
        let left = bad.credits(addr).await?;
        ensure!(left == 1_000_000, "{} credits were charged for pages without documents", 1_000_000 - left);
    }
    Ok(())
}

/// Returns the other team, which works alone and next to the poisoned job for the same time.
fn bystander(addr: SocketAddr, team: &Team, seconds: u64, page: String) -> Bystander {
    let time = Duration::from_secs(seconds);
    Bystander { batch: true, least: time, alone: time, addr, key: team.key.clone(), page }
}

/// Starts a batch of pages whose commit the fail point refuses.
async fn poisoned(team: &Team, addr: SocketAddr, urls: &[String]) -> Result<Run> {
    let urls: Vec<String> = urls.iter().map(|url| format!("{url}?poison")).collect();
    let batch =
        json!({ "urls": urls, "formats": ["markdown"], "maxAge": 0, "storeInCache": false, "maxConcurrency": 8 });
    team.batch(addr, &batch).await
}

/// Starts a batch from cached copies, at five credits each, that spends its whole reservation. While it runs, the same
/// pages are appended without the option for cached copies.
async fn appended(team: &Team, addr: SocketAddr, urls: &[String]) -> Result<Run> {
    let run = team.batch(addr, &json!({ "urls": urls, "lockdown": true })).await?;
    let answer = team.post(addr, "/v2/batch/scrape", &json!({ "urls": urls, "appendToId": run.id })).await?;
    match answer.status {
        200 => {}
        400 => say!("the server refuses these pages: {}", answer.text()),
        status => bail!("POST /v2/batch/scrape answers {status}: {}", answer.text()),
    }
    Ok(run)
}

//! Many scrapes with `json` against a slow model, beside another team's scrapes without a model.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use lab::service;
use serde_json::Value;
use testkit::Site;
use tokio::task::JoinSet;
use xtask::say;

use super::{Args, CREDITS, PRICE, endpoint, installation, with_json};
use crate::hostile::innocent::{Bystander, p99};
use crate::team::Team;

/// Maximum 99th percentile of a scrape without a model, as a ratio to that without the load.
const MAX_RATIO: f64 = 1.2;
/// Difference of two percentiles in milliseconds that means nothing.
const NOISE_MS: f64 = 10.0;

/// Runs the load.
pub(super) async fn run(site: &Site, args: &Args) -> Result<()> {
    let model = endpoint::Process::start(Duration::from_millis(args.answer_ms))?;
    let server = installation(site, model.url(), args.parallel)?.server()?;
    let addr = server.addr();
    let team = Team::new(addr, "json", CREDITS).await?;
    let bystander = Bystander {
        batch: false,
        least: Duration::ZERO,
        alone: Duration::from_secs(15),
        addr,
        key: Team::new(addr, "bystander", CREDITS).await?.key,
        page: site.url("/innocent").to_string(),
    };
    let request = with_json(&site.url("/page"), &[], Duration::from_secs(120));
    let started = Instant::now();
    let (queue, waits) = bystander.beside(scrapes(&team, addr, args, request)).await?;
    let (alone, beside) = (p99(&waits.alone), p99(&waits.work));
    let left = team.credits(addr).await?;
    let charged = CREDITS as i64 - left;
    say!(
        "load: {} scrapes with json, {} at a time, {} calls of the model at a time, in {:.0} s; {charged} credits",
        args.scrapes,
        args.together,
        args.parallel,
        started.elapsed().as_secs_f64()
    );
    say!(
        "load: scrapes without a model: p99 {beside:.1} ms, alone {alone:.1} ms, ratio {:.2}, of {} scrapes",
        beside / alone,
        waits.work.len()
    );
    say!("load: queue of the model in the middle:\n{queue}");
    ensure!(charged == args.scrapes as i64 * PRICE, "charged {charged} credits");
    ensure!(beside <= alone * MAX_RATIO + NOISE_MS, "scrapes without a model waited for those with one");
    Ok(())
}

/// Makes all scrapes, and returns the metrics of the model after half of them.
async fn scrapes(team: &Team, addr: SocketAddr, args: &Args, request: Value) -> Result<String> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut running = JoinSet::new();
    for _ in 0..args.together {
        let (team, request, next, count) = (team.clone(), request.clone(), Arc::clone(&next), args.scrapes);
        running.spawn(async move {
            while next.fetch_add(1, Ordering::Relaxed) < count {
                let answer = team.post(addr, "/v2/scrape", &request).await?;
                let body: Value = serde_json::from_slice(&answer.body)?;
                ensure!(body["data"]["json"]["title"] == "Granite", "{}: {body}", answer.status);
            }
            Ok(())
        });
    }
    while next.load(Ordering::Relaxed) < args.scrapes / 2 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        ensure!(!running.is_empty(), "no scrape is running");
    }
    let metrics = service::get(addr, "/metrics").await?;
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    let shown = |line: &&str| line.contains("model") && !line.starts_with('#') && !line.contains("_bucket{");
    Ok(metrics.lines().filter(shown).collect::<Vec<_>>().join("\n"))
}

//! Crawls with the follower and without it, in turn.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use lab::Node;
use serde_json::json;
use wire::{JobStatus, ResultsQuery};
use xtask::say;

use super::size;
use crate::made_site::MadeSite;
use crate::team::shown;

/// Pages at the same time.
const AT_ONCE: u32 = 64;
/// Timeout of a crawl, and of catching up.
const PATIENCE: Duration = Duration::from_secs(600);

/// Figures of one crawl.
struct Crawled {
    /// Pages per second.
    rate: f64,
    /// Time from the end of the crawl until all its pages are in the index.
    lag: Duration,
    /// CPU time of the server, from its start until then.
    cpu: Duration,
    /// Memory of the server at its highest, in MiB.
    peak: f64,
}

/// Prints the medians of the rates, and the longest time to catch up.
pub(super) async fn run(program: &Path, pages: usize, rounds: usize) -> Result<()> {
    ensure!(rounds > 0, "--rounds must be at least 1");
    let site = MadeSite::start(pages).await;
    let (mut off, mut on) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        // Each is the first in every other round, so that neither gets the warmer machine.
        for with in [round % 2 == 0, round % 2 == 1] {
            let crawled = crawl(program, &site, with).await?;
            if with {
                on.push(crawled)
            } else {
                off.push(crawled)
            }
            site.forget();
        }
    }
    let rate = |crawls: &[Crawled]| median(crawls.iter().map(|crawl| crawl.rate).collect());
    let cpu = |crawls: &[Crawled]| median(crawls.iter().map(|crawl| crawl.cpu.as_secs_f64() * 1e3).collect());
    let peak = |crawls: &[Crawled]| median(crawls.iter().map(|crawl| crawl.peak).collect());
    let lag = on.iter().map(|crawl| crawl.lag).max().unwrap_or_default();
    say!("crawls of {pages} pages, {AT_ONCE} at a time, medians of {rounds}:");
    for (name, crawls) in [("without", &off), ("with", &on)] {
        let each = cpu(crawls) / pages as f64;
        say!(
            "  {name} the follower: {:.0} pages/s, CPU {each:.2} ms a page, {:.0} MiB at its highest",
            rate(crawls),
            peak(crawls)
        );
    }
    super::slower(rate(&off), rate(&on));
    say!(
        "  caught up {:.1} s after the end at the latest, {:.2} s per 1 000 pages",
        lag.as_secs_f64(),
        lag.as_secs_f64() * 1e3 / pages as f64
    );
    Ok(())
}

async fn crawl(program: &Path, site: &MadeSite, with: bool) -> Result<Crawled> {
    let installation = super::super::installation(program, &site.addr().to_string())?;
    let installation = installation.set("worker.per_host", AT_ONCE.to_string()).set("index.enabled", with.to_string());
    let server = installation.server()?;
    let took = one(&server, site).await?;
    let ended = Instant::now();
    let pages = site.pages() as u64;
    while with && size(&installation)?.pages < pages {
        ensure!(ended.elapsed() < PATIENCE, "the follower did not catch up: {:?}", size(&installation)?);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let lag = ended.elapsed();
    Ok(Crawled { rate: pages as f64 / took.as_secs_f64(), lag, cpu: server.cpu()?, peak: server.memory()?.peak })
}

/// Crawls the whole site, and returns the time that it took.
async fn one(server: &Node, site: &MadeSite) -> Result<Duration> {
    let client = server.client(None)?;
    let request = json!({
        "url": site.url(0),
        "limit": site.pages() + 10,
        "maxConcurrency": AT_ONCE,
        "crawlEntireDomain": true,
        "sitemap": "skip",
        "scrapeOptions": { "formats": ["markdown"], "maxAge": 0 },
    });
    let started = Instant::now();
    let run = client.crawl(&request).await?;
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let progress = client.status(run, ResultsQuery { skip: None, limit: Some(1) }).await?;
        if progress.status.is_final() {
            let is_whole = progress.status == JobStatus::Completed && progress.completed == site.pages() as u64;
            ensure!(is_whole, "ended as {}", shown(&progress));
            return Ok(started.elapsed());
        }
        ensure!(started.elapsed() < PATIENCE, "not done in time: {}", shown(&progress));
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

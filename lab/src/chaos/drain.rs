//! `cargo xtask chaos drain`: SIGTERM to a server with 50 running scrapes and a crawl.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use lab::service;
use serde_json::json;
use wire::JobStatus;
use xtask::say;

use crate::made_site::MadeSite;
use crate::team::{Team, shown, whole_crawl};

const SCRAPES: usize = 50;
const PAGES: usize = 200;

pub(crate) async fn run() -> Result<()> {
    let site = MadeSite::slow(PAGES, Duration::from_secs(2)).await;
    let installation = super::installation(site.addr())?.set("worker.per_host", "20");
    let mut server = installation.server()?;
    let addr = server.addr();
    let team = Team::new(addr, "drain", 10_000).await?;
    let run = team.crawl(addr, &whole_crawl(&site.url(0), PAGES + 5, 20)).await?;
    let scrape = |number: usize| {
        let body = json!({ "url": site.url(number), "maxAge": 0 });
        let team = team.clone();
        tokio::spawn(async move { team.post(addr, "/v2/scrape", &body).await.map(|answer| answer.status) })
    };
    let scrapes: Vec<_> = (0..SCRAPES).map(scrape).collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.terminate()?;
    let started = Instant::now();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let ready = service::get(addr, "/health/ready").await.map(|answer| answer.status);
    for scrape in scrapes {
        let status = scrape.await??;
        ensure!(status == 200, "a running scrape ended with {status}");
    }
    let status = server.ended(Duration::from_secs(30)).await?;
    let took = started.elapsed();
    ensure!(status.success(), "ended with {status}");
    let server = installation.server()?;
    let end = team.finished(server.addr(), run, Duration::from_secs(300)).await?;
    let whole = (JobStatus::Completed, PAGES as u64, PAGES as i64);
    ensure!((end.status, end.completed, end.credits_used) == whole, "ended as {}", shown(&end));
    let left = team.credits(server.addr()).await?;
    ensure!(left == 10_000 - (PAGES + SCRAPES) as i64, "{left} credits are left");
    say!(
        "SIGTERM: {SCRAPES} of {SCRAPES} running scrapes finished, new ones got {}, ended after {:.1} s, 0 of {PAGES} pages lost",
        ready.map_or_else(|_| "no connection".to_owned(), |status| status.to_string()),
        took.as_secs_f64()
    );
    Ok(())
}

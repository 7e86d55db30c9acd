//! `cargo xtask bench crawl`: crawls of a generated site by the real server, with SQLite and with PostgreSQL.

mod perf;
mod phase;
mod profile;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use client::{Client, Run};
use lab::{Memory, Node, service};
use serde_json::json;
use wire::{JobStatus, ResultsQuery};
use xtask::db::Cluster;
use xtask::say;

use self::profile::Profile;
use crate::made_site::MadeSite;
use crate::team::{every_document, shown};

/// Arguments of `bench crawl`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of pages of the site, 20 KB and 30 links each.
    #[arg(long, default_value_t = 10_000)]
    pages: usize,
    /// Numbers of concurrent pages, with one crawl for each.
    #[arg(long, value_delimiter = ',', default_value = "1,8,64")]
    concurrency: Vec<u32>,
    /// Run only with this database: sqlite or postgres.
    #[arg(long)]
    only: Option<String>,
    /// Measure the cost of a page too, and its time by phase if perf is installed; this slows the crawl down.
    #[arg(long)]
    profile: bool,
    /// Path of a built server, instead of building one.
    #[arg(long)]
    server: Option<std::path::PathBuf>,
}

/// Timeout of one crawl.
const PATIENCE: Duration = Duration::from_secs(1800);

/// Prints one line per crawl, and fails when one has not found every page exactly once.
pub(crate) async fn run(args: Args) -> Result<()> {
    let program = super::server(args.server.as_ref())?;
    let site = MadeSite::start(args.pages).await;
    say!("{} pages of {} KB, {} links each", args.pages, site.page(1).len() / 1000, MadeSite::LINKS);
    let wanted = |name: &str| args.only.as_deref().is_none_or(|only| only == name);
    if wanted("sqlite") {
        crawls(&args, &site, &program, "SQLite", None).await?;
    }
    if wanted("postgres") {
        let cluster = Cluster::start()?;
        crawls(&args, &site, &program, "PostgreSQL", Some(cluster.url())).await?;
    }
    Ok(())
}

async fn crawls(
    args: &Args,
    site: &MadeSite,
    program: &std::path::Path,
    name: &str,
    database: Option<String>,
) -> Result<()> {
    for &concurrency in &args.concurrency {
        let installation = super::installation(program, &site.addr().to_string())?;
        let database = database.clone().map(|url| ("store.url", url));
        let installation = installation.set("worker.per_host", concurrency.to_string()).set_all(database);
        let server = installation.server()?;
        let crawl = Crawl { server: &server, client: server.client(None)?, site, concurrency };
        let profile = args.profile.then(|| Profile::start(&server, installation.data())).transpose()?;
        let (run, took) = crawl.run().await?;
        let profile = profile.map(|profile| profile.finish(args.pages)).transpose()?;
        crawl.check(run).await?;
        let rate = args.pages as f64 / took.as_secs_f64();
        let Memory { now, peak, .. } = server.memory()?;
        let cpu = server.cpu()?.as_secs_f64() * 1e3 / args.pages as f64;
        let p99 = crawl.p99().await?;
        say!(
            "{name}, {concurrency} at a time: {rate:.0} pages/s, p99 of a page {p99:.0} ms, CPU {cpu:.2} ms a page, \
             {now:.0} MiB after, {peak:.0} MiB at its highest"
        );
        if let Some(profile) = profile {
            say!("\n{profile}");
        }
    }
    Ok(())
}

struct Crawl<'a> {
    server: &'a Node,
    client: Client,
    site: &'a MadeSite,
    concurrency: u32,
}

impl Crawl<'_> {
    /// Crawls the whole site, and returns the run and its duration.
    async fn run(&self) -> Result<(Run, Duration)> {
        let pages = self.site.pages();
        let request = json!({
            "url": self.site.url(0),
            "limit": pages + 10,
            "maxConcurrency": self.concurrency,
            "crawlEntireDomain": true,
            "sitemap": "skip",
            "scrapeOptions": { "formats": ["markdown"], "maxAge": 0 },
        });
        let started = Instant::now();
        let run = self.client.crawl(&request).await?;
        let end = loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let progress = self.client.status(run, ResultsQuery { skip: None, limit: Some(1) }).await?;
            if progress.status.is_final() {
                break progress;
            }
            ensure!(started.elapsed() < PATIENCE, "not done in time: {}", shown(&progress));
        };
        let took = started.elapsed();
        ensure!(end.status == JobStatus::Completed, "ended as {}", end.status.as_str());
        let all = pages as u64;
        ensure!(end.completed == all && end.total == all, "{} of {pages} pages", end.completed);
        ensure!(end.credits_used == pages as i64, "{} credits for {pages} pages", end.credits_used);
        Ok((run, took))
    }

    /// Fails unless every page was found exactly once.
    async fn check(&self, run: Run) -> Result<()> {
        let mut seen = HashSet::new();
        every_document(&self.client, run, 500, &mut |document| {
            let url = document["metadata"]["url"].as_str().context("no url")?;
            ensure!(seen.insert(url.to_owned()), "{url} is there twice");
            ensure!(document["markdown"].as_str().is_some_and(|text| text.len() > 1000), "{url} has no text");
            Ok(())
        })
        .await?;
        ensure!(seen.len() == self.site.pages(), "{} different pages", seen.len());
        Ok(())
    }

    /// Returns the 99th percentile of the time from fetch to document in milliseconds, from the server's histogram: the
    /// upper bound of a bucket.
    async fn p99(&self) -> Result<f64> {
        let metrics = service::get(self.server.addr(), "/metrics").await?.text();
        let bucket = |line: &str| -> Option<(f64, f64)> {
            let (bound, count) = line.strip_prefix("quarry_page_seconds_bucket{le=\"")?.split_once("\"} ")?;
            Some((bound.parse().unwrap_or(f64::INFINITY), count.parse().ok()?))
        };
        let buckets: Vec<(f64, f64)> = metrics.lines().filter_map(bucket).collect();
        let all = buckets.last().context("no figure of pages")?.1;
        let found = buckets.iter().find(|(_, count)| *count >= all * 0.99).context("no figure of pages")?;
        Ok(found.0 * 1e3)
    }
}

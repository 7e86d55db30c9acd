//! `cargo xtask bench crawl`: crawls of a generated site by the real server, with SQLite and with PostgreSQL.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::process::Server;
use crate::db::Cluster;
use crate::hostile::http;
use crate::made_site::MadeSite;
use crate::{say, up};

/// What to crawl.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pages of the site, 20 KB and 30 links each.
    #[arg(long, default_value_t = 10_000)]
    pages: usize,
    /// How many pages run at a time, one crawl for each number.
    #[arg(long, value_delimiter = ',', default_value = "1,8,64")]
    concurrency: Vec<u32>,
    /// Only with this database: sqlite or postgres.
    #[arg(long)]
    only: Option<String>,
    /// A built server, instead of building one.
    #[arg(long)]
    server: Option<std::path::PathBuf>,
}

/// Longest time for one crawl.
const PATIENCE: Duration = Duration::from_secs(1800);

/// Prints one line per crawl, and fails when one has not found every page exactly once.
pub(crate) async fn run(args: Args) -> Result<()> {
    let program = args.server.clone().map_or_else(|| up::server(false), Ok)?;
    let site = MadeSite::start(args.pages).await;
    say!("{} pages of {} KB, {} links each", args.pages, site.page(1).len() / 1000, MadeSite::LINKS);
    let wanted = |name: &str| args.only.as_deref().is_none_or(|only| only == name);
    if wanted("sqlite") {
        crawls(&args, &site, &program, "SQLite", &[]).await?;
    }
    if wanted("postgres") {
        let cluster = Cluster::start()?;
        crawls(&args, &site, &program, "PostgreSQL", &[("QUARRY__STORE__URL", &cluster.url())]).await?;
    }
    Ok(())
}

async fn crawls(
    args: &Args,
    site: &MadeSite,
    program: &std::path::Path,
    name: &str,
    more: &[(&str, &str)],
) -> Result<()> {
    for &concurrency in &args.concurrency {
        let per_host = concurrency.to_string();
        let mut settings = vec![("QUARRY__WORKER__PER_HOST", per_host.as_str())];
        settings.extend_from_slice(more);
        let server = Server::start_with(program, &site.addr().to_string(), &settings)?;
        let crawl = Crawl { server: &server, site, concurrency };
        let took = crawl.run().await?;
        let rate = args.pages as f64 / took.as_secs_f64();
        let (after, peak) = server.memory()?;
        let cpu = server.cpu()?.as_secs_f64() * 1e3 / args.pages as f64;
        let p99 = crawl.p99().await?;
        say!(
            "{name}, {concurrency} at a time: {rate:.0} pages/s, p99 of a page {p99:.0} ms, CPU {cpu:.2} ms a page, \
             {after:.0} MiB after, {peak:.0} MiB at its highest"
        );
    }
    Ok(())
}

struct Crawl<'a> {
    server: &'a Server,
    site: &'a MadeSite,
    concurrency: u32,
}

impl Crawl<'_> {
    /// Crawls all of it, and gives how long that took.
    async fn run(&self) -> Result<Duration> {
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
        let answer = http::post(self.server.addr()?, "/v2/crawl", "", &request).await?;
        ensure!(answer.status == 200, "{}", answer.text());
        let id = answer.json()["id"].as_str().context("no id")?.to_owned();
        let end = loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let status = self.status(&id, 0, 1).await?;
            if status["status"] != "scraping" {
                break status;
            }
            ensure!(started.elapsed() < PATIENCE, "not done in time: {status}");
        };
        let took = started.elapsed();
        let count = |key: &str| end[key].as_u64().unwrap_or(0) as usize;
        ensure!(end["status"] == "completed", "ended as {}", end["status"]);
        ensure!(count("completed") == pages && count("total") == pages, "{} of {pages} pages", count("completed"));
        ensure!(count("creditsUsed") == pages, "{} credits for {pages} pages", count("creditsUsed"));
        self.check(&id).await?;
        Ok(took)
    }

    /// Every page exactly once.
    async fn check(&self, id: &str) -> Result<()> {
        let (mut seen, mut skip) = (HashSet::new(), 0);
        while skip < self.site.pages() {
            let chunk = self.status(id, skip, 500).await?;
            let data = chunk["data"].as_array().context("no data")?;
            ensure!(!data.is_empty(), "no documents behind {skip}");
            skip += data.len();
            for document in data {
                let url = document["metadata"]["url"].as_str().context("no url")?;
                ensure!(seen.insert(url.to_owned()), "{url} is there twice");
                ensure!(document["markdown"].as_str().is_some_and(|text| text.len() > 1000), "{url} has no text");
            }
        }
        ensure!(seen.len() == self.site.pages(), "{} different pages", seen.len());
        Ok(())
    }

    async fn status(&self, id: &str, skip: usize, limit: usize) -> Result<Value> {
        let path = format!("/v2/crawl/{id}?skip={skip}&limit={limit}");
        let answer = http::get(self.server.addr()?, &path, "").await?;
        ensure!(answer.status == 200, "{}", answer.text());
        Ok(answer.json())
    }

    /// In which time 99 of 100 pages went from fetch to document, in milliseconds, as the server counted it: the upper bound
    /// of a bucket.
    async fn p99(&self) -> Result<f64> {
        let metrics = http::get(self.server.addr()?, "/metrics", "").await?.text();
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

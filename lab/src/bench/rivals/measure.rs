//! The measurements of each program: a crawl with 64 concurrent pages, one with 8, and scrapes of the same pages.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use client::{Client, Raw};
use http::Method;
use lab::service;
use serde_json::{Value, json};

use super::process::Running;
use crate::bench::load;
use crate::made_site::MadeSite;

/// Concurrent pages of each crawl, in the order of measurement.
pub(super) const AT_ONCE: [usize; 2] = [64, 8];
/// Timeout of one crawl, and of all scrapes of a round.
const PATIENCE: Duration = Duration::from_secs(300);
/// Pause before each measurement, so that a start or the end of earlier work is not included.
const QUIET: Duration = Duration::from_secs(1);
/// Minimum length of a page's markdown in bytes.
const MIN_MARKDOWN: usize = 1000;

/// Result of one measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure {
    /// Pages or requests per second.
    pub(super) rate: f64,
    /// Processor time of the program per page or request, in milliseconds.
    pub(super) cpu: f64,
}

/// Results of the crawls of [`AT_ONCE`], then of the scrapes.
pub(super) type Figures = [Figure; 3];

/// Load that all programs get.
pub(super) struct LoadProfile<'a> {
    pub(super) site: &'a MadeSite,
    /// Connections of the scrapes.
    pub(super) connections: usize,
    /// Whether the program may cache pages.
    pub(super) cache: bool,
}

impl LoadProfile<'_> {
    /// Measures everything, with `pages` pages in each crawl and as many scrapes.
    pub(super) async fn measure(&self, running: &Running, pages: usize) -> Result<Figures> {
        let [many, few] = AT_ONCE;
        let first =
            self.crawl(running, pages, many).await.with_context(|| format!("crawl of {pages} pages at {many}"))?;
        let second =
            self.crawl(running, pages, few).await.with_context(|| format!("crawl of {pages} pages at {few}"))?;
        let third = self.scrape(running, pages).await.with_context(|| format!("{pages} scrapes"))?;
        Ok([first, second, third])
    }

    async fn crawl(&self, running: &Running, pages: usize, at_once: usize) -> Result<Figure> {
        let client = service::client(running.addr(), None)?;
        let request = json!({
            "url": self.site.url(0),
            "limit": pages,
            "maxConcurrency": at_once,
            "maxDiscoveryDepth": 10,
            "crawlEntireDomain": true,
            "sitemap": "skip",
            "scrapeOptions": self.options(),
        });
        tokio::time::sleep(QUIET).await;
        let before = running.cpu()?;
        let started = Instant::now();
        let answer = ok(&client.send(Method::POST, "/v2/crawl", request.to_string()).await?)?;
        let id = answer["id"].as_str().context("a crawl without an id")?.to_owned();
        let done = ended(&client, &id, pages, started).await?;
        let figure = Figure::of(done, started.elapsed(), running.cpu()?.saturating_sub(before));
        ensure!(done * 10 >= pages * 9, "only {done} of {pages} pages");
        let page = ok(&client.send(Method::GET, &format!("/v2/crawl/{id}?limit=1"), "").await?)?;
        has_text(&page["data"][0]["markdown"])?;
        Ok(figure)
    }

    async fn scrape(&self, running: &Running, pages: usize) -> Result<Figure> {
        let address = running.addr().to_string();
        let client = service::client(running.addr(), None)?;
        let page = ok(&client.send(Method::POST, "/v2/scrape", self.request(0)).await?)?;
        has_text(&page["data"]["markdown"])?;
        let requests = (0..pages).map(|number| load::post(&address, "/v2/scrape", &self.request(number))).collect();
        tokio::time::sleep(QUIET).await;
        let before = running.cpu()?;
        let started = Instant::now();
        let all = load::run(&address, requests, self.connections);
        tokio::time::timeout(PATIENCE, all)
            .await
            .with_context(|| format!("not done in {} s", PATIENCE.as_secs()))??;
        Ok(Figure::of(pages, started.elapsed(), running.cpu()?.saturating_sub(before)))
    }

    fn options(&self) -> Value {
        json!({ "formats": ["markdown"], "maxAge": 0, "storeInCache": self.cache })
    }

    /// Returns the body of a scrape request.
    fn request(&self, number: usize) -> String {
        let mut request = self.options();
        request["url"] = self.site.url(number).into();
        request.to_string()
    }
}

impl Figure {
    fn of(count: usize, took: Duration, cpu: Duration) -> Self {
        let count = count.max(1) as f64;
        Self { rate: count / took.as_secs_f64(), cpu: cpu.as_secs_f64() * 1e3 / count }
    }
}

/// Waits for the end of a crawl, and returns its page count. Polls rarely at first and often near the end, and requests
/// no documents, because answers cost processor time too.
async fn ended(client: &Client, id: &str, pages: usize, started: Instant) -> Result<usize> {
    let path = format!("/v2/crawl/{id}?skip={pages}&limit=1");
    let mut done = 0_usize;
    loop {
        let left = pages.saturating_sub(done) as f64 / done.max(1) as f64;
        let quarter = started.elapsed().as_secs_f64() * left / 4.0;
        tokio::time::sleep(Duration::from_secs_f64(quarter.clamp(0.01, 0.2))).await;
        let status = ok(&client.send(Method::GET, &path, "").await?)?;
        done = usize::try_from(status["completed"].as_u64().context("a status without a count")?)?;
        match status["status"].as_str() {
            Some("completed") => return Ok(done),
            Some("scraping") => {
                ensure!(started.elapsed() < PATIENCE, "{done} of {pages} pages after {} s", PATIENCE.as_secs());
            }
            _ => bail!("it did not end well: {status}"),
        }
    }
}

/// Returns the body of a 200 answer.
fn ok(answer: &Raw) -> Result<Value> {
    ensure!(answer.status == 200, "answered with {}: {}", answer.status, answer.text());
    Ok(answer.json())
}

/// Fails if the markdown is too short: figures of a program that reads nothing are worthless.
fn has_text(markdown: &Value) -> Result<()> {
    let length = markdown.as_str().map_or(0, str::len);
    ensure!(length >= MIN_MARKDOWN, "a page has {length} bytes of markdown");
    Ok(())
}

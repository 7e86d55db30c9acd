//! A crawl of a served folder by the real server, and its documents.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use client::{Client, Run};
use serde_json::{Value, json};
use url::Url;
use wire::{JobErrors, JobProgress, JobStatus, ResultsQuery};

/// Timeout of one crawl.
const PATIENCE: Duration = Duration::from_secs(3600);
/// Page limit, above the size of any documentation package.
const MAX_PAGES: usize = 100_000;
/// Documents per answer.
const CHUNK: u32 = 500;

/// A document of the crawl.
#[derive(Debug)]
pub(crate) struct Document {
    /// URL after redirects.
    pub(crate) url: Url,
    pub(crate) status: u64,
    /// Links reported by the service.
    pub(crate) links: Vec<String>,
}

/// Result of a crawl.
#[derive(Debug, Default)]
pub(crate) struct Crawled {
    pub(crate) documents: Vec<Document>,
    /// Error codes of failed pages.
    pub(crate) failures: HashMap<String, String>,
    pub(crate) took: Duration,
}

/// Crawls the whole site of `start`, with `concurrency` concurrent pages. The links of a document are kept only if
/// `wants_links` returns true for it.
pub(crate) async fn crawl(
    client: &Client,
    start: &Url,
    concurrency: u32,
    wants_links: impl Fn(&Url) -> bool,
) -> Result<Crawled> {
    let request = json!({
        "url": start,
        "limit": MAX_PAGES,
        "maxConcurrency": concurrency,
        "crawlEntireDomain": true,
        "sitemap": "skip",
        // With markdown, the crawl also detects duplicates by their text.
        "scrapeOptions": { "formats": ["markdown", "links"], "maxAge": 0 },
    });
    let started = Instant::now();
    let run = client.crawl(&request).await?;
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let progress = client.status(run, ResultsQuery { skip: None, limit: Some(1) }).await?;
        if progress.status.is_final() {
            ensure!(progress.status == JobStatus::Completed, "ended as {}", progress.status.as_str());
            break;
        }
        ensure!(started.elapsed() < PATIENCE, "not done in time: {} pages", progress.completed);
    }
    let mut crawled = Crawled { took: started.elapsed(), ..Crawled::default() };
    crawled.read_documents(client, run, wants_links).await?;
    crawled.read_failures(client, run).await?;
    Ok(crawled)
}

impl Crawled {
    async fn read_documents(&mut self, client: &Client, run: Run, wants_links: impl Fn(&Url) -> bool) -> Result<()> {
        loop {
            let results = ResultsQuery { skip: Some(self.documents.len() as u64), limit: Some(CHUNK) };
            let JobProgress { data, completed, next, .. } = client.status(run, results).await?;
            let is_last = data.is_empty() || next.is_none();
            for document in data {
                let mut document = parse_document(&serde_json::from_str(document.get())?)?;
                if !wants_links(&document.url) {
                    document.links = Vec::new();
                }
                self.documents.push(document);
            }
            if is_last {
                ensure!(self.documents.len() as u64 == completed, "{} of {completed} documents", self.documents.len());
                return Ok(());
            }
        }
    }

    async fn read_failures(&mut self, client: &Client, run: Run) -> Result<()> {
        let JobErrors { errors, robots_blocked, .. } = client.errors(run).await?;
        self.failures.extend(errors.into_iter().map(|error| (error.url, error.code.unwrap_or_default())));
        self.failures.extend(robots_blocked.into_iter().map(|url| (url, "ROBOTS_BLOCKED".to_owned())));
        Ok(())
    }
}

fn parse_document(document: &Value) -> Result<Document> {
    let metadata = &document["metadata"];
    let links = document["links"].as_array().into_iter().flatten();
    Ok(Document {
        url: metadata["url"].as_str().context("no url")?.parse()?,
        status: metadata["statusCode"].as_u64().context("no statusCode")?,
        links: links.filter_map(|link| link.as_str().map(str::to_owned)).collect(),
    })
}

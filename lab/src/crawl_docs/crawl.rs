//! One crawl of a served folder by the real server, and the documents that it brought.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use url::Url;

use crate::bench::process::Server;
use crate::hostile::http;

/// Longest time for one crawl.
const PATIENCE: Duration = Duration::from_secs(3600);
/// More pages than a documentation package has.
const LIMIT: usize = 100_000;
/// Documents of one answer.
const CHUNK: usize = 500;

/// A document of the crawl.
#[derive(Debug)]
pub(crate) struct Document {
    /// Where it was found, after redirects.
    pub(crate) url: Url,
    pub(crate) status: u64,
    /// What the service says that it links to.
    pub(crate) links: Vec<String>,
}

/// What a crawl brought.
#[derive(Debug, Default)]
pub(crate) struct Crawled {
    pub(crate) documents: Vec<Document>,
    /// The code of every page that was given up.
    pub(crate) failures: HashMap<String, String>,
    pub(crate) took: Duration,
}

/// Crawls the whole site of `start`, `concurrency` pages at a time. Documents for which `wants_links` says no are kept
/// without their links.
pub(crate) async fn crawl(
    server: &Server,
    start: &Url,
    concurrency: u32,
    wants_links: impl Fn(&Url) -> bool,
) -> Result<Crawled> {
    let request = json!({
        "url": start,
        "limit": LIMIT,
        "maxConcurrency": concurrency,
        "crawlEntireDomain": true,
        "sitemap": "skip",
        // With their text, pages are also watched for being copies of each other.
        "scrapeOptions": { "formats": ["markdown", "links"], "maxAge": 0 },
    });
    let started = Instant::now();
    let answer = http::post(server.addr()?, "/v2/crawl", "", &request).await?;
    ensure!(answer.status == 200, "{}", answer.text());
    let id = answer.json()["id"].as_str().context("no id")?.to_owned();
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let status = get(server, &format!("/v2/crawl/{id}?limit=1")).await?;
        if status["status"] != "scraping" {
            ensure!(status["status"] == "completed", "ended as {}", status["status"]);
            break;
        }
        ensure!(started.elapsed() < PATIENCE, "not done in time: {} pages", status["completed"]);
    }
    let mut crawled = Crawled { took: started.elapsed(), ..Crawled::default() };
    crawled.read_documents(server, &id, wants_links).await?;
    crawled.read_failures(server, &id).await?;
    Ok(crawled)
}

impl Crawled {
    async fn read_documents(&mut self, server: &Server, id: &str, wants_links: impl Fn(&Url) -> bool) -> Result<()> {
        loop {
            let skip = self.documents.len();
            let chunk = get(server, &format!("/v2/crawl/{id}?skip={skip}&limit={CHUNK}")).await?;
            let data = chunk["data"].as_array().context("no data")?;
            for document in data {
                let mut document = read(document)?;
                if !wants_links(&document.url) {
                    document.links = Vec::new();
                }
                self.documents.push(document);
            }
            if data.is_empty() || chunk["next"].is_null() {
                let completed = chunk["completed"].as_u64().unwrap_or_default();
                ensure!(self.documents.len() as u64 == completed, "{} of {completed} documents", self.documents.len());
                return Ok(());
            }
        }
    }

    async fn read_failures(&mut self, server: &Server, id: &str) -> Result<()> {
        let answer = get(server, &format!("/v2/crawl/{id}/errors")).await?;
        for error in answer["errors"].as_array().context("no errors")? {
            let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
            self.failures.insert(text("url"), text("code"));
        }
        for url in answer["robotsBlocked"].as_array().context("no robotsBlocked")? {
            self.failures.insert(url.as_str().unwrap_or_default().to_owned(), "ROBOTS_BLOCKED".to_owned());
        }
        Ok(())
    }
}

fn read(document: &Value) -> Result<Document> {
    let metadata = &document["metadata"];
    let links = document["links"].as_array().into_iter().flatten();
    Ok(Document {
        url: metadata["url"].as_str().context("no url")?.parse()?,
        status: metadata["statusCode"].as_u64().context("no statusCode")?,
        links: links.filter_map(|link| link.as_str().map(str::to_owned)).collect(),
    })
}

async fn get(server: &Server, path: &str) -> Result<Value> {
    let answer = http::get(server.addr()?, path, "").await?;
    ensure!(answer.status == 200, "{}", answer.text());
    Ok(answer.json())
}

//! Timed scrapes of pages, single and concurrent.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::{StreamExt, stream};
use lab::{Node, service};
use serde_json::{Value, json};
use url::Url;

use super::book::Page;
use super::chosen::{Choices, EngineChoice};
use super::judge;
use super::site::{Pages, Visit};
use crate::team::Team;

/// Scrapes pages through a server.
pub(super) struct Scraper<'a> {
    pub(super) pages: &'a Pages,
    pub(super) node: &'a Node,
    /// Calling team.
    pub(super) team: &'a Team,
}

/// Result of a scrape.
pub(super) struct ScrapeResult {
    pub(super) status: u16,
    pub(super) answer: Value,
    pub(super) took: Duration,
    answered: Instant,
    pub(super) visit: Visit,
    pub(super) chosen: Vec<EngineChoice>,
    /// Bytes that the origins have sent for it.
    pub(super) bytes: u64,
}

impl ScrapeResult {
    /// Returns the time from page ready (its last response and its own time) to the answer.
    pub(super) fn after(&self, own_ms: u64) -> Duration {
        let ready = self.visit.last_needed().map(|last| last + Duration::from_millis(own_ms));
        ready.map_or(self.took, |ready| self.answered.saturating_duration_since(ready))
    }
}

/// Returns a request for markdown, without its URL.
pub(super) fn markdown_request() -> Value {
    json!({"formats": ["markdown"], "onlyMainContent": false, "maxAge": 0, "timeout": 30_000})
}

fn formats_request() -> Value {
    let formats = json!(["rawHtml", "links", "images", {"type": "screenshot", "fullPage": true}]);
    json!({"formats": formats, "onlyMainContent": false, "maxAge": 0, "timeout": 30_000})
}

impl Scraper<'_> {
    /// Scrapes `/ID/` followed by `rest`.
    pub(super) async fn scrape(&self, id: &str, rest: &str, request: &Value) -> Result<ScrapeResult> {
        self.pages.forget(id);
        let (sent, addr) = (self.pages.sent(), self.node.addr());
        let before = Choices::now(addr).await?;
        let mut body = request.clone();
        body["url"] = self.pages.url(&format!("/{id}/{rest}")).into();
        let started = Instant::now();
        let raw = self.team.post(addr, "/v2/scrape", &body).await?;
        let answered = Instant::now();
        Ok(ScrapeResult {
            status: raw.status,
            answer: raw.json(),
            took: answered - started,
            answered,
            visit: self.pages.visit(id),
            chosen: Choices::now(addr).await?.since(&before),
            bytes: self.pages.sent() - sent,
        })
    }

    /// Scrapes all formats but markdown, and returns the failures.
    pub(super) async fn formats(&self, page: &Page) -> Result<Vec<String>> {
        let done = self.scrape(&page.id, "", &formats_request()).await?;
        let picture = match done.answer["data"]["screenshot"].as_str() {
            Some(url) => Some(file(self.node, url).await?),
            None => None,
        };
        Ok(judge::formats(page, done.status, &done.answer, picture.as_deref()))
    }

    /// Scrapes every page once, `at_once` concurrently, and returns pages per second. Any answer counts.
    pub(super) async fn together(&self, all: &[Page], at_once: usize) -> Result<f64> {
        let started = Instant::now();
        let scrapes = all.iter().map(|page| async {
            let mut body = markdown_request();
            body["url"] = self.pages.url(&format!("/{}/", page.id)).into();
            self.team.post(self.node.addr(), "/v2/scrape", &body).await.map(drop)
        });
        let done: Vec<_> = stream::iter(scrapes).buffer_unordered(at_once).collect().await;
        done.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(all.len() as f64 / started.elapsed().as_secs_f64())
    }
}

/// Downloads the file of an answer: a signed URL of the server, or a `data:` URI.
pub(super) async fn file(node: &Node, url: &str) -> Result<Vec<u8>> {
    if let Some((_, packed)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        return Ok(BASE64_STANDARD.decode(packed)?);
    }
    let url = Url::parse(url).with_context(|| format!("{url} is no URL"))?;
    let path = [url.path(), "?", url.query().unwrap_or_default()].concat();
    let answer = service::get(node.addr(), &path).await?;
    ensure!(answer.status == 200, "GET {path} answers {}", answer.status);
    Ok(answer.body.to_vec())
}

//! The calls that the experiments make.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::node::OPERATOR;
use crate::hostile::http;

/// A team with its key.
#[derive(Debug, Clone)]
pub(crate) struct Team {
    id: String,
    headers: String,
}

impl Team {
    /// Makes a team with so many credits.
    pub(crate) async fn new(addr: SocketAddr, name: &str, credits: u64) -> Result<Self> {
        let request = json!({ "name": name, "credits": credits });
        let answer = http::post(addr, "/admin/teams", &operator(), &request).await?;
        ensure!(answer.status == 200, "no team: {}", answer.text());
        let body = answer.json();
        let text = |key: &str| body[key].as_str().map(str::to_owned).with_context(|| format!("no {key} in {body}"));
        Ok(Self { id: text("teamId")?, headers: format!("Authorization: Bearer {}\r\n", text("apiKey")?) })
    }

    /// Credits that it has left.
    pub(crate) async fn credits(&self, addr: SocketAddr) -> Result<i64> {
        let answer = http::get(addr, &format!("/admin/teams/{}", self.id), &operator()).await?;
        let body = answer.json();
        body["data"]["available"].as_i64().with_context(|| format!("no credits in {body}"))
    }

    /// The value of its `Authorization` header.
    pub(crate) fn bearer(&self) -> &str {
        self.headers.trim_start_matches("Authorization: ").trim_end()
    }

    /// Its key.
    pub(crate) fn key(&self) -> &str {
        self.bearer().trim_start_matches("Bearer ")
    }

    pub(crate) async fn post(&self, addr: SocketAddr, path: &str, body: &Value) -> Result<http::Answer> {
        http::post(addr, path, &self.headers, body).await
    }

    /// Starts a job and gives the path where it is read.
    pub(crate) async fn start(&self, addr: SocketAddr, path: &str, body: &Value) -> Result<String> {
        let answer = self.post(addr, path, body).await?;
        ensure!(answer.status == 200, "not started: {}", answer.text());
        let id = answer.json()["id"].as_str().context("no id")?.to_owned();
        Ok(format!("{path}/{id}"))
    }

    pub(crate) async fn status(&self, addr: SocketAddr, job: &str) -> Result<Value> {
        self.read(addr, &format!("{job}?limit=1")).await
    }

    pub(crate) async fn read(&self, addr: SocketAddr, path: &str) -> Result<Value> {
        let answer = http::get(addr, path, &self.headers).await?;
        ensure!(answer.status == 200, "GET {path} answers {}: {}", answer.status, answer.text());
        Ok(answer.json())
    }

    /// Stops a job.
    pub(crate) async fn cancel(&self, addr: SocketAddr, job: &str) -> Result<()> {
        let answer = http::send(addr, "DELETE", job, &self.headers).await?;
        ensure!(answer.status == 200, "not stopped: {}", answer.text());
        Ok(())
    }

    /// Waits until the job has ended.
    pub(crate) async fn finished(&self, addr: SocketAddr, job: &str, patience: Duration) -> Result<Value> {
        let started = Instant::now();
        loop {
            let status = self.status(addr, job).await?;
            if status["status"] != "scraping" {
                return Ok(status);
            }
            ensure!(started.elapsed() < patience, "not done within {} s: {status}", patience.as_secs());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The addresses of all documents; fails when one is there twice.
    pub(crate) async fn documents(&self, addr: SocketAddr, job: &str) -> Result<HashSet<String>> {
        let mut found = HashSet::new();
        loop {
            let chunk = self.read(addr, &format!("{job}?skip={}&limit=500", found.len())).await?;
            let data = chunk["data"].as_array().with_context(|| format!("no data in {chunk}"))?;
            if data.is_empty() {
                return Ok(found);
            }
            for document in data {
                let url = document["metadata"]["url"].as_str().context("no url")?.to_owned();
                ensure!(found.insert(url.clone()), "{url} is there twice");
            }
        }
    }
}

fn operator() -> String {
    format!("Authorization: Bearer {OPERATOR}\r\n")
}

/// A crawl of a whole made site.
pub(crate) fn crawl(start: &str, limit: usize, at_once: usize) -> Value {
    json!({
        "url": start,
        "limit": limit,
        "crawlEntireDomain": true,
        "sitemap": "skip",
        "maxConcurrency": at_once,
        "scrapeOptions": { "formats": ["markdown"], "maxAge": 0, "storeInCache": false },
    })
}

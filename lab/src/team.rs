//! A team of an experiment, and its calls to any available server.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use client::{Client, Raw, Run};
use http::Method;
use lab::service;
use serde_json::{Value, json};
use uuid::Uuid;
use wire::{JobProgress, ResultsQuery};

/// Operator token of all experiments.
pub(crate) const OPERATOR: &str = "operator-of-the-experiments-0123456789";

/// A team with its key.
#[derive(Debug, Clone)]
pub(crate) struct Team {
    pub(crate) id: Uuid,
    pub(crate) key: String,
}

impl Team {
    /// Creates a team with this number of credits.
    pub(crate) async fn new(addr: SocketAddr, name: &str, credits: u64) -> Result<Self> {
        Self::with(addr, &json!({ "name": name, "credits": credits })).await
    }

    /// Creates a team by the body of `POST /admin/teams`.
    pub(crate) async fn with(addr: SocketAddr, request: &Value) -> Result<Self> {
        let made = service::client(addr, Some(OPERATOR))?.create_team(request).await.context("no team")?;
        Ok(Self { id: made.team_id, key: made.api_key })
    }

    /// Returns a client of the team for a server.
    pub(crate) fn at(&self, addr: SocketAddr) -> Result<Client> {
        Ok(service::client(addr, Some(&self.key))?)
    }

    /// Returns the remaining credits.
    pub(crate) async fn credits(&self, addr: SocketAddr) -> Result<i64> {
        let team = service::client(addr, Some(OPERATOR))?.team(self.id).await?;
        team.available.context("its credits have no limit")
    }

    /// Sends a request and returns any response.
    pub(crate) async fn post(&self, addr: SocketAddr, path: &str, body: &Value) -> Result<Raw> {
        Ok(self.at(addr)?.send(Method::POST, path, body.to_string()).await?)
    }

    /// Starts a crawl.
    pub(crate) async fn crawl(&self, addr: SocketAddr, request: &Value) -> Result<Run> {
        self.at(addr)?.crawl(request).await.context("not started")
    }

    /// Starts a batch.
    pub(crate) async fn batch(&self, addr: SocketAddr, request: &Value) -> Result<Run> {
        let started = self.at(addr)?.batch(request).await.context("not started")?;
        Ok(Run::batch(started.id))
    }

    /// Returns the status of a run, with one of its documents.
    pub(crate) async fn status(&self, addr: SocketAddr, run: Run) -> Result<JobProgress> {
        Ok(self.at(addr)?.status(run, ResultsQuery { skip: None, limit: Some(1) }).await?)
    }

    /// Waits until a run has ended.
    pub(crate) async fn finished(&self, addr: SocketAddr, run: Run, patience: Duration) -> Result<JobProgress> {
        let started = Instant::now();
        loop {
            let progress = self.status(addr, run).await?;
            if progress.status.is_final() {
                return Ok(progress);
            }
            ensure!(started.elapsed() < patience, "not done within {} s: {}", patience.as_secs(), shown(&progress));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Reads all documents of a run, `limit` per answer, and passes each to `each`.
    pub(crate) async fn documents(
        &self,
        addr: SocketAddr,
        run: Run,
        limit: u32,
        mut each: impl FnMut(Value) -> Result<()>,
    ) -> Result<()> {
        let client = self.at(addr)?;
        every_document(&client, run, limit, &mut each).await
    }

    /// Returns the URLs of all documents; fails on duplicates.
    pub(crate) async fn addresses(&self, addr: SocketAddr, run: Run) -> Result<HashSet<String>> {
        let mut found = HashSet::new();
        let each = |document: Value| {
            let url = document["metadata"]["url"].as_str().context("no url")?.to_owned();
            ensure!(found.insert(url.clone()), "{url} is there twice");
            Ok(())
        };
        self.documents(addr, run, 500, each).await?;
        Ok(found)
    }
}

/// Reads all documents of a run, `limit` per answer, until an answer has none.
pub(crate) async fn every_document(
    client: &Client,
    run: Run,
    limit: u32,
    each: &mut impl FnMut(Value) -> Result<()>,
) -> Result<()> {
    let mut skip = 0;
    loop {
        let chunk = client.status(run, ResultsQuery { skip: Some(skip), limit: Some(limit) }).await?;
        if chunk.data.is_empty() {
            return Ok(());
        }
        skip += chunk.data.len() as u64;
        for document in chunk.data {
            each(serde_json::from_str(document.get())?)?;
        }
    }
}

/// Returns the request of a crawl of a whole generated site.
pub(crate) fn whole_crawl(start: &str, limit: usize, at_once: usize) -> Value {
    json!({
        "url": start,
        "limit": limit,
        "crawlEntireDomain": true,
        "sitemap": "skip",
        "maxConcurrency": at_once,
        "scrapeOptions": { "formats": ["markdown"], "maxAge": 0, "storeInCache": false },
    })
}

/// Formats the status of a run on one line.
pub(crate) fn shown(progress: &JobProgress) -> String {
    let JobProgress { status, completed, total, credits_used, .. } = progress;
    format!("{}, {completed} of {total} pages, {credits_used} credits", status.as_str())
}

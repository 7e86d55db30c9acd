//! Following of a job until it ends, and reading of its results.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use client::Client;
use http::Method;
use serde_json::Value;

use super::traps::good_page;

/// Polling interval.
const POLL: Duration = Duration::from_millis(100);

/// Number of pages of a check that are read.
const PAGES: usize = 100;

/// State of a job at its end or after the timeout.
#[derive(Debug, Clone, Default)]
pub(crate) struct Job {
    /// The last status.
    pub(crate) status: String,
    /// Number of completed pages.
    pub(crate) completed: u64,
    /// Number of its documents that are good pages of the site.
    pub(crate) good_pages: u64,
    /// Concatenated texts of all answers about the job.
    pub(crate) text: String,
}

/// Waits for the end of the job at `path`, such as `/v2/crawl/<id>`, and reads all its documents.
pub(crate) async fn follow(client: &Client, path: &str, patience: Duration) -> Result<Job> {
    let started = Instant::now();
    loop {
        let status = get(client, &format!("{path}?limit=1")).await?;
        let ended = matches!(status["status"].as_str(), Some("completed" | "failed" | "cancelled"));
        if ended || started.elapsed() > patience {
            return read_job(client, path).await;
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Waits for the end of the check at `path`, such as `/v2/monitor/<id>/checks/<check>`, and reads its pages.
pub(crate) async fn follow_check(client: &Client, path: &str, patience: Duration) -> Result<Job> {
    let started = Instant::now();
    loop {
        let check = get(client, &format!("{path}?limit={PAGES}")).await?;
        let data = &check["data"];
        if !data["finishedAt"].is_null() || started.elapsed() > patience {
            return Ok(Job {
                status: data["status"].as_str().unwrap_or_default().to_owned(),
                completed: data["summary"]["totalPages"].as_u64().context("totalPages is no number")?,
                good_pages: 0,
                text: check.to_string(),
            });
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn get(client: &Client, path: &str) -> Result<Value> {
    let answer = client.send(Method::GET, path, "").await?;
    ensure!(answer.status == 200, "GET {path} answers {}: {}", answer.status, answer.text());
    Ok(answer.json())
}

async fn read_job(client: &Client, path: &str) -> Result<Job> {
    let (mut job, mut good, mut next) = (Job::default(), BTreeSet::new(), path.to_owned());
    loop {
        let chunk = get(client, &next).await?;
        job.status = chunk["status"].as_str().unwrap_or_default().to_owned();
        job.completed = chunk["completed"].as_u64().context("completed is no number")?;
        for document in chunk["data"].as_array().context("data is no array")? {
            let url = document["metadata"]["sourceURL"].as_str().unwrap_or_default();
            good.extend(path_of(url).and_then(good_page));
        }
        job.text += &chunk.to_string();
        match chunk["next"].as_str() {
            Some(url) => next = path_and_query(url),
            None => break,
        }
    }
    job.good_pages = good.len() as u64;
    Ok(job)
}

fn path_of(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    rest.find('/').map(|at| rest[at..].split(['?', '#']).next().unwrap_or_default())
}

fn path_and_query(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |at| &rest[at..]).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        assert_eq!(path_of("http://o.test:1/good/3/index.html?x#y"), Some("/good/3/index.html"));
        assert_eq!(path_of("http://o.test").and_then(good_page), None);
        assert_eq!(path_and_query("http://127.0.0.1:1/v2/crawl/x?skip=1"), "/v2/crawl/x?skip=1");
    }
}

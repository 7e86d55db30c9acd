//! Bystanders of a case: another team's work, and a probe of GET /health. Their latency shows what an attack costs
//! others.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use client::{Client, Run};
use http::Method;
use lab::service;
use serde_json::{Value, json};
use wire::{JobStatus, ResultsQuery};

/// Pause between two requests of the bystander.
const PAUSE: Duration = Duration::from_millis(20);
/// Pause between two health probes.
const PROBE: Duration = Duration::from_millis(50);
/// Polling interval of a job.
const POLL: Duration = Duration::from_millis(10);
/// Timeout of the bystander's work.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Work of the bystander, from `setup.innocent`.
#[derive(Debug, Clone)]
pub(crate) struct Bystander {
    /// Whether it runs batches of three pages instead of single scrapes.
    pub(crate) batch: bool,
    /// Minimum duration of its work, even if the case ends earlier.
    pub(crate) least: Duration,
    /// Duration of its work before the case begins.
    pub(crate) alone: Duration,
    pub(crate) addr: SocketAddr,
    pub(crate) key: String,
    /// URL of the page that it scrapes.
    pub(crate) page: String,
}

/// Waiting times of the bystander and of the probe in milliseconds; infinite without a good answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waits {
    pub(crate) work: Vec<f64>,
    pub(crate) health: Vec<f64>,
    /// Waiting times before the case began.
    pub(crate) alone: Vec<f64>,
}

impl Bystander {
    /// Parses `setup.innocent`: `{"work": "scrape" or "batch", "seconds": 5, "alone_seconds": 0}`.
    pub(crate) fn read(setup: &Value, addr: SocketAddr, key: &str, page: String) -> Result<Self> {
        let setup = setup.as_object().context("setup.innocent is no object")?;
        if let Some(key) = setup.keys().find(|key| !["work", "seconds", "alone_seconds"].contains(&key.as_str())) {
            bail!("setup.innocent.{key} is not known");
        }
        let batch = match setup.get("work").and_then(Value::as_str) {
            None | Some("scrape") => false,
            Some("batch") => true,
            Some(other) => bail!("the work {other:?} is not known"),
        };
        let seconds =
            |key: &str, default| Duration::from_secs_f64(setup.get(key).and_then(Value::as_f64).unwrap_or(default));
        let (least, alone) = (seconds("seconds", 5.0), seconds("alone_seconds", 0.0));
        Ok(Self { batch, least, alone, addr, key: key.to_owned(), page })
    }

    /// Works during `attack`.
    pub(crate) async fn beside<T>(&self, attack: impl Future<Output = Result<T>>) -> Result<(T, Waits)> {
        let alone = if self.alone.is_zero() { Vec::new() } else { self.watch(tokio::time::sleep(self.alone)).await?.1 };
        let started = Instant::now();
        let whole = async {
            let done = attack.await;
            tokio::time::sleep(self.least.saturating_sub(started.elapsed())).await;
            done
        };
        let (done, work, health) = self.watch(whole).await?;
        Ok((done?, Waits { work, health, alone }))
    }

    /// Works, and probes health, until `until` has ended.
    pub(crate) async fn watch<T>(&self, until: impl Future<Output = T>) -> Result<(T, Vec<f64>, Vec<f64>)> {
        let over = Arc::new(AtomicBool::new(false));
        let (own, addr) = (self.clone(), self.addr);
        let work = repeat(Arc::clone(&over), PAUSE, move || own.clone().once());
        let health = repeat(Arc::clone(&over), PROBE, move || service::is_healthy(addr));
        let (work, health) = (tokio::spawn(work), tokio::spawn(health));
        let done = until.await;
        over.store(true, Ordering::Relaxed);
        Ok((done, work.await?, health.await?))
    }

    async fn once(self) -> bool {
        let done = if self.batch { self.a_batch().await } else { self.a_scrape().await };
        done.is_ok_and(|fine| fine)
    }

    async fn a_scrape(&self) -> Result<bool> {
        let body = json!({"url": self.page, "maxAge": 0, "storeInCache": false});
        Ok(self.client()?.send(Method::POST, "/v2/scrape", body.to_string()).await?.status == 200)
    }

    async fn a_batch(&self) -> Result<bool> {
        let urls: Vec<String> = (0..3).map(|number| format!("{}?{number}", self.page)).collect();
        let body = json!({"urls": urls, "maxAge": 0, "storeInCache": false});
        let client = self.client()?;
        let run = Run::batch(client.batch(&body).await?.id);
        loop {
            let progress = client.status(run, ResultsQuery::default()).await?;
            if progress.status.is_final() {
                return Ok(progress.status == JobStatus::Completed && progress.completed == 3);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    fn client(&self) -> client::Result<Client> {
        service::client(self.addr, Some(&self.key))
    }
}

/// Repeats an action, and returns the duration of each.
async fn repeat<F: Future<Output = bool>>(
    over: Arc<AtomicBool>,
    pause: Duration,
    mut once: impl FnMut() -> F,
) -> Vec<f64> {
    let mut waits = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let started = Instant::now();
        let fine = tokio::time::timeout(MAX_WAIT, once()).await.unwrap_or(false);
        waits.push(if fine { started.elapsed().as_secs_f64() * 1e3 } else { f64::INFINITY });
        tokio::time::sleep(pause).await;
    }
    waits
}

/// Returns the 99th percentile; infinite for an empty list.
pub(crate) fn p99(waits: &[f64]) -> f64 {
    let mut waits = waits.to_vec();
    waits.sort_by(f64::total_cmp);
    waits.get((waits.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use testkit::Site;

    use super::*;

    #[tokio::test]
    async fn what_fails_has_waited_for_ever() {
        let site = Site::start().await;
        site.html("/health", "fine");
        let page = "http://x/".to_owned();
        let setup = json!({"seconds": 0.1});
        let innocent = Bystander::read(&setup, site.addr(), "K", page.clone()).unwrap();
        let (_, waits) = innocent.beside(async { Ok(()) }).await.unwrap();
        assert!(p99(&waits.work).is_infinite() && p99(&waits.health).is_finite(), "{waits:?}");
        site.html("/v2/scrape", "{}");
        let (_, waits) = innocent.beside(async { Ok(()) }).await.unwrap();
        assert!(p99(&waits.work).is_finite() && p99(&[]).is_infinite());
        assert!(Bystander::read(&json!({"moon": 1}), site.addr(), "K", page).is_err());
    }
}

//! A monitor of an experiment, and its checks, on any available server.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use uuid::Uuid;
use wire::{CheckQuery, ChecksQuery, MonitorCheck, MonitorCheckDetail, MonitorPage};

use crate::team::Team;

/// Number of pages or checks in an answer.
const LISTED: u32 = 100;

/// A monitor of a team.
#[derive(Debug, Clone)]
pub(crate) struct Monitor {
    team: Team,
    pub(crate) id: Uuid,
}

impl Monitor {
    /// Creates a monitor by the body of `POST /v2/monitor`.
    pub(crate) async fn create(team: &Team, addr: SocketAddr, body: &Value) -> Result<Self> {
        let made = team.at(addr)?.create_monitor(body).await.context("no monitor")?;
        Ok(Self { team: team.clone(), id: made.id })
    }

    /// Begins a check, and returns its id.
    pub(crate) async fn run(&self, addr: SocketAddr) -> Result<Uuid> {
        Ok(self.team.at(addr)?.run_monitor(self.id).await.context("no check")?.id)
    }

    /// Reads a check with one of its pages.
    pub(crate) async fn check(&self, addr: SocketAddr, check: Uuid) -> Result<MonitorCheckDetail> {
        let one = CheckQuery { limit: 1, skip: 0, status: None };
        Ok(self.team.at(addr)?.monitor_check(self.id, check, one).await?.data)
    }

    /// Waits until a check is over.
    pub(crate) async fn ended(&self, addr: SocketAddr, check: Uuid, patience: Duration) -> Result<MonitorCheckDetail> {
        let started = Instant::now();
        loop {
            let seen = self.check(addr, check).await?;
            if seen.check.status.is_over() {
                return Ok(seen);
            }
            let pages = seen.check.summary.total_pages;
            ensure!(started.elapsed() < patience, "the check has {pages} pages after {} s", patience.as_secs());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Reads all pages of a check.
    pub(crate) async fn pages(&self, addr: SocketAddr, check: Uuid) -> Result<Vec<MonitorPage>> {
        let (client, mut pages) = (self.team.at(addr)?, Vec::new());
        loop {
            let query = CheckQuery { limit: LISTED, skip: pages.len() as u64, status: None };
            let part = client.monitor_check(self.id, check, query).await?.data.pages;
            if part.is_empty() {
                return Ok(pages);
            }
            pages.extend(part);
        }
    }

    /// Reads the newest checks.
    pub(crate) async fn checks(&self, addr: SocketAddr) -> Result<Vec<MonitorCheck>> {
        let query = ChecksQuery { limit: LISTED, skip: 0, status: None };
        Ok(self.team.at(addr)?.monitor_checks(self.id, query).await?)
    }
}

/// Returns a target of pages, which are never read from the cache.
pub(crate) fn pages_target(urls: &[String]) -> Value {
    json!({ "type": "scrape", "urls": urls, "scrapeOptions": { "maxAge": 0, "storeInCache": false } })
}

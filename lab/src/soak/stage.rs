//! The server, the team that calls it, and the sites around it.

use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use lab::{Installation, Node};
use parking_lot::Mutex;
use serde_json::{Value, json};
use testkit::{Reply, Site};

use super::sample::Sample;
use super::tally::Tally;
use crate::made_site::MadeSite;
use crate::team::{OPERATOR, Team};

/// Number of pages of the scraped and crawled site.
const PAGES: usize = 3000;
/// Initial credits of the team.
const CREDITS: i64 = 1_000_000_000;
/// Path of the webhook receiver.
const HOOK: &str = "/hook";
/// Event of a completed crawl in its webhook.
const COMPLETED: &str = "crawl.completed";
/// Timeout of pending webhooks and bookings after the load.
const PATIENCE: Duration = Duration::from_secs(60);

/// Environment of the load.
pub(super) struct Stage {
    pub(super) site: MadeSite,
    /// Pages that need a browser, and the webhook receiver.
    pub(super) others: Site,
    pub(super) team: Team,
    server: Node,
    installation: Installation,
    webhooks: Mutex<Webhooks>,
}

/// Counts of started and completed crawls, and of webhooks about them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Webhooks {
    pub(super) crawls: u64,
    pub(super) completed: u64,
}

/// Sums of a team's credits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ledger {
    pub(super) granted: i64,
    pub(super) available: i64,
    pub(super) reserved: i64,
    pub(super) spent: i64,
    /// Sum of the credits in all answers.
    pub(super) told: i64,
}

impl Stage {
    pub(super) async fn start(server: PathBuf) -> Result<Self> {
        let (site, others) = (MadeSite::start(PAGES).await, others().await);
        let allow = format!("{},{}", site.addr(), others.addr());
        let installation =
            Installation::new(server)?.set("egress.allow", allow).set("admin.token", OPERATOR).set("auth.mode", "keys");
        let server = installation.server()?;
        let team = Team::with(server.addr(), &json!({"name": "soak", "credits": CREDITS, "concurrency": 1000})).await?;
        Ok(Self { site, others, team, server, installation, webhooks: Mutex::default() })
    }

    pub(super) fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// Returns the URL of the webhook receiver.
    pub(super) fn hook(&self) -> String {
        self.others.url(HOOK).to_string()
    }

    /// Counts a completed crawl.
    pub(super) fn crawled(&self) {
        self.webhooks.lock().crawls += 1;
    }

    /// Counts the webhooks since the last call, and returns the totals.
    pub(super) fn webhooks(&self) -> Webhooks {
        self.site.forget();
        let told = self.others.take_requests().into_iter().filter(|request| {
            let json: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            request.path == HOOK && json["type"] == COMPLETED
        });
        let mut webhooks = self.webhooks.lock();
        webhooks.completed += told.count() as u64;
        *webhooks
    }

    /// Samples the resources.
    pub(super) fn sample(&self, at: Duration, requests: u64) -> Result<Sample> {
        self.webhooks();
        let tree = self.server.tree()?;
        Ok(Sample {
            at,
            server_mib: self.server.memory()?.now,
            children_mib: tree.children_pss_mib,
            handles: tree.own_files,
            threads: self.server.counts()?.threads,
            children: tree.processes.iter().skip(1).filter(|process| !process.ended).count(),
            temporary: FolderSize::of(&self.installation.temporary()).files,
            disk_mib: FolderSize::of(&self.installation.data()).bytes as f64 / f64::from(1 << 20),
            requests,
        })
    }

    /// Returns the sums once no credits are reserved and all webhooks have arrived, or after a timeout.
    pub(super) async fn ledger(&self, tally: &Tally) -> Result<Ledger> {
        let operator = lab::service::client(self.addr(), Some(OPERATOR))?;
        let started = std::time::Instant::now();
        loop {
            let team = operator.team(self.team.id).await?;
            let Webhooks { crawls, completed } = self.webhooks();
            if (team.reserved == 0 && crawls == completed) || started.elapsed() > PATIENCE {
                let available = team.available.unwrap_or_default();
                let (reserved, spent, told) = (team.reserved, team.spent, tally.credits());
                return Ok(Ledger { granted: CREDITS, available, reserved, spent, told });
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { granted, available, reserved, spent, told } = self;
        write!(
            out,
            "credits: {granted} granted, {available} available, {reserved} reserved, {spent} spent, {told} told"
        )
    }
}

/// Serves pages whose text comes by script, and the webhook receiver.
async fn others() -> Site {
    let site = Site::start().await;
    site.others(|seen| {
        if seen.path == HOOK {
            return Some(Reply::default());
        }
        let (kind, body) = if let Some(number) = seen.path.strip_prefix("/data/") {
            ("text/plain", format!("Text of page {number}"))
        } else {
            let number = seen.path.strip_prefix("/script/")?;
            let script =
                format!("fetch('/data/{number}').then((a) => a.text()).then((text) => (root.textContent = text))");
            ("text/html", format!("<!doctype html><div id=root></div><script>{script}</script>"))
        };
        Some(Reply { body: body.into(), ..Reply::default() }.header("content-type", kind))
    });
    site
}

/// Number and size of the files below a folder.
#[derive(Debug, Default)]
struct FolderSize {
    files: usize,
    bytes: u64,
}

impl FolderSize {
    fn of(folder: &Path) -> Self {
        let mut below = Self::default();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // Files that were removed meanwhile are ignored.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                let Self { files, bytes } = Self::of(&entry.path());
                below.files += files;
                below.bytes += bytes;
            } else {
                below.files += 1;
                below.bytes += entry.metadata().map_or(0, |metadata| metadata.len());
            }
        }
        below
    }
}

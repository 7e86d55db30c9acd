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

/// Pages of the site that is scraped and crawled.
const PAGES: usize = 3000;
/// What the team has at the start.
const CREDITS: i64 = 1_000_000_000;
/// Where webhooks go.
const HOOK: &str = "/hook";
/// The end of a crawl, as its webhook says it.
const COMPLETED: &str = "crawl.completed";
/// How long webhooks and bookings may take after the load.
const PATIENCE: Duration = Duration::from_secs(60);

/// Everything that the load needs.
pub(super) struct Stage {
    pub(super) site: MadeSite,
    /// Pages that need a browser, and the receiver of webhooks.
    pub(super) others: Site,
    pub(super) team: Team,
    server: Node,
    installation: Installation,
    webhooks: Mutex<Webhooks>,
}

/// Crawls that were started and ended, and webhooks that say so.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Webhooks {
    pub(super) crawls: u64,
    pub(super) completed: u64,
}

/// The sums of a team's credits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ledger {
    pub(super) granted: i64,
    pub(super) available: i64,
    pub(super) reserved: i64,
    pub(super) spent: i64,
    /// What all answers together say that they cost.
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

    /// Where webhooks go.
    pub(super) fn hook(&self) -> String {
        self.others.url(HOOK).to_string()
    }

    /// A crawl has ended well.
    pub(super) fn crawled(&self) {
        self.webhooks.lock().crawls += 1;
    }

    /// Counts what came since the last look.
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

    /// What there is now.
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
            temporary: Below::of(&self.installation.temporary()).files,
            disk_mib: Below::of(&self.installation.data()).bytes as f64 / f64::from(1 << 20),
            requests,
        })
    }

    /// The sums when nothing is reserved any more and every webhook has come, or when that takes too long.
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

/// Pages whose text comes by script, and the receiver of webhooks.
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

/// What is below a folder.
#[derive(Debug, Default)]
struct Below {
    files: usize,
    bytes: u64,
}

impl Below {
    fn of(folder: &Path) -> Self {
        let mut below = Self::default();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // What goes away meanwhile is not there.
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

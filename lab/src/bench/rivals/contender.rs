//! The contenders and how they are started: with the same number of slots per host, and without rate limits.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use xtask::db::Cluster;

use super::install::{CRW_SERVER, PAGESIFT, Rival};
use super::process::{Process, Running};
use crate::made_site::MadeSite;

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Contender {
    /// Quarry on SQLite, with the same number of slots per host as the others.
    Quarry,
    /// Quarry on SQLite with default settings: few slots per host.
    QuarryDefaults,
    /// Quarry on PostgreSQL, with the same number of slots per host as the others.
    QuarryPostgres,
    /// Another program with the same API.
    Pagesift,
    /// Another program with the same API; it ends a crawl at 1000 pages.
    CrwServer,
}

/// Concurrent requests to the single host, for all programs but Quarry with defaults.
const SLOTS: &str = "64";

impl Contender {
    /// Returns the other program; `None` for Quarry.
    pub(super) fn rival(self) -> Option<&'static Rival> {
        match self {
            Self::Quarry | Self::QuarryDefaults | Self::QuarryPostgres => None,
            Self::Pagesift => Some(&PAGESIFT),
            Self::CrwServer => Some(&CRW_SERVER),
        }
    }

    /// Returns the page limit of its crawls, at most `wanted`.
    pub(super) fn pages(self, wanted: usize) -> usize {
        if self == Self::CrwServer { wanted.min(1000) } else { wanted }
    }

    /// Returns the row label; `name` includes the version.
    pub(super) fn title(self, name: &str, wanted: usize) -> String {
        let pages = self.pages(wanted);
        match self {
            Self::Quarry => format!("{name}, SQLite, {SLOTS} slots a host"),
            Self::QuarryDefaults => format!("{name}, SQLite, default slots a host"),
            Self::QuarryPostgres => format!("{name}, PostgreSQL, {SLOTS} slots a host"),
            Self::Pagesift | Self::CrwServer if pages < wanted => format!("{name}, {pages} pages"),
            Self::Pagesift | Self::CrwServer => name.to_owned(),
        }
    }

    /// Starts the program on a new data folder, and without `postgres` on a new private database.
    pub(super) async fn start(self, program: &Path, site: &MadeSite, postgres: Option<&str>) -> Result<Running> {
        match self {
            Self::Pagesift => Ok(Running::Other(Process::start(program, pagesift).await?)),
            Self::CrwServer => Ok(Running::Other(Process::start(program, crw_server).await?)),
            Self::Quarry | Self::QuarryDefaults | Self::QuarryPostgres => self.quarry(program, site, postgres),
        }
    }

    fn quarry(self, program: &Path, site: &MadeSite, postgres: Option<&str>) -> Result<Running> {
        let mut installation = crate::bench::installation(program, &site.addr().to_string())?;
        installation = installation.set("limits.keyless_per_minute", "0");
        if self != Self::QuarryDefaults {
            installation = installation.set("worker.per_host", SLOTS);
        }
        let mut cluster = None;
        if self == Self::QuarryPostgres {
            let url = match postgres {
                Some(url) => url.to_owned(),
                None => cluster.insert(Cluster::durable()?).url(),
            };
            installation = installation.set("store.url", url);
        }
        Ok(Running::Quarry { node: installation.server()?, _cluster: cluster })
    }
}

/// Configures pagesift, which by default pauses between requests to a host and refuses loopback addresses.
fn pagesift(command: &mut Command, folder: &Path, port: u16) -> Result<()> {
    let config = folder.join("pagesift.toml");
    let policy = format!("[policy]\ninterval_ms = 0\nper_host_concurrency = {SLOTS}\nglobal_concurrency = {SLOTS}\n");
    fs::write(&config, policy)?;
    command.arg("--config").arg(config).args(["serve", "--host", "127.0.0.1", "--port", &port.to_string()]);
    command.args(["--allow-cidr", "127.0.0.0/8", "--data-dir"]).arg(folder.join("data"));
    Ok(())
}

/// Configures crw-server, which takes no arguments and keeps crawled pages in memory, so it needs no folder.
fn crw_server(command: &mut Command, _folder: &Path, port: u16) -> Result<()> {
    let port = port.to_string();
    command.envs([
        ("CRW_SERVER__HOST", "127.0.0.1"),
        ("CRW_SERVER__PORT", port.as_str()),
        ("CRW_SERVER__RATE_LIMIT_RPS", "0"),
        ("CRW_CRAWLER__MAX_CONCURRENCY", SLOTS),
        ("CRW_CRAWLER__REQUESTS_PER_SECOND", "100000"),
        ("CRW_RENDERER__MODE", "none"),
        ("CRW_ALLOW_LOOPBACK_FOR_TESTS", "1"),
        ("RUST_LOG", "warn"),
    ]);
    Ok(())
}

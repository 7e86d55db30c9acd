//! Checks of change tracking after kills: what the documents say, and that the kept versions and their bodies belong
//! together.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use client::Run;
use serde_json::{Value, json};
use xtask::{say, sh};

use crate::made_site::MadeSite;
use crate::team::Team;

/// Timeout until the sweeps have removed the bodies of replaced versions.
const SWEPT: Duration = Duration::from_secs(60);

/// Returns the formats of a crawl that tracks changes.
pub(crate) fn formats() -> Value {
    json!(["markdown", { "type": "changeTracking", "modes": ["git-diff"] }])
}

/// The kept versions of an installation.
pub(crate) struct Changes {
    data: PathBuf,
    /// URL of PostgreSQL; `None` for SQLite in the data folder.
    database: Option<String>,
    crawls: usize,
    uncompared: usize,
}

impl Changes {
    pub(crate) fn new(data: PathBuf, database: Option<String>) -> Self {
        Self { data, database, crawls: 0, uncompared: 0 }
    }

    /// Checks the status of each page of the next crawl.
    pub(crate) async fn check(&mut self, team: &Team, addr: SocketAddr, run: Run) -> Result<()> {
        let is_first = self.crawls == 0;
        self.crawls += 1;
        let mut uncompared = 0;
        let each = |document: Value| {
            let url = document["metadata"]["url"].as_str().context("no url")?;
            let number: usize = url.rsplit('/').next().unwrap_or_default().parse().context("no number of a page")?;
            let expect = match (is_first, MadeSite::changes(number)) {
                (true, _) => "new",
                (false, true) => "changed",
                (false, false) => "same",
            };
            match document["changeTracking"]["changeStatus"].as_str() {
                Some(status) => ensure!(status == expect, "{url} is {status}, expected {expect}"),
                None => {
                    ensure!(document["warning"].is_string(), "{url} was not compared, and nothing says why");
                    uncompared += 1;
                }
            }
            Ok(())
        };
        team.documents(addr, run, 500, each).await?;
        self.uncompared += uncompared;
        Ok(())
    }

    /// Counts versions and bodies after the sweeps.
    pub(crate) async fn count(&mut self, pages: usize) -> Result<()> {
        let started = Instant::now();
        while self.number("select count(*) from unused_body")? > 0 {
            ensure!(started.elapsed() < SWEPT, "unused bodies are still there");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        let versions = self.number("select count(*) from page_version where scraped_at is not null")?;
        ensure!(versions == pages, "{versions} versions of {pages} pages");
        for (what, sql) in COUNTED {
            let found = self.number(sql)?;
            ensure!(found == 0, "{found} {what}");
        }
        let (kept, stored) = (self.in_blobs()?, bodies_below(&self.data.join("blobs/content"))?);
        let lost = kept.difference(&stored).count();
        let left = stored.difference(&kept).count();
        ensure!(
            lost == 0 && left == 0,
            "of {} bodies in the store {lost} are missing, and {left} are left",
            kept.len()
        );
        say!(
            "    {versions} versions after {} crawls, {} bodies in rows, {} in the store: none lost, none left; {} pages not compared",
            self.crawls,
            self.number("select count(*) from cache_body")?,
            stored.len(),
            self.uncompared
        );
        Ok(())
    }

    /// Returns the digests of the bodies that versions have in the blob store.
    fn in_blobs(&self) -> Result<BTreeSet<String>> {
        let text = self.query("select distinct body_digest from page_version where not body_in_row")?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    fn number(&self, sql: &str) -> Result<usize> {
        let text = self.query(sql)?;
        text.trim().parse().with_context(|| format!("{sql}: {text:?} is no number"))
    }

    fn query(&self, sql: &str) -> Result<String> {
        let mut command = match &self.database {
            Some(url) => {
                let mut command = Command::new("psql");
                command.args(["-At", "-c", sql, url]);
                command
            }
            None => {
                let mut command = Command::new("sqlite3");
                command
                    .args(["-readonly", "-bail", "-cmd", ".timeout 10000"])
                    .arg(self.data.join("quarry.db"))
                    .arg(sql);
                command
            }
        };
        sh::output(&mut command)
    }
}

/// What must not be there, with the query that counts it.
const COUNTED: [(&str, &str); 4] = [
    ("versions are held", "select count(*) from page_version where holder is not null"),
    (
        "versions have no body",
        "select count(*) from page_version v where v.body_digest is null or v.body_in_row and not exists \
         (select 1 from cache_body b where b.digest = v.body_digest)",
    ),
    (
        "bodies in rows are left",
        "select count(*) from cache_body b where not exists (select 1 from page_version v where v.body_digest = b.digest)",
    ),
    ("bodies are still expected", "select count(*) from version_body where coming"),
];

/// Returns the digests of the bodies in a folder of the blob store.
fn bodies_below(folder: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    if !folder.exists() {
        return Ok(found);
    }
    for part in fs::read_dir(folder)? {
        let part = part?;
        for file in fs::read_dir(part.path())? {
            let name = file?.file_name().to_string_lossy().into_owned();
            let start = part.file_name().to_string_lossy().into_owned();
            found.insert(start + name.trim_end_matches(".zst"));
        }
    }
    Ok(found)
}

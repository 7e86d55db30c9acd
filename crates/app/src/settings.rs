//! What an operator can set about the operations. Sections of the settings file are read by the structs here; where they
//! come from is the program's affair.

use std::path::PathBuf;
use std::time::Duration;

use base::setting;
use serde::Deserialize;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Everything the operations can be told, each with its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Who may call. Default: [`AuthMode::Open`].
    pub auth: AuthMode,
    /// Scrapes that a team may have in flight when its creator names no number. Default: 100.
    pub team_concurrency: u32,
    /// Requests per minute when the creator of a team names no number; 0 means no limit. Default: 0.
    pub team_rate_per_minute: u32,
    /// The page cache.
    pub cache: CacheSettings,
    /// Files that are handed out by URL.
    pub files: files::Settings,
    /// How long after its deadline a scrape's reservation is given back when nobody settled it, as after a crash.
    /// Default: 60 s.
    pub reservation_grace: Duration,
    /// How long what is over is kept.
    pub retention: Retention,
    /// Folders on this machine that pages are kept in. Default: none.
    pub folders: Vec<PathBuf>,
    /// Bytes that must be free on the disks of [`folders`](Self::folders): with less, the cache keeps nothing more, crawls and
    /// batches are not accepted, and their pages fail. 0 means that nobody looks. Default: 0.
    pub min_free: u64,
    /// Pause between two rounds of [`maintain`](crate::maintain). Default: 60 s.
    pub maintain_every: Duration,
}

/// Whether a call needs a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthMode {
    /// A call without a known key runs as the default team.
    #[default]
    Open,
    /// A call without a known key is refused.
    Keys,
}

/// Section `cache`: the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CacheSettings {
    /// Default: on.
    pub enabled: bool,
    /// One cache for all teams instead of one per team. Default: off, so that a hit never tells what others read.
    pub shared: bool,
    /// Age at which a copy is removed. Default: 30 days. Lockdown accepts copies of up to 2 years: raise this to have them.
    #[serde(rename = "retention_days", deserialize_with = "setting::days")]
    pub retention: Duration,
    /// Bytes that the bodies of all copies may have together, each counted once and before compression; the oldest copies
    /// are removed. Default: 50 GiB.
    #[serde(rename = "max_gib", deserialize_with = "setting::gib")]
    pub max_bytes: Option<u64>,
}

/// Section `retention`: ages at which what is over is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Of the row of a scrape, with its URL; the ledger stays. Default: 30 days.
    #[serde(rename = "scrapes_days", deserialize_with = "setting::days")]
    pub scrapes: Duration,
    /// Of a webhook delivery in the log. Its body goes when it was delivered, or with its job. Default: 3 days.
    #[serde(rename = "deliveries_days", deserialize_with = "setting::days")]
    pub deliveries: Duration,
    /// Of a job that was given up and can be put back into its queue. Default: 30 days.
    #[serde(rename = "dead_jobs_days", deserialize_with = "setting::days")]
    pub dead_jobs: Duration,
    /// Of what is known about the pace of a host that no job asks any more. Default: 1 day.
    #[serde(rename = "hosts_days", deserialize_with = "setting::days")]
    pub hosts: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            auth: AuthMode::default(),
            team_concurrency: 100,
            team_rate_per_minute: 0,
            cache: CacheSettings::default(),
            files: files::Settings::default(),
            reservation_grace: Duration::from_secs(60),
            retention: Retention::default(),
            folders: Vec::new(),
            min_free: 0,
            maintain_every: Duration::from_secs(60),
        }
    }
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { enabled: true, shared: false, retention: MONTH, max_bytes: Some(50 << 30) }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self { scrapes: MONTH, deliveries: 3 * DAY, dead_jobs: MONTH, hosts: DAY }
    }
}

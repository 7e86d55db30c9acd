//! What an operator can set about the operations. The binary reads the settings; here they are plain values.

use std::path::PathBuf;
use std::time::Duration;

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
    /// How long after its deadline a scrape's reservation is given back when nobody settled it, as after a crash.
    /// Default: 60 s.
    pub reservation_grace: Duration,
    /// Age at which the row of a scrape, with its URL, is removed; the ledger stays. Default: 30 days.
    pub scrape_retention: Duration,
    /// Age at which a webhook delivery leaves the log. Its body goes when it was delivered, or with its job. Default: 3 days.
    pub webhook_retention: Duration,
    /// Folders on this machine that pages are kept in. Default: none.
    pub folders: Vec<PathBuf>,
    /// Bytes that must be free on the disks of [`folders`](Self::folders): with less, the cache keeps nothing more, crawls and
    /// batches are not accepted, and their pages fail. 0 means that nobody looks. Default: 0.
    pub min_free: u64,
    /// Pause between two rounds of [`maintain`](crate::maintain). Default: 60 s.
    pub maintain_every: Duration,
}

/// Whether a call needs a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AuthMode {
    /// A call without a known key runs as the default team.
    #[default]
    Open,
    /// A call without a known key is refused.
    Keys,
}

/// The page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheSettings {
    /// Default: on.
    pub enabled: bool,
    /// One cache for all teams instead of one per team. Default: off, so that a hit never tells what others read.
    pub shared: bool,
    /// Age at which a copy is removed. Default: 30 days. Lockdown accepts copies of up to 2 years: raise this to have them.
    pub retention: Duration,
    /// Bytes that the bodies of all copies may have together, each counted once and before compression; the oldest copies
    /// give way. Default: no bound.
    pub max_bytes: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            auth: AuthMode::default(),
            team_concurrency: 100,
            team_rate_per_minute: 0,
            cache: CacheSettings::default(),
            reservation_grace: Duration::from_secs(60),
            scrape_retention: MONTH,
            webhook_retention: Duration::from_secs(3 * 24 * 60 * 60),
            folders: Vec::new(),
            min_free: 0,
            maintain_every: Duration::from_secs(60),
        }
    }
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { enabled: true, shared: false, retention: MONTH, max_bytes: None }
    }
}

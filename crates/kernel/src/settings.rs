//! Settings of the operations. Sections of the settings file are parsed by the structs here; the program decides where
//! they are read from.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use uuid::Uuid;

/// Settings of all operations, with their defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whether calls need a key. Default: [`AuthMode::Open`].
    pub auth: AuthMode,
    /// Team of calls without a key, where `auth.keyless` admits them. Default: none.
    pub keyless_team: Option<Uuid>,
    /// Maximum number of scrapes in flight for a new team, unless its creator sets it. Default: 100.
    pub team_concurrency: u32,
    /// Requests per minute of a new team, unless its creator sets it; 0 means no limit. Default: 0.
    pub team_rate_per_minute: u32,
    /// Use of sites' `llms.txt`.
    pub sites: SiteSettings,
    /// Files served by URL.
    pub files: files::Settings,
    /// Time after its deadline at which an unsettled reservation is returned, as after a crash. Default: 60 s.
    pub reservation_grace: Duration,
    /// Local folders in which pages are stored. Default: none.
    pub folders: Vec<PathBuf>,
    /// Minimum free space on the disks of [`folders`](Self::folders), in bytes. Below it, the cache stores nothing,
    /// crawls and batches are refused, and their pages wait. 0 disables the check. Default: 0.
    pub min_free: u64,
}

/// Whether a call needs a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthMode {
    /// Calls without a known key run as the default team.
    #[default]
    Open,
    /// Calls without a known key are refused.
    Keys,
}

/// Section `sites`: whether `llms.txt` of sites is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SiteSettings {
    /// Whether `llms.txt` is a source of a map. Default: on.
    pub llms_txt_in_map: bool,
    /// Whether `llms.txt` is a source of a crawl that reads sitemaps. Default: off.
    pub llms_txt_in_crawl: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            auth: AuthMode::default(),
            keyless_team: None,
            team_concurrency: 100,
            team_rate_per_minute: 0,
            sites: SiteSettings::default(),
            files: files::Settings::default(),
            reservation_grace: Duration::from_secs(60),
            folders: Vec::new(),
            min_free: 0,
        }
    }
}

impl Default for SiteSettings {
    fn default() -> Self {
        Self { llms_txt_in_map: true, llms_txt_in_crawl: false }
    }
}

//! Settings of the operations. Sections of the settings file are parsed by the structs here; the program decides where
//! they are read from.

use std::path::PathBuf;
use std::time::Duration;

use base::{Secret, setting};
use cache::CacheSettings;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use url::Url;
use uuid::Uuid;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

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
    /// Page cache.
    pub cache: CacheSettings,
    /// Use of sites' `llms.txt`.
    pub sites: SiteSettings,
    /// Files served by URL.
    pub files: files::Settings,
    /// Browser sessions and their profiles.
    pub sessions: SessionSettings,
    /// Time after its deadline at which an unsettled reservation is returned, as after a crash. Default: 60 s.
    pub reservation_grace: Duration,
    /// Retention of finished work.
    pub retention: Retention,
    /// Local folders in which pages are stored. Default: none.
    pub folders: Vec<PathBuf>,
    /// Minimum free space on the disks of [`folders`](Self::folders), in bytes. Below it, the cache stores nothing,
    /// crawls and batches are refused, and their pages wait. 0 disables the check. Default: 0.
    pub min_free: u64,
    /// Interval of [`maintain`](crate::maintain). Default: 60 s.
    pub maintain_every: Duration,
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

/// Section `sessions`: browser sessions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionSettings {
    /// Maximum number of concurrent sessions on this server; each has a browser of its own. Default: 8.
    pub max: u32,
    /// Maximum number of concurrent sessions of one team. Default: 4.
    pub max_of_team: u32,
    /// Whether code of callers runs in child processes. Otherwise JavaScript runs in a thread of this process, and
    /// other languages are not available: for programs that cannot start themselves again. Default: on.
    pub code_processes: bool,
    /// Base URL at which clients and the other servers of the database reach this server, as `https://host:port`.
    /// Default: none, which suits a single server: clients then use the address that they called.
    #[serde(deserialize_with = "maybe_address")]
    pub public_url: Option<String>,
    /// Encryption key of profiles: 64 hexadecimal digits, the same on all servers of a database. Default: none, which
    /// means a random key per process.
    pub profile_key: Secret,
}

/// Section `retention`: ages at which finished work is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Retention of the row of a scrape, with its URL; ledger entries stay. Default: 30 days.
    #[serde(rename = "scrapes_days", deserialize_with = "setting::days")]
    pub scrapes: Duration,
    /// Retention of a webhook delivery in the log. Its body is removed on delivery, or with its job. Default: 3 days.
    #[serde(rename = "deliveries_days", deserialize_with = "setting::days")]
    pub deliveries: Duration,
    /// Retention of a dead-lettered job, which can be put back into its queue until then. Default: 30 days.
    #[serde(rename = "dead_jobs_days", deserialize_with = "setting::days")]
    pub dead_jobs: Duration,
    /// Retention of the rate-limit state of a host that no job contacts. Default: 1 day.
    #[serde(rename = "hosts_days", deserialize_with = "setting::days")]
    pub hosts: Duration,
    /// Retention of an unused profile. Default: 90 days.
    #[serde(rename = "profiles_days", deserialize_with = "setting::days")]
    pub profiles: Duration,
}

/// Parses a base URL, without a trailing slash, or an empty text.
fn maybe_address<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(input)?;
    let text = text.trim().trim_end_matches('/');
    if text.is_empty() {
        return Ok(None);
    }
    let plain = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none()
    };
    let is_address = Url::parse(text).is_ok_and(|url| plain(&url));
    if is_address {
        return Ok(Some(text.to_owned()));
    }
    Err(D::Error::custom("expected an address such as http://10.0.0.5:3002, or nothing"))
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            auth: AuthMode::default(),
            keyless_team: None,
            team_concurrency: 100,
            team_rate_per_minute: 0,
            cache: CacheSettings::default(),
            sites: SiteSettings::default(),
            files: files::Settings::default(),
            sessions: SessionSettings::default(),
            reservation_grace: Duration::from_secs(60),
            retention: Retention::default(),
            folders: Vec::new(),
            min_free: 0,
            maintain_every: Duration::from_secs(60),
        }
    }
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self { max: 8, max_of_team: 4, code_processes: true, public_url: None, profile_key: Secret::default() }
    }
}

impl Default for SiteSettings {
    fn default() -> Self {
        Self { llms_txt_in_map: true, llms_txt_in_crawl: false }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self { scrapes: MONTH, deliveries: 3 * DAY, dead_jobs: MONTH, hosts: DAY, profiles: 3 * MONTH }
    }
}

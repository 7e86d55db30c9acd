//! What an operator can set about the operations. Sections of the settings file are read by the structs here; where they
//! come from is the program's affair.

use std::path::PathBuf;
use std::time::Duration;

use base::{Secret, setting};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use url::Url;
use uuid::Uuid;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Everything the operations can be told, each with its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Who may call. Default: [`AuthMode::Open`].
    pub auth: AuthMode,
    /// The team that calls without a key run as, where `auth.keyless` lets them in. Default: none.
    pub keyless_team: Option<Uuid>,
    /// Scrapes that a team may have in flight when its creator names no number. Default: 100.
    pub team_concurrency: u32,
    /// Requests per minute when the creator of a team names no number; 0 means no limit. Default: 0.
    pub team_rate_per_minute: u32,
    /// The page cache.
    pub cache: CacheSettings,
    /// What sites say of themselves.
    pub sites: SiteSettings,
    /// Files that are handed out by URL.
    pub files: files::Settings,
    /// Browsers that are kept for a while, and their profiles.
    pub sessions: SessionSettings,
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

/// Section `sites`: whether `llms.txt` of sites is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SiteSettings {
    /// Whether `llms.txt` is a source of a map. Default: on.
    pub llms_txt_in_map: bool,
    /// Whether it is one of a crawl that reads sitemaps. Default: off.
    pub llms_txt_in_crawl: bool,
}

/// Section `sessions`: browsers that clients keep for a while.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionSettings {
    /// Sessions of this server at the same time; each is a browser of its own. Default: 8.
    pub max: u32,
    /// Of these, how many one team may have. Default: 4.
    pub max_of_team: u32,
    /// Whether code of callers is run in processes of its own. Otherwise JavaScript is run in a thread of this one, and no
    /// other language is: for programs that cannot be started again. Default: on.
    pub code_processes: bool,
    /// Where clients and the other servers of the database reach this very server, as `https://host:port`. Default: none: one
    /// server is enough, and clients use the address by which they have reached it.
    #[serde(deserialize_with = "maybe_address")]
    pub public_url: Option<String>,
    /// 64 hexadecimal digits that profiles are sealed with, the same on all servers of a database. Default: none, which means
    /// a key of the process.
    pub profile_key: Secret,
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
    /// Of a profile that nobody uses. Default: 90 days.
    #[serde(rename = "profiles_days", deserialize_with = "setting::days")]
    pub profiles: Duration,
}

/// An address that a path can be put behind, without a slash at its end, or nothing.
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

impl Default for CacheSettings {
    fn default() -> Self {
        Self { enabled: true, shared: false, retention: MONTH, max_bytes: Some(50 << 30) }
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

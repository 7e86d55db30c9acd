//! The settings: one struct per section of `config.default.toml`, which is the manual and the schema.

mod layers;
mod lines;
mod parse;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use app::AuthMode;
use app::{CacheSettings, IndexingSettings, Retention, SessionSettings, SiteSettings};
use base::{Secret, setting};
use ipnet::IpNet;
use serde::Deserialize;
use url::Url;
use uuid::Uuid;

use layers::Layers;
pub(crate) use layers::is_setting;

/// The manual, built into the program.
pub const DEFAULTS: &str = include_str!("../config.default.toml");

/// All settings. `config.default.toml` describes each field.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Listener, timeouts and byte limits of the HTTP server.
    pub server: Server,
    /// Data folder.
    pub data: Data,
    /// Database.
    pub store: Store,
    /// Store of page bodies.
    pub blobs: Blobs,
    /// Allowed and blocked addresses, and resolvers.
    pub egress: Egress,
    /// Fetching and parsing of pages.
    pub fetch: Fetch,
    /// Browser.
    pub browser: ::browser::Settings,
    /// PDF, office files and images.
    pub documents: reader::Settings,
    /// Page cache.
    pub cache: CacheSettings,
    /// Index of pages.
    pub index: IndexingSettings,
    /// Use of `llms.txt`.
    pub sites: SiteSettings,
    /// Files with signed URLs.
    pub files: files::Settings,
    /// Browser sessions.
    pub sessions: SessionSettings,
    /// Retention of old data.
    pub retention: Retention,
    /// Language models.
    pub llm: llm::Settings,
    /// Web sites of the categories of searches.
    pub verticals: app::search::Sites,
    /// Mail server.
    pub mail: mail::Settings,
    /// Monitors.
    pub monitors: app::MonitorSettings,
    /// Limits of feedback.
    pub feedback: app::search::FeedbackSettings,
    /// Search engines.
    pub search: search::Settings,
    /// Authentication.
    pub auth: Auth,
    /// Rate limits and concurrency limits.
    pub limits: Limits,
    /// Operator API.
    pub admin: Admin,
    /// Number of jobs that one process works on at the same time, by queue name.
    #[serde(deserialize_with = "parse::queues")]
    pub queues: BTreeMap<String, u32>,
    /// Services that extract data from pages.
    pub extract: Extract,
    /// Answers as other servers of this API give them.
    pub compat: Compat,
    /// Background work.
    pub worker: Worker,
    /// Logging.
    pub log: Log,
}

/// Section `server`. Sizes are in bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Server {
    #[serde(deserialize_with = "parse::address")]
    pub listen: SocketAddr,
    #[serde(deserialize_with = "parse::hosts")]
    pub hosts: Vec<String>,
    #[serde(deserialize_with = "setting::base_url")]
    pub public_url: Option<Url>,
    #[serde(deserialize_with = "setting::positive")]
    pub max_connections: usize,
    pub max_connections_per_address: usize,
    #[serde(rename = "first_byte_timeout_s", deserialize_with = "setting::some_seconds")]
    pub first_byte_timeout: Duration,
    #[serde(rename = "head_timeout_s", deserialize_with = "setting::some_seconds")]
    pub head_timeout: Duration,
    #[serde(rename = "body_timeout_s", deserialize_with = "setting::some_seconds")]
    pub body_timeout: Duration,
    #[serde(rename = "upload_timeout_s", deserialize_with = "setting::some_seconds")]
    pub upload_timeout: Duration,
    pub upload_min_kib_per_s: u32,
    #[serde(rename = "upload_grace_s", deserialize_with = "setting::seconds")]
    pub upload_grace: Duration,
    #[serde(rename = "write_timeout_s", deserialize_with = "setting::some_seconds")]
    pub write_timeout: Duration,
    #[serde(rename = "idle_timeout_s", deserialize_with = "setting::some_seconds")]
    pub idle_timeout: Duration,
    #[serde(rename = "max_head_kib", deserialize_with = "parse::head_kib")]
    pub max_head: usize,
    #[serde(rename = "max_body_mib", deserialize_with = "setting::mib")]
    pub max_body: usize,
    #[serde(rename = "drain_s", deserialize_with = "setting::seconds")]
    pub drain: Duration,
    #[serde(rename = "drain_delay_s", deserialize_with = "setting::seconds")]
    pub drain_delay: Duration,
    #[serde(deserialize_with = "parse::networks")]
    pub trusted_proxies: Vec<IpNet>,
}

/// Section `data`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Data {
    pub dir: PathBuf,
    #[serde(rename = "min_free_mib", deserialize_with = "setting::any_mib")]
    pub min_free: u64,
}

/// Section `store`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Store {
    #[serde(deserialize_with = "parse::database")]
    pub url: Secret,
    pub max_connections: u32,
    pub migrate: bool,
}

/// Section `blobs`. An empty string means that the key is not set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Blobs {
    pub url: String,
    #[serde(deserialize_with = "parse::maybe_http")]
    pub endpoint: String,
    pub region: String,
    pub access_key_id: String,
    pub secret_access_key: Secret,
    pub session_token: Secret,
    pub virtual_hosted: bool,
}

/// Section `egress`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Egress {
    #[serde(deserialize_with = "setting::list")]
    pub allow: Vec<net::Allow>,
    #[serde(deserialize_with = "setting::list")]
    pub deny: Vec<net::Allow>,
    #[serde(deserialize_with = "setting::list")]
    pub resolvers: Vec<SocketAddr>,
}

/// Section `fetch`. Sizes are in bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Fetch {
    pub basic_proxies: Proxies,
    pub enhanced_proxies: Proxies,
    #[serde(rename = "max_raw_mib", deserialize_with = "setting::mib")]
    pub max_raw: u64,
    #[serde(rename = "max_decoded_mib", deserialize_with = "setting::mib")]
    pub max_decoded: u64,
    #[serde(rename = "max_in_flight_mib", deserialize_with = "setting::mib")]
    pub max_in_flight: u64,
    pub parallel_parses: usize,
}

/// Proxy URLs with their passwords. Its debug output shows only their number.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Proxies(#[serde(deserialize_with = "parse::proxies")] pub Vec<net::Proxy>);

impl std::fmt::Debug for Proxies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} proxies", self.0.len())
    }
}

/// Section `auth`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Auth {
    pub mode: AuthMode,
    pub open_to_network: bool,
    #[serde(deserialize_with = "parse::keyless")]
    pub keyless: Vec<Keyless>,
    #[serde(deserialize_with = "parse::maybe_id")]
    pub keyless_team: Option<Uuid>,
    pub keyless_per_minute: u32,
    pub keyless_per_day: u32,
}

/// Endpoints that need no key in the mode `keys`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyless {
    /// `POST /v2/scrape`.
    Scrape,
    /// `POST /v2/search`.
    Search,
}

/// Section `limits`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Limits {
    pub keyless_per_minute: u32,
    pub refused_per_minute: u32,
    pub team_per_minute: u32,
    #[serde(deserialize_with = "setting::positive")]
    pub team_concurrency: u32,
}

/// Section `admin`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Admin {
    #[serde(deserialize_with = "parse::maybe_address")]
    pub listen: Option<SocketAddr>,
    pub token: Secret,
}

/// Section `extract`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Extract {
    #[serde(deserialize_with = "parse::maybe_service")]
    pub product_service_url: Option<Url>,
}

/// Section `compat`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Compat {
    pub diff_object: bool,
}

/// Section `worker`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Worker {
    pub embedded: bool,
    #[serde(deserialize_with = "parse::address")]
    pub listen: SocketAddr,
    #[serde(deserialize_with = "setting::positive")]
    pub per_host: u32,
    #[serde(rename = "lease_s", deserialize_with = "setting::some_seconds")]
    pub lease: Duration,
    #[serde(rename = "every_s", deserialize_with = "setting::some_seconds")]
    pub every: Duration,
}

/// Section `log`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Log {
    #[serde(deserialize_with = "parse::level")]
    pub level: String,
    pub format: LogFormat,
}

/// Log format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One JSON object per line.
    Json,
    /// Human-readable lines.
    Text,
}

/// Error of a setting, displayed as `QUARRY__SERVER__LISTEN: message`, with the key as the operator wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct ConfigError {
    /// Key, such as `server.listen in quarry.toml, line 3` or `QUARRY__SERVER__LISTEN`.
    pub key: String,
    /// Error message, without the values of secret keys.
    pub message: String,
}

impl ConfigError {
    /// Creates an error for the variable `QUARRY__KEY`, with a `key` such as `SERVER__LISTEN`.
    pub fn new(key: &str, why: impl Display) -> Self {
        Self { key: format!("QUARRY__{key}"), message: why.to_string() }
    }
}

/// The effective settings, decoded and as text.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Decoded settings.
    pub config: Config,
    /// Settings as TOML, with secrets as `***`.
    pub effective: String,
}

impl Default for Config {
    #[expect(clippy::expect_used, reason = "the built-in file does not change at run time, and a test loads it")]
    fn default() -> Self {
        load(None, []).expect("config.default.toml is a complete configuration").config
    }
}

/// Loads the settings: the defaults, then `file`, then the variables of `environment` that are settings: those whose name
/// starts with `QUARRY__`, and names that other programs use for the same.
///
/// # Errors
/// [`ConfigError`] for the first unknown key or invalid value.
pub fn load(
    file: Option<&Path>,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Loaded, ConfigError> {
    let mut layers = Layers::defaults()?;
    if let Some(file) = file {
        layers.add_file(file)?;
    }
    for (name, value) in environment {
        layers.add_variable(&name, &value)?;
    }
    let effective = layers.redacted();
    Ok(Loaded { config: layers.decode()?, effective })
}

#[cfg(test)]
mod tests;

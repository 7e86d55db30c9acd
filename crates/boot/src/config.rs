//! The settings: one struct per section of `config.default.toml`, which is the manual and the list of keys.

mod layers;
mod parse;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use app::AuthMode;
use app::{CacheSettings, Retention};
use base::{Secret, setting};
use ipnet::IpNet;
use serde::Deserialize;

use layers::Layers;

/// The manual, built into the program.
pub const DEFAULTS: &str = include_str!("../config.default.toml");

/// Everything an operator can set. See `config.default.toml` for the meaning of each field.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Listening, timeouts and sizes of the HTTP service.
    pub server: Server,
    /// Where files are kept.
    pub data: Data,
    /// The database.
    pub store: Store,
    /// Where page bodies are kept.
    pub blobs: Blobs,
    /// What may be fetched from.
    pub egress: Egress,
    /// How pages are fetched and parsed.
    pub fetch: Fetch,
    /// The page cache.
    pub cache: CacheSettings,
    /// Files that are handed out by URL.
    pub files: files::Settings,
    /// How long what is over is kept.
    pub retention: Retention,
    /// Who may call.
    pub auth: Auth,
    /// Requests per minute and at the same time.
    pub limits: Limits,
    /// The operator API.
    pub admin: Admin,
    /// Jobs that one process works on at a time, by the name of their queue.
    #[serde(deserialize_with = "parse::queues")]
    pub queues: BTreeMap<String, u32>,
    /// Background work.
    pub worker: Worker,
    /// What is logged, and how.
    pub log: Log,
}

/// Section `server`. Sizes are in bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Server {
    pub listen: SocketAddr,
    #[serde(deserialize_with = "parse::hosts")]
    pub hosts: Vec<String>,
    #[serde(deserialize_with = "setting::positive")]
    pub max_connections: usize,
    pub max_connections_per_address: usize,
    #[serde(rename = "first_byte_timeout_s", deserialize_with = "setting::some_seconds")]
    pub first_byte_timeout: Duration,
    #[serde(rename = "head_timeout_s", deserialize_with = "setting::some_seconds")]
    pub head_timeout: Duration,
    #[serde(rename = "body_timeout_s", deserialize_with = "setting::some_seconds")]
    pub body_timeout: Duration,
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
    pub url: Secret,
    pub max_connections: u32,
    pub migrate: bool,
}

/// Section `blobs`. An empty text means that the key is not set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Blobs {
    pub url: String,
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

/// Addresses of proxies with their passwords. Prints only how many there are.
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

/// Section `worker`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes every key")]
pub struct Worker {
    pub embedded: bool,
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

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

/// A setting that cannot be used. Prints as `QUARRY__SERVER__LISTEN: what is wrong`, with the key as its writer wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct ConfigError {
    /// The key, such as `server.listen in quarry.toml` or `QUARRY__SERVER__LISTEN`.
    pub key: String,
    /// What is wrong with it. Values of secret keys are not in it.
    pub message: String,
}

impl ConfigError {
    /// One about the setting that the variable `QUARRY__KEY` sets, for a `key` such as `SERVER__LISTEN`.
    pub fn new(key: &str, why: impl Display) -> Self {
        Self { key: format!("QUARRY__{key}"), message: why.to_string() }
    }
}

/// The settings in force, and the same as text for people.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// The settings as TOML, secrets as `***`.
    pub effective: String,
}

impl Default for Config {
    #[expect(clippy::expect_used, reason = "the built-in file does not change at run time, and a test loads it")]
    fn default() -> Self {
        load(None, []).expect("config.default.toml is a complete configuration").config
    }
}

/// Reads the settings: the defaults, then `file`, then the variables of `environment` whose name starts with `QUARRY__`.
///
/// # Errors
/// [`ConfigError`] for the first key that does not exist or has a value that cannot be used.
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
mod tests {
    use super::*;

    fn pairs(environment: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
        load(None, environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    fn check(name: &str, value: &str, expect: &str) {
        let error = pairs(&[(name, value)]).expect_err(name).to_string();
        assert!(error.starts_with(&format!("{name}: ")) && error.contains(expect), "{error}");
    }

    #[test]
    fn the_defaults_are_complete() {
        let config = Config::default();
        assert_eq!(config.server.listen.to_string(), "127.0.0.1:3002");
        assert_eq!(config.server.max_head, 64 * 1024);
        assert_eq!(config.server.max_body, 10 * 1024 * 1024);
        assert_eq!(config.cache.retention, Duration::from_secs(30 * 86_400));
        assert_eq!((config.cache.max_bytes, config.data.min_free), (Some(50 << 30), 512 << 20));
        assert_eq!((config.auth.mode, config.auth.open_to_network), (AuthMode::Open, false));
        assert!(config.server.hosts.is_empty() && config.admin.listen.is_none());
        assert!(config.worker.embedded && config.admin.token.is_empty());
    }

    /// What a crate does without settings is what the manual says.
    #[test]
    fn the_manual_has_the_defaults_of_the_crates() {
        let config = Config::default();
        let defaults = app::Settings::default();
        assert_eq!(config.cache, defaults.cache);
        assert_eq!(config.files, defaults.files);
        assert_eq!(config.retention, defaults.retention);
        assert_eq!(config.auth.mode, defaults.auth);
        assert_eq!(config.limits.team_concurrency, defaults.team_concurrency);
        assert_eq!(config.limits.team_per_minute, defaults.team_rate_per_minute);
        assert_eq!(config.worker.every, defaults.maintain_every);
        let limits = net::Limits::default();
        assert_eq!((config.fetch.max_raw, config.fetch.max_decoded), (limits.body_raw, limits.body_decoded));
        assert_eq!(config.fetch.max_in_flight, limits.in_flight);
    }

    /// Each section is read by one struct, which knows all of its keys and no others.
    #[test]
    fn each_key_of_the_manual_is_read() {
        let manual: toml::Table = DEFAULTS.parse().unwrap();
        for (section, keys) in &manual {
            for key in keys.as_table().unwrap().keys() {
                let mut without = manual.clone();
                without[section].as_table_mut().unwrap().remove(key);
                let read = toml::Value::Table(without).try_into::<Config>();
                let crates_own = matches!(section.as_str(), "cache" | "files" | "queues" | "retention");
                assert_eq!(read.is_ok(), crates_own, "{section}.{key}");
                let mut more = manual.clone();
                more[section].as_table_mut().unwrap().insert(format!("{key}_x"), 1.into());
                let error = toml::Value::Table(more).try_into::<Config>().unwrap_err().to_string();
                assert!(error.contains("unknown field"), "{section}.{key}: {error}");
            }
        }
    }

    #[test]
    fn every_value_of_the_environment_has_the_type_of_its_key() {
        let config = pairs(&[
            ("QUARRY__SERVER__LISTEN", "[::1]:80"),
            ("QUARRY__DATA__DIR", "/tmp/x y"),
            ("QUARRY__STORE__URL", "postgres://u:p@h/d"),
            ("QUARRY__EGRESS__ALLOW", "127.0.0.1:18100, 10.0.0.0/8,"),
            ("QUARRY__EGRESS__DENY", "10.0.0.7,10.9.0.0/16"),
            ("QUARRY__CACHE__MAX_GIB", "0"),
            ("QUARRY__RETENTION__DEAD_JOBS_DAYS", "7"),
            ("QUARRY__EGRESS__RESOLVERS", "127.0.0.1:15353"),
            ("QUARRY__SERVER__HOSTS", "Quarry.LAN., [FD00::1],10.1.2.3"),
            ("QUARRY__ADMIN__LISTEN", "127.0.0.1:9"),
            ("QUARRY__AUTH__MODE", "keys"),
            ("QUARRY__ADMIN__TOKEN", "123456"),
            ("QUARRY__WORKER__EMBEDDED", "false"),
            ("QUARRY__LOG__LEVEL", "trace"),
            ("QUARRY__SERVER__TRUSTED_PROXIES", "10.0.0.1,192.168.0.0/16"),
            ("QUARRY__FETCH__BASIC_PROXIES", "http://u:p@127.0.0.1:8080,https://h#proxy_resolves=true"),
            ("PATH", "/bin"),
            ("QUARRY_OTHER", "not ours"),
        ])
        .unwrap()
        .config;
        assert_eq!(config.server.listen.port(), 80);
        assert_eq!(config.data.dir, Path::new("/tmp/x y"));
        assert_eq!((config.egress.allow.len(), config.egress.deny.len(), config.cache.max_bytes), (2, 2, None));
        assert_eq!(config.egress.resolvers.len(), 1);
        assert_eq!(config.retention.dead_jobs, Duration::from_secs(7 * 86_400));
        assert_eq!(config.auth.mode, AuthMode::Keys);
        assert_eq!(config.server.hosts, ["quarry.lan", "[fd00::1]", "10.1.2.3"]);
        assert_eq!(config.admin.listen.map(|listen| listen.port()), Some(9));
        assert_eq!(config.admin.token.expose(), "123456");
        assert!(!config.worker.embedded);
        assert_eq!(config.server.trusted_proxies[0].to_string(), "10.0.0.1/32");
        let proxies = &config.fetch.basic_proxies.0;
        assert!(proxies[0].url.port() == Some(8080) && !proxies[0].resolves);
        assert!(proxies[1].url.as_str() == "https://h/" && proxies[1].resolves);
    }

    #[test]
    fn bad_values_name_their_key() {
        check("QUARRY__SERVER__LISTEN", "localhost", "socket address");
        check("QUARRY__SERVER__MAX_CONNECTIONS", "many", "expected a whole number");
        check("QUARRY__SERVER__MAX_CONNECTIONS", "0", "at least 1");
        check("QUARRY__SERVER__MAX_CONNECTIONS", "-1", "");
        check("QUARRY__SERVER__MAX_HEAD_KIB", "1", "between 8 and 1024");
        check("QUARRY__SERVER__BODY_TIMEOUT_S", "0", "at least 1");
        check("QUARRY__WORKER__EMBEDDED", "yes", "expected true or false");
        check("QUARRY__AUTH__MODE", "none", "expected `open` or `keys`");
        check("QUARRY__LOG__LEVEL", "loud", "loud");
        check("QUARRY__RETENTION__SCRAPES_DAYS", "0", "at least 1");
        check("QUARRY__RETENTION__SCRAPE_DAYS", "1", "did you mean QUARRY__RETENTION__SCRAPES_DAYS?");
        check("QUARRY__FILES__PUBLIC_URL", "quarry.example.com", "expected an address such as https://");
        check("QUARRY__FILES__MAX_MIB", "0", "between 1 and 1024");
        check("QUARRY__EGRESS__ALLOW", "example.com:80", "example.com:80");
        check("QUARRY__EGRESS__RESOLVERS", "127.0.0.1:53,dns", "dns");
        check("QUARRY__SERVER__TRUSTED_PROXIES", "proxy", "proxy");
        for host in ["http://quarry.lan", "quarry.lan:80", "a/b", "u@h", "*", "a b"] {
            check("QUARRY__SERVER__HOSTS", host, "without scheme and port");
        }
        check("QUARRY__ADMIN__LISTEN", "localhost", "address and port");
        check("QUARRY__SERVER__LISTENN", "x", "no such setting, did you mean QUARRY__SERVER__LISTEN?");
        check("QUARRY__SERVER", "x", "no such setting");
        check("QUARRY__NOPE__X", "x", "no such setting");
    }

    #[test]
    fn refused_secrets_are_not_repeated() {
        for text in ["ftp://u:hush@h", "http://u:hush@h#proxy_resolves", "http://u:hush@h#hush=true"] {
            let error = pairs(&[("QUARRY__FETCH__ENHANCED_PROXIES", text)]).unwrap_err().to_string();
            assert!(error.starts_with("QUARRY__FETCH__ENHANCED_PROXIES: ") && !error.contains("hush"), "{error}");
        }
    }

    #[test]
    fn a_file_lies_between_the_defaults_and_the_environment() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("quarry.toml");
        std::fs::write(&file, "[server]\nlisten = \"127.0.0.1:1\"\nmax_body_mib = 2\n").unwrap();
        let variable = ("QUARRY__SERVER__LISTEN".to_owned(), "127.0.0.1:2".to_owned());
        let config = load(Some(&file), [variable]).unwrap().config;
        assert_eq!((config.server.listen.port(), config.server.max_body), (2, 2 << 20));
    }

    #[test]
    fn a_proxy_in_a_file_may_be_a_table() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("quarry.toml");
        let read = |proxies: &str| {
            std::fs::write(&file, format!("[fetch]\nbasic_proxies = {proxies}\n")).unwrap();
            load(Some(&file), [])
        };
        let text = r#"["http://a:1", { url = "http://b:2", proxy_resolves = true }, { url = "http://c:3" }]"#;
        let loaded = read(text).unwrap();
        let resolves: Vec<bool> = loaded.config.fetch.basic_proxies.0.iter().map(|proxy| proxy.resolves).collect();
        assert_eq!(resolves, [false, true, false]);
        assert!(!loaded.effective.contains("http://b"), "{}", loaded.effective);
        for bad in [
            r#"[{ url = "http://u:hush@b", resolves = true }]"#,
            r#"[{ url = "http://u:hush@b", proxy_resolves = 1 }]"#,
        ] {
            let error = read(bad).unwrap_err().to_string();
            assert!(error.contains("proxy_resolves") && !error.contains("hush"), "{error}");
        }
    }

    #[test]
    fn every_queue_has_its_line() {
        let config = Config::default();
        let known: Vec<(&str, u32)> = app::QUEUES.iter().map(|queue| (queue.name, queue.slots)).collect();
        let mut set: Vec<(&str, u32)> = config.queues.iter().map(|(name, slots)| (name.as_str(), *slots)).collect();
        set.sort_by_key(|(name, _)| known.iter().position(|(other, _)| other == name));
        assert_eq!(set, known);
        let error = pairs(&[("QUARRY__QUEUES__PAGE", "5")]).unwrap_err();
        assert!(error.to_string().contains("did you mean QUARRY__QUEUES__PAGES?"), "{error}");
        check("QUARRY__QUEUES__MODELS", "5", "no such setting");
        check("QUARRY__QUEUES__HOOKS", "-1", "");
    }

    #[test]
    fn queues_have_older_names() {
        let slots = |text: &str, environment: &[(&str, &str)]| {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("my.toml");
            std::fs::write(&file, text).unwrap();
            let pairs = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let config = load(Some(&file), pairs).unwrap().config;
            (config.queues["pages"], config.queues["hooks"])
        };
        assert_eq!(slots("[worker]\npages = 3\nwebhooks = 0", &[]), (3, 0));
        assert_eq!(slots("[worker]\npages = 3", &[("QUARRY__WORKER__PAGES", "4")]), (4, 256));
        assert_eq!(slots("[worker]\npages = 3\n[queues]\npages = 5", &[]), (5, 256));
        assert_eq!(slots("[queues]\npages = 5", &[("QUARRY__WORKER__PAGES", "4")]), (5, 256));
        let error = pairs(&[("QUARRY__WORKER__PAGES", "many")]).unwrap_err().to_string();
        assert_eq!(error, "QUARRY__WORKER__PAGES: expected a whole number");
    }

    #[test]
    fn a_file_is_checked_like_the_environment() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("my.toml");
        for (text, key, part) in [
            ("[server]\nlisten = 5", "server.listen in my.toml", "expected a text"),
            ("[server]\nlisen = \"x\"", "server.lisen in my.toml", "did you mean server.listen?"),
            ("[servr]\nlisten = \"x\"", "servr in my.toml", "no such section"),
            ("listen = 1", "listen in my.toml", "no such section"),
            ("[server", "my.toml", ""),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = load(Some(&file), []).unwrap_err();
            assert!(error.key == key && error.message.contains(part), "{error}");
        }
        let missing = load(Some(&folder.path().join("none.toml")), []).unwrap_err();
        assert_eq!(missing.key, "none.toml");
    }

    #[test]
    fn the_effective_settings_hide_secrets() {
        let loaded = pairs(&[
            ("QUARRY__ADMIN__TOKEN", "hush1"),
            ("QUARRY__STORE__URL", "postgres://u:hush2@h/d"),
            ("QUARRY__FETCH__BASIC_PROXIES", "http://u:hush3@h:1"),
            ("QUARRY__BLOBS__SECRET_ACCESS_KEY", "hush4"),
        ])
        .unwrap();
        assert!(!loaded.effective.contains("hush"), "{}", loaded.effective);
        assert!(!format!("{:?}", loaded.config).contains("hush"));
        assert_eq!(loaded.effective.matches("***").count(), 4);
        assert!(loaded.effective.contains("listen = \"127.0.0.1:3002\""));
    }
}

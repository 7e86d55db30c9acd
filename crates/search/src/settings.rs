//! Settings of the engines: section `search`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use base::{Secret, setting};
use serde::{Deserialize, Deserializer};
use url::Url;

/// Settings of section `search`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Engines in the order in which they are asked. Default: the index of this server's own pages.
    #[serde(deserialize_with = "engines")]
    pub engines: Vec<EngineName>,
    /// Base URL of a `SearXNG` or searx server. Its address need not be public. Default: none.
    #[serde(deserialize_with = "setting::base_url")]
    pub searxng_url: Option<Url>,
    /// Key of the Brave Search API. Default: none.
    pub brave_key: Secret,
    /// Key of Serper. Default: none.
    pub serper_key: Secret,
    /// Key of the Custom Search JSON API of Google. Default: none.
    pub google_key: Secret,
    /// Id of the search engine at Google (`cx`). Default: none.
    pub google_cx: String,
    /// Key of Tavily. Default: none.
    pub tavily_key: Secret,
    /// Timeout of one engine. Default: 10 s.
    #[serde(rename = "timeout_s", deserialize_with = "setting::some_seconds")]
    pub timeout: Duration,
    /// Size of the cache of answers, in bytes; 0 for none. Default: 16 MiB.
    #[serde(rename = "cache_mib", deserialize_with = "setting::any_mib")]
    pub cache: u64,
    /// Limits of requests, by engine.
    pub limits: Limits,
}

/// Name of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EngineName {
    /// Index of this server's own pages.
    Index,
    /// `SearXNG`, or the older searx.
    Searxng,
    /// Brave Search API.
    Brave,
    /// Serper, results of Google.
    Serper,
    /// Custom Search JSON API of Google.
    Google,
    /// Tavily.
    Tavily,
}

impl EngineName {
    /// Every engine.
    pub const ALL: [Self; 6] = [Self::Index, Self::Searxng, Self::Brave, Self::Serper, Self::Google, Self::Tavily];

    /// Returns the name in the settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Searxng => "searxng",
            Self::Brave => "brave",
            Self::Serper => "serper",
            Self::Google => "google",
            Self::Tavily => "tavily",
        }
    }
}

impl FromStr for EngineName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.trim();
        let found = Self::ALL.into_iter().find(|engine| engine.as_str().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            format!("`{name}` is no search engine; expected some of {known}")
        })
    }
}

/// Limits of requests, by engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Limit of `searxng`.
    pub searxng: Limit,
    /// Limit of `brave`.
    pub brave: Limit,
    /// Limit of `serper`.
    pub serper: Limit,
    /// Limit of `google`.
    pub google: Limit,
    /// Limit of `tavily`.
    pub tavily: Limit,
}

/// Limit of requests to one engine; 0 for none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limit {
    /// Requests per second of each process.
    pub per_second: u32,
    /// Requests per calendar month (UTC) of all servers that share the database.
    pub per_month: u32,
}

/// Setting that the engines cannot work with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SettingsError {
    /// Key in section `search`.
    pub key: &'static str,
    /// The reason.
    pub reason: String,
}

impl Settings {
    /// Checks that each engine of the list has what it needs.
    ///
    /// # Errors
    /// [`SettingsError`] with the first key that is missing.
    pub fn check(&self) -> Result<(), SettingsError> {
        for engine in &self.engines {
            let lacks = |key| SettingsError {
                key,
                reason: format!("is required, because search.engines lists `{}`", engine.as_str()),
            };
            let needs: &[(&'static str, bool)] = match engine {
                EngineName::Index => &[],
                EngineName::Searxng => &[("searxng_url", self.searxng_url.is_some())],
                EngineName::Brave => &[("brave_key", !self.brave_key.is_empty())],
                EngineName::Serper => &[("serper_key", !self.serper_key.is_empty())],
                EngineName::Google => {
                    &[("google_key", !self.google_key.is_empty()), ("google_cx", !self.google_cx.is_empty())]
                }
                EngineName::Tavily => &[("tavily_key", !self.tavily_key.is_empty())],
            };
            needs.iter().find(|(_, is_set)| !is_set).map_or(Ok(()), |(key, _)| Err(lacks(key)))?;
        }
        Ok(())
    }

    /// Whether an engine is in the list.
    #[must_use]
    pub fn lists(&self, engine: EngineName) -> bool {
        self.engines.contains(&engine)
    }

    /// Returns the limit of an engine.
    pub(crate) fn limit(&self, engine: EngineName) -> Limit {
        match engine {
            EngineName::Index => Limit::default(),
            EngineName::Searxng => self.limits.searxng,
            EngineName::Brave => self.limits.brave,
            EngineName::Serper => self.limits.serper,
            EngineName::Google => self.limits.google,
            EngineName::Tavily => self.limits.tavily,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            engines: vec![EngineName::Index],
            searxng_url: None,
            brave_key: Secret::default(),
            serper_key: Secret::default(),
            google_key: Secret::default(),
            google_cx: String::new(),
            tavily_key: Secret::default(),
            timeout: Duration::from_secs(10),
            cache: 16 << 20,
            limits: Limits::default(),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("engines", &self.engines)
            .field("searxng", &self.searxng_url.as_ref().and_then(Url::host_str))
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

fn engines<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<EngineName>, D::Error> {
    let list: Vec<EngineName> = setting::list(input)?;
    for (place, engine) in list.iter().enumerate() {
        if list[..place].contains(engine) {
            return Err(serde::de::Error::custom(format!("lists `{}` twice", engine.as_str())));
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> Result<Settings, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn engines_are_a_list_of_names() {
        assert_eq!(read(json!({})).unwrap(), Settings::default());
        let settings = read(json!({ "engines": ["searxng", " Index"], "limits": { "brave": { "per_second": 1 } } }));
        let settings = settings.unwrap();
        assert_eq!(settings.engines, [EngineName::Searxng, EngineName::Index]);
        assert_eq!(settings.limit(EngineName::Brave), Limit { per_second: 1, per_month: 0 });
        assert!(read(json!({ "engines": [] })).unwrap().engines.is_empty());
        let check = |list: Value, part: &str| {
            let error = read(json!({ "engines": list })).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check(json!(["bing"]), "`bing` is no search engine; expected some of index, searxng, brave");
        check(json!(["brave", "brave"]), "lists `brave` twice");
    }

    #[test]
    fn an_engine_without_its_key_is_refused() {
        let check = |settings: Value, key: &str| {
            let error = read(settings).unwrap().check().unwrap_err();
            assert_eq!(error.key, key);
            assert!(error.reason.contains("search.engines lists"), "{error}");
        };
        check(json!({ "engines": ["index", "searxng"] }), "searxng_url");
        check(json!({ "engines": ["brave"], "tavily_key": "k" }), "brave_key");
        check(json!({ "engines": ["google"], "google_key": "k" }), "google_cx");
        let all = json!({
            "engines": ["index", "searxng", "brave", "serper", "google", "tavily"], "searxng_url": "http://10.0.0.5:8888/",
            "brave_key": "hush1", "serper_key": "hush1", "google_key": "hush1", "google_cx": "c", "tavily_key": "hush1",
        });
        let all = read(all).unwrap();
        assert_eq!(all.check(), Ok(()));
        assert!(!format!("{all:?}").contains("hush1"));
    }
}

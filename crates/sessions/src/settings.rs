//! Settings of browser sessions.

use base::Secret;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use url::Url;

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

impl Default for SessionSettings {
    fn default() -> Self {
        Self { max: 8, max_of_team: 4, code_processes: true, public_url: None, profile_key: Secret::default() }
    }
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

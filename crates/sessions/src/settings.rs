//! Settings of browser sessions.

use base::{Secret, setting};
use serde::{Deserialize, Deserializer};

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
    let url = setting::base_url(input)?;
    Ok(url.map(|url| url.as_str().trim_end_matches('/').to_owned()))
}

//! Settings of files.

use base::setting;
use serde::Deserialize;
use url::Url;

/// Section `files` of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Base of file URLs, of another section. Default: none; they begin with the address that the client used.
    #[serde(skip)]
    pub public_url: Option<Url>,
    /// Byte limit of one file. Default: 100 MiB.
    #[serde(rename = "max_mib", deserialize_with = "setting::mib")]
    pub max_bytes: u64,
    /// Whether clients are redirected to the S3 store for the content of files, if there is one. Default: on.
    pub redirect: bool,
    /// Limit of a team's upload URLs that are unused or hold an unread file. Default: 10.
    #[serde(deserialize_with = "setting::positive")]
    pub max_unread_uploads: u32,
    /// Byte limit of all unread uploads of a team. Default: 512 MiB.
    #[serde(rename = "max_unread_mib", deserialize_with = "setting::mib")]
    pub max_unread_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            public_url: None,
            max_bytes: 100 << 20,
            redirect: true,
            max_unread_uploads: 10,
            max_unread_bytes: 512 << 20,
        }
    }
}

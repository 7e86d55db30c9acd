//! Settings of files.

use base::setting;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use url::Url;

/// Section `files` of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Base of file URLs. Default: none; they begin with the address that the client used.
    #[serde(deserialize_with = "maybe_url")]
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

/// Parses a base URL that a path can be appended to; empty for none.
fn maybe_url<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Url>, D::Error> {
    let text = String::deserialize(input)?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let plain = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none()
    };
    let url = Url::parse(text.trim()).ok().filter(plain);
    url.map(Some).ok_or_else(|| D::Error::custom("expected an address such as https://quarry.example.com, or nothing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_a_path_can_follow() {
        let check = |text: &str, expect: Result<Option<&str>, ()>| {
            let read = serde_json::from_value::<Settings>(serde_json::json!({ "public_url": text }));
            let found = read.as_ref().map(|read| read.public_url.as_ref().map(Url::as_str)).map_err(drop);
            assert_eq!(found, expect, "{text}");
        };
        check("", Ok(None));
        check(" https://quarry.example ", Ok(Some("https://quarry.example/")));
        check("http://10.0.0.1:3002/quarry/", Ok(Some("http://10.0.0.1:3002/quarry/")));
        for bad in ["quarry.example", "ftp://h/", "https://u:p@h/", "https://h/?a", "https://h/#a", "//h", "/files"] {
            check(bad, Err(()));
        }
    }
}

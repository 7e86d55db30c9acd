//! Settings of the cache.

use std::time::Duration;

use base::setting;
use serde::Deserialize;

/// Section `cache` of the settings: the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CacheSettings {
    /// Whether the cache is enabled. Default: on.
    pub enabled: bool,
    /// Whether all teams share one cache. Default: off, so that a cache hit does not reveal what other teams read.
    pub shared: bool,
    /// Age at which a copy is removed. Default: 30 days. Lockdown accepts copies of up to 2 years; raise this setting
    /// to keep them.
    #[serde(rename = "retention_days", deserialize_with = "setting::days")]
    pub retention: Duration,
    /// Maximum total size of the bodies of all copies in bytes, each counted once and before compression; the oldest
    /// copies are evicted. Default: 50 GiB.
    #[serde(rename = "max_gib", deserialize_with = "setting::gib")]
    pub max_bytes: Option<u64>,
}

impl Default for CacheSettings {
    fn default() -> Self {
        let retention = Duration::from_secs(30 * 24 * 60 * 60);
        Self { enabled: true, shared: false, retention, max_bytes: Some(50 << 30) }
    }
}

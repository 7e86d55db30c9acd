//! Settings of the index.

use std::path::PathBuf;

use base::setting;
use serde::Deserialize;

/// Section `index` of the settings: the index of the pages that this instance has read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IndexingSettings {
    /// Whether pages are indexed. Default: on.
    pub enabled: bool,
    /// Folder of the index. Default: `index` in the data folder.
    #[serde(deserialize_with = "setting::path")]
    pub path: Option<PathBuf>,
    /// Maximum size of its files in bytes; the oldest pages are removed. Default: 20 GiB.
    #[serde(rename = "max_gib", deserialize_with = "setting::gib")]
    pub max_bytes: Option<u64>,
}

impl Default for IndexingSettings {
    fn default() -> Self {
        Self { enabled: true, path: None, max_bytes: Some(20 << 30) }
    }
}

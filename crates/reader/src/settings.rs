//! Settings of the section `documents`.

use std::path::PathBuf;
use std::time::Duration;

use base::setting;
use serde::{Deserialize, Deserializer};

/// Settings of the section `documents`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Whether documents are read. Default: on.
    pub enabled: bool,
    /// Path of the program `quarry-reader`. Default: none, which means beside the running program, and if it is not
    /// there, the running program itself.
    #[serde(deserialize_with = "setting::path")]
    pub reader: Option<PathBuf>,
    /// Memory limit of each child for one document, in bytes. Default: 512 MiB.
    #[serde(rename = "memory_mib", deserialize_with = "memory")]
    pub memory: u64,
    /// Number of documents that are read concurrently, and of pages that are under OCR concurrently. Default: 0, one
    /// for each processor.
    pub children: u16,
    /// Maximum number of documents that wait for a child. Default: 64.
    pub waiting: u16,
    /// Number of documents after which a child is replaced. Default: 100.
    #[serde(deserialize_with = "setting::positive")]
    pub recycle: u32,
    /// Memory in bytes above which a child is replaced after its document. Default: 192 MiB.
    #[serde(rename = "recycle_mib", deserialize_with = "setting::any_mib")]
    pub recycle_memory: u64,
    /// Idle timeout of a child. Default: 60 s.
    #[serde(rename = "idle_s", deserialize_with = "setting::seconds")]
    pub idle: Duration,
    /// Time limit for one document, whatever the timeout of its request. Default: 300 s.
    #[serde(rename = "max_s", deserialize_with = "setting::some_seconds")]
    pub longest: Duration,
    /// Languages of OCR, as tesseract names them. Default: none, which means all that are installed, by the script of
    /// each page.
    #[serde(deserialize_with = "languages")]
    pub ocr_languages: Vec<String>,
}

/// Error in the settings of documents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The configured program does not exist.
    #[error("there is no program {}", .0.display())]
    NoProgram(PathBuf),
}

/// Smallest memory limit with which a child can start and read a short document, in MiB.
const MIN_MEMORY_MIB: u64 = 64;

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            reader: None,
            memory: 512 << 20,
            children: 0,
            waiting: 64,
            recycle: 100,
            recycle_memory: 192 << 20,
            idle: Duration::from_secs(60),
            longest: Duration::from_secs(300),
            ocr_languages: Vec::new(),
        }
    }
}

impl Settings {
    /// Returns the number of slots of each kind.
    pub(crate) fn places(&self) -> usize {
        match self.children {
            0 => std::thread::available_parallelism().map_or(2, usize::from),
            number => number.into(),
        }
    }
}

/// Deserializes language names. They become file names in the data folder, so they must not lead out of it.
fn languages<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    setting::each(input, |name| {
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_name.then(|| name.to_owned()).ok_or_else(|| format!("{name}: expected a name such as `eng` or `chi_sim`"))
    })
}

fn memory<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    let bytes = setting::any_mib(input)?;
    let enough = bytes >= MIN_MEMORY_MIB << 20;
    enough.then_some(bytes).ok_or_else(|| serde::de::Error::custom(format!("must be at least {MIN_MEMORY_MIB}")))
}

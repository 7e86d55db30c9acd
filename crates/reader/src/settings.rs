//! What an operator can set about documents: section `documents`.

use std::path::PathBuf;
use std::time::Duration;

use base::setting;
use serde::{Deserialize, Deserializer};

/// Section `documents`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Whether documents are read at all. Default: on.
    pub enabled: bool,
    /// The program `quarry-reader`. Default: none, which means beside the program that runs, and without it that program
    /// itself.
    #[serde(deserialize_with = "maybe_path")]
    pub reader: Option<PathBuf>,
    /// Bytes of memory that one document may take in each of its children. Default: 512 MiB.
    #[serde(rename = "memory_mib", deserialize_with = "memory")]
    pub memory: u64,
    /// Most documents that are read at the same time, and most pages that are recognised at the same time. Default: 0, one
    /// for each processor.
    pub children: u16,
    /// Most documents that wait for a child. Default: 64.
    pub waiting: u16,
    /// Documents after which a child is replaced. Default: 100.
    #[serde(deserialize_with = "setting::positive")]
    pub recycle: u32,
    /// Bytes of memory above which a child is replaced after its document. Default: 192 MiB.
    #[serde(rename = "recycle_mib", deserialize_with = "setting::any_mib")]
    pub recycle_memory: u64,
    /// How long a child without a document is kept. Default: 60 s.
    #[serde(rename = "idle_s", deserialize_with = "setting::seconds")]
    pub idle: Duration,
    /// Longest time that one document may take, whatever the timeout of its request. Default: 300 s.
    #[serde(rename = "max_s", deserialize_with = "setting::some_seconds")]
    pub longest: Duration,
    /// Languages of recognised text, as tesseract names them. Default: none, which means all that are installed, by the
    /// script of each page.
    #[serde(deserialize_with = "languages")]
    pub ocr_languages: Vec<String>,
}

/// Why documents cannot be read as the settings say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The named program is not there.
    #[error("there is no program {}", .0.display())]
    NoProgram(PathBuf),
}

/// The smallest memory that a child can start and read a short document in.
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
    /// How many children of each kind there may be at a time.
    pub(crate) fn places(&self) -> usize {
        match self.children {
            0 => std::thread::available_parallelism().map_or(2, usize::from),
            number => number.into(),
        }
    }
}

/// A path; an empty one is none.
fn maybe_path<'de, D: Deserializer<'de>>(input: D) -> Result<Option<PathBuf>, D::Error> {
    let text = String::deserialize(input)?;
    Ok(Some(text.trim()).filter(|text| !text.is_empty()).map(PathBuf::from))
}

/// Names of files in the folder of language data, so nothing that leads out of it.
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

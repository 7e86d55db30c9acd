//! Types of the case file.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// The case file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[serde(rename = "about")]
    _about: String,
    #[serde(rename = "placeholders")]
    _placeholders: Object,
    /// Expectations of every case, unless it overrides them.
    pub(crate) every_case_also_expects: Object,
    count: usize,
    /// Cases in the order in which they run.
    pub(crate) cases: Vec<Case>,
}

/// A hostile input with the expected outcome.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) setup: Object,
    pub(crate) input: Object,
    pub(crate) expected: Object,
    pub(crate) note: String,
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "whatwg_parse")]
    _whatwg_parse: Option<String>,
}

impl File {
    /// Reads the file. An unknown member is an error, so that nothing is silently ignored.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let file: Self =
            serde_json::from_slice(&text).with_context(|| format!("{} is not a case file", path.display()))?;
        ensure!(file.count == file.cases.len(), "count is {} but there are {} cases", file.count, file.cases.len());
        Ok(file)
    }
}

impl Case {
    /// Returns a string of the input; empty if missing.
    pub(crate) fn input_text(&self, key: &str) -> &str {
        self.input.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the expectation under a key, of this case or of every case.
    pub(crate) fn expects<'a>(&'a self, key: &str, every: &'a Object) -> Option<&'a Value> {
        self.expected.get(key).or_else(|| every.get(key))
    }

    /// Returns the accepted statuses; empty if the case has none.
    pub(crate) fn statuses(&self) -> Vec<u64> {
        let one = self.expected.get("http").and_then(Value::as_u64);
        let any = self.expected.get("http_any_of").and_then(Value::as_array);
        one.into_iter().chain(any.into_iter().flatten().filter_map(Value::as_u64)).collect()
    }
}

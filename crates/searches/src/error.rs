//! Errors of searches and feedback.

use kernel::{AppError, Refusal, Report, through_app};
use search::{Failure, Failures};
use serde_json::{Value, json};
use store::StoreError;
use wire::{Code, SearchSource};

/// Name in the failure of a source that no engine searches.
const NO_ENGINE: &str = "none";

/// Reason why a search was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// Error that any operation may have.
    #[error(transparent)]
    App(#[from] AppError),
    /// Search that found nothing before its deadline.
    #[error("the search did not finish within `timeout`; increase it")]
    Timeout,
    /// Search without a result whose engines did not all answer. Nothing is charged.
    #[error("no search engine could answer: {}", listed(.0))]
    Unavailable(Vec<EngineFailure>),
}

/// Reason why an engine did not answer. It names neither the query nor a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineFailure {
    /// Name of the engine, as in the settings.
    pub engine: &'static str,
    /// Source that was asked for.
    pub source: &'static str,
    /// Reason, with the remedy.
    pub reason: String,
}

impl EngineFailure {
    /// Returns the failures of all engines that were asked about a source.
    pub(crate) fn all(source: SearchSource, failures: Failures) -> Vec<Self> {
        let source = source.as_str();
        if failures.list.is_empty() {
            return vec![Self { engine: NO_ENGINE, source, reason: failures.to_string() }];
        }
        let of = |Failure { engine, error }| Self { engine, source, reason: error.to_string() };
        failures.list.into_iter().map(of).collect()
    }
}

/// Joins reasons into a sentence, each once.
pub(crate) fn listed(failures: &[EngineFailure]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for EngineFailure { engine, reason, .. } in failures {
        let line = format!("{engine}: {reason}");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.join("; ")
}

through_app!(SearchError: StoreError);

impl Refusal for SearchError {
    fn code(&self) -> Code {
        match self {
            Self::App(error) => error.code(),
            Self::Timeout => Code::SearchTimeout,
            Self::Unavailable(_) => Code::SearchUnavailable,
        }
    }

    fn passed_on(&self) -> Option<&dyn Refusal> {
        match self {
            Self::App(error) => Some(error),
            Self::Timeout | Self::Unavailable(_) => None,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Unavailable(failures) => {
                let line = |failure: &EngineFailure| {
                    let EngineFailure { engine, source, reason } = failure;
                    json!({ "engine": engine, "source": source, "reason": reason })
                };
                Some(failures.iter().map(line).collect())
            }
            Self::App(_) | Self::Timeout => self.passed_on().and_then(Refusal::details),
        }
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Unavailable(_) => Some(30),
            Self::App(_) | Self::Timeout => self.passed_on().and_then(Refusal::retry_after),
        }
    }

    fn report(&self) -> Report<'_> {
        self.passed_on().map_or(Report::Nothing, Refusal::report)
    }
}

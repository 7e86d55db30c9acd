//! Errors of engines.

use std::fmt;
use std::time::Duration;

use crate::query::Source;

/// Reason why an engine has not answered. Its text says what to do, and contains neither a key nor text of the engine
/// beyond the names of its parts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The engine does not accept the key, or the server.
    #[error("it refuses access (status {status}): check {setting}")]
    Unauthorized {
        /// Status of the answer.
        status: u16,
        /// Setting to check.
        setting: &'static str,
    },
    /// The engine does not answer in JSON.
    #[error(
        "it does not answer in JSON (status 403): list `json` under `search: formats:` in its settings.yml, and let this \
        server pass its limiter"
    )]
    JsonOff,
    /// The engine asks to be asked less often, or a limit of the settings does.
    #[error("it is asked too often{}", again(.retry_after))]
    RateLimited {
        /// Wait that the engine asks for.
        retry_after: Option<Duration>,
    },
    /// The account of the engine is used up.
    #[error("the quota of its account is used up")]
    Quota,
    /// The limit of requests per month is reached.
    #[error("its limit of {most} requests this month is reached: see search.limits")]
    MonthUsed {
        /// Maximum number of requests per month.
        most: u32,
    },
    /// The request cannot be counted, which the limit per month requires.
    #[error("its requests of this month cannot be counted now")]
    Uncounted,
    /// The engine has not answered before the deadline.
    #[error("it did not answer in time")]
    Timeout,
    /// The engine cannot be reached.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// The engine redirects to another address, which is not followed.
    #[error("it redirects to another address: check its URL")]
    Redirected,
    /// The engine refuses the query.
    #[error("it refuses the query (status {status})")]
    Rejected {
        /// Status of the answer.
        status: u16,
    },
    /// The engine has failed.
    #[error("it has failed (status {status})")]
    Upstream {
        /// Status of the answer.
        status: u16,
    },
    /// The answer is not as the engine documents it.
    #[error("its answer cannot be used: {0}")]
    Invalid(String),
    /// None of the engines behind this one has answered.
    #[error("none of its engines has answered: {}", .0.join(", "))]
    Unresponsive(Vec<String>),
    /// The index of this server cannot be searched.
    #[error("the index cannot be searched: {0}")]
    Index(String),
}

fn again(wait: &Option<Duration>) -> String {
    wait.map(|wait| format!("; it may be asked again in {} s", wait.as_secs().max(1))).unwrap_or_default()
}

impl EngineError {
    /// Returns the word for metrics.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Unauthorized { .. } => "unauthorized",
            Self::JsonOff => "json_off",
            Self::RateLimited { .. } => "rate_limited",
            Self::Quota | Self::MonthUsed { .. } | Self::Uncounted => "quota",
            Self::Timeout => "timeout",
            Self::Unreachable(_) => "unreachable",
            Self::Redirected | Self::Rejected { .. } => "rejected",
            Self::Upstream { .. } => "upstream",
            Self::Invalid(_) => "invalid",
            Self::Unresponsive(_) => "unresponsive",
            Self::Index(_) => "index",
        }
    }
}

/// Failure of one engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{engine}: {error}")]
pub struct Failure {
    /// Name of the engine.
    pub engine: &'static str,
    /// The reason.
    pub error: EngineError,
}

/// Failures of all engines that were asked; empty if none searches the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failures {
    /// Source of the query.
    pub source: Source,
    /// Failures, in the order of the engines.
    pub list: Vec<Failure>,
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.list.is_empty() {
            return write!(f, "no search engine of this server offers {}", self.source.word());
        }
        let reasons: Vec<String> = self.list.iter().map(ToString::to_string).collect();
        write!(f, "no search engine has answered: {}", reasons.join("; "))
    }
}

impl std::error::Error for Failures {}

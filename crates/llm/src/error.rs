//! Errors of calls.

use std::time::Duration;

use crate::budget::OverBudget;

/// Error of a call. Contains neither the key nor text of the endpoint, which may repeat the key or the page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The model refuses to answer this question.
    #[error("the model refuses to answer")]
    Refused,
    /// The model has answered nothing.
    #[error("the model has answered nothing")]
    Empty,
    /// The question does not fit into the context window of the model.
    #[error("the text is too long for the model")]
    TooLong,
    /// The call does not fit into a budget; it was not made.
    #[error(transparent)]
    Budget(#[from] OverBudget),
    /// The deadline has passed, or no answer would come before it.
    #[error("the model did not answer in time")]
    Timeout,
    /// Too many calls wait for this endpoint.
    #[error("too many calls wait for the model")]
    Busy,
    /// The endpoint has failed several times in a row and is not called for a while.
    #[error("the model has failed several times and is not called for a while")]
    Paused,
    /// The endpoint asks to call less often, and the deadline comes before the time it names.
    #[error("the model is called too often")]
    RateLimited {
        /// Wait that the endpoint asks for.
        wait: Option<Duration>,
    },
    /// The endpoint does not accept the key.
    #[error("the endpoint of the model does not accept the key (status {status}): check llm.key")]
    Unauthorized {
        /// Status of the answer.
        status: u16,
    },
    /// The endpoint answers with a redirect, which is not followed.
    #[error("the endpoint of the model redirects to another address: check llm.url")]
    Redirected,
    /// The endpoint does not accept the request.
    #[error("the endpoint of the model refuses the request (status {status}{code}): check llm.url and llm.model")]
    Rejected {
        /// Status of the answer.
        status: u16,
        /// Error code of the answer, if it has a plain one.
        code: ErrorCode,
    },
    /// The endpoint has failed.
    #[error("the endpoint of the model has failed (status {status})")]
    Upstream {
        /// Status of the answer, or the one in its error body.
        status: u16,
    },
    /// The answer is not one of the configured protocol.
    #[error("the endpoint of the model gives no answer of the protocol: check llm.url and llm.kind")]
    Malformed,
    /// No connection, or it was lost before the answer was complete.
    #[error("cannot reach the model: {0}")]
    Connection(String),
}

/// Error code of an endpoint, such as `model_not_found`: empty unless it is a plain word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorCode(String);

impl ErrorCode {
    /// Takes a code if it is a plain word, which is no place for keys or text.
    pub(crate) fn plain(code: &str) -> Self {
        let is_plain =
            (1..=48).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        Self(if is_plain { code.to_owned() } else { String::new() })
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ", {}", self.0) }
    }
}

impl AskError {
    /// Removes an error code that may be a part of the key.
    pub(crate) fn without(self, key: &base::Secret) -> Self {
        match self {
            Self::Rejected { status, code } if !key.is_empty() && key.expose().contains(&code.0) => {
                Self::Rejected { status, code: ErrorCode::default() }
            }
            other => other,
        }
    }

    /// Returns its word in metrics.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Empty => "empty",
            Self::TooLong => "too_long",
            Self::Budget(_) => "budget",
            Self::Timeout => "timeout",
            Self::Busy => "busy",
            Self::Paused => "paused",
            Self::RateLimited { .. } => "rate_limited",
            Self::Unauthorized { .. } => "unauthorized",
            Self::Redirected => "redirected",
            Self::Rejected { .. } => "rejected",
            Self::Upstream { .. } => "upstream",
            Self::Malformed => "malformed",
            Self::Connection(_) => "connection",
        }
    }

    /// Returns whether another attempt may succeed: the endpoint was overloaded or unreachable, and has done nothing.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::Upstream { .. } | Self::Malformed | Self::Connection(_))
    }

    /// Returns whether the same question may be answered later.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        self.is_transient() || matches!(self, Self::Timeout | Self::Busy | Self::Paused)
    }

    /// Returns whether the endpoint has answered, so that it works.
    pub(crate) fn has_answer(&self) -> bool {
        use AskError::{Empty, RateLimited, Redirected, Refused, Rejected, Unauthorized};
        matches!(self, Refused | Empty | RateLimited { .. } | Unauthorized { .. } | Redirected | Rejected { .. })
    }

    /// Returns whether only the operator can change it: settings that the endpoint does not accept.
    pub(crate) fn is_of_settings(&self) -> bool {
        matches!(self, Self::Unauthorized { .. } | Self::Redirected | Self::Rejected { .. })
    }

    /// Returns whether the endpoint is at fault, rather than the question or the budget.
    pub(crate) fn is_failure_of_endpoint(&self) -> bool {
        matches!(self, Self::Upstream { .. } | Self::Malformed | Self::Connection(_))
    }
}

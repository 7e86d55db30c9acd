//! Failure of a verb, as an error of the caller's language.

use cdp::CdpError;

/// Failure of a verb.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {message}")]
pub struct Failure {
    /// Class of the error: `TimeoutError`, `TypeError`, `Error`, or what the page's script threw.
    pub name: String,
    /// Reason and, where possible, what to do.
    pub message: String,
    /// Whether the page or its browser has ended, so that all further verbs fail too.
    pub is_final: bool,
}

impl Failure {
    /// Returns a failure of the class `Error`.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { name: "Error".to_owned(), message: message.into(), is_final: false }
    }

    /// Returns a timeout; `why` says what was waited for.
    pub(crate) fn timeout(verb: &str, why: &str) -> Self {
        Self {
            name: "TimeoutError".to_owned(),
            message: format!("{verb} did not succeed in time: {why}"),
            is_final: false,
        }
    }

    pub(crate) fn unknown(verb: &str) -> Self {
        Self { name: "TypeError".to_owned(), message: format!("unknown verb `{verb}`"), is_final: false }
    }

    pub(crate) fn wrong(verb: &str, why: &str) -> Self {
        Self { name: "TypeError".to_owned(), message: format!("wrong argument for {verb}: {why}"), is_final: false }
    }
}

impl From<CdpError> for Failure {
    fn from(error: CdpError) -> Self {
        let is_final = matches!(error, CdpError::Closed | CdpError::Crashed);
        match error {
            CdpError::Script { name, message } => Self { name, message, is_final },
            CdpError::Timeout => Self { is_final, ..Self::timeout("the page", "it does not respond") },
            other => Self { is_final, ..Self::new(other.to_string()) },
        }
    }
}

//! Why a verb failed, in the words of the caller's language.

use crate::cdp::CdpError;

/// Why a verb failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {message}")]
pub struct Failure {
    /// Class of the error: `TimeoutError`, `Error`, or what the script of the page threw.
    pub name: String,
    /// What went wrong and, where one can, what to do.
    pub message: String,
    /// Whether the page or its browser is gone, so that nothing else can be done with it.
    pub is_final: bool,
}

impl Failure {
    /// A failure of any other kind.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { name: "Error".to_owned(), message: message.into(), is_final: false }
    }

    /// The time is over; `why` says what it was spent on.
    pub(crate) fn timeout(verb: &str, why: &str) -> Self {
        Self {
            name: "TimeoutError".to_owned(),
            message: format!("{verb} did not succeed in time: {why}"),
            is_final: false,
        }
    }

    pub(crate) fn unknown(verb: &str) -> Self {
        Self { name: "TypeError".to_owned(), message: format!("there is no verb `{verb}`"), is_final: false }
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
            CdpError::Timeout => Self { is_final, ..Self::timeout("the page", "it does not answer") },
            other => Self { is_final, ..Self::new(other.to_string()) },
        }
    }
}

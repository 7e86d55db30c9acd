//! Reasons for having no result.

use cpu::CpuError;
use extractive::GaveUp;
use llm::AskError;
use llm::extract::ExtractError;
use llm::schema::{Fault, SchemaError};

/// Reason for having no result. The messages may be shown to the caller: they say nothing of the endpoint of the
/// model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No model may see the page, and the format needs one.
    #[error("no language model is available for this request")]
    NoModel,
    /// The model could not be asked, or has not answered.
    #[error("{}", reason(.0))]
    Model(AskError),
    /// The model has answered, but in no usable form.
    #[error("the model gives no usable answer")]
    Unusable,
    /// The model gives no answer that is valid by the schema.
    #[error("the model gives no answer that is valid by the schema")]
    Invalid(Vec<Fault>),
    /// The page could not be processed.
    #[error("the page could not be processed")]
    Panicked,
    /// The schema cannot be used.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

impl Refusal {
    /// Whether the same may be answered later.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Model(error) if error.may_pass())
    }
}

impl From<AskError> for Refusal {
    fn from(error: AskError) -> Self {
        Self::Model(error)
    }
}

impl From<CpuError> for Refusal {
    fn from(error: CpuError) -> Self {
        match error {
            CpuError::Timeout => Self::Model(AskError::Timeout),
            CpuError::Panicked => Self::Panicked,
        }
    }
}

impl From<GaveUp> for Refusal {
    /// Work is only stopped because its time is over.
    fn from(_: GaveUp) -> Self {
        Self::Model(AskError::Timeout)
    }
}

impl From<ExtractError> for Refusal {
    fn from(error: ExtractError) -> Self {
        match error {
            ExtractError::Ask(error) => error.into(),
            ExtractError::Invalid(faults) => Self::Invalid(faults),
            ExtractError::Schema(error) => Self::Schema(error),
            ExtractError::Panicked => Self::Panicked,
        }
    }
}

fn reason(error: &AskError) -> String {
    match error {
        AskError::Unauthorized { .. } | AskError::Redirected | AskError::Rejected { .. } | AskError::Malformed => {
            "the model does not accept calls of this server; its operator can find the reason in the log".to_owned()
        }
        AskError::Upstream { .. } | AskError::Connection(_) => "the model cannot be reached or has failed".to_owned(),
        AskError::Refused
        | AskError::Empty
        | AskError::TooLong
        | AskError::Budget(_)
        | AskError::Timeout
        | AskError::Busy
        | AskError::Paused
        | AskError::RateLimited { .. } => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_learn_nothing_of_the_endpoint() {
        let check = |error: AskError| {
            let shown = Refusal::from(error).to_string();
            assert!(!shown.contains("llm.") && !shown.contains("10.0.0.9"), "{shown}");
        };
        check(AskError::Connection("http://10.0.0.9:8080: refused".to_owned()));
        check(AskError::Unauthorized { status: 401 });
        check(AskError::Upstream { status: 500 });
        assert_eq!(Refusal::from(AskError::Timeout).to_string(), "the model did not answer in time");
    }

    #[test]
    fn outages_pass_and_settings_stay() {
        for error in [AskError::Upstream { status: 503 }, AskError::Paused, AskError::Busy, AskError::Timeout] {
            assert!(Refusal::from(error).may_pass());
        }
        for error in [AskError::Unauthorized { status: 401 }, AskError::TooLong, AskError::Refused] {
            assert!(!Refusal::from(error).may_pass());
        }
        assert!(!Refusal::NoModel.may_pass());
    }
}

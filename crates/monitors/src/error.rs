//! Errors of operations on monitors.

use crawls::CrawlsError;
use kernel::{AppError, Refusal, through_app};
use serde_json::Value;
use store::StoreError;
use wire::{Code, FieldError, Invalid, Need};

/// Reason why an operation on a monitor was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum MonitorsError {
    /// Error that any operation may have.
    #[error(transparent)]
    App(#[from] AppError),
    /// Error of a crawl that a target asks for.
    #[error(transparent)]
    Crawl(CrawlsError),
    /// The token of a mail's link was not made here, or is too old.
    #[error("the link is invalid or has expired")]
    InvalidToken,
    /// The recipient that a token names is not known any more.
    #[error("this recipient is not known any more")]
    NoSubscription,
    /// The team has as many monitors as it may have.
    #[error("the team may have {most} monitors and has that many; remove one, or ask the operator for more")]
    TooMany {
        /// Limit of the team.
        most: i64,
    },
}

impl MonitorsError {
    /// Whether the request will succeed after an outage.
    pub(crate) fn is_of_outage(&self) -> bool {
        self.is_outage() || matches!(self.code(), Code::UnknownError | Code::ShuttingDown | Code::ConcurrencyLimited)
    }

    /// Puts a path in front of the paths of all faults.
    pub(crate) fn below(self, prefix: &str) -> Self {
        match self {
            Self::App(AppError::Invalid(invalid)) => below(invalid, prefix).into(),
            Self::App(AppError::Unsupported(needs)) => {
                let under = |need: Need| Need { path: format!("{prefix}.{}", need.path), ..need };
                Self::App(AppError::Unsupported(needs.into_iter().map(under).collect()))
            }
            other => other,
        }
    }
}

fn below(invalid: Invalid, prefix: &str) -> Invalid {
    let fields = invalid.fields.into_iter().map(|field| {
        let path = format!("{prefix}.{}", field.path);
        FieldError { path, ..field }
    });
    let fields: Vec<FieldError> = fields.collect();
    let message = fields.first().map_or(invalid.message, ToString::to_string);
    Invalid { message, fields }
}

impl From<CrawlsError> for MonitorsError {
    fn from(error: CrawlsError) -> Self {
        match error {
            CrawlsError::App(error) => Self::App(error),
            error => Self::Crawl(error),
        }
    }
}

through_app!(MonitorsError: Invalid, StoreError);

impl Refusal for MonitorsError {
    fn code(&self) -> Code {
        match self {
            Self::App(error) => error.code(),
            Self::Crawl(error) => error.code(),
            Self::InvalidToken => Code::InvalidToken,
            Self::NoSubscription => Code::SubscriptionNotFound,
            Self::TooMany { .. } => Code::Forbidden,
        }
    }

    fn passed_on(&self) -> Option<&dyn Refusal> {
        match self {
            Self::App(error) => Some(error),
            Self::Crawl(error) => Some(error),
            Self::InvalidToken | Self::NoSubscription | Self::TooMany { .. } => None,
        }
    }

    fn details(&self) -> Option<Value> {
        self.passed_on().and_then(Refusal::details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_a_target_have_its_path() {
        let error =
            MonitorsError::from(Invalid::at("formats[1].schema", "is not usable")).below("targets[2].scrapeOptions");
        let details = error.details().unwrap();
        assert_eq!(details[0]["path"], "targets[2].scrapeOptions.formats[1].schema");
        assert!(error.message().contains("`targets[2].scrapeOptions.formats[1].schema`"), "{error}");
    }
}

//! Answers for the errors of the operations: code, details and `Retry-After`. A new error needs a code here.

use serde_json::{Value, json};
use wire::{Code, Need};

use super::AppError;
use crate::refusal::{Refusal, Report};

impl Refusal for AppError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(_) => Code::BadRequest,
            Self::Unsupported(needs) => needs.first().map_or(Code::BadRequest, |need| need.code),
            Self::Unauthorized(_) => Code::Unauthorized,
            Self::InsufficientCredits { .. } => Code::InsufficientCredits,
            Self::Forbidden(_) => Code::Forbidden,
            Self::KeyNotAllowed { .. } => Code::KeyNotAllowed,
            Self::AddressNotAllowed { .. } => Code::AddressNotAllowed,
            Self::NotFound(_) => Code::NotFound,
            Self::Timeout => Code::ScrapeTimeout,
            Self::ConcurrencyLimited { .. } => Code::ConcurrencyLimited,
            Self::DuplicateRequest => Code::DuplicateRequest,
            Self::ShuttingDown => Code::ShuttingDown,
            Self::StorageFull => Code::StorageFull,
            Self::DatabaseUnavailable(_) => Code::DatabaseUnavailable,
            Self::StorageUnavailable(_) => Code::StorageUnavailable,
            Self::BillingUnavailable(_) => Code::BillingUnavailable,
            Self::Internal(_) => Code::UnknownError,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Unsupported(needs) => needs.iter().map(Need::message).collect::<Vec<_>>().join("; "),
            _ => self.to_string(),
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Invalid(invalid) => Some(invalid.details()),
            // One feature answers with its own code; the details list them all.
            Self::Unsupported(needs) => {
                let line = |need: &Need| json!({ "path": need.path, "code": need.code, "message": need.message() });
                Some(needs.iter().map(line).collect())
            }
            _ => None,
        }
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::ConcurrencyLimited { .. } => Some(1),
            Self::ShuttingDown
            | Self::DatabaseUnavailable(_)
            | Self::StorageUnavailable(_)
            | Self::BillingUnavailable(_) => Some(5),
            Self::StorageFull => Some(60),
            _ => None,
        }
    }

    fn report(&self) -> Report<'_> {
        match self {
            Self::DatabaseUnavailable(cause) | Self::StorageUnavailable(cause) => Report::Outage(&**cause),
            Self::BillingUnavailable(cause) | Self::Internal(cause) => Report::Broken(&**cause),
            // Exhaustive, so that the cause of a new error cannot be lost.
            Self::Invalid(_)
            | Self::Unsupported(_)
            | Self::Unauthorized(_)
            | Self::InsufficientCredits { .. }
            | Self::Forbidden(_)
            | Self::KeyNotAllowed { .. }
            | Self::AddressNotAllowed { .. }
            | Self::NotFound(_)
            | Self::Timeout
            | Self::ConcurrencyLimited { .. }
            | Self::DuplicateRequest
            | Self::ShuttingDown
            | Self::StorageFull => Report::Nothing,
        }
    }
}

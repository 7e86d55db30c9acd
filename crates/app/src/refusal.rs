//! The public side of errors: code, message and details for the client, and the cause for the log.

use std::error::Error as StdError;

use serde_json::Value;
use wire::{Code, Invalid, ParseRefusal};

/// Reason why an operation was refused or failed, as a caller may know it.
pub trait Refusal: StdError + Send + Sync + 'static {
    /// Returns the code that the client gets, and that the row of a failed scrape keeps. Implementations match
    /// exhaustively: a new error needs one.
    fn code(&self) -> Code;

    /// Returns the message for the client.
    fn message(&self) -> String {
        self.to_string()
    }

    /// Returns the details for the client, if the code has any.
    fn details(&self) -> Option<Value> {
        None
    }

    /// Returns the seconds after which the client may try again, if it is known that this helps.
    fn retry_after(&self) -> Option<u64> {
        None
    }

    /// Returns the cause to log, once per request.
    fn report(&self) -> Report<'_> {
        Report::Nothing
    }

    /// Whether a part of the deployment is unavailable or full: the request will succeed after the outage, which is
    /// logged separately.
    fn is_outage(&self) -> bool {
        matches!(self.code(), Code::DatabaseUnavailable | Code::StorageUnavailable | Code::StorageFull)
    }
}

/// Cause of an error for the log, with its level.
#[derive(Debug, Clone, Copy)]
pub enum Report<'a> {
    /// Nothing to log: the answer contains the cause.
    Nothing,
    /// Cause of a failure in an outage, at level debug: the outage has log lines of its own.
    Outage(&'a (dyn StdError + 'static)),
    /// Cause of an unexpected failure, logged at level error and withheld from the client.
    Broken(&'a (dyn StdError + 'static)),
}

impl Refusal for Invalid {
    fn code(&self) -> Code {
        Code::BadRequest
    }

    fn details(&self) -> Option<Value> {
        Some(Self::details(self))
    }
}

impl Refusal for ParseRefusal {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(_) => Code::BadRequest,
            Self::Unsupported(_) => Code::ParseUnsupportedOptions,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Invalid(invalid) | Self::Unsupported(invalid) => Some(invalid.details()),
        }
    }
}

//! The public side of errors: code, message and details for the client, and the cause for the log.

use std::error::Error as StdError;
use std::fmt;
use std::ops::Deref;

use serde_json::Value;
use wire::{Code, Invalid, ParseRefusal};

/// Reason why an operation was refused or failed, as a caller may know it.
pub trait Refusal: StdError + Send + Sync + 'static {
    /// Returns the code that the client gets, and that the row of a failed scrape keeps. Implementations match
    /// exhaustively: a new error needs one.
    fn code(&self) -> Code;

    /// Returns the error of another part of the service that this one only passes on. The other methods answer as that
    /// error does, unless they are implemented.
    fn passed_on(&self) -> Option<&dyn Refusal> {
        None
    }

    /// Returns the message for the client.
    fn message(&self) -> String {
        self.passed_on().map_or_else(|| self.to_string(), Refusal::message)
    }

    /// Returns the details for the client, if the code has any.
    fn details(&self) -> Option<Value> {
        self.passed_on().and_then(Refusal::details)
    }

    /// Returns the seconds after which the client may try again, if it is known that this helps.
    fn retry_after(&self) -> Option<u64> {
        self.passed_on().and_then(Refusal::retry_after)
    }

    /// Returns the cause to log, once per request.
    fn report(&self) -> Report<'_> {
        self.passed_on().map_or(Report::Nothing, Refusal::report)
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

/// Any refusal, for functions in which those of several parts of the service meet. It is no error itself, so that `?` can
/// turn every refusal into it.
pub struct Refused(Box<dyn Refusal>);

impl<E: Refusal> From<E> for Refused {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl Deref for Refused {
    type Target = dyn Refusal;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Converts causes of an [`AppError`](crate::AppError) into an error that has it as its variant `App`, so that `?` takes
/// both steps at once.
#[macro_export]
macro_rules! through_app {
    ($error:ty: $($cause:ty),+) => {
        $(impl From<$cause> for $error {
            fn from(cause: $cause) -> Self {
                Self::App(cause.into())
            }
        })+
    };
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

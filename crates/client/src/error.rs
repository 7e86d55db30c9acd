//! What can go wrong with a call.

use std::fmt;
use std::time::Duration;

use wire::ErrorBody;

/// The outcome of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call has no good answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The base address is not `http://`, a host and perhaps a port and a path.
    #[error("{0:?} is not the address of a service, such as http://127.0.0.1:3002")]
    Address(String),
    /// The key holds characters that no header may have.
    #[error("the key cannot be sent in a header")]
    Key,
    /// The path or a header of the request is not well-formed.
    #[error("the request is not well-formed")]
    Request(#[source] http::Error),
    /// The request cannot be written as JSON.
    #[error("the request cannot be written as JSON")]
    Body(#[source] serde_json::Error),
    /// There was no connection, or it broke before the answer was whole. Whether the service has done what was asked is
    /// not known.
    #[error("no answer")]
    NoAnswer(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The answer took longer than the client waits. Whether the service has done what was asked is not known.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The service has refused or failed the call and says why.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// An answer that the contract does not know: of a proxy between, or of another version of the service.
    #[error("an answer with status {status} that cannot be read")]
    Unexpected {
        /// The HTTP status, or 101 for a message of the watcher.
        status: u16,
        /// Where the reading ended.
        source: serde_json::Error,
    },
}

/// An answer other than 200.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// What the service says.
    pub body: ErrorBody,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status, self.body.code.as_str(), self.body.error)
    }
}

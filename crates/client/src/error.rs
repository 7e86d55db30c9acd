//! Errors of a call.

use std::fmt;
use std::time::Duration;

use wire::ErrorBody;

/// Result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of a call.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The base URL is not `http://` followed by a host and optionally a port and a path.
    #[error("{0:?} is not the address of a service, such as http://127.0.0.1:3002")]
    Address(String),
    /// The key contains characters that are not allowed in a header.
    #[error("the API key contains characters that are not allowed in a header")]
    Key,
    /// The path or a header of the request is malformed.
    #[error("the path or a header of the request is malformed")]
    Request(#[source] http::Error),
    /// The request cannot be serialized as JSON.
    #[error("the request cannot be serialized as JSON")]
    Body(#[source] serde_json::Error),
    /// The connection failed or broke before the response was complete. The service may or may not have executed the
    /// call.
    #[error("no response: the connection failed or was closed")]
    NoAnswer(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The client's timeout expired. The service may or may not have executed the call.
    #[error("no response within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The service returned an error response.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The response does not follow the contract: it comes from a proxy, or from another version of the service.
    #[error("unexpected response with status {status}")]
    Unexpected {
        /// HTTP status; 101 for a message of the watcher.
        status: u16,
        /// JSON error, with the position in the response.
        source: serde_json::Error,
    },
}

/// Error response: any status except 200.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// Error body of the response.
    pub body: ErrorBody,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status, self.body.code.as_str(), self.body.error)
    }
}

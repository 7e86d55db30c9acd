//! Errors of a visit.

use cdp::CdpError;
use visit::ActionFailure;

/// Reason why a visit ended without a page. The texts may be shown to the caller.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// An action failed; the actions after it were not carried out.
    #[error(transparent)]
    Action(#[from] ActionFailure),
    /// The deadline passed before there was anything to show.
    #[error("the page did not load before the deadline")]
    Timeout,
    /// The address guard refused the destination.
    #[error("{host} may not be reached from this service: {reason}{}", net::advice(reason))]
    Blocked {
        /// Host name or address literal of the URL.
        host: String,
        /// Rule that refused it.
        reason: &'static str,
    },
    /// DNS, TLS, redirects or the proxy failed. Errors of Chromium are mapped to those of `net`, so that callers need
    /// not distinguish them.
    #[error(transparent)]
    Net(#[from] net::Error),
    /// The site could not be reached or gave an invalid answer: any other `net::Error`, or the name of Chromium's
    /// error.
    #[error("the site could not be reached or sent an invalid response: {reason}")]
    Site {
        /// Reason of the failure.
        reason: String,
    },
    /// The page or a result exceeds a size limit of this service.
    #[error("the page is too large: {what} over the limit of {limit}")]
    TooLarge {
        /// Part that is too large.
        what: &'static str,
        /// Limit, in the unit of the part.
        limit: u64,
    },
    /// The page crashed, or the whole browser of a session. A retry may succeed.
    #[error("the page crashed in the browser")]
    Crashed,
    /// No browser is available: none is installed, none could be started, or the queue of waiting visits is full.
    #[error("no browser is available: {reason}")]
    Unavailable {
        /// Reason.
        reason: String,
    },
}

impl From<CdpError> for BrowserError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::Timeout => Self::Timeout,
            CdpError::Closed | CdpError::Crashed => Self::Crashed,
            CdpError::TooLarge { limit, .. } => Self::TooLarge { what: "bytes of one answer", limit: limit as u64 },
            CdpError::TooMany { limit, .. } => Self::TooLarge { what: "values in one answer", limit: limit as u64 },
            CdpError::Noisy { what, limit } => Self::TooLarge { what, limit },
            other => Self::Site { reason: other.to_string() },
        }
    }
}

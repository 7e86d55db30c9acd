//! Errors of engines.

use browser::BrowserError;
use visit::ActionFailure;

/// Reason why an engine returned no page. The messages may be shown to the caller: they contain no address that the
/// caller did not give.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Target blocked by the address guard.
    #[error("{host} may not be reached from this service: {reason}{}", net::advice(reason))]
    Blocked {
        /// Host name or address literal of the URL.
        host: String,
        /// Rule that blocked it.
        reason: &'static str,
    },
    /// Host name without an address.
    #[error("the host name {host} could not be resolved")]
    Dns {
        /// The host name.
        host: String,
    },
    /// Failed TLS handshake.
    #[error("the TLS handshake with the site failed: {reason}")]
    Tls {
        /// Reason given by the TLS library.
        reason: String,
    },
    /// Certificate that could not be verified.
    #[error(
        "the certificate of the site could not be verified ({reason}). `skipTlsVerification: true` accepts any \
         certificate. It is not the default for requests with headers, actions, a profile, or a user name and password \
         in the URL, because these would be sent to an unverified server"
    )]
    Certificate {
        /// Reason given by the TLS library.
        reason: String,
    },
    /// Failed connection, or a response that is not HTTP.
    #[error("the site could not be reached or sent an invalid response: {reason}")]
    Site {
        /// Cause of the failure.
        reason: String,
    },
    /// Deadline exceeded.
    #[error("the page did not load before the deadline")]
    Timeout,
    /// Page, or a result of the browser, over a size limit.
    #[error("the page is too large: {what} over the limit of {limit}")]
    TooLarge {
        /// Part of the response that is too large.
        what: &'static str,
        /// The limit, in the unit of the part.
        limit: u64,
    },
    /// More redirects than are followed.
    #[error("the page redirects too many times")]
    TooManyRedirects,
    /// Proxy unreachable, or request refused by the proxy.
    #[error("the proxy failed: {reason}")]
    Proxy {
        /// Cause of the failure.
        reason: String,
    },
    /// Failed action. The actions after it were not run.
    #[error(transparent)]
    Action(#[from] ActionFailure),
    /// Crash of the page in the browser. The browser itself continues.
    #[error("the page crashed in the browser")]
    Crashed,
    /// Browser that cannot be used now.
    #[error("no browser is available: {reason}")]
    Unavailable {
        /// Reason.
        reason: String,
    },
}

impl FetchError {
    /// Whether another way to the same page may succeed: another proxy or another engine.
    #[must_use]
    pub fn is_worth_another_way(&self) -> bool {
        match self {
            Self::Tls { .. } | Self::Certificate { .. } | Self::Site { .. } | Self::Timeout | Self::Proxy { .. } => {
                true
            }
            Self::Crashed | Self::Unavailable { .. } => true,
            Self::Blocked { .. } | Self::Dns { .. } | Self::TooLarge { .. } | Self::TooManyRedirects => false,
            // The page loaded, but does not look as the caller expects; another engine would not change that.
            Self::Action(_) => false,
        }
    }
}

impl From<net::Error> for FetchError {
    fn from(error: net::Error) -> Self {
        match error {
            net::Error::Blocked { host, reason } => Self::Blocked { host, reason },
            net::Error::Dns { host, .. } => Self::Dns { host },
            net::Error::Tls { reason, is_certificate: true, .. } => Self::Certificate { reason },
            net::Error::Tls { reason, .. } => Self::Tls { reason },
            net::Error::Timeout => Self::Timeout,
            net::Error::TooLarge { what, limit } => Self::TooLarge { what, limit },
            net::Error::TooManyRedirects { .. } => Self::TooManyRedirects,
            net::Error::Proxy { reason } => Self::Proxy { reason },
            net::Error::Connect { reason, .. } => Self::Site { reason: format!("no connection: {reason}") },
            net::Error::BadRedirect { reason, .. } => {
                Self::Site { reason: format!("its redirect has no valid URL: {reason}") }
            }
            net::Error::Protocol { reason, .. } => Self::Site { reason },
        }
    }
}

impl From<BrowserError> for FetchError {
    fn from(error: BrowserError) -> Self {
        match error {
            BrowserError::Action(failure) => failure.into(),
            BrowserError::Timeout => Self::Timeout,
            BrowserError::Blocked { host, reason } => Self::Blocked { host, reason },
            BrowserError::Net(error) => error.into(),
            BrowserError::Site { reason } => Self::Site { reason },
            BrowserError::TooLarge { what, limit } => Self::TooLarge { what, limit },
            BrowserError::Crashed => Self::Crashed,
            BrowserError::Unavailable { reason } => Self::Unavailable { reason },
        }
    }
}

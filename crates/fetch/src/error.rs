//! Why no page arrived.

use browser::BrowserError;

/// Why an engine got nothing that could be called a page. The texts are fit for the caller: they name no address that
/// the caller did not give.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The address guard does not let anyone go there.
    #[error("{host} may not be reached from this service: {reason}{}", net::advice(reason))]
    Blocked {
        /// Host name or address literal of the URL.
        host: String,
        /// Which rule.
        reason: &'static str,
    },
    /// The host name has no address.
    #[error("the host name {host} could not be resolved")]
    Dns {
        /// The host name.
        host: String,
    },
    /// No secure connection could be made.
    #[error("no secure connection could be made to the site: {reason}")]
    Tls {
        /// What the handshake said.
        reason: String,
    },
    /// The certificate of the site was not accepted.
    #[error(
        "the certificate of the site could not be verified ({reason}). `skipTlsVerification: true` accepts any \
         certificate. It is not the default for requests with headers, actions, a profile, or a user name and password \
         in the URL, because these would be sent to whoever answers"
    )]
    Certificate {
        /// What the handshake said.
        reason: String,
    },
    /// The site could not be reached, or did not speak HTTP.
    #[error("the site could not be reached or did not answer properly: {reason}")]
    Site {
        /// What went wrong.
        reason: String,
    },
    /// The deadline passed.
    #[error("the page did not arrive in time")]
    Timeout,
    /// The answer is larger than this service takes.
    #[error("the answer of the site is too large: {what} over {limit}")]
    TooLarge {
        /// Which part of the answer.
        what: &'static str,
        /// The limit, in the unit of the part.
        limit: u64,
    },
    /// The page redirects without end.
    #[error("the page redirects too many times")]
    TooManyRedirects,
    /// The proxy could not be reached or refused.
    #[error("the proxy failed: {reason}")]
    Proxy {
        /// What went wrong.
        reason: String,
    },
    /// An action could not be carried out; nothing after it was done.
    #[error("action {index} ({kind}{}) failed: {reason}", selector.as_ref().map(|text| format!(" `{text}`")).unwrap_or_default())]
    Action {
        /// Its place in the list, counted from 0.
        index: usize,
        /// Its type, as on the wire.
        kind: &'static str,
        /// What it was to find.
        selector: Option<String>,
        /// What went wrong.
        reason: String,
    },
    /// The page crashed in what the engine works with, which goes on itself.
    #[error("the page crashed in the browser")]
    Crashed,
    /// What the engine works with is not to be had now.
    #[error("no browser is to be had: {reason}")]
    Unavailable {
        /// Why.
        reason: String,
    },
}

impl FetchError {
    /// Whether another way to the same page may end better: other proxy, other engine.
    #[must_use]
    pub fn is_worth_another_way(&self) -> bool {
        match self {
            Self::Tls { .. } | Self::Certificate { .. } | Self::Site { .. } | Self::Timeout | Self::Proxy { .. } => {
                true
            }
            Self::Crashed | Self::Unavailable { .. } => true,
            Self::Blocked { .. } | Self::Dns { .. } | Self::TooLarge { .. } | Self::TooManyRedirects => false,
            // The page came, and is not as the caller thinks.
            Self::Action { .. } => false,
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
                Self::Site { reason: format!("it redirects to no url: {reason}") }
            }
            net::Error::Protocol { reason, .. } => Self::Site { reason },
        }
    }
}

impl From<BrowserError> for FetchError {
    fn from(error: BrowserError) -> Self {
        match error {
            BrowserError::Action { index, kind, selector, reason } => Self::Action { index, kind, selector, reason },
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

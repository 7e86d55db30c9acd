//! Errors of requests.

/// Error of a request. Contains neither credentials nor whole URLs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The egress guard has blocked the host, the scheme or one of the addresses. Nothing was sent.
    #[error("{host} is refused: {reason}{}", crate::advice(reason))]
    Blocked {
        /// Host of the URL, as asked.
        host: String,
        /// The rule that blocked it.
        reason: &'static str,
    },
    /// The host name has no usable addresses.
    #[error("cannot resolve {host}: {reason}")]
    Dns {
        /// Host of the URL, as asked.
        host: String,
        /// Error of the resolver.
        reason: String,
    },
    /// No address accepted a connection.
    #[error("cannot connect to {host}: {reason}")]
    Connect {
        /// Host of the URL, as asked.
        host: String,
        /// Error of the last address.
        reason: String,
    },
    /// The TLS handshake failed, including certificate verification.
    #[error("TLS handshake with {host} failed: {reason}")]
    Tls {
        /// Host of the URL, as asked.
        host: String,
        /// Error of the TLS library.
        reason: String,
        /// Whether the certificate of the site was rejected.
        is_certificate: bool,
    },
    /// The deadline of the request passed.
    #[error("timeout: the deadline passed before the response was complete")]
    Timeout,
    /// The response exceeds a limit.
    #[error("{what} exceeds the limit of {limit}")]
    TooLarge {
        /// The limited quantity: response head, raw body, decoded body, compression ratio, content codings.
        what: &'static str,
        /// Limit, in bytes or in units of `what`.
        limit: u64,
    },
    /// More redirects than allowed.
    #[error("more than {limit} redirects")]
    TooManyRedirects {
        /// Number of redirects that were followed.
        limit: usize,
    },
    /// The target of a redirect is not a valid URL.
    #[error("{host} redirects to an invalid URL: {reason}")]
    BadRedirect {
        /// Host that answered.
        host: String,
        /// Error of the target URL.
        reason: String,
    },
    /// The response is not valid HTTP, is truncated or cannot be decoded.
    #[error("invalid response from {host}: {reason}")]
    Protocol {
        /// Host of the URL, as asked.
        host: String,
        /// Error of the parser or decoder.
        reason: String,
    },
    /// The proxy is unusable or has refused the request.
    #[error("proxy failed: {reason}")]
    Proxy {
        /// Cause of the failure.
        reason: String,
    },
}

impl Error {
    /// Returns whether another proxy could help: no usable response arrived over the network.
    #[must_use]
    pub fn is_network_failure(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::Tls { .. } | Self::Protocol { .. } | Self::Proxy { .. })
    }
}

/// Formats an error with its causes on one line.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

//! Why a request failed.

/// Why a request failed. Never holds a credential or a whole URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The egress guard refused the host, the scheme or one of the addresses. Nothing was sent to it.
    #[error("{host} is refused: {reason}{}", crate::advice(reason))]
    Blocked {
        /// Host of the URL, as asked.
        host: String,
        /// Which rule.
        reason: &'static str,
    },
    /// The host name has no usable addresses.
    #[error("cannot resolve {host}: {reason}")]
    Dns {
        /// Host of the URL, as asked.
        host: String,
        /// What the resolver said.
        reason: String,
    },
    /// No address accepted a connection.
    #[error("cannot connect to {host}: {reason}")]
    Connect {
        /// Host of the URL, as asked.
        host: String,
        /// What the last address said.
        reason: String,
    },
    /// The TLS handshake failed, certificate checks included.
    #[error("tls with {host} failed: {reason}")]
    Tls {
        /// Host of the URL, as asked.
        host: String,
        /// What the TLS library said.
        reason: String,
        /// Whether it is the certificate of the site that was not accepted.
        is_certificate: bool,
    },
    /// The deadline of the request passed.
    #[error("the deadline passed before the answer was complete")]
    Timeout,
    /// Something about the answer is over its limit.
    #[error("{what} over the limit of {limit}")]
    TooLarge {
        /// What: response head, raw body, decoded body, compression ratio, content codings.
        what: &'static str,
        /// The limit, in bytes or in units of `what`.
        limit: u64,
    },
    /// More redirects than allowed.
    #[error("more than {limit} redirects")]
    TooManyRedirects {
        /// How many were followed.
        limit: usize,
    },
    /// A redirect whose target is not a URL.
    #[error("{host} redirects to something that is not a url: {reason}")]
    BadRedirect {
        /// Host that answered.
        host: String,
        /// What is wrong with the target.
        reason: String,
    },
    /// The answer is not valid HTTP, was cut short or cannot be decoded.
    #[error("bad answer from {host}: {reason}")]
    Protocol {
        /// Host of the URL, as asked.
        host: String,
        /// What the parser or decoder said.
        reason: String,
    },
    /// The proxy could not be used, or refused.
    #[error("proxy failed: {reason}")]
    Proxy {
        /// What went wrong.
        reason: String,
    },
}

impl Error {
    /// Whether another way out (another proxy) could help: nothing usable came back over the network.
    #[must_use]
    pub fn is_network_failure(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::Tls { .. } | Self::Protocol { .. } | Self::Proxy { .. })
    }
}

/// An error and its causes in one line.
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

//! Errors of connections to targets. The program that uses the proxy sees only a status, so the cause is kept here.

use std::collections::VecDeque;

use http::{HeaderValue, StatusCode};
use parking_lot::Mutex;

use crate::error::Error;

/// Maximum number of remembered targets; the oldest one is evicted.
const MAX_TARGETS: usize = 256;

#[derive(Default)]
pub(super) struct Failures(Mutex<VecDeque<(String, u16, Error)>>);

impl Failures {
    pub(super) fn find(&self, host: &str, port: u16) -> Option<Error> {
        let all = self.0.lock();
        let found = all.iter().find(|(known, at, _)| known == host && *at == port);
        found.map(|(_, _, error)| error.clone())
    }

    pub(super) fn note(&self, host: &str, port: u16, error: Option<&Error>) {
        let mut all = self.0.lock();
        all.retain(|(known, at, _)| known != host || *at != port);
        if let Some(error) = error {
            all.push_front((host.to_owned(), port, error.clone()));
            all.truncate(MAX_TARGETS);
        }
    }
}

/// Returns status and `Proxy-Status` (RFC 9209 section 2.3) of an error.
pub(super) fn answer(error: &Error) -> (StatusCode, HeaderValue) {
    let (status, word) = match error {
        Error::Blocked { .. } => (StatusCode::FORBIDDEN, "quarry; error=destination_ip_prohibited"),
        Error::Dns { .. } => (StatusCode::BAD_GATEWAY, "quarry; error=dns_error"),
        Error::Connect { .. } => (StatusCode::BAD_GATEWAY, "quarry; error=destination_unavailable"),
        Error::Timeout => (StatusCode::GATEWAY_TIMEOUT, "quarry; error=connection_timeout"),
        Error::Protocol { .. } => (StatusCode::BAD_GATEWAY, "quarry; error=http_protocol_error"),
        _ => (StatusCode::BAD_GATEWAY, "quarry; error=proxy_internal_error"),
    };
    (status, HeaderValue::from_static(word))
}

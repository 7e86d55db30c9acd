//! The request for robots.txt and its result.

use std::time::Duration;

use crawl_frontier::{MAX_ROBOTS_BYTES, MAX_ROBOTS_REDIRECTS};
use fetch::FetchError;
use tokio::time::Instant;
use url::Url;

use super::RobotsParameters;
use crate::{Approach, Site};

/// Time limit for a site.
const PATIENCE: Duration = Duration::from_secs(8);
/// Byte limit of the download: one more than is parsed, so that the parser can tell a truncated file.
const MAX_BYTES: usize = MAX_ROBOTS_BYTES + 1;
/// Status recorded for a redirect loop. Like a redirect without a valid target, it means that there is no file.
const REDIRECTS: u16 = 302;

/// Result of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Answer {
        status: u16,
        /// Beginning of the file; empty unless the status is a success.
        body: Vec<u8>,
    },
    Failure(RobotsFailure),
}

/// Reason why robots.txt could not be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RobotsFailure {
    /// Blocked by the address guard.
    Blocked,
    /// Host name without an address.
    Dns,
    /// Certificate that could not be verified.
    Certificate,
    /// Other TLS failure.
    Tls,
    /// No answer in time.
    Timeout,
    /// No connection, or no HTTP.
    Site,
}

const WORDS: [(RobotsFailure, &str); 5] = [
    (RobotsFailure::Dns, "dns"),
    (RobotsFailure::Certificate, "certificate"),
    (RobotsFailure::Tls, "tls"),
    (RobotsFailure::Timeout, "timeout"),
    (RobotsFailure::Site, "site"),
];

impl RobotsFailure {
    /// Returns the failure as the error of a page of the site.
    #[must_use]
    pub fn error(self, url: &Url) -> FetchError {
        let host = url.host_str().unwrap_or_default().to_owned();
        let reason = "robots.txt could not be fetched".to_owned();
        match self {
            Self::Blocked => FetchError::Blocked { host, reason: net::NOT_PUBLIC },
            Self::Dns => FetchError::Dns { host },
            Self::Certificate => FetchError::Certificate { reason },
            Self::Tls => FetchError::Tls { reason },
            Self::Timeout => FetchError::Timeout,
            Self::Site => FetchError::Site { reason },
        }
    }
}

impl From<&net::Error> for RobotsFailure {
    fn from(error: &net::Error) -> Self {
        match error {
            net::Error::Blocked { .. } => Self::Blocked,
            net::Error::Dns { .. } => Self::Dns,
            net::Error::Tls { is_certificate: true, .. } => Self::Certificate,
            net::Error::Tls { .. } => Self::Tls,
            net::Error::Timeout => Self::Timeout,
            net::Error::Connect { .. }
            | net::Error::TooLarge { .. }
            | net::Error::TooManyRedirects { .. }
            | net::Error::BadRedirect { .. }
            | net::Error::Protocol { .. }
            | net::Error::Proxy { .. } => Self::Site,
        }
    }
}

/// Requests robots.txt from the site, within 8 s.
pub(super) async fn send(site: &Site, asked: &RobotsParameters, agent: &str) -> Outcome {
    let Ok(address) = asked.url.join("/robots.txt") else { return Outcome::Failure(RobotsFailure::Site) };
    let deadline = Instant::now() + PATIENCE;
    let approach = Approach { agent, deadline, verify_tls: asked.verify_tls, private: asked.private };
    match download(site, address, approach).await {
        Ok(outcome) => outcome,
        Err(net::Error::TooManyRedirects { .. } | net::Error::BadRedirect { .. }) => {
            Outcome::Answer { status: REDIRECTS, body: Vec::new() }
        }
        Err(error) => {
            if !asked.private {
                tracing::debug!(%error, "could not fetch robots.txt; the whole site counts as disallowed");
            }
            Outcome::Failure(RobotsFailure::from(&error))
        }
    }
}

async fn download(site: &Site, address: Url, approach: Approach<'_>) -> Result<Outcome, net::Error> {
    let mut answer = site.open(address, approach, MAX_ROBOTS_REDIRECTS.into()).await?;
    let status = answer.status.as_u16();
    let mut body = Vec::new();
    while answer.status.is_success() && body.len() < MAX_BYTES {
        match answer.piece().await {
            Ok(Some(piece)) => body.extend_from_slice(&piece[..piece.len().min(MAX_BYTES - body.len())]),
            // At the size limit, the part received so far is used.
            Ok(None) | Err(net::Error::TooLarge { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(Outcome::Answer { status, body })
}

/// Columns of a stored answer that hold its outcome.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) status: Option<i32>,
    pub(super) error: Option<String>,
    pub(super) body: Option<Vec<u8>>,
}

impl Outcome {
    /// Returns the size in bytes, as a measure of the work of parsing it.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Answer { body, .. } => body.len(),
            Self::Failure(_) => 0,
        }
    }

    /// Returns the row to store; `None` for an address that the guard blocks, as that is found again at once and may
    /// differ between processes.
    pub(super) fn row(&self) -> Option<Row> {
        match self {
            Self::Answer { status, body } => {
                let body = Some(body.clone()).filter(|body| !body.is_empty());
                Some(Row { status: Some(i32::from(*status)), error: None, body })
            }
            Self::Failure(failure) => {
                let (_, word) = WORDS.iter().find(|(other, _)| other == failure)?;
                Some(Row { error: Some((*word).to_owned()), ..Row::default() })
            }
        }
    }

    /// Reverses [`Outcome::row`]; `None` for a row that this version cannot read.
    pub(super) fn from_row(row: Row) -> Option<Self> {
        if let Some(status) = row.status {
            return Some(Self::Answer { status: u16::try_from(status).ok()?, body: row.body.unwrap_or_default() });
        }
        let (failure, _) = WORDS.iter().find(|(_, word)| Some(*word) == row.error.as_deref())?;
        Some(Self::Failure(*failure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back() {
        let answer = |status, body: &[u8]| Outcome::Answer { status, body: body.to_vec() };
        for outcome in [
            answer(200, b"User-agent: *\xff\0"),
            answer(404, b""),
            Outcome::Failure(RobotsFailure::Dns),
            Outcome::Failure(RobotsFailure::Timeout),
        ] {
            assert_eq!(Outcome::from_row(outcome.row().unwrap()), Some(outcome));
        }
        assert_eq!(Outcome::Failure(RobotsFailure::Blocked).row(), None);
        let unknown = Row { error: Some("of the future".to_owned()), ..Row::default() };
        assert_eq!(Outcome::from_row(unknown), None);
    }

    #[test]
    fn a_failure_is_told_as_that_of_the_page() {
        let url = Url::parse("http://a.test/x").unwrap();
        assert!(matches!(RobotsFailure::Blocked.error(&url), FetchError::Blocked { .. }));
        assert!(matches!(RobotsFailure::Dns.error(&url), FetchError::Dns { host } if host == "a.test"));
        assert!(matches!(RobotsFailure::Timeout.error(&url), FetchError::Timeout));
    }
}

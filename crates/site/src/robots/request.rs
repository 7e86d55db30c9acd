//! The request for robots.txt, and what came of it.

use std::time::Duration;

use crawl_frontier::{MAX_ROBOTS_BYTES, MAX_ROBOTS_REDIRECTS};
use fetch::FetchError;
use tokio::time::Instant;
use url::Url;

use super::Asked;
use crate::{Approach, Site};

/// How long a site may take.
const PATIENCE: Duration = Duration::from_secs(8);
/// One byte more than is read tells that there is more.
const MAX_BYTES: usize = MAX_ROBOTS_BYTES + 1;
/// Stands for redirects without end: like a redirect that leads nowhere, it means that there is no file.
const REDIRECTS: u16 = 302;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Answer {
        status: u16,
        /// The beginning of the file; empty when the status says that there is none.
        body: Vec<u8>,
    },
    Failure(RobotsFailure),
}

/// Why a site could not be asked for robots.txt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RobotsFailure {
    /// The guard does not let anyone go there.
    Blocked,
    /// The host name has no address.
    Dns,
    /// Its certificate was not accepted.
    Certificate,
    /// No secure connection for another reason.
    Tls,
    /// No answer in time.
    Timeout,
    /// No connection, or not HTTP.
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
    /// The failure as that of a page of the site.
    #[must_use]
    pub fn error(self, url: &Url) -> FetchError {
        let host = url.host_str().unwrap_or_default().to_owned();
        let reason = "robots.txt could not be asked for".to_owned();
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

/// Asks the site for its robots.txt, within 8 s.
pub(super) async fn send(site: &Site, asked: &Asked, agent: &str) -> Outcome {
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
                tracing::debug!(%error, "no robots.txt");
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
            // What came before the limit is the beginning of the file.
            Ok(None) | Err(net::Error::TooLarge { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(Outcome::Answer { status, body })
}

/// Status, error and body of a row.
pub(super) type Row = (Option<i32>, Option<String>, Option<Vec<u8>>);

impl Outcome {
    /// Bytes, as a measure of what it takes to read it.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Answer { body, .. } => body.len(),
            Self::Failure(_) => 0,
        }
    }

    /// As it is stored; none when it is not to be stored: where the guard lets nobody go is known again at once, and may
    /// differ between processes.
    pub(super) fn row(&self) -> Option<Row> {
        match self {
            Self::Answer { status, body } => {
                Some((Some(i32::from(*status)), None, Some(body.clone()).filter(|body| !body.is_empty())))
            }
            Self::Failure(failure) => {
                let (_, word) = WORDS.iter().find(|(other, _)| other == failure)?;
                Some((None, Some((*word).to_owned()), None))
            }
        }
    }

    /// The opposite of [`Outcome::row`]; none for what this version cannot read.
    pub(super) fn from_row(status: Option<i32>, error: Option<&str>, body: Option<Vec<u8>>) -> Option<Self> {
        if let Some(status) = status {
            return Some(Self::Answer { status: u16::try_from(status).ok()?, body: body.unwrap_or_default() });
        }
        let (failure, _) = WORDS.iter().find(|(_, word)| Some(*word) == error)?;
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
            let (status, error, body) = outcome.row().unwrap();
            assert_eq!(Outcome::from_row(status, error.as_deref(), body), Some(outcome));
        }
        assert_eq!(Outcome::Failure(RobotsFailure::Blocked).row(), None);
        assert_eq!(Outcome::from_row(None, Some("of the future"), None), None);
    }

    #[test]
    fn a_failure_is_told_as_that_of_the_page() {
        let url = Url::parse("http://a.test/x").unwrap();
        assert!(matches!(RobotsFailure::Blocked.error(&url), FetchError::Blocked { .. }));
        assert!(matches!(RobotsFailure::Dns.error(&url), FetchError::Dns { host } if host == "a.test"));
        assert!(matches!(RobotsFailure::Timeout.error(&url), FetchError::Timeout));
    }
}

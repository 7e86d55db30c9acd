//! An answer whose body is read piece by piece, so that a large one needs little memory.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio::time::Instant;
use url::Url;

use crate::body::Pieces;
use crate::client::Inner;
use crate::error::Error;
use crate::link::Link;
use crate::pool::Key;

/// The answer to the last request of a redirect chain, its body still to come. Dropped before the end, it closes the
/// connection.
pub struct Download {
    /// Where the answer comes from: the last URL of the chain.
    pub url: Url,
    /// Any final status; 404 and 500 are answers, not errors.
    pub status: StatusCode,
    /// As received, without `Content-Encoding` and `Content-Length` when the body is decoded on the way.
    pub headers: HeaderMap,
    /// The URLs that redirected, in order, the first one being the one that was asked for.
    pub redirects: Vec<Url>,
    /// None once the body has ended.
    pub(crate) open: Option<Open>,
    pub(crate) deadline: Instant,
}

/// How long the end of the raw body may lag behind that of the decoded one; else the connection is not used again.
const PATIENCE: Duration = Duration::from_millis(50);

/// A body on its way.
pub(crate) struct Open {
    pub(crate) inner: Arc<Inner>,
    pub(crate) pieces: Pieces,
    pub(crate) link: Link,
    pub(crate) key: Key,
}

impl Download {
    /// The next piece of the decoded body, about 64 KiB at most; none at its end.
    ///
    /// # Errors
    /// [`Error::Timeout`] at the deadline of the request, [`Error::TooLarge`] at the first piece over a limit,
    /// [`Error::Protocol`] when the body is cut short or cannot be decoded. Nothing comes after an error.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, Error> {
        let Some(mut open) = self.open.take() else { return Ok(None) };
        let Ok(piece) = tokio::time::timeout_at(self.deadline, open.pieces.next()).await else {
            return Err(Error::Timeout);
        };
        match piece.map_err(|error| error.at(self.url.host_str().unwrap_or_default()))? {
            Some(piece) => {
                self.open = Some(open);
                Ok(Some(piece))
            }
            None => {
                let Open { inner, pieces, link, key } = open;
                if tokio::time::timeout(PATIENCE, pieces.drain()).await == Ok(true) {
                    inner.keep(key, link).await;
                }
                Ok(None)
            }
        }
    }
}

impl std::fmt::Debug for Download {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Download").field("status", &self.status).finish_non_exhaustive()
    }
}

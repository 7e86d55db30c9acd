//! A response whose body is read in pieces, so that a large one needs little memory.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio::time::Instant;
use url::Url;

use crate::body::Pieces;
use crate::error::Error;
use crate::link::Link;
use crate::pool::{Key, Pool};

/// The final response of a redirect chain with an unread body. Dropping it before the end closes the connection.
pub struct Download {
    /// Last URL of the chain.
    pub url: Url,
    /// Final status; 404 and 500 are not errors.
    pub status: StatusCode,
    /// Headers as received, without `Content-Encoding` and `Content-Length` when the body is decoded.
    pub headers: HeaderMap,
    /// URLs that redirected, in order, starting with the requested one.
    pub redirects: Vec<Url>,
    /// The open body; `None` once it has ended.
    pub(crate) open: Option<OpenBody>,
    pub(crate) deadline: Instant,
}

/// Timeout for the end of the raw body after the end of the decoded one; otherwise the connection is not reused.
const PATIENCE: Duration = Duration::from_millis(50);

/// A body that is being read.
pub(crate) struct OpenBody {
    pub(crate) pool: Arc<Pool>,
    pub(crate) pieces: Pieces,
    pub(crate) link: Link,
    pub(crate) key: Key,
}

impl Download {
    /// Returns the next piece of the decoded body, about 64 KiB at most; `None` at its end.
    ///
    /// # Errors
    /// [`Error::Timeout`] at the deadline of the request, [`Error::TooLarge`] at the first piece over a limit,
    /// [`Error::Protocol`] when the body is truncated or cannot be decoded. After an error the body has ended.
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
                let OpenBody { pool, pieces, link, key } = open;
                if tokio::time::timeout(PATIENCE, pieces.drain()).await == Ok(true) {
                    pool.keep(key, link).await;
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

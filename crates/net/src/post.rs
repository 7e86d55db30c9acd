//! A message with a body, and the beginning of its answer.

use std::net::SocketAddr;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use tokio::time::Instant;
use url::Url;

/// One message with a body.
#[derive(Clone)]
pub struct Post {
    /// http or https. A user name and password in it are never sent: set an `Authorization` header instead.
    pub url: Url,
    /// Sent as they are, with the exceptions of [`Request::headers`](crate::Request::headers).
    pub headers: HeaderMap,
    /// Sent as it is.
    pub body: Bytes,
    /// Whether sending it twice does no harm, as when the receiver knows it by an id. Then a kept connection is used
    /// when there is one, and a fresh one after that when it turns out to be closed.
    pub repeatable: bool,
    /// When the head of the answer has to be there; the body is read until then at most.
    pub deadline: Instant,
    /// How much of the answer's body is read, in bytes. A connection with more is closed.
    pub answer_bytes: usize,
}

impl std::fmt::Debug for Post {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Post")
            .field("host", &self.url.host_str())
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// The answer to a [`Post`].
#[derive(Debug, Clone)]
pub struct Posted {
    /// Any final status; redirects too.
    pub status: StatusCode,
    /// As received.
    pub headers: HeaderMap,
    /// The beginning of the body, as it came.
    pub body: Bytes,
    /// The address that answered.
    pub peer: SocketAddr,
}

/// Reads up to `most` bytes into `read`, which keeps what came when this is dropped half way; returns whether that was
/// all.
pub(crate) async fn begin<B>(body: &mut B, read: &mut BytesMut, most: usize) -> bool
where
    B: http_body::Body<Data = Bytes> + Unpin,
{
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        let Some(data) = frame.data_ref() else { continue };
        let room = most - read.len();
        read.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return false;
        }
    }
    true
}

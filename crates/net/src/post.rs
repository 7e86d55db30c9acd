//! POST requests with a body, and the beginning of the response.

use std::net::SocketAddr;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use tokio::time::Instant;
use url::Url;

/// A POST request with a body.
#[derive(Clone)]
pub struct Post {
    /// http or https URL. User name and password in it are never sent: set an `Authorization` header instead.
    pub url: Url,
    /// Headers, sent unchanged with the exceptions of [`Request::headers`](crate::Request::headers).
    pub headers: HeaderMap,
    /// Body, sent unchanged.
    pub body: Bytes,
    /// Whether the request is idempotent, for example because the receiver recognises it by an id. Then a pooled connection
    /// is used if available, and a new one if the pooled one turns out to be closed.
    pub repeatable: bool,
    /// Deadline of the response header; the body is read until then at most.
    pub deadline: Instant,
    /// Byte limit of the response body. A connection with more is closed.
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

/// Response to a [`Post`].
#[derive(Debug, Clone)]
pub struct Posted {
    /// Final status, including redirects.
    pub status: StatusCode,
    /// Headers as received.
    pub headers: HeaderMap,
    /// Beginning of the body as received.
    pub body: Bytes,
    /// Address that answered.
    pub peer: SocketAddr,
}

/// Reads up to `most` bytes into `read`, which keeps partial data when this future is dropped. Returns whether the body
/// ended.
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

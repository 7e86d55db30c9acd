//! An HTTP connection, used by one request at a time.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::task::JoinHandle;

use crate::config::Limits;
use crate::dial::Dialled;

/// An open HTTP connection. Dropping it closes the connection at once, even while the server is sending.
pub(crate) struct Link {
    sender: Sender,
    peer: SocketAddr,
    task: JoinHandle<()>,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Link {
    /// Starts HTTP on a new connection.
    pub(crate) async fn start(dialled: Dialled, limits: &Limits) -> hyper::Result<Self> {
        let Dialled { stream, peer, http2 } = dialled;
        let io = TokioIo::new(stream);
        if http2 {
            let (sender, connection) = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
                .max_concurrent_reset_streams(16)
                .handshake(io)
                .await?;
            let task = tokio::spawn(async { drop(connection.await) });
            return Ok(Self { sender: Sender::Http2(sender), peer, task });
        }
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(limits.head_bytes)
            .max_header_size(limits.head_bytes)
            .max_headers(limits.head_lines)
            // As lenient as browsers.
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .handshake(io)
            .await?;
        let task = tokio::spawn(async { drop(connection.await) });
        Ok(Self { sender: Sender::Http1(sender), peer, task })
    }

    /// Returns the address of the other end.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.peer
    }

    pub(crate) fn is_http2(&self) -> bool {
        matches!(self.sender, Sender::Http2(_))
    }

    /// Waits until the connection is ready for another request; false when it is closing.
    pub(crate) async fn ready(&mut self) -> bool {
        match &mut self.sender {
            Sender::Http1(sender) => sender.ready().await.is_ok(),
            Sender::Http2(sender) => sender.ready().await.is_ok(),
        }
    }

    /// Returns whether the connection is ready for a request.
    pub(crate) fn is_ready(&self) -> bool {
        match &self.sender {
            Sender::Http1(sender) => sender.is_ready(),
            Sender::Http2(sender) => sender.is_ready(),
        }
    }

    /// Sends a request and waits for the final response header; the body is read from the response.
    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match &mut self.sender {
            Sender::Http1(sender) => sender.send_request(request).await,
            Sender::Http2(sender) => sender.send_request(request).await,
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

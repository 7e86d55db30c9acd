//! Workarounds for TLS servers that violate the standard in ways that HTTP tolerates.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream that treats the end of the connection as its end, with or without the alert `close_notify` (RFC 8446 section
/// 6.1).
///
/// Many servers omit the alert. HTTP framing shows whether the body is complete, so the alert adds nothing; for a body that
/// ends with the connection there is no other indication.
pub(crate) struct TolerantStream<S>(pub(crate) S);

impl<S: AsyncRead + Unpin> AsyncRead for TolerantStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match ready!(Pin::new(&mut self.0).poll_read(cx, buf)) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            other => Poll::Ready(other),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TolerantStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

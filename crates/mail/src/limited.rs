//! A connection on which an answer of the server has a largest size.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Bytes between two messages of ours; a chain of certificates is the largest that servers send.
const MAX_ANSWER: usize = 16 * 1024;

/// A connection that fails when the server sends more than [`MAX_ANSWER`] at once.
///
/// Reading an answer takes time by the square of its lines, and before TLS the answer may be that of a stranger on the way.
/// For the same reason nothing behind the answer to STARTTLS is read before TLS begins: it would count as a later answer of
/// the server itself.
#[derive(Debug)]
pub(crate) struct Limited {
    stream: TcpStream,
    received: usize,
    /// Whether the last message of ours is [`STARTTLS`].
    is_starting: bool,
}

const STARTTLS: &[u8] = b"STARTTLS\r\n";

impl Limited {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, received: 0, is_starting: false }
    }
}

impl AsyncTokioStream for Limited {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.peer_addr()
    }
}

impl AsyncRead for Limited {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.received > MAX_ANSWER {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "the answer is too long")));
        }
        let before = buffer.filled().len();
        let poll = match self.is_starting && buffer.remaining() > 0 {
            false => Pin::new(&mut self.stream).poll_read(cx, buffer),
            true => {
                let mut byte = [0];
                let mut one = ReadBuf::new(&mut byte);
                let poll = Pin::new(&mut self.stream).poll_read(cx, &mut one);
                buffer.put_slice(one.filled());
                poll
            }
        };
        self.received += buffer.filled().len() - before;
        poll
    }
}

impl AsyncWrite for Limited {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.received = 0;
        self.is_starting = bytes == STARTTLS;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

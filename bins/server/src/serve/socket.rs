//! The byte stream of a connection: adds a write timeout, and the API's error body to hyper's own bodiless errors.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// The TCP connection given to hyper.
pub(super) struct Socket {
    stream: TcpStream,
    /// Write timeout.
    patience: Duration,
    /// Timer of a pending write.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Unwritten rest of an error that replaces one of hyper's.
    refusal: Vec<u8>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, patience: Duration) -> Self {
        Self { stream, patience, waiting: None, refusal: Vec::new() }
    }

    fn write_some(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.patiently(cx, wrote)
    }

    /// Passes a result on, with a timeout error when it stays pending for too long.
    fn patiently<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.waiting = None;
            return result;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + patience)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "write timeout: the client does not read")))
    }

    fn write_refusal(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.refusal.is_empty() {
            let rest = std::mem::take(&mut self.refusal);
            let wrote = self.write_some(cx, &rest);
            self.refusal = rest;
            let length = ready!(wrote)?;
            self.refusal.drain(..length);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.write_refusal(cx))?;
        if let Some(refusal) = refusal(bytes) {
            self.refusal = refusal;
            return Poll::Ready(Ok(bytes.len()));
        }
        self.write_some(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.write_refusal(cx))?;
        if let Some(first) = slices.first()
            && let Some(refusal) = refusal(first)
        {
            self.refusal = refusal;
            return Poll::Ready(Ok(first.len()));
        }
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.patiently(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.write_refusal(cx))?;
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.patiently(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.write_refusal(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Returns the replacement of an error that hyper generates itself: a 4xx head with an empty body. Handlers never send such
/// a head, because every error of the API has a body.
fn refusal(head: &[u8]) -> Option<Vec<u8>> {
    let status = head.strip_prefix(b"HTTP/1.1 ")?;
    let bare = head.windows(4).position(|part| part == b"\r\n\r\n") == head.len().checked_sub(4)
        && head.windows(19).any(|part| part == b"content-length: 0\r\n");
    if !status.starts_with(b"4") || !bare {
        return None;
    }
    let (reason, error) = match &status[..3.min(status.len())] {
        b"431" => ("431 Request Header Fields Too Large", "the request header is too large"),
        b"414" => ("414 URI Too Long", "the request URI is too long"),
        _ => ("400 Bad Request", "the request is not well-formed HTTP"),
    };
    let code = wire::Code::BadRequest.as_str();
    let body = format!(r#"{{"success":false,"code":"{code}","error":"{error}"}}"#);
    let length = body.len();
    Some(
        format!("HTTP/1.1 {reason}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
            .into_bytes(),
    )
}

#[cfg(test)]
mod tests {
    use super::refusal;

    #[test]
    fn only_bare_refusals_are_replaced() {
        let bare = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
        let text = String::from_utf8(refusal(bare).unwrap()).unwrap();
        assert!(text.starts_with("HTTP/1.1 431 ") && text.contains("\"error\":\"the request header"), "{text}");
        for other in [
            &b"HTTP/1.1 404 Not Found\r\ncontent-length: 20\r\n\r\n{}"[..],
            b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            b"HTTP/1.1 404 Not Found\r\n\r\n{}HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n",
            b"{\"content-length: 0\r\n\"}",
            b"HTTP",
            b"",
        ] {
            assert_eq!(refusal(other), None);
        }
    }
}

//! Byte budget of a proxy, counted in both directions.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

/// The remaining bytes. Clones share it.
#[derive(Clone)]
pub(super) struct Budget {
    left: Arc<AtomicU64>,
    spent: CancellationToken,
}

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        Self { left: Arc::new(AtomicU64::new(bytes)), spent: CancellationToken::new() }
    }

    /// Subtracts bytes that were transferred.
    fn take(&self, bytes: usize) {
        let taken = |left: u64| left.checked_sub(bytes as u64);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_err() {
            self.spent.cancel();
        }
    }

    /// Adds bytes to the budget; a spent budget stays spent.
    pub(super) fn add(&self, bytes: u64) {
        let added = |left: u64| Some(left.saturating_add(bytes));
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, added);
    }

    pub(super) fn is_spent(&self) -> bool {
        self.spent.is_cancelled()
    }

    /// Waits until the budget is spent.
    pub(super) async fn spent(&self) {
        self.spent.cancelled().await;
    }
}

/// A stream whose bytes are counted.
pub(super) struct Counted<S> {
    stream: S,
    budget: Budget,
}

impl<S> Counted<S> {
    pub(super) fn new(stream: S, budget: Budget) -> Self {
        Self { stream, budget }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.budget.take(buf.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.budget.take(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, parts))?;
        self.budget.take(written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

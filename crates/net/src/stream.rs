//! Byte streams below HTTP.

use tokio::io::{AsyncRead, AsyncWrite};

/// A byte stream of any kind: plain, TLS, or TLS inside TLS.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

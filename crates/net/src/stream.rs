//! The byte stream under HTTP.

use tokio::io::{AsyncRead, AsyncWrite};

/// A byte stream of any make: plain, TLS, TLS within TLS.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

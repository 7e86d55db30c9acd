//! The HTTP connection of a conversation to its target, or to the upstream proxy.

use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::task::AbortHandle;

use super::target::TargetConnection;
use crate::config::Limits;

/// An open HTTP connection to a target. Dropping it closes the connection.
pub(super) struct Upstream {
    pub(super) host: String,
    pub(super) sender: http1::SendRequest<Incoming>,
    task: AbortHandle,
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Upstream {
    /// Starts HTTP over a connection.
    pub(super) async fn start(way: TargetConnection, host: &str, limits: &Limits) -> hyper::Result<Self> {
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(limits.head_bytes)
            .max_header_size(limits.head_bytes)
            .max_headers(limits.head_lines)
            .preserve_header_case(true)
            // As lenient as browsers.
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .handshake(TokioIo::new(way.stream))
            .await?;
        let task = tokio::spawn(async { drop(connection.with_upgrades().await) }).abort_handle();
        Ok(Self { host: host.to_owned(), sender, task })
    }
}

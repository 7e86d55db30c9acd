//! Requests per month, counted outside of this process: the count outlives a restart and is common to all servers.

use async_trait::async_trait;

/// Count of requests to engines by calendar month.
#[async_trait]
pub trait Months: Send + Sync {
    /// Counts one request to an engine in a month, such as `2026-11`, and returns true; false if `most` were counted.
    ///
    /// # Errors
    /// The reason why it could not be counted, as text for the log.
    async fn take(&self, engine: &'static str, month: &str, most: u32) -> Result<bool, String>;
}

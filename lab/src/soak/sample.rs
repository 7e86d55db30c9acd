//! One sample of the server's resources, a row of the table.

use std::time::Duration;

/// The head of the table.
pub(super) const HEAD: &str = "| min | server MiB | children MiB | handles | threads | children | temporary files | disk MiB | requests/s |\n\
     |---|---|---|---|---|---|---|---|---|";

/// What there is at a moment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    /// Since the load began.
    pub(super) at: Duration,
    /// Resident memory of the server alone.
    pub(super) server_mib: f64,
    /// Memory of all that it has started: what they share is counted once.
    pub(super) children_mib: f64,
    /// Open files of the server: sockets and pipes too.
    pub(super) handles: usize,
    /// Threads of the server.
    pub(super) threads: u64,
    /// Processes that it has started and that run.
    pub(super) children: usize,
    /// Files in its folder for temporary files.
    pub(super) temporary: usize,
    /// The data folder.
    pub(super) disk_mib: f64,
    /// Requests that were answered so far.
    pub(super) requests: u64,
}

impl Sample {
    /// Minutes since the load began.
    pub(super) fn minutes(&self) -> f64 {
        self.at.as_secs_f64() / 60.0
    }

    /// Its line of the table; requests are those since the look before.
    pub(super) fn line(&self, before: Option<&Self>) -> String {
        let start = Self::default();
        let before = before.unwrap_or(&start);
        let seconds = (self.at.as_secs_f64() - before.at.as_secs_f64()).max(0.001);
        format!(
            "| {:.1} | {:.1} | {:.1} | {} | {} | {} | {} | {:.1} | {:.0} |",
            self.minutes(),
            self.server_mib,
            self.children_mib,
            self.handles,
            self.threads,
            self.children,
            self.temporary,
            self.disk_mib,
            (self.requests - before.requests) as f64 / seconds
        )
    }
}

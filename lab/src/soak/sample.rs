//! One sample of the server's resources, a row of the table.

use std::time::Duration;

/// Header of the table.
pub(super) const HEAD: &str = "| min | server MiB | children MiB | handles | threads | children | temporary files | disk MiB | requests/s |\n\
     |---|---|---|---|---|---|---|---|---|";

/// Resource usage at a moment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    /// Time since the load began.
    pub(super) at: Duration,
    /// Resident memory of the server alone.
    pub(super) server_mib: f64,
    /// Memory of all its child processes, with shared memory counted once.
    pub(super) children_mib: f64,
    /// Open file descriptors of the server, including sockets and pipes.
    pub(super) handles: usize,
    /// Number of threads of the server.
    pub(super) threads: u64,
    /// Number of running child processes.
    pub(super) children: usize,
    /// Number of files in its folder for temporary files.
    pub(super) temporary: usize,
    /// Size of the data folder in MiB.
    pub(super) disk_mib: f64,
    /// Number of answered requests so far.
    pub(super) requests: u64,
}

impl Sample {
    /// Returns the minutes since the load began.
    pub(super) fn minutes(&self) -> f64 {
        self.at.as_secs_f64() / 60.0
    }

    /// Formats a row of the table, with the requests since the previous sample.
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

//! A periodic task: its name, its interval and its work.

use std::pin::Pin;
use std::time::Duration;

use kernel::Refused;
use queue::Status;

use crate::Operations;

/// Detail of the status of a sweep: the number of removed items.
pub(crate) const REMOVED: &str = "removed";

/// Periodic task.
pub(crate) struct Task {
    /// Name of its lease and of its status.
    pub(crate) name: &'static str,
    /// Interval between two runs.
    pub(crate) every: fn(&Operations) -> Duration,
    pub(crate) run: Run,
}

/// Work of a task. May be dropped at any await, so it proceeds in complete steps, each in a transaction.
pub(crate) enum Run {
    /// Removes expired data, and returns the number of removed items.
    Sweep(Sweep),
    /// Does anything else.
    #[cfg_attr(not(test), expect(dead_code, reason = "all tasks are sweeps so far"))]
    Other(fn(Operations) -> Running<Status>),
}

/// Function that removes expired data.
pub(crate) type Sweep = fn(Operations) -> Running<usize>;

/// Future of a run.
pub(crate) type Running<T> = Pin<Box<dyn Future<Output = Result<T, Refused>> + Send>>;

impl Task {
    /// Returns a sweep. All sweeps share one interval, the setting `worker.every_s`.
    pub(crate) const fn sweep(name: &'static str, sweep: Sweep) -> Self {
        Self { name, every: |operations| operations.upkeep.every, run: Run::Sweep(sweep) }
    }

    /// Does the work once.
    pub(crate) async fn run(&self, operations: Operations) -> Result<Status, Refused> {
        match self.run {
            Run::Sweep(sweep) => Ok(Status::done().with(REMOVED, sweep(operations).await?)),
            Run::Other(run) => run(operations).await,
        }
    }
}

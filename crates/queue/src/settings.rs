//! Settings of a worker.

use std::collections::BTreeMap;
use std::time::Duration;

/// Settings of a worker. The defaults suit one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Concurrent jobs by name of the queue; 0 leaves the queue to other workers. Default: empty; a missing queue has
    /// its [`Queue::slots`](crate::Queue::slots).
    pub slots: BTreeMap<String, u32>,
    /// Concurrent requests to one host. Default: 4.
    pub per_host: u32,
    /// Duration of a lease without a heartbeat. Default: 60 s.
    pub lease: Duration,
    /// Interval of heartbeats, which renew leases. Default: 20 s.
    pub heartbeat: Duration,
    /// Interval at which running jobs are checked for cancellation. Default: 2 s.
    pub check: Duration,
    /// Interval at which expired leases are reaped. Default: 5 s.
    pub reap: Duration,
    /// Poll interval for due jobs. Default: 1 s.
    pub poll: Duration,
    /// Time for running jobs to end when the worker stops, after which they are released. Default: 20 s.
    pub drain: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            slots: BTreeMap::new(),
            per_host: 4,
            lease: seconds(60),
            heartbeat: seconds(20),
            check: seconds(2),
            reap: seconds(5),
            poll: seconds(1),
            drain: seconds(20),
        }
    }
}

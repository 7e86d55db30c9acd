//! `cargo xtask bench schedule`: time of finding the next run of a schedule, beside croner.

use anyhow::Result;

use crate::sh;

/// Runs the benchmark of `monitor-scheduler`, which prints its table.
pub(crate) fn run() -> Result<()> {
    sh::run(sh::cargo().args(["bench", "--quiet", "--package", "monitor-scheduler", "--bench", "schedule"]))
}

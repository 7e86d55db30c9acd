//! `cargo xtask bench change`: time and memory of comparing two versions of a page, beside git diff.

use anyhow::Result;

use crate::sh;

/// Runs the benchmark of `change-diff`, which prints its table.
pub(crate) fn run() -> Result<()> {
    sh::run(sh::cargo().args(["bench", "--quiet", "--package", "change-diff", "--bench", "change"]))
}

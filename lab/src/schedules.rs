//! `cargo xtask schedules`: schedules of monitors, judged by files of cases and beside a walk over every minute.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::sh;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Case files.
    #[arg(long, num_args = 1.., default_values = [
        concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/cron_dst_cases.json"),
        concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/schedule_text_cases.json"),
    ])]
    cases: Vec<PathBuf>,
    /// Number of random schedules that are compared, around every change of a clock from 2025 to 2028, with a walk over every
    /// minute; croner beside it.
    #[arg(long, default_value_t = 0)]
    walks: usize,
}

/// Prints passed and failed cases, and differences; fails when there is one.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut command = sh::cargo();
    command.args(["run", "--quiet", "--release", "--package", "monitor-scheduler", "--example", "schedules", "--"]);
    for path in &args.cases {
        command.arg(path.canonicalize().with_context(|| format!("no file at {}", path.display()))?);
    }
    if args.walks > 0 {
        command.arg("--walks").arg(args.walks.to_string());
    }
    sh::run(&mut command)
}

//! The `quarry-worker` program: runs the background work of the server (crawls, batches, webhooks, maintenance) without the
//! API. It uses the same settings, serves health and metrics on `worker.listen`, and shuts down gracefully on SIGTERM.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use boot::process::{self, on_runtime, settings};
use boot::worker;
use clap::Parser;
use tikv_jemallocator::Jemalloc;

/// jemalloc returns freed memory to the system, which glibc's allocator keeps: docs/PERFORMANCE.md, "Memory".
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Runs the background work of Quarry next to `quarry-server`. Any number of workers may share one database.
#[derive(Parser)]
#[command(name = "quarry-worker", version)]
struct Cli {
    /// Settings file, as for quarry-server [default: quarry.toml in the working directory, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn main() -> ExitCode {
    if let Some(code) = children::run([reader::role(None)]) {
        return code;
    }
    #[cfg(feature = "fail-points")]
    let _scenario = fail::FailScenario::setup();
    match run(&Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            // Standard error may be closed; there is nowhere else to report to.
            let _ = writeln!(std::io::stderr().lock(), "quarry-worker: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    let settings = settings(cli.config.as_deref())?;
    Ok(on_runtime(process::run(settings.config, worker::start, worker::Running::stop))?)
}

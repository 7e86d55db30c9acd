//! The worker: crawls, batches, webhooks and upkeep as in the server, without the API. The same settings, the same work,
//! health and metrics on `worker.listen`, and on SIGTERM the same orderly end.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use boot::process::{self, on_runtime, settings};
use boot::worker;
use clap::Parser;
use tikv_jemallocator::Jemalloc;

/// Gives back what is not needed any more, where the allocator of the system keeps it: see docs/PERFORMANCE.md, "Memory".
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Does the background work of Quarry beside `quarry-server`. Any number of workers may share one database.
#[derive(Parser)]
#[command(name = "quarry-worker", version)]
struct Cli {
    /// Settings file, as for quarry-server; without it `quarry.toml` in the working folder, if there is one
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn main() -> ExitCode {
    if reader::is_child(std::env::args_os()) {
        return reader::child(None);
    }
    #[cfg(feature = "fail-points")]
    let _scenario = fail::FailScenario::setup();
    match run(&Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(std::io::stderr().lock(), "quarry-worker: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    let settings = settings(cli.config.as_deref())?;
    Ok(on_runtime(process::run(settings.config, worker::start, worker::Running::stop))?)
}

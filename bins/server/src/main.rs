//! The `quarry-server` program: parses the command line, loads the settings, then serves or runs a command.

mod cli;

use std::io::Write as _;
use std::process::ExitCode;

use boot::config::Config;
use boot::process::{on_runtime, run as run_process, settings};
use clap::Parser as _;
#[cfg(not(feature = "system-allocator"))]
use tikv_jemallocator::Jemalloc;

use cli::{Cli, Command};

/// jemalloc returns freed memory to the system, which glibc's allocator keeps: docs/PERFORMANCE.md, "Memory".
#[cfg(not(feature = "system-allocator"))]
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    if let Some(code) = children::run([reader::role(None), interact::role()]) {
        return code;
    }
    #[cfg(feature = "fail-points")]
    let _scenario = fail::FailScenario::setup();
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            // Standard error may be closed; there is nowhere else to report to.
            let _ = writeln!(std::io::stderr().lock(), "quarry-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Serves while holding the exclusive lock of the SQLite database.
fn serve(config: Config) -> anyhow::Result<ExitCode> {
    let _owned = boot::data::lock(&config)?;
    Ok(on_runtime(run_process(config, quarry_server::start, quarry_server::Running::stop))?)
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let settings = || settings(cli.config.as_deref());
    match cli.command {
        None => serve(settings()?.config),
        Some(Command::Keys(command)) => on_runtime(command.run(settings()?)).map(|()| ExitCode::SUCCESS),
        Some(Command::Teams(command)) => on_runtime(command.run(settings()?)).map(|()| ExitCode::SUCCESS),
        Some(Command::Jobs(command)) => on_runtime(command.run(settings()?)).map(|()| ExitCode::SUCCESS),
        Some(Command::Monitors(command)) => on_runtime(command.run(settings()?)).map(|()| ExitCode::SUCCESS),
        Some(Command::Lists(command)) => on_runtime(command.run(settings()?)),
        Some(Command::Index(command)) => on_runtime(command.run(settings()?)).map(|()| ExitCode::SUCCESS),
        Some(Command::Migrate(command)) => on_runtime(command.run(settings()?)),
        Some(Command::Backup(command)) => on_runtime(command.run(settings()?)).map(|()| ExitCode::SUCCESS),
        Some(Command::Restore(command)) => on_runtime(command.run(settings()?)).map(|()| ExitCode::SUCCESS),
        Some(Command::Config) => cli::print(&settings()?.effective).map(|()| ExitCode::SUCCESS),
        Some(Command::Openapi) => cli::print(&quarry_server::docs::openapi()).map(|()| ExitCode::SUCCESS),
        Some(Command::Codegen { out }) => cli::codegen(&out).map(|()| ExitCode::SUCCESS),
    }
}

//! The program: reads the settings and the command line, then serves or does what the command says.

mod cli;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;
use quarry_server::config::Loaded;
use quarry_server::telemetry;
use tokio::signal::unix::{SignalKind, signal};

use cli::{Cli, Command};

/// Threads for the database, files and parsing. They start when needed and end when idle.
const BLOCKING_THREADS: usize = 64;

fn main() -> ExitCode {
    #[cfg(feature = "fail-points")]
    let _scenario = fail::FailScenario::setup();
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(std::io::stderr().lock(), "quarry-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let settings = || cli::settings(cli.config.as_deref());
    match cli.command {
        None => on_runtime(serve(settings()?)),
        Some(Command::Keys(command)) => on_runtime(command.run(settings()?)).map(|()| ExitCode::SUCCESS),
        Some(Command::Teams(command)) => on_runtime(command.run(settings()?)).map(|()| ExitCode::SUCCESS),
        Some(Command::Config) => cli::print(&settings()?.effective).map(|()| ExitCode::SUCCESS),
        Some(Command::Openapi) => cli::print(&quarry_server::openapi::json()).map(|()| ExitCode::SUCCESS),
        Some(Command::Codegen { out }) => cli::codegen(&out).map(|()| ExitCode::SUCCESS),
    }
}

fn on_runtime<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
        .context("cannot start the runtime")?;
    let result = runtime.block_on(work);
    // A thread that hangs in the system must not hold up the end.
    runtime.shutdown_background();
    result
}

/// Serves until SIGTERM or SIGINT; a second signal ends the program at once. Fails when running work had to be cut.
async fn serve(loaded: Loaded) -> anyhow::Result<ExitCode> {
    telemetry::init(&loaded.config.log)?;
    raise_file_limit();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let running = quarry_server::start(loaded.config).await?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping");
    let finished = tokio::select! {
        finished = running.stop() => finished,
        _ = terminate.recv() => false,
        _ = interrupt.recv() => false,
    };
    tracing::info!(finished, "stopped");
    Ok(if finished { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every connection is a file, and many systems allow only 1024 of them unless asked.
fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
}

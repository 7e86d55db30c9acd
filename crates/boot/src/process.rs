//! Process lifecycle of the programs: loading the settings, running until a signal, graceful shutdown.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::util::TryInitError;

use crate::config::{self, Config, ConfigError, Loaded};
use crate::{StartError, logging};

/// Maximum number of blocking threads, for the database, files and parsing. They start on demand and end when idle.
const BLOCKING_THREADS: usize = 64;

/// Error that ends a program before it serves.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The service did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A log subscriber is already installed.
    #[error("cannot start logging")]
    Log(#[from] TryInitError),
    /// The system refuses threads or signal handlers.
    #[error("cannot start threads or signal handlers")]
    System(#[from] io::Error),
}

/// Loads the settings from `file`, otherwise from `quarry.toml` in the working directory if it exists, and from the
/// environment.
///
/// # Errors
/// [`ConfigError`] for the first unknown key or invalid value.
pub fn settings(file: Option<&Path>) -> Result<Loaded, ConfigError> {
    let usual = Path::new("quarry.toml");
    let file = file.or_else(|| usual.exists().then_some(usual));
    let mut environment = Vec::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| config::is_setting(name)) else {
            continue;
        };
        let refused = |_| ConfigError { key: name.to_owned(), message: "the value is not UTF-8".to_owned() };
        environment.push((name.to_owned(), value.into_string().map_err(refused)?));
    }
    config::load(file, environment)
}

/// Runs `work` on a runtime of its own. A thread that hangs in a system call does not block the exit.
///
/// # Errors
/// Errors of `work`, and of starting threads.
pub fn on_runtime<T, E: From<io::Error>>(work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(BLOCKING_THREADS).build()?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    result
}

/// Starts a service and runs it until SIGTERM or SIGINT, then stops it; a second signal ends the program at once. `stop`
/// returns whether all work has finished; the exit code is a failure when some had to be aborted.
///
/// # Errors
/// [`ProcessError`] when the service does not start.
pub async fn run<R, S, E>(
    config: Config,
    start: impl FnOnce(Config) -> S,
    stop: impl FnOnce(R) -> E,
) -> Result<ExitCode, ProcessError>
where
    S: Future<Output = Result<R, StartError>>,
    E: Future<Output = bool>,
{
    logging::start(&config.log)?;
    raise_file_limit();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let running = start(config).await?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("shutting down; a second signal ends the program at once");
    let finished = tokio::select! {
        finished = stop(running) => finished,
        _ = terminate.recv() => false,
        _ = interrupt.recv() => false,
    };
    tracing::info!(finished, "stopped");
    Ok(if finished { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Raises the limit of open files to the maximum: every connection is a file, and many systems default to 1024.
fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "could not raise the limit of open files; connections may be refused under load");
    }
}

//! What the programs do alike: read the settings, run until a signal, end in order.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::util::TryInitError;

use crate::config::{self, Config, ConfigError, Loaded};
use crate::{StartError, logging};

/// Threads for the database, files and parsing. They start when needed and end when idle.
const BLOCKING_THREADS: usize = 64;

/// Why a program ended before it served.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The service did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Logging was started before.
    #[error("cannot start logging")]
    Log(#[from] TryInitError),
    /// The system refuses threads or signals.
    #[error("cannot prepare the process")]
    System(#[from] io::Error),
}

/// Reads the settings from where the user has put them: `file`, else `quarry.toml` in the working folder if there is
/// one, then the environment.
///
/// # Errors
/// [`ConfigError`] for the first key or value that cannot be used.
pub fn settings(file: Option<&Path>) -> Result<Loaded, ConfigError> {
    let usual = Path::new("quarry.toml");
    let file = file.or_else(|| usual.exists().then_some(usual));
    let mut environment = Vec::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with("QUARRY__")) else {
            continue;
        };
        let refused = |_| ConfigError { key: name.to_owned(), message: "the value is not UTF-8".to_owned() };
        environment.push((name.to_owned(), value.into_string().map_err(refused)?));
    }
    config::load(file, environment)
}

/// Runs `work` on a runtime of its own. A thread that hangs in the system does not hold up the end.
///
/// # Errors
/// Those of `work`, and the system's refusal of threads.
pub fn on_runtime<T, E: From<io::Error>>(work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(BLOCKING_THREADS).build()?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    result
}

/// Starts a service and runs it until SIGTERM or SIGINT, then stops it; a second signal ends the program at once. `stop`
/// says whether all work has ended; the code is a failure when some had to be cut.
///
/// # Errors
/// [`ProcessError`], before it serves.
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
    tracing::info!("stopping");
    let finished = tokio::select! {
        finished = stop(running) => finished,
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

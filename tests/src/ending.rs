//! Checks at the end of a test: no unfinished jobs, no reserved credits, no errors in the log.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, io};

use parking_lot::Mutex;
use store::{Store, jobs, ledger, teams};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt, registry};

/// Timeout for work in progress at the end of a test.
const PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);

/// Leftovers that a test allows.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    pub(crate) jobs: AtomicBool,
    pub(crate) reservations: AtomicBool,
    pub(crate) errors: AtomicBool,
}

/// Errors logged by one service.
#[derive(Debug, Clone, Default)]
pub(crate) struct Errors(Arc<Mutex<Vec<u8>>>);

thread_local! {
    static LISTENING: std::cell::RefCell<Option<DefaultGuard>> = const { std::cell::RefCell::new(None) };
}

impl Errors {
    /// Records the errors that this thread logs from now on. Every thread of the service's runtime calls it once. With
    /// `RUST_LOG`, which sets the filter, the log is also printed.
    #[expect(clippy::disallowed_methods, reason = "RUST_LOG is how a person asks for the log")]
    pub(crate) fn listen(&self) {
        let errors = self.clone();
        let recorded = fmt::layer().with_ansi(false).without_time().with_writer(move || errors.clone());
        let printed = env::var("RUST_LOG")
            .ok()
            .map(|filter| fmt::layer().with_ansi(false).with_writer(io::stderr).with_filter(EnvFilter::new(filter)));
        let subscriber = registry().with(recorded.with_filter(LevelFilter::ERROR)).with(printed);
        LISTENING.set(Some(subscriber.set_default()));
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock()).into_owned()
    }
}

impl io::Write for Errors {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a description of all unexpected leftovers; empty if there are none. `data` is the service's data folder with
/// its database; `None` for a shared database.
pub(crate) async fn faults(data: Option<&Path>, allowed: &Allowed, errors: &Errors) -> String {
    let mut faults = match data {
        Some(data) => left_in(&data.join("quarry.db"), allowed).await,
        None => String::new(),
    };
    let logged = errors.text();
    if !logged.is_empty() && !allowed.errors.load(Ordering::Relaxed) {
        let _ = writeln!(faults, "it has logged errors (TestApp::logs_errors allows them):\n{logged}");
    }
    faults
}

async fn left_in(database: &Path, allowed: &Allowed) -> String {
    let options = store::Options { connections: Some(1), ..store::Options::default() };
    let store = match Store::open(&format!("sqlite://{}", database.display()), options).await {
        Ok(store) => store,
        Err(error) => return format!("its database cannot be opened: {error}\n"),
    };
    let started = Instant::now();
    loop {
        let left =
            look(&store, allowed).await.unwrap_or_else(|error| format!("its database cannot be read: {error}\n"));
        if left.is_empty() || started.elapsed() > PATIENCE {
            return left;
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn look(store: &Store, allowed: &Allowed) -> Result<String, store::StoreError> {
    let mut conn = store.conn().await?;
    let mut left = String::new();
    if !allowed.jobs.load(Ordering::Relaxed) {
        for job in jobs::list(&mut conn, jobs::Filter::default(), None, 10).await? {
            // The next fire of a monitor waits for its time.
            if job.kind == "monitor.fire" && !job.is_running {
                continue;
            }
            let state = if job.is_running { "running" } else { "waiting" };
            let why = job.last_error.unwrap_or_default();
            let _ = writeln!(left, "a {} is still {state} (TestApp::leaves_jobs allows it): {why}", job.kind);
        }
    }
    if !allowed.reservations.load(Ordering::Relaxed) {
        for team in teams::list(&mut conn, None, 1000).await? {
            let reserved = ledger::balance(&mut conn, &team.id).await?.reserved;
            if reserved != 0 {
                let _ =
                    writeln!(left, "{reserved} credits of {} are reserved (TestApp::leaves_jobs allows it)", team.name);
            }
        }
    }
    Ok(left)
}

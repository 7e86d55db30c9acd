//! The HTTP service: settings in, a running server out. Everything it does for a caller is in `app`.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
//! use quarry_server::config::Config;
//!
//! let folder = tempfile::tempdir()?;
//! let mut config = Config::default();
//! config.server.listen = "127.0.0.1:0".parse()?;
//! config.data.dir = folder.path().to_owned();
//! let running = quarry_server::start(config).await?;
//! assert_ne!(running.address.port(), 0);
//! assert!(running.stop().await);
//! # Ok(())
//! # })
//! # }
//! ```

mod address;
mod admin;
mod auth;
mod batch;
pub mod config;
mod crawl;
pub mod docs;
mod error;
mod extract;
mod health;
mod job;
mod large;
mod limits;
mod map;
mod metrics;
pub mod openapi;
mod parts;
pub mod process;
mod reading;
mod request;
mod routes;
mod scrape;
mod serve;
mod team;
pub mod telemetry;
mod watch;
mod webhooks;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use app::App;
use axum::Router;
use base::{Clock, SystemClock};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use config::{Config, ConfigError};
use limits::Limits;
pub use parts::{open, open_store};
use reading::Readers;
use serve::Ending;
use watch::Watchers;

/// What the handlers share.
pub(crate) struct Service {
    pub(crate) app: App,
    pub(crate) config: Config,
    pub(crate) limits: Limits,
    /// SHA-256 of the operator's token.
    pub(crate) operator: Option<[u8; 32]>,
    /// Bounds how many large bodies are read at the same time.
    pub(crate) large_bodies: Semaphore,
    pub(crate) prometheus: PrometheusHandle,
    /// Readiness is off from the first signal on.
    pub(crate) draining: AtomicBool,
    pub(crate) watchers: Watchers,
    /// Who reads large results.
    pub(crate) readers: Readers,
}

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A setting cannot be used; the message begins with its key.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The database cannot be prepared.
    #[error("cannot prepare the service")]
    App(#[from] app::AppError),
}

/// A running server. Dropping it cuts everything off; [`Running::stop`] is the orderly end.
pub struct Running {
    /// Where it listens; the real port when the settings asked for port 0.
    pub address: SocketAddr,
    service: Arc<Service>,
    ending: Ending,
    background: TaskTracker,
    stop_background: CancellationToken,
    stop_work: CancellationToken,
}

/// Opens the database and the blob store, listens, and serves in the background.
/// Needs tokio's multi-thread runtime.
///
/// # Errors
/// [`StartError`], with the name of the setting that is to blame.
pub async fn start(config: Config) -> Result<Running, StartError> {
    start_at(config, Arc::new(SystemClock)).await
}

/// As [`start`], with a clock that a test can turn.
///
/// # Errors
/// As [`start`].
pub async fn start_at(config: Config, clock: Arc<dyn Clock>) -> Result<Running, StartError> {
    start_as(Role::Server, config, clock).await
}

/// Starts a worker: background work as in a server, and on `worker.listen` nothing but health and metrics.
///
/// # Errors
/// As [`start`].
pub async fn start_worker(config: Config) -> Result<Running, StartError> {
    start_as(Role::Worker, config, Arc::new(SystemClock)).await
}

/// What a process is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Server,
    Worker,
}

impl Role {
    fn works(self, config: &Config) -> bool {
        self == Self::Worker || config.worker.embedded
    }

    async fn listen(self, config: &Config) -> Result<TcpListener, ConfigError> {
        let address = match self {
            Self::Server => config.server.listen,
            Self::Worker => config.worker.listen,
        };
        let why = |error| parts::refused(self.listen_key(), format!("cannot listen on {address}: {error}"));
        TcpListener::bind(address).await.map_err(why)
    }

    fn listen_key(self) -> &'static str {
        match self {
            Self::Server => "SERVER__LISTEN",
            Self::Worker => "WORKER__LISTEN",
        }
    }

    fn router(self, service: Arc<Service>) -> Router {
        match self {
            Self::Server => routes::router(service),
            Self::Worker => routes::health_only(service),
        }
    }
}

async fn start_as(role: Role, config: Config, clock: Arc<dyn Clock>) -> Result<Running, StartError> {
    let listener = role.listen(&config).await?;
    let address = listener.local_addr().map_err(|error| parts::refused(role.listen_key(), error))?;
    let app = open(&config, clock, Some(address)).await?;
    let service = Arc::new(Service {
        app: app.clone(),
        limits: Limits::default(),
        operator: auth::operator_digest(&config.admin.token),
        large_bodies: Semaphore::new(extract::LARGE_AT_ONCE),
        prometheus: metrics::handle(),
        draining: AtomicBool::new(false),
        watchers: Watchers::default(),
        readers: Readers::default(),
        config,
    });
    let (background, stop_background) = (TaskTracker::new(), CancellationToken::new());
    let stop_work = CancellationToken::new();
    if role.works(&service.config) {
        background.spawn(app::worker(&app, parts::worker(&service.config)).run(stop_work.clone()));
        background.spawn(app::maintain(app, stop_background.clone()));
    }
    background.spawn(upkeep(service.prometheus.clone(), stop_background.clone()));
    let ending = Ending::default();
    let settings = Arc::new(service.config.server.clone());
    background.spawn(serve::run(listener, role.router(service.clone()), settings, ending.clone()));
    tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), ?role, "listening");
    Ok(Running { address, service, ending, background, stop_background, stop_work })
}

impl Running {
    /// The operations behind the routes.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.service.app
    }

    /// Ends in order: readiness goes off, `server.drain_delay_s` later new connections get 503, running requests finish, then
    /// the work behind them. True when all of it fitted into `server.drain_s`; what did not was cut.
    pub async fn stop(self) -> bool {
        let settings = &self.service.config.server;
        let until = Instant::now() + settings.drain;
        self.service.draining.store(true, Ordering::Relaxed);
        // Takes no new jobs from here on, and lets the running ones end beside the requests.
        self.stop_work.cancel();
        self.service.watchers.stop();
        tokio::time::sleep(settings.drain_delay.min(settings.drain)).await;
        let finished = self.ending.finish(until.saturating_duration_since(Instant::now())).await;
        self.stop_background.cancel();
        self.background.close();
        // Bookings of requests that were cut still run: they get a moment even when the time is used up.
        let until = until.max(Instant::now() + Duration::from_secs(1));
        let settled = timeout_at(until, async {
            self.service.watchers.ended().await;
            self.service.app.drain().await;
            self.background.wait().await;
        });
        settled.await.is_ok() && finished
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.ending.drain.cancel();
        self.ending.cut.cancel();
        self.stop_background.cancel();
        self.stop_work.cancel();
        self.service.watchers.stop();
    }
}

/// Histograms keep every sample until this runs or somebody reads `/metrics`.
async fn upkeep(prometheus: PrometheusHandle, stop: CancellationToken) {
    while stop.run_until_cancelled(tokio::time::sleep(Duration::from_secs(10))).await.is_some() {
        prometheus.run_upkeep();
    }
}

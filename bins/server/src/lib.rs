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
mod browser;
pub mod config;
mod crawl;
pub mod docs;
mod error;
mod extract;
mod health;
mod job;
mod limits;
mod map;
mod metrics;
pub mod openapi;
mod own;
mod parts;
pub mod process;
mod reading;
mod refusals;
mod request;
mod root;
mod routes;
mod scrape;
mod sending;
mod serve;
mod shares;
mod team;
pub mod telemetry;
mod unsent;
mod watch;
mod webhooks;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use app::App;
use base::{Clock, SystemClock};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use config::{AuthMode, Config, ConfigError};
use limits::Limits;
pub use parts::{open, open_store};
use reading::Readers;
use refusals::Refusals;
use routes::Listener;
use sending::Outbox;
use serve::Ending;
use shares::Shares;
use watch::Watchers;

/// What the handlers share.
pub(crate) struct Service {
    pub(crate) app: App,
    pub(crate) config: Config,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    pub(crate) limits: Limits,
    /// Calls that were refused for their key.
    pub(crate) refusals: Refusals,
    /// SHA-256 of the operator's token.
    pub(crate) operator: Option<[u8; 32]>,
    /// Bounds how many large bodies are read at the same time.
    pub(crate) large_bodies: Shares,
    pub(crate) prometheus: PrometheusHandle,
    /// Readiness is off from the first signal on.
    pub(crate) draining: AtomicBool,
    pub(crate) watchers: Watchers,
    /// Who reads large results.
    pub(crate) readers: Readers,
    /// Large answers of single calls.
    pub(crate) outbox: Outbox,
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
    /// Where the operator's side listens, when `admin.listen` gives it a port of its own.
    pub admin_address: Option<SocketAddr>,
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
#[async_recursion::async_recursion]
pub async fn start(config: Config) -> Result<Running, StartError> {
    start_at(config, Arc::new(SystemClock)).await
}

/// As [`start`], with a clock that a test can turn.
///
/// # Errors
/// As [`start`].
#[async_recursion::async_recursion]
pub async fn start_at(config: Config, clock: Arc<dyn Clock>) -> Result<Running, StartError> {
    start_as(Role::Server, config, clock).await
}

/// Starts a worker: background work as in a server, and on `worker.listen` nothing but health and metrics.
///
/// # Errors
/// As [`start`].
#[async_recursion::async_recursion]
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

    async fn listen(self, config: &Config) -> Result<(TcpListener, SocketAddr), ConfigError> {
        match self {
            Self::Server => {
                may_be_open(config)?;
                bind("SERVER__LISTEN", config.server.listen).await
            }
            Self::Worker => bind("WORKER__LISTEN", config.worker.listen).await,
        }
    }

    fn listener(self) -> Listener {
        match self {
            Self::Server => Listener::Api,
            Self::Worker => Listener::Worker,
        }
    }
}

async fn bind(key: &str, address: SocketAddr) -> Result<(TcpListener, SocketAddr), ConfigError> {
    let why = |error| parts::refused(key, format!("cannot listen on {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(why)?;
    let address = listener.local_addr().map_err(why)?;
    Ok((listener, address))
}

/// Calls without a key are for this machine, unless the operator says otherwise.
fn may_be_open(config: &Config) -> Result<(), ConfigError> {
    let address = config.server.listen;
    if config.auth.mode != AuthMode::Open || address.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    if !config.auth.open_to_network {
        let why = format!(
            "server.listen is {address}, which other machines reach, and auth.mode is open: everybody there could use the \
             service; set auth.mode to keys, or auth.open_to_network to true if that is meant"
        );
        return Err(parts::refused("AUTH__OPEN_TO_NETWORK", why));
    }
    tracing::warn!(
        %address,
        "auth.open_to_network is set: EVERYBODY who reaches this address can fetch pages through this machine, send \
         webhooks from it and read all results of calls without a key"
    );
    Ok(())
}

async fn start_as(role: Role, config: Config, clock: Arc<dyn Clock>) -> Result<Running, StartError> {
    let (listener, address) = role.listen(&config).await?;
    let admin = match config.admin.listen.filter(|_| role == Role::Server) {
        Some(address) => Some(bind("ADMIN__LISTEN", address).await?),
        None => None,
    };
    let app = open(&config, clock, Some(address)).await?;
    let service = Arc::new(Service {
        app: app.clone(),
        address,
        limits: Limits::default(),
        refusals: Refusals::default(),
        operator: auth::operator_digest(&config.admin.token),
        large_bodies: extract::large_bodies(),
        prometheus: metrics::handle(),
        draining: AtomicBool::new(false),
        watchers: Watchers::default(),
        readers: Readers::default(),
        outbox: Outbox::default(),
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
    let serve = |kind: Listener, listener: TcpListener| {
        let router = routes::router(kind, service.clone());
        background.spawn(serve::run(listener, router, settings.clone(), ending.clone()));
    };
    serve(role.listener(), listener);
    let admin_address = admin.map(|(listener, address)| {
        serve(Listener::Operator, listener);
        tracing::info!(%address, "listening for the operator");
        address
    });
    tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), ?role, "listening");
    Ok(Running { address, admin_address, service, ending, background, stop_background, stop_work })
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

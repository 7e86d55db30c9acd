//! The HTTP server: listeners, routes, authentication, limits and graceful shutdown. The operations behind the routes are
//! in `app`.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
//! use boot::config::Config;
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

mod access;
mod address;
mod admin;
mod auth;
mod batch;
mod body;
mod browser;
mod crawl;
pub mod docs;
mod error;
mod extract;
mod feedback;
mod files;
mod forward;
mod health;
mod interact;
mod job;
mod keyless;
mod limits;
mod mail;
mod malformed;
mod map;
mod missing;
mod monitor;
mod multipart;
mod openapi;
mod parse;
mod refusals;
mod request;
mod response_budget;
mod root;
mod route;
mod routes;
mod scrape;
mod search;
mod sending;
mod serve;
mod sessions;
mod shares;
mod status;
mod tasks;
mod team;
mod telemetry;
mod unsent;
mod vertical;
mod watch;
mod webhooks;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use app::Operations;
use base::{Clock, SystemClock};
use boot::config::{AuthMode, Config, ConfigError};
use boot::operator::Operator;
use boot::{Background, StartError, metrics};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio::time::Instant;

use auth::Listener;
use keyless::KeylessLimits;
use limits::Limits;
use refusals::Refusals;
use response_budget::ResponseBudget;
use sending::Outbox;
use serve::Shutdown;
use sessions::Sockets;
use shares::Shares;
use watch::Watchers;

/// State shared by the handlers.
pub(crate) struct Service {
    pub(crate) operations: Operations,
    pub(crate) config: Config,
    /// Listening address.
    pub(crate) address: SocketAddr,
    pub(crate) limits: Limits,
    /// Limits of the calls that `auth.keyless` admits without a key.
    pub(crate) strangers: KeylessLimits,
    /// Failed authentications, counted per client address.
    pub(crate) refusals: Refusals,
    /// Operator token; `None` disables the operator API.
    pub(crate) operator: Option<Operator>,
    /// Bounds how many large bodies are read at the same time.
    pub(crate) large_bodies: Shares,
    /// Bounds how many uploads are received at the same time.
    pub(crate) uploads: Shares,
    pub(crate) prometheus: PrometheusHandle,
    pub(crate) figures: Arc<metrics::Figures>,
    /// Whether shutdown has begun; readiness fails from then on.
    pub(crate) draining: AtomicBool,
    pub(crate) watchers: Watchers,
    /// WebSockets of browser sessions.
    pub(crate) sockets: Sockets,
    /// Bounds the memory of large results that are being read.
    pub(crate) response_budget: ResponseBudget,
    /// Large responses of single calls that are being sent.
    pub(crate) outbox: Outbox,
}

/// A running server. Dropping it aborts all connections; [`Running::stop`] shuts down gracefully.
pub struct Running {
    /// Listening address, with the port that the system assigned when the settings ask for port 0.
    pub address: SocketAddr,
    /// Listening address of the operator API, when `admin.listen` gives it a port of its own.
    pub admin_address: Option<SocketAddr>,
    service: Arc<Service>,
    shutdown: Shutdown,
    background: Background,
}

/// Opens the database and the blob store, listens, and serves in the background.
/// Needs tokio's multi-thread runtime.
///
/// # Errors
/// [`StartError`], with the name of the setting at fault.
#[async_recursion::async_recursion]
pub async fn start(config: Config) -> Result<Running, StartError> {
    start_at(config, Arc::new(SystemClock)).await
}

/// Starts a server as [`start`] does, with a clock that tests control.
///
/// # Errors
/// As [`start`].
#[async_recursion::async_recursion]
pub async fn start_at(config: Config, clock: Arc<dyn Clock>) -> Result<Running, StartError> {
    may_be_open(&config)?;
    metrics::prepare();
    let (listener, address) = boot::bind("SERVER__LISTEN", config.server.listen).await?;
    let admin = match config.admin.listen {
        Some(address) => Some(boot::bind("ADMIN__LISTEN", address).await?),
        None => None,
    };
    let operations = boot::open(&config, clock, Some(address)).await?;
    keyless::check(&config, &operations.app).await?;
    let jobs = config.worker.embedded.then(|| boot::worker_settings(&config));
    let background = Background::start(operations.clone(), metrics::handle(), jobs);
    background.follow();
    let service = Arc::new(Service {
        operations,
        address,
        limits: Limits::default(),
        strangers: KeylessLimits::default(),
        refusals: Refusals::default(),
        operator: Operator::new(&config.admin.token),
        large_bodies: body::large_bodies(),
        uploads: body::uploads(),
        prometheus: metrics::handle(),
        figures: Arc::default(),
        draining: AtomicBool::new(false),
        watchers: Watchers::default(),
        sockets: Sockets::default(),
        response_budget: ResponseBudget::default(),
        outbox: Outbox::default(),
        config,
    });
    let shutdown = Shutdown::default();
    let settings = Arc::new(service.config.server.clone());
    let serve = |kind: Listener, listener: TcpListener| {
        let router = routes::router(kind, service.clone());
        background.spawn(serve::run(listener, router, settings.clone(), shutdown.clone()));
    };
    serve(Listener::Api, listener);
    let admin_address = admin.map(|(listener, address)| {
        serve(Listener::Operator, listener);
        tracing::info!(%address, "operator API is listening");
        address
    });
    tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), "listening");
    Ok(Running { address, admin_address, service, shutdown, background })
}

/// Refuses `auth.mode = "open"` on an address that other machines reach, unless `auth.open_to_network` is set.
fn may_be_open(config: &Config) -> Result<(), ConfigError> {
    let address = config.server.listen;
    if config.auth.mode != AuthMode::Open || address.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    if !config.auth.open_to_network {
        let why = format!(
            "server.listen is {address}, which other machines can reach, and auth.mode is open, so anyone on the network \
             could use the service; set auth.mode to keys, or auth.open_to_network to true if this is intended"
        );
        return Err(ConfigError::new("AUTH__OPEN_TO_NETWORK", why));
    }
    tracing::warn!(
        %address,
        "auth.open_to_network is set: ANYONE who can reach this address can fetch pages through this machine, send \
         webhooks from it and read the results of all calls made without a key"
    );
    Ok(())
}

impl Running {
    /// The operations behind the routes.
    #[must_use]
    pub fn operations(&self) -> &Operations {
        &self.service.operations
    }

    /// Shuts down gracefully: readiness fails; after `server.drain_delay_s` new connections get 503; running requests
    /// finish, then background work. Returns true when all of it finished within `server.drain_s`; the rest is aborted.
    pub async fn stop(self) -> bool {
        let settings = &self.service.config.server;
        let until = Instant::now() + settings.drain;
        self.service.draining.store(true, Ordering::Relaxed);
        self.background.stop_jobs();
        self.service.watchers.stop();
        self.service.operations.sessions.close();
        self.service.sockets.stop();
        tokio::time::sleep(settings.drain_delay.min(settings.drain)).await;
        let finished = self.shutdown.finish(until.saturating_duration_since(Instant::now())).await;
        let sockets = async {
            self.service.watchers.ended().await;
            self.service.sockets.ended().await;
        };
        self.background.settle(sockets, until).await && finished
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shutdown.drain.cancel();
        self.shutdown.cut.cancel();
        self.service.watchers.stop();
        self.service.operations.sessions.close();
        self.service.sockets.stop();
    }
}

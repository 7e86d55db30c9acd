//! The HTTP service: settings in, a running server out. Everything it does for a caller is in `app`.
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
mod files;
mod forward;
mod groups;
mod health;
mod interact;
mod job;
mod keyless;
mod limits;
mod malformed;
mod map;
mod missing;
mod multipart;
pub mod openapi;
mod parse;
mod refusals;
mod request;
mod response_budget;
mod root;
mod routes;
mod scrape;
mod sending;
mod serve;
mod sessions;
mod shares;
mod status;
mod team;
mod telemetry;
mod unsent;
mod watch;
mod webhooks;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use app::App;
use base::{Clock, SystemClock};
use boot::config::{AuthMode, Config, ConfigError};
use boot::operator::Operator;
use boot::{Background, StartError, metrics};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio::time::Instant;

use auth::Listener;
use keyless::Strangers;
use limits::Limits;
use refusals::Refusals;
use response_budget::ResponseBudget;
use sending::Outbox;
use serve::Shutdown;
use sessions::Sockets;
use shares::Shares;
use watch::Watchers;

/// What the handlers share.
pub(crate) struct Service {
    pub(crate) app: App,
    pub(crate) config: Config,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    pub(crate) limits: Limits,
    /// Calls without a key that `auth.keyless` lets in.
    pub(crate) strangers: Strangers,
    /// Calls that were refused for their key.
    pub(crate) refusals: Refusals,
    /// None when there is no operator API.
    pub(crate) operator: Option<Operator>,
    /// Bounds how many large bodies are read at the same time.
    pub(crate) large_bodies: Shares,
    /// Bounds how many files are taken at the same time.
    pub(crate) uploads: Shares,
    pub(crate) prometheus: PrometheusHandle,
    pub(crate) figures: Arc<metrics::Figures>,
    /// Readiness is off from the first signal on.
    pub(crate) draining: AtomicBool,
    pub(crate) watchers: Watchers,
    /// Sockets of browser sessions.
    pub(crate) sockets: Sockets,
    /// Who reads large results.
    pub(crate) response_budget: ResponseBudget,
    /// Large answers of single calls.
    pub(crate) outbox: Outbox,
}

/// A running server. Dropping it cuts everything off; [`Running::stop`] is the orderly end.
pub struct Running {
    /// Where it listens; the real port when the settings asked for port 0.
    pub address: SocketAddr,
    /// Where the operator's side listens, when `admin.listen` gives it a port of its own.
    pub admin_address: Option<SocketAddr>,
    service: Arc<Service>,
    shutdown: Shutdown,
    background: Background,
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
    may_be_open(&config)?;
    metrics::prepare();
    let (listener, address) = boot::bind("SERVER__LISTEN", config.server.listen).await?;
    let admin = match config.admin.listen {
        Some(address) => Some(boot::bind("ADMIN__LISTEN", address).await?),
        None => None,
    };
    let app = boot::open(&config, clock, Some(address)).await?;
    keyless::check(&config, &app).await?;
    let jobs = config.worker.embedded.then(|| boot::worker_settings(&config));
    let background = Background::start(app.clone(), metrics::handle(), jobs);
    let service = Arc::new(Service {
        app,
        address,
        limits: Limits::default(),
        strangers: Strangers::default(),
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
        tracing::info!(%address, "listening for the operator");
        address
    });
    tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), "listening");
    Ok(Running { address, admin_address, service, shutdown, background })
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
        return Err(ConfigError::new("AUTH__OPEN_TO_NETWORK", why));
    }
    tracing::warn!(
        %address,
        "auth.open_to_network is set: EVERYBODY who reaches this address can fetch pages through this machine, send \
         webhooks from it and read all results of calls without a key"
    );
    Ok(())
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
        self.background.stop_jobs();
        self.service.watchers.stop();
        app::browser::close(&self.service.app);
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
        app::browser::close(&self.service.app);
        self.service.sockets.stop();
    }
}

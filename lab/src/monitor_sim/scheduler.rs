//! A scheduler of `monitor-sim load`: the service without its API, on a virtual clock.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use app::Operations;
use app::monitors::Fire;
use app::runs::PageHandler;
use base::{Secret, Timestamp};
use boot::config::{AuthMode, Config, Log, LogFormat};
use queue::{Settings, Worker};
use tokio_util::sync::CancellationToken;

use super::clock::VirtualClock;

/// Concurrent requests to the one site of all monitors.
const PER_HOST: u32 = 64;

/// Where a service works.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Place {
    /// URL of the database.
    #[arg(long)]
    pub(super) database: String,
    /// Data folder.
    #[arg(long)]
    pub(super) data: PathBuf,
    /// Address of the site.
    #[arg(long)]
    pub(super) allow: SocketAddr,
}

/// Arguments of the command.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) place: Place,
    /// Virtual time at the beginning.
    #[arg(long)]
    pub(super) begin: Timestamp,
    /// Real time of the beginning.
    #[arg(long)]
    pub(super) at: Timestamp,
    /// Virtual seconds in a real one.
    #[arg(long)]
    pub(super) speed: u32,
    /// Lease of jobs in real seconds.
    #[arg(long)]
    pub(super) lease: u32,
}

/// Works until the process is killed.
pub(super) async fn run(args: Args) -> Result<()> {
    boot::logging::start(&Log { level: "warn".to_owned(), format: LogFormat::Text })?;
    let clock = VirtualClock { begin: args.begin, at: args.at, speed: i32::try_from(args.speed)? };
    let operations = open(&args.place, clock).await?;
    let app = &operations.app;
    let real = Duration::from_secs(args.lease.into());
    // A lease ends by the clock, which is virtual; pauses between looks at the database are real. Between two rounds that
    // reap, a clock that runs this fast must advance by much less than the quarter of a lease that a worker takes for a
    // jump, after which it does not reap.
    let settings = Settings {
        per_host: PER_HOST,
        lease: real * args.speed,
        heartbeat: real / 3,
        reap: real / 10,
        poll: Settings::default().poll / args.speed,
        ..Settings::default()
    };
    let worker = Worker::new(app.store().clone(), Arc::clone(app.clock()), settings)
        .woken_by(app.waker().clone())
        .with(Fire { monitors: operations.monitors.clone() })
        .with_polite(PageHandler { runs: operations.runs.clone() });
    let stop = CancellationToken::new();
    tokio::join!(worker.run(stop.clone()), app::maintain(operations.clone(), stop));
    Ok(())
}

/// Opens the service on a clock.
pub(super) async fn open(place: &Place, clock: VirtualClock) -> Result<Operations> {
    let mut config = Config::default();
    config.store.url = Secret::new(place.database.clone());
    config.data.dir.clone_from(&place.data);
    config.egress.allow = vec![net::Allow::Address(place.allow)];
    config.auth.mode = AuthMode::Keys;
    config.monitors.max_per_team = u32::MAX;
    config.browser.enabled = false;
    boot::open(&config, Arc::new(clock), None).await.context("the service does not open")
}

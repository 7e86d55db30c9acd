//! `cargo xtask webhook-sim schedule|isolation|rate`: verification of the guarantees of webhook delivery, on the real
//! store, queue and client against receivers on loopback.

mod isolation;
mod rate;
mod schedule;
mod stage;

use anyhow::Result;
use clap::{Subcommand, ValueEnum};

/// Measurements.
#[derive(Subcommand)]
pub(crate) enum WebhookSim {
    /// Check the retry schedule for a failing receiver: attempts after 0, 60, 360 and 1260 s of a virtual clock.
    Schedule(Args),
    /// Measure the latency of a team's events while another team's receiver hangs with many events.
    Isolation(Args),
    /// Measure deliveries per second to one receiver, and verify every signature.
    Rate(Args),
}

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Database of the deliveries; PostgreSQL is a private one.
    #[arg(long, value_enum, default_value_t = Database::Sqlite)]
    database: Database,
    /// Number of events, where applicable.
    #[arg(long)]
    events: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Database {
    Sqlite,
    Postgres,
}

/// Runs a measurement; fails when its guarantee is violated.
pub(crate) fn run(sim: WebhookSim) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match sim {
        WebhookSim::Schedule(args) => runtime.block_on(schedule::run(&args)),
        WebhookSim::Isolation(args) => runtime.block_on(isolation::run(&args)),
        WebhookSim::Rate(args) => runtime.block_on(rate::run(&args)),
    }
}

//! `cargo xtask webhook-sim schedule|isolation|rate`: the promises about webhooks, measured on the real store, queue and
//! client against receivers on loopback.

mod isolation;
mod rate;
mod schedule;
mod stage;

use anyhow::Result;
use clap::{Subcommand, ValueEnum};

/// What can be measured.
#[derive(Subcommand)]
pub(crate) enum WebhookSim {
    /// A receiver that always fails: attempts after 0, 60, 360 and 1260 s of a virtual clock, then no more.
    Schedule(Args),
    /// One team's receiver hangs with many events to come: how long another team's events take.
    Isolation(Args),
    /// Deliveries per second to one receiver, and whether every signature is right.
    Rate(Args),
}

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where the deliveries are kept; PostgreSQL is a private one.
    #[arg(long, value_enum, default_value_t = Database::Sqlite)]
    database: Database,
    /// How many events there are, where it matters.
    #[arg(long)]
    events: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Database {
    Sqlite,
    Postgres,
}

/// Runs one of them; fails when the promise is not kept.
pub(crate) fn run(sim: WebhookSim) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match sim {
        WebhookSim::Schedule(args) => runtime.block_on(schedule::run(&args)),
        WebhookSim::Isolation(args) => runtime.block_on(isolation::run(&args)),
        WebhookSim::Rate(args) => runtime.block_on(rate::run(&args)),
    }
}

//! `cargo xtask monitor-sim scenarios|load|nights`: monitors on other clocks than the real one.

mod clock;
mod jumps;
mod load;
mod nights;
mod scenarios;
mod scheduler;
mod spread;
mod tally;

use anyhow::Result;
use clap::Subcommand;

/// Simulations.
#[derive(Subcommand)]
pub(crate) enum MonitorSim {
    /// Play a file of scenarios on a virtual clock, on SQLite and PostgreSQL: every check, charge and event.
    Scenarios(scenarios::Args),
    /// Run many monitors on two schedulers for a virtual day, one of which is killed each hour.
    Load(load::Args),
    /// Run the real server through nights in which the clocks of New York and Berlin change, and with a clock that is set
    /// back and forth, and count checks.
    Nights(nights::Args),
    /// Run a scheduler of `monitor-sim load`.
    #[command(hide = true)]
    Scheduler(scheduler::Args),
}

/// Runs a simulation; fails when a monitor does what it should not.
pub(crate) fn run(sim: MonitorSim) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match sim {
        MonitorSim::Scenarios(args) => scenarios::run(&args),
        MonitorSim::Load(args) => runtime.block_on(load::run(&args)),
        MonitorSim::Nights(args) => runtime.block_on(nights::run(&args)),
        MonitorSim::Scheduler(args) => runtime.block_on(scheduler::run(args)),
    }
}

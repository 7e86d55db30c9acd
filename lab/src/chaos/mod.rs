//! `cargo xtask chaos NAME`: the real server under crashes, pauses, overload or lack of credits. Each experiment prints its
//! results and fails when a guarantee of docs/JOBS.md is violated.

mod bodies;
mod bombs;
mod browser;
mod changes;
mod cluster;
mod drain;
mod fairness;
mod kill;
mod model;
mod monitor;
mod overdraft;
mod poison;
mod postgres;
mod search;
mod watch;
mod zombie;

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;
use lab::{Installation, programs};

use crate::team::OPERATOR;

/// Experiments.
#[derive(Subcommand)]
pub(crate) enum Chaos {
    /// Kill the processes at random moments of a crawl.
    Kill(kill::Args),
    /// Crash PostgreSQL during a crawl.
    Pg(postgres::Args),
    /// Pause a worker until its leases expire and another worker takes its jobs, then resume it.
    Zombie,
    /// Send SIGTERM to a server with running scrapes and a crawl.
    Drain,
    /// Run a team with a hundred thousand jobs next to teams with one.
    Fairness(fairness::Args),
    /// Run 64 scrapes at once on 10 credits.
    Overdraft,
    /// Run pages whose results can never be written, next to another team's work.
    Poison(poison::Args),
    /// Run CPU-intensive requests next to another team's work.
    Bombs(bombs::Args),
    /// Scrape eight pages of 90 MiB at once.
    Bodies,
    /// Kill Chromium during scrapes, then run many scrapes and sessions.
    Browser(browser::Args),
    /// Run scrapes with the format json while their model is slow or killed.
    Model(model::Args),
    /// Run the model server of `chaos model`.
    #[command(hide = true)]
    ModelEndpoint(model::EndpointArgs),
    /// Kill the processes at random moments of the checks of a monitor.
    Monitor(monitor::Args),
    /// Kill the server while a site is crawled and indexed, and while it is searched.
    Search(search::Args),
    /// Run two servers and two workers on one PostgreSQL and one S3-compatible store.
    Cluster(cluster::Args),
}

/// Returns the programs for one experiment. The egress guard admits `allow`.
fn installation(allow: SocketAddr) -> Result<Installation> {
    installation_of(programs::release()?, allow)
}

/// Returns the programs for one experiment, with a built server.
fn installation_of(server: PathBuf, allow: SocketAddr) -> Result<Installation> {
    let installation = Installation::new(server)?.set("egress.allow", allow.to_string());
    Ok(installation.set("admin.token", OPERATOR).set("log.level", "info"))
}

/// Runs an experiment.
pub(crate) fn run(what: Chaos) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        match what {
            Chaos::Kill(args) => kill::run(args).await,
            Chaos::Pg(args) => postgres::run(args).await,
            Chaos::Zombie => zombie::run().await,
            Chaos::Drain => drain::run().await,
            Chaos::Fairness(args) => fairness::run(args).await,
            Chaos::Overdraft => overdraft::run().await,
            Chaos::Poison(args) => poison::run(args).await,
            Chaos::Bombs(args) => bombs::run(args).await,
            Chaos::Bodies => bodies::run().await,
            Chaos::Browser(args) => browser::run(args).await,
            Chaos::Model(args) => model::run(args).await,
            Chaos::ModelEndpoint(args) => model::endpoint(args).await,
            Chaos::Monitor(args) => monitor::run(args).await,
            Chaos::Search(args) => search::run(args).await,
            Chaos::Cluster(args) => cluster::run(args).await,
        }
    })
}

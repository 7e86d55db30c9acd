//! The project's own tool: `cargo xtask help`.

mod bench;
mod cases;
mod chaos;
mod check;
mod codegen;
mod crawl_docs;
mod db;
mod fuzz;
mod hostile;
mod layers;
mod made_site;
mod migration;
mod moto;
mod robots;
mod setup;
mod sh;
mod sizes;
mod test;
mod train;
mod up;
mod webhook_sim;
mod webhook_vectors;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Build, run, test and check Quarry.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what is missing for building, testing and checking.
    Setup {
        /// Also install packages of documentation, for `crawl-docs`.
        #[arg(long)]
        docs: bool,
    },
    /// Build the server, start it, and print a line to try.
    Up(up::Args),
    /// Run every test, on SQLite and on a private PostgreSQL.
    Test {
        /// Passed on to the test runner, such as a name to filter by.
        filter: Vec<String>,
    },
    /// Run every check: formatting, lints, layers, generated files, documentation, licences, sizes.
    Check,
    /// Write the generated parts of docs/.
    Codegen {
        /// Only compare, and fail when something is out of date.
        #[arg(long)]
        check: bool,
    },
    /// Check the direction of dependencies.
    Layers,
    /// Check the lengths of files and functions.
    Sizes,
    /// Make an empty migration for both databases.
    Migration {
        /// Lower case letters, digits and _.
        name: String,
    },
    /// A private PostgreSQL for working on the store.
    #[command(subcommand)]
    Db(Db),
    /// Measure the real server.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Break things while the real server works, and count what is lost.
    #[command(subcommand)]
    Chaos(chaos::Chaos),
    /// Crawl installed documentation, and compare what is found with a walk over its files.
    CrawlDocs(crawl_docs::Args),
    /// Run a file of hostile cases against the real server.
    Hostile(hostile::Args),
    /// Run the fuzz targets.
    Fuzz(fuzz::Args),
    /// Judge files of robots.txt cases.
    Robots(robots::Args),
    /// Measure what is promised about webhooks.
    #[command(subcommand)]
    WebhookSim(webhook_sim::WebhookSim),
    /// Judge a file of webhook signatures.
    WebhookVectors(webhook_vectors::Args),
    /// Train the model of the main content from annotated pages.
    Train(train::Args),
    /// The page cases of the formats crate.
    #[command(subcommand)]
    Cases(Cases),
}

#[derive(Subcommand)]
enum Db {
    /// Start it and print its address.
    Start,
    /// Stop it and remove its files.
    Stop,
}

#[derive(Subcommand)]
enum Cases {
    /// Rewrite the expected outputs from what the code gives now.
    Update,
}

fn main() -> Result<()> {
    match Cli::parse().task {
        Task::Chaos(what) => chaos::run(what),
        Task::Setup { docs: false } => setup::all(),
        Task::Setup { docs: true } => setup::all().and_then(|()| setup::docs()),
        Task::Up(args) => up::run(&args),
        Task::Test { filter } => test::run(&filter),
        Task::Check => check::run(),
        Task::Codegen { check } => codegen::run(check),
        Task::Layers => layers::check_workspace(),
        Task::Sizes => sizes::check_workspace(),
        Task::Migration { name } => migration::create(&name),
        Task::Db(Db::Start) => db::start(),
        Task::Db(Db::Stop) => db::stop(),
        Task::Bench(bench) => bench::run(bench),
        Task::CrawlDocs(args) => crawl_docs::run(&args),
        Task::Hostile(args) => hostile::run(args),
        Task::Robots(args) => robots::run(&args),
        Task::WebhookSim(sim) => webhook_sim::run(sim),
        Task::WebhookVectors(args) => webhook_vectors::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Train(args) => train::run(&args),
        Task::Cases(Cases::Update) => cases::update(),
    }
}

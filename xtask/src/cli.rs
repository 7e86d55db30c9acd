//! Command line of `cargo xtask`.

use std::ffi::OsString;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::{cases, check, codegen, db, fuzz, layers, migration, setup, sh, sizes, test, train, up};

/// Build, run, test and check Quarry.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install the missing tools for building, testing and checking.
    Setup {
        /// Install documentation packages too, for `crawl-docs`.
        #[arg(long)]
        docs: bool,
    },
    /// Build and start the server, and print a command to try.
    Up(up::Args),
    /// Run all tests, on SQLite and on a private PostgreSQL; or only those of a name.
    Test(test::Args),
    /// Run all checks: formatting, lints, layers, generated files, documentation, licences, sizes.
    Check,
    /// Write the generated documents in docs/.
    Codegen {
        /// Only compare, and fail when a document is out of date.
        #[arg(long)]
        check: bool,
    },
    /// Check the direction of dependencies.
    Layers,
    /// Check the lengths of files and functions, and that no parameter is a tuple.
    Sizes,
    /// Create an empty migration for both databases.
    Migration {
        /// Name of lower case letters, digits and _.
        name: String,
    },
    /// Start or stop a private PostgreSQL for work on the store.
    #[command(subcommand)]
    Db(Db),
    /// Run the fuzz targets.
    Fuzz(fuzz::Args),
    /// Train the main-content model from annotated pages.
    Train(train::Args),
    /// Update the page cases of the formats crate.
    #[command(subcommand)]
    Cases(Cases),
    /// Run benchmarks of the real server.
    Bench(Forwarded),
    /// Scrape pages that need a browser, and pages that must not use one.
    BrowserPages(Forwarded),
    /// Inject failures while the real server works, and count what is lost.
    Chaos(Forwarded),
    /// Crawl installed documentation, and compare the result with a walk over its files.
    CrawlDocs(Forwarded),
    /// Run a file of hostile cases against the real server.
    Hostile(Forwarded),
    /// Send letters of monitors through a real mail server, and check what arrives.
    Mail(Forwarded),
    /// Play monitors on a virtual clock, many of them on several schedulers, and nights in which clocks change.
    MonitorSim(Forwarded),
    /// Check files of robots.txt cases.
    Robots(Forwarded),
    /// Check files of schedules of monitors, and compare random ones with a walk over every minute.
    Schedules(Forwarded),
    /// Run a mixed load for a long time, and check the server for leaks.
    Soak(Forwarded),
    /// Verify the guarantees of webhook delivery.
    WebhookSim(Forwarded),
    /// Check a file of webhook signatures.
    WebhookVectors(Forwarded),
}

/// Arguments for the package `lab`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
struct Forwarded {
    /// Arguments of the command; `--help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

#[derive(Subcommand)]
enum Db {
    /// Start PostgreSQL and print its URL.
    Start,
    /// Stop PostgreSQL and remove its files.
    Stop,
}

#[derive(Subcommand)]
enum Cases {
    /// Rewrite the expected outputs from the current output of the code.
    Update,
}

/// Runs the command line.
///
/// # Errors
/// The error of the failed step.
pub fn run() -> Result<()> {
    match Cli::parse().task {
        Task::Setup { docs: false } => setup::all(),
        Task::Setup { docs: true } => setup::all().and_then(|()| setup::docs()),
        Task::Up(args) => up::run(&args),
        Task::Test(args) => test::run(&args),
        Task::Check => check::run(),
        Task::Codegen { check } => codegen::run(check),
        Task::Layers => layers::check_workspace(),
        Task::Sizes => sizes::check_workspace(),
        Task::Migration { name } => migration::create(&name),
        Task::Db(Db::Start) => db::start(),
        Task::Db(Db::Stop) => db::stop(),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Train(args) => train::run(&args),
        Task::Cases(Cases::Update) => cases::update(),
        Task::Bench(forwarded) => lab("bench", &forwarded),
        Task::BrowserPages(forwarded) => lab("browser-pages", &forwarded),
        Task::Chaos(forwarded) => lab("chaos", &forwarded),
        Task::CrawlDocs(forwarded) => lab("crawl-docs", &forwarded),
        Task::Hostile(forwarded) => lab("hostile", &forwarded),
        Task::Mail(forwarded) => lab("mail", &forwarded),
        Task::MonitorSim(forwarded) => lab("monitor-sim", &forwarded),
        Task::Robots(forwarded) => lab("robots", &forwarded),
        Task::Schedules(forwarded) => lab("schedules", &forwarded),
        Task::Soak(forwarded) => lab("soak", &forwarded),
        Task::WebhookSim(forwarded) => lab("webhook-sim", &forwarded),
        Task::WebhookVectors(forwarded) => lab("webhook-vectors", &forwarded),
    }
}

/// Builds and runs the package `lab` in the working directory of the caller, whose paths may be relative.
fn lab(task: &str, Forwarded { arguments }: &Forwarded) -> Result<()> {
    let mut lab = sh::cargo();
    lab.current_dir(".")
        .args(["run", "--quiet", "--package", "lab", "--manifest-path"])
        .arg(sh::root().join("Cargo.toml"));
    sh::run(lab.args(["--", task]).args(arguments))
}

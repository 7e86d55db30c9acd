//! What `cargo xtask` can be told to do.

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
    /// Install what is missing for building, testing and checking.
    Setup {
        /// Also install packages of documentation, for `crawl-docs`.
        #[arg(long)]
        docs: bool,
    },
    /// Build the server, start it, and print a line to try.
    Up(up::Args),
    /// Run every test, on SQLite and on a private PostgreSQL; or only those of a name.
    Test(test::Args),
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
    /// Run the fuzz targets.
    Fuzz(fuzz::Args),
    /// Train the model of the main content from annotated pages.
    Train(train::Args),
    /// The page cases of the formats crate.
    #[command(subcommand)]
    Cases(Cases),
    /// Measure the real server.
    Bench(Forwarded),
    /// Scrape pages that need a browser, and pages that must not get one.
    BrowserPages(Forwarded),
    /// Break things while the real server works, and count what is lost.
    Chaos(Forwarded),
    /// Crawl installed documentation, and compare what is found with a walk over its files.
    CrawlDocs(Forwarded),
    /// Run a file of hostile cases against the real server.
    Hostile(Forwarded),
    /// Judge files of robots.txt cases.
    Robots(Forwarded),
    /// A mixed load for a long time, and what the server keeps of it.
    Soak(Forwarded),
    /// Measure what is promised about webhooks.
    WebhookSim(Forwarded),
    /// Judge a file of webhook signatures.
    WebhookVectors(Forwarded),
}

/// What the package `lab` is told.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
struct Forwarded {
    /// `--help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
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

/// Does what the command line says.
///
/// # Errors
/// What went wrong, with the step that failed.
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
        Task::Robots(forwarded) => lab("robots", &forwarded),
        Task::Soak(forwarded) => lab("soak", &forwarded),
        Task::WebhookSim(forwarded) => lab("webhook-sim", &forwarded),
        Task::WebhookVectors(forwarded) => lab("webhook-vectors", &forwarded),
    }
}

/// Builds and starts the package `lab` in the folder of the caller, whose paths may be relative.
fn lab(task: &str, Forwarded { arguments }: &Forwarded) -> Result<()> {
    let mut lab = sh::cargo();
    lab.current_dir(".")
        .args(["run", "--quiet", "--package", "lab", "--manifest-path"])
        .arg(sh::root().join("Cargo.toml"));
    sh::run(lab.args(["--", task]).args(arguments))
}

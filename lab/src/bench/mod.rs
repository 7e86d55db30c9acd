//! `cargo xtask bench NAME`: benchmarks of the real server on loopback, and of the converter.

mod browser;
mod change;
mod crawl;
mod documents;
mod extractive;
mod load;
mod markdown;
mod monitors;
mod product;
mod queue;
mod quiet;
mod rivals;
mod schedule;
mod scrape;
mod search;
mod start;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Subcommand;
use lab::{Installation, programs};

/// Benchmarks.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Pages per second, latency and memory of crawls, with SQLite and PostgreSQL.
    Crawl(crawl::Args),
    /// Pages that need a browser, compared with playwright-core on the same Chromium.
    Browser(browser::Args),
    /// CPU time and memory of reading documents, compared with pdftotext.
    Documents(documents::Args),
    /// Enqueueing of jobs, compared with plain SQL.
    QueueEnqueue(queue::Args),
    /// Claiming and finishing of jobs, compared with plain SQL.
    QueueCycle(queue::Args),
    /// Claiming and finishing of jobs with a small and a large backlog.
    QueueBacklog(queue::Args),
    /// Latency from enqueueing a job to its handler.
    QueueLatency(queue::Args),
    /// Enqueueing, claiming and finishing on SQLite, compared with the sqlite3 shell.
    QueueSqlite(queue::Args),
    /// Crawls and scrapes by Quarry and by other programs with the same API.
    Rivals(rivals::Args),
    /// Time of finding the next run of a schedule, beside croner.
    Schedule,
    /// Requests per second, latency and memory of POST /v2/scrape, with the cache off and on.
    Scrape(scrape::Args),
    /// The index of pages: speed of indexing and of queries, and what it costs a crawl.
    Search(search::Args),
    /// Speed and memory of HTML to markdown, compared with other libraries.
    Markdown(markdown::Args),
    /// Time and memory of comparing two versions of a page, beside git diff.
    Change,
    /// False alarms of checks of pages with rotating parts, with and without `ignoreVolatile`.
    Quiet(quiet::Args),
    /// Monitors that are due at once: checks per second and what a check costs, beside a batch.
    Monitors(monitors::Args),
    /// Speed of product extraction, compared with extruct.
    Product(product::Args),
    /// Speed of answers without a model, compared with a plain BM25.
    Extractive(extractive::Args),
    /// Time from the start of the process to ready, and memory when idle.
    Start(start::Args),
}

/// Returns an installation with an empty data folder; the egress guard admits `allow`.
pub(crate) fn installation(server: &Path, allow: &str) -> Result<Installation> {
    Ok(Installation::new(server.to_owned())?.set("egress.allow", allow).set("log.level", "warn"))
}

/// Returns the given server, or builds one.
pub(crate) fn server(given: Option<&PathBuf>) -> Result<PathBuf> {
    given.map_or_else(programs::release, |server| Ok(server.clone()))
}

/// Runs a benchmark.
pub(crate) fn run(bench: Bench) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match bench {
        Bench::Browser(args) => runtime.block_on(browser::run(args)),
        Bench::Documents(args) => runtime.block_on(documents::run(args)),
        Bench::Crawl(args) => runtime.block_on(crawl::run(args)),
        Bench::QueueEnqueue(args) => queue::enqueue(&args),
        Bench::QueueCycle(args) => queue::cycle(&args),
        Bench::QueueBacklog(args) => queue::backlog(&args),
        Bench::QueueLatency(args) => queue::latency(&args),
        Bench::QueueSqlite(args) => queue::sqlite(&args),
        Bench::Rivals(args) => runtime.block_on(rivals::run(args)),
        Bench::Schedule => schedule::run(),
        Bench::Scrape(args) => runtime.block_on(scrape::run(args)),
        Bench::Search(args) => runtime.block_on(search::run(args)),
        Bench::Markdown(args) => markdown::run(&args),
        Bench::Change => change::run(),
        Bench::Quiet(args) => quiet::run(&args),
        Bench::Monitors(args) => runtime.block_on(monitors::run(args)),
        Bench::Product(args) => product::run(&args),
        Bench::Extractive(args) => extractive::run(&args),
        Bench::Start(args) => start::run(&args),
    }
}

//! Benchmarks and attacks on the real server. A package of its own, so that other `cargo xtask` commands need not build it.

mod bench;
mod browser_pages;
mod chaos;
mod crawl_docs;
mod hostile;
mod letters;
mod made_site;
mod monitor;
mod monitor_sim;
mod moto;
mod random;
mod robots;
mod schedules;
mod smtp;
mod soak;
mod team;
mod trend;
mod webhook_sim;
mod webhook_vectors;

use anyhow::Result;
use clap::Parser;
use xtask::{db, say, sh};

/// Benchmark and attack the real server.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Lab {
    /// Run benchmarks of the real server.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Scrape pages that need a browser, and pages that must not use one.
    BrowserPages(browser_pages::Args),
    /// Inject failures while the real server works, and count what is lost.
    #[command(subcommand)]
    Chaos(chaos::Chaos),
    /// Crawl installed documentation, and compare the result with a walk over its files.
    CrawlDocs(crawl_docs::Args),
    /// Run a file of hostile cases against the real server.
    Hostile(hostile::Args),
    /// Send letters of monitors through a real mail server, and check what arrives.
    Mail(letters::Args),
    /// Play monitors on a virtual clock, many of them on several schedulers, and nights in which clocks change.
    #[command(subcommand)]
    MonitorSim(monitor_sim::MonitorSim),
    /// Check files of robots.txt cases.
    Robots(robots::Args),
    /// Check files of schedules of monitors, and compare random ones with a walk over every minute.
    Schedules(schedules::Args),
    /// Run a mixed load for a long time, and check the server for leaks.
    Soak(soak::Args),
    /// Verify the guarantees of webhook delivery.
    #[command(subcommand)]
    WebhookSim(webhook_sim::WebhookSim),
    /// Check a file of webhook signatures.
    WebhookVectors(webhook_vectors::Args),
}

fn main() -> Result<()> {
    match Lab::parse() {
        Lab::Bench(what) => bench::run(what),
        Lab::BrowserPages(args) => browser_pages::run(&args),
        Lab::Chaos(what) => chaos::run(what),
        Lab::CrawlDocs(args) => crawl_docs::run(&args),
        Lab::Hostile(args) => hostile::run(args),
        Lab::Mail(args) => tokio::runtime::Runtime::new()?.block_on(letters::run(args)),
        Lab::MonitorSim(what) => monitor_sim::run(what),
        Lab::Robots(args) => robots::run(&args),
        Lab::Schedules(args) => schedules::run(&args),
        Lab::Soak(args) => soak::run(&args),
        Lab::WebhookSim(what) => webhook_sim::run(what),
        Lab::WebhookVectors(args) => webhook_vectors::run(&args),
    }
}

//! Measures and attacks the real server. Started by `cargo xtask NAME`, which does not wait for it to be built otherwise.

mod bench;
mod browser_pages;
mod chaos;
mod crawl_docs;
mod hostile;
mod made_site;
mod moto;
mod random;
mod robots;
mod soak;
mod team;
mod trend;
mod webhook_sim;
mod webhook_vectors;

use anyhow::Result;
use clap::Parser;
use xtask::{db, say, sh};

/// Measure and attack the real server.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Lab {
    /// Measure the real server.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Scrape pages that need a browser, and pages that must not get one.
    BrowserPages(browser_pages::Args),
    /// Break things while the real server works, and count what is lost.
    #[command(subcommand)]
    Chaos(chaos::Chaos),
    /// Crawl installed documentation, and compare what is found with a walk over its files.
    CrawlDocs(crawl_docs::Args),
    /// Run a file of hostile cases against the real server.
    Hostile(hostile::Args),
    /// Judge files of robots.txt cases.
    Robots(robots::Args),
    /// A mixed load for a long time, and what the server keeps of it.
    Soak(soak::Args),
    /// Measure what is promised about webhooks.
    #[command(subcommand)]
    WebhookSim(webhook_sim::WebhookSim),
    /// Judge a file of webhook signatures.
    WebhookVectors(webhook_vectors::Args),
}

fn main() -> Result<()> {
    match Lab::parse() {
        Lab::Bench(what) => bench::run(what),
        Lab::BrowserPages(args) => browser_pages::run(&args),
        Lab::Chaos(what) => chaos::run(what),
        Lab::CrawlDocs(args) => crawl_docs::run(&args),
        Lab::Hostile(args) => hostile::run(args),
        Lab::Robots(args) => robots::run(&args),
        Lab::Soak(args) => soak::run(&args),
        Lab::WebhookSim(what) => webhook_sim::run(what),
        Lab::WebhookVectors(args) => webhook_vectors::run(&args),
    }
}

//! `bench scrape --changes`: what the format `changeTracking` costs on pages that did not change.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use http::Method;
use lab::{Node, service};
use serde_json::{Value, json};
use testkit::Site;
use xtask::db::Cluster;
use xtask::say;

use super::{Args, NO_CACHE, Phases, load};

/// Number of times that the scrapes with and those without the format take turns.
const ROUNDS: usize = 5;
const WITHOUT: &str = r#""markdown""#;
const WITH: &str = r#""markdown",{"type":"changeTracking","modes":["git-diff"]}"#;

/// Prints the rates with and without the format for both databases.
pub(super) async fn run(args: &Args, program: &Path, site: &Site, pages: usize) -> Result<()> {
    ensure!(
        pages > args.connections,
        "scrapes of one page wait for each other: more pages than connections are needed"
    );
    let installation = super::super::installation(program, &site.addr().to_string())?;
    with_database("SQLite", args, &installation.server()?, site, pages).await?;
    let cluster = Cluster::durable()?;
    let installation = super::super::installation(program, &site.addr().to_string())?.set("store.url", cluster.url());
    with_database("PostgreSQL", args, &installation.server()?, site, pages).await
}

/// Scrapes of one kind, over all rounds.
#[derive(Default)]
struct Total {
    seconds: f64,
    cpu_seconds: f64,
    scrapes: f64,
}

impl Total {
    fn rate(&self) -> f64 {
        self.scrapes / self.seconds
    }
}

async fn with_database(name: &str, args: &Args, server: &Node, site: &Site, pages: usize) -> Result<()> {
    let phases = Phases { site: site.addr().to_string(), server, pages, requests: args.requests };
    let address = &server.addr().to_string();
    let baseline = (0..pages).map(|number| phases.request(number, WITH, NO_CACHE)).collect();
    load::run(address, baseline, args.connections).await?;
    let (mut without, mut with) = (Total::default(), Total::default());
    for _ in 0..ROUNDS {
        for (formats, total) in [(WITHOUT, &mut without), (WITH, &mut with)] {
            let requests: Vec<_> = (0..args.requests).map(|n| phases.request(n, formats, NO_CACHE)).collect();
            let before = server.cpu()?;
            let figures = load::run(address, requests, args.connections).await?;
            total.seconds += args.requests as f64 / figures.rate;
            total.cpu_seconds += (server.cpu()? - before).as_secs_f64();
            total.scrapes += args.requests as f64;
        }
    }
    check(server, site.url("/0").as_str()).await?;
    for (words, total) in [("without the format", &without), ("with changeTracking, unchanged", &with)] {
        let each = total.cpu_seconds * 1e3 / total.scrapes;
        say!("{name}, {words}: {:.0} scrapes/s, CPU {each:.2} ms each", total.rate());
    }
    say!("{name}: {:.2} times as many with the format, {} connections", with.rate() / without.rate(), args.connections);
    Ok(())
}

/// Checks that the pages were compared and did not change.
async fn check(server: &Node, url: &str) -> Result<()> {
    let body = json!({ "url": url, "formats": ["markdown", "changeTracking"], "maxAge": 0, "storeInCache": false });
    let client = service::client(server.addr(), None)?;
    let answer = client.send(Method::POST, "/v2/scrape", body.to_string()).await?;
    let answer: Value = serde_json::from_slice(&answer.body).context("no JSON")?;
    let status = &answer["data"]["changeTracking"]["changeStatus"];
    ensure!(status == "same", "the page is {status}, expected \"same\": {}", answer["data"]["warning"]);
    Ok(())
}

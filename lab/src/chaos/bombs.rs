//! `cargo xtask chaos bombs`: two concurrent CPU-intensive requests of a kind, and the latency of another team's pages and
//! of GET /health meanwhile.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use testkit::{Body, Reply, Site};
use xtask::say;

use crate::hostile::innocent::{Bystander, p99};
use crate::team::Team;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Duration of each kind in seconds.
    #[arg(long, default_value_t = 15)]
    seconds: u64,
    /// Run only this kind.
    #[arg(long)]
    kind: Option<Bomb>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Bomb {
    /// Selectors that search the text of every element.
    Selectors,
    /// A robots.txt with half a megabyte of rules, and long links.
    Robots,
    /// A thousand patterns that are large when compiled.
    Patterns,
    /// Patterns that are slow on long links.
    Matching,
}

/// Concurrent requests of a kind.
const TOGETHER: usize = 2;
/// Maximum 99th percentile of another team's page time.
const MAX_PAGE_MS: f64 = 1000.0;
/// Maximum latency of GET /health.
const MAX_HEALTH_MS: f64 = 250.0;

pub(crate) async fn run(args: Args) -> Result<()> {
    let site = Site::start().await;
    pages(&site);
    let mut failed = Vec::new();
    for kind in [Bomb::Selectors, Bomb::Robots, Bomb::Patterns, Bomb::Matching] {
        if args.kind.is_none_or(|only| only == kind) && !one(&site, kind, Duration::from_secs(args.seconds)).await? {
            failed.push(format!("{kind:?}"));
        }
    }
    ensure!(failed.is_empty(), "another team waited too long next to: {}", failed.join(", "));
    Ok(())
}

/// Runs one kind on its own server, so that its leftovers do not count for the next.
async fn one(site: &Site, kind: Bomb, time: Duration) -> Result<bool> {
    let server = super::installation(site.addr())?.server()?;
    let addr = server.addr();
    let attacker = Team::new(addr, "attacker", 1_000_000).await?;
    let bystander = Team::new(addr, "bystander", 1_000_000).await?;
    let innocent = Bystander {
        batch: false,
        least: time,
        alone: Duration::from_secs(3),
        addr,
        key: bystander.key,
        page: site.url("/innocent").to_string(),
    };
    let mut bombs = tokio::task::JoinSet::new();
    let attack = async {
        for number in 0..TOGETHER {
            let (path, body) = bomb(site, kind, number);
            bombs.spawn(again(attacker.clone(), addr, path, body));
        }
        Ok(())
    };
    let (_, waits) = innocent.beside(attack).await?;
    bombs.abort_all();
    let slowest = waits.health.iter().copied().fold(0.0, f64::max);
    let (alone, beside) = (p99(&waits.alone), p99(&waits.work));
    say!(
        "{kind:?}: {} pages of another team, p99 {beside:.0} ms (alone {alone:.0} ms), slowest of {} GET /health {slowest:.0} ms",
        waits.work.len(),
        waits.health.len()
    );
    Ok(beside <= MAX_PAGE_MS && slowest <= MAX_HEALTH_MS)
}

/// Sends one bomb after another. Refusals count as answers; a short pause avoids a flood of them.
async fn again(team: Team, addr: SocketAddr, path: &'static str, body: Value) {
    loop {
        // The answer to the attacker does not matter here.
        let answer = team.post(addr, path, &body).await;
        let accepted = answer.is_ok_and(|answer| answer.status == 200);
        let crawls = path == "/v2/crawl" && accepted;
        tokio::time::sleep(Duration::from_millis(if crawls { 3000 } else { 100 })).await;
    }
}

fn bomb(site: &Site, kind: Bomb, number: usize) -> (&'static str, Value) {
    let url = |path: &str| format!("{}?{number}", site.url(path));
    let texts = |of: &dyn Fn(usize) -> String| (0..1000).map(of).collect::<Vec<_>>();
    match kind {
        Bomb::Selectors => {
            let one = |n: usize| (0..80).map(|m| format!("*:contains(\"z{n}y{m}\")")).collect::<Vec<_>>().join(",");
            let all: Vec<String> = (0..250).map(one).collect();
            ("/v2/scrape", json!({"url": url("/long"), "excludeTags": all, "timeout": 3000, "maxAge": 0}))
        }
        Bomb::Robots => ("/v2/crawl", json!({"url": url("/links"), "limit": 5, "scrapeOptions": {"maxAge": 0}})),
        Bomb::Patterns => {
            let patterns = texts(&|n| format!("[a-z]{{900}}{{9}}{n}"));
            ("/v2/crawl", json!({"url": url("/innocent"), "limit": 2, "includePaths": patterns}))
        }
        Bomb::Matching => {
            let patterns: Vec<String> = (0..5).map(|n| format!("[ab]*a[ab]{{3000}}c{n}")).collect();
            ("/v2/crawl", json!({"url": url("/links"), "limit": 2, "excludePaths": patterns}))
        }
    }
}

fn pages(site: &Site) {
    let words = "Somebody else reads this page meanwhile. ".repeat(50);
    site.html("/innocent", format!("<h1>A page</h1><p>{words}</p>"));
    let long = Body::repeat("<html><body>", "<div><p>words of a long page</p></div>\n", 45_000, "");
    site.respond("/long", Reply { body: long, ..Reply::default() }.header("content-type", "text/html"));
    let link = |n: usize| format!("<a href=\"/x{n}{}\">x</a>\n", "ab".repeat(3900));
    site.html("/links", (0..1000).map(link).collect::<String>());
    // The matching Disallow rule is the shortest, so every other one is tried before it.
    let rules = format!("User-agent: *\nDisallow: /x\n{}", "Disallow: /*abaac\n".repeat(27_000));
    site.respond("/robots.txt", Reply { body: rules.into(), ..Reply::default() }.header("content-type", "text/plain"));
}

//! `cargo xtask bench browser`: pages that need a browser, by the real server and by playwright-core on the same Chromium,
//! alternating: pages per second, and the memory of each with all its child processes.

mod playwright;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures_util::{StreamExt, stream};
use lab::{Node, Tree};
use serde_json::json;
use xtask::say;

use crate::browser_pages::{self, book, build, percentile, site::Pages};
use crate::team::Team;
use playwright::{Playwright, Wait};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of rounds of each contender; medians are shown.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Number of pages per round.
    #[arg(long, default_value_t = 24)]
    pages: usize,
    /// Numbers of concurrent pages.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4])]
    together: Vec<usize>,
    /// Path of a built server, instead of building one.
    #[arg(long)]
    server: Option<PathBuf>,
    /// Chromium executable for both contenders.
    #[arg(long, default_value = "/usr/lib/chromium/chromium-headless-shell")]
    chromium: PathBuf,
}

/// Pages built with different frameworks, without endless activity.
const PAGES: [&str; 12] = [
    "react-fetch",
    "react-portal",
    "vue-app",
    "angular-jit",
    "preact-islands",
    "solid-html",
    "lit-elements",
    "alpine",
    "knockout",
    "mithril",
    "graphql",
    "docsify",
];
/// Response delay of the data of a page.
const DELAY: Duration = Duration::from_millis(20);
/// Pause between two memory samples.
const LOOK: Duration = Duration::from_millis(200);

/// A page of a round.
#[derive(Debug, Clone, serde::Serialize)]
struct Target {
    url: String,
    /// Text that marks the page as complete.
    text: String,
}

/// Result of a round.
#[derive(Debug, Clone)]
struct RoundResult {
    /// Pages per second.
    rate: f64,
    times: Vec<Duration>,
    /// Median of the proportional set size of the process tree, in MiB.
    pss_mib: f64,
}

/// Prints a line for each contender and number of concurrent pages.
pub(crate) async fn run(args: Args) -> Result<()> {
    if !build::has_node() {
        return Ok(());
    }
    let mut book = book::read_book()?;
    book.pages.retain(|page| PAGES.contains(&page.id.as_str()));
    let built = build::build(&PAGES.map(str::to_owned))?;
    let pages = Pages::start(&built, &book, DELAY).await?;
    let target = |page: &book::Page| Target { url: pages.url(&format!("/{}/", page.id)), text: page.seen[0].clone() };
    let targets: Vec<Target> = book.pages.iter().map(target).cycle().take(args.pages).collect();
    let server = super::server(args.server.as_ref())?;
    let program = args.chromium.display().to_string();
    let installation =
        browser_pages::installation(server, &pages)?.set("log.level", "warn").set("browser.path", program);
    let node = installation.server()?;
    let team = Team::new(node.addr(), "bench", 100_000_000).await?;
    let mut playwright = Playwright::start(&args.chromium)?;
    for together in args.together {
        let mut turns: [Vec<RoundResult>; 3] = Default::default();
        // The first round is a warm-up: it starts the browsers and fills their caches.
        for round in 0..=args.rounds {
            let own = own_turn(&node, &team, &targets, together).await?;
            let text = playwright.turn(&targets, together, Wait::Text).await?;
            let idle = playwright.turn(&targets, together, Wait::NetworkIdle).await?;
            if round > 0 {
                turns.iter_mut().zip([own, text, idle]).for_each(|(turns, turn)| turns.push(turn));
            }
        }
        let [own, text, idle] = turns.map(|turns| middle(&turns));
        show("quarry", together, &own, &own);
        show("playwright, told what to wait for", together, &text, &own);
        show("playwright, networkidle", together, &idle, &own);
    }
    Ok(())
}

async fn own_turn(node: &Node, team: &Team, targets: &[Target], together: usize) -> Result<RoundResult> {
    let scrapes = targets.iter().map(|target| async {
        let body = json!({"url": target.url, "formats": ["rawHtml"], "onlyMainContent": false, "maxAge": 0,
            "storeInCache": false, "timeout": 30_000});
        let started = Instant::now();
        let answer = team.post(node.addr(), "/v2/scrape", &body).await?;
        ensure!(answer.status == 200, "{}: {}", target.url, answer.text());
        Ok(started.elapsed())
    });
    let work = async {
        let started = Instant::now();
        let times: Vec<_> = stream::iter(scrapes).buffer_unordered(together).collect().await;
        Ok((started.elapsed(), times.into_iter().collect::<Result<Vec<_>>>()?))
    };
    measured(node.id(), work).await
}

/// Samples the memory of a process tree while `work` runs.
async fn measured(root: u32, work: impl Future<Output = Result<(Duration, Vec<Duration>)>>) -> Result<RoundResult> {
    tokio::pin!(work);
    let mut looks = Vec::new();
    let (took, times) = loop {
        tokio::select! {
            done = &mut work => break done?,
            () = tokio::time::sleep(LOOK) => looks.push(Tree::below(root)?.pss_mib),
        }
    };
    Ok(RoundResult { rate: times.len() as f64 / took.as_secs_f64(), times, pss_mib: median(looks) })
}

/// Returns the medians of all rounds, and all their times.
fn middle(turns: &[RoundResult]) -> RoundResult {
    RoundResult {
        rate: median(turns.iter().map(|turn| turn.rate).collect()),
        times: turns.iter().flat_map(|turn| turn.times.clone()).collect(),
        pss_mib: median(turns.iter().map(|turn| turn.pss_mib).collect()),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn show(name: &str, together: usize, turn: &RoundResult, own: &RoundResult) {
    let ms = |share| percentile(&turn.times, share).as_millis();
    say!(
        "{together} at a time, {name}: {:.2} pages/s, p50 {} ms, p95 {} ms, {:.0} MiB; quarry has {:.2} times its pages/s and {:.2} times its memory",
        turn.rate,
        ms(50),
        ms(95),
        turn.pss_mib,
        own.rate / turn.rate,
        own.pss_mib / turn.pss_mib
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_turn_is_timed_and_weighed() {
        let work = async {
            tokio::time::sleep(2 * LOOK).await;
            Ok((Duration::from_secs(2), vec![Duration::from_secs(1); 6]))
        };
        let turn = measured(std::process::id(), work).await.unwrap();
        assert!((turn.rate - 3.0).abs() < 1e-9 && turn.pss_mib > 0.0, "{turn:?}");
        let other = RoundResult { rate: 9.0, ..turn.clone() };
        assert!((middle(&[other.clone(), turn, other]).rate - 9.0).abs() < 1e-9);
    }

    #[test]
    fn every_page_of_the_bench_is_in_the_book() {
        let book = book::read_book().unwrap();
        let found = book.pages.iter().filter(|page| PAGES.contains(&page.id.as_str()) && !page.endless);
        assert_eq!(found.count(), PAGES.len());
    }
}

//! `cargo xtask chaos browser`: kill -9 of Chromium during scrapes that need it, then many consecutive scrapes and
//! sessions, to verify that they leave no processes or files behind.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt, stream};
use http::Method;
use lab::{Node, Tree, adopt_orphans};
use serde_json::json;
use testkit::{Reply, Site};
use xtask::say;

use crate::browser_pages::CHROMIUM;
use crate::random::Random;
use crate::team::Team;
use crate::trend::{self, Point};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of scrapes during which Chromium is killed.
    #[arg(long, default_value_t = 100)]
    killed: usize,
    /// Number of consecutive scrapes.
    #[arg(long, default_value_t = 1000)]
    scrapes: usize,
    /// Number of consecutive sessions.
    #[arg(long, default_value_t = 200)]
    sessions: usize,
    /// Run a fifth of all numbers.
    #[arg(long)]
    short: bool,
    /// Path of a built server, instead of building one.
    #[arg(long)]
    server: Option<std::path::PathBuf>,
}

/// `timeout` of every scrape.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum time of an answer beyond its timeout.
const GRACE: Duration = Duration::from_secs(2);
/// Pause before resources are counted, in which closed pages are cleaned up.
const QUIET: Duration = Duration::from_secs(2);
/// Maximum memory growth of the server in MiB per hundred scrapes.
const MAX_SLOPE: f64 = 2.0;
/// Maximum growth of open files and processes from beginning to end: one page's, and a spare renderer.
const MAX_MORE_FILES: usize = 24;
const MAX_MORE_PROCESSES: usize = 3;

pub(crate) async fn run(args: Args) -> Result<()> {
    let share = |count: usize| if args.short { count.div_ceil(5) } else { count };
    adopt_orphans()?;
    let site = site().await;
    let installation = match &args.server {
        Some(server) => super::installation_of(server.clone(), site.addr())?,
        None => super::installation(site.addr())?,
    };
    let server = installation.server()?;
    let team = Team::new(server.addr(), "chaos", 10_000_000).await?;
    let chaos = Chaos { site, server, team };
    chaos.kill(share(args.killed)).await?;
    chaos.in_a_row("scrapes", share(args.scrapes), async |number| chaos.works(number).await.map(drop)).await?;
    chaos.sessions(share(args.sessions)).await?;
    chaos.end().await
}

/// Serves pages whose text comes by script.
async fn site() -> Site {
    let site = Site::start().await;
    site.others(|seen| {
        let path = seen.path.as_str();
        let (kind, body) = if let Some(number) = path.strip_prefix("/data/") {
            ("text/plain", format!("Text of page {number}"))
        } else {
            let number = path.strip_prefix("/p/")?;
            let script = format!(
                "fetch('/data/{number}').then((answer) => answer.text()).then((text) => (root.textContent = text))"
            );
            ("text/html", format!("<!doctype html><div id=root></div><script>{script}</script>"))
        };
        Some(
            Reply { body: body.into(), delay: Duration::from_millis(50), ..Reply::default() }
                .header("content-type", kind),
        )
    });
    site
}

struct Chaos {
    site: Site,
    server: Node,
    team: Team,
}

/// Resource counts at a moment.
#[derive(Debug, Clone, Copy)]
struct Count {
    done: usize,
    rss_mib: f64,
    pss_mib: f64,
    processes: usize,
    ended: usize,
    files: usize,
    sockets: usize,
}

/// Result of a scrape.
struct ScrapeResult {
    status: u16,
    /// Whether the text that comes by script is present.
    whole: bool,
    /// Whether it has a warning.
    warns: bool,
    took: Duration,
}

impl ScrapeResult {
    fn is_right(&self) -> bool {
        self.status == 200 && self.whole
    }

    fn is_empty(&self) -> bool {
        self.status == 200 && !self.whole
    }
}

impl Chaos {
    /// Scrapes once. A timeout is an error.
    async fn scrape(&self, number: usize) -> Result<ScrapeResult> {
        let timeout = u64::try_from(TIMEOUT.as_millis())?;
        let body = json!({"url": self.site.url(&format!("/p/{number}")), "formats": ["markdown"], "maxAge": 0,
            "storeInCache": false, "timeout": timeout});
        let started = Instant::now();
        let answer = tokio::time::timeout(TIMEOUT + GRACE, self.team.post(self.server.addr(), "/v2/scrape", &body));
        let answer = answer.await.with_context(|| format!("page {number} hangs"))??;
        let whole = answer.text().contains(&format!("Text of page {number}"));
        let warns = answer.json()["data"]["warning"].is_string();
        Ok(ScrapeResult { status: answer.status, whole, warns, took: started.elapsed() })
    }

    /// Scrapes once; the page must be complete.
    async fn works(&self, number: usize) -> Result<Duration> {
        let brought = self.scrape(number).await?;
        ensure!(
            brought.is_right(),
            "page {number}: status {}, its text is {}there",
            brought.status,
            if brought.whole { "" } else { "not " }
        );
        Ok(brought.took)
    }

    async fn kill(&self, times: usize) -> Result<()> {
        self.works(0).await.context("before anything was killed")?;
        let scrapes =
            stream::iter((1..=times).map(|number| self.scrape(number))).buffer_unordered(4).collect::<Vec<_>>();
        let mut killed = [0, 0];
        let answers = {
            tokio::pin!(scrapes);
            let mut random = Random::new(u64::from(std::process::id()));
            loop {
                let pause = Duration::from_millis(300 + random.high() % 900);
                tokio::select! {
                    answers = &mut scrapes => break answers,
                    () = tokio::time::sleep(pause) => {
                        let renderer = random.high().is_multiple_of(3);
                        killed[usize::from(renderer)] += usize::from(self.kill_one(renderer)?);
                    }
                }
            }
        };
        let answers = answers.into_iter().collect::<Result<Vec<_>>>()?;
        let slowest = answers.iter().map(|brought| brought.took).max().unwrap_or_default();
        let count = |is: fn(&ScrapeResult) -> bool| answers.iter().filter(|brought| is(brought)).count();
        let (right, empty) = (count(ScrapeResult::is_right), count(ScrapeResult::is_empty));
        let silent = count(|brought| brought.is_empty() && !brought.warns);
        say!(
            "{times} scrapes while Chromium was killed {} times and a renderer {} times: {right} right, {empty} without their text \
             ({silent} of them without a warning), {} refused, 0 hang, slowest {:.1} s",
            killed[0],
            killed[1],
            times - right - empty,
            slowest.as_secs_f64()
        );
        ensure!(silent == 0, "{silent} answers do not say what they lack");
        ensure!(killed[0] > 0, "nothing was killed");
        let next = self.works(times + 1).await.context("after the last death")?;
        say!("the next one works, {:.1} s", next.as_secs_f64());
        Ok(())
    }

    /// Kills a browser, or one of its renderers; returns false when there is none at the moment.
    fn kill_one(&self, renderer: bool) -> Result<bool> {
        let tree = self.server.tree()?;
        let mut of_browser =
            tree.processes.iter().filter(|process| process.name.starts_with(CHROMIUM) && !process.ended);
        let victim = of_browser.find(|process| {
            let line = std::fs::read(format!("/proc/{}/cmdline", process.id)).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).into_owned();
            if renderer {
                line.contains("--type=renderer")
            } else {
                !line.is_empty() && !line.contains("--type=") && !line.contains("crashpad")
            }
        });
        let Some(victim) = victim else { return Ok(false) };
        victim.kill()
    }

    /// Repeats `work`, and checks that no resource grows.
    async fn in_a_row(&self, what: &str, times: usize, work: impl AsyncFn(usize) -> Result<()>) -> Result<()> {
        let mut counts = Vec::new();
        let step = (times / 10).max(1);
        for number in 0..times {
            work(number).await?;
            if (number + 1).is_multiple_of(step) {
                tokio::time::sleep(QUIET).await;
                let count = self.count(number + 1)?;
                say!(
                    "{} {what}: server {:.1} MiB, all {:.1} MiB (PSS), {} processes, {} files, {} sockets",
                    count.done,
                    count.rss_mib,
                    count.pss_mib,
                    count.processes,
                    count.files,
                    count.sockets
                );
                counts.push(count);
            }
        }
        // The first ones fill caches and pools.
        let settled = counts.get(counts.len() / 5..).unwrap_or_default();
        let (Some(first), Some(last)) = (settled.first(), settled.last()) else { return Ok(()) };
        let point = |count: &Count| Point { at: count.done as f64 / 100.0, figure: count.rss_mib };
        let slope = trend::slope(&settled.iter().map(point).collect::<Vec<_>>());
        say!(
            "{times} {what}: {:+.2} MiB of the server a hundred, {:+} processes, {:+} files, {:+} sockets, {} ended and not asked for",
            slope,
            last.processes as i64 - first.processes as i64,
            last.files as i64 - first.files as i64,
            last.sockets as i64 - first.sockets as i64,
            last.ended
        );
        ensure!(slope <= MAX_SLOPE || times < 100, "the server grows by {slope:.2} MiB in a hundred {what}");
        ensure!(last.files <= first.files + MAX_MORE_FILES, "{} files, before {}", last.files, first.files);
        ensure!(last.sockets <= first.sockets + MAX_MORE_FILES, "{} sockets, before {}", last.sockets, first.sockets);
        ensure!(
            last.processes <= first.processes + MAX_MORE_PROCESSES,
            "{} processes, before {}",
            last.processes,
            first.processes
        );
        ensure!(last.ended <= 1, "{} zombie processes", last.ended);
        Ok(())
    }

    fn count(&self, done: usize) -> Result<Count> {
        let tree = self.server.tree()?;
        let ended = tree.processes.iter().filter(|process| process.ended).count();
        let Tree { pss_mib, files, sockets, .. } = tree;
        let rss_mib = self.server.memory()?.now;
        Ok(Count { done, rss_mib, pss_mib, processes: tree.processes.len() - ended, ended, files, sockets })
    }

    async fn sessions(&self, times: usize) -> Result<()> {
        let client = self.team.at(self.server.addr())?;
        let open = || client.send(Method::POST, "/v2/browser", json!({"ttl": 60, "activityTtl": 30}).to_string());
        let close = |id: String| {
            let client = &client;
            async move { client.send(Method::DELETE, &format!("/v2/browser/{id}"), "").await }
        };
        let first = open().await?;
        if first.status == 404 {
            say!("skipped: this server has no sessions");
            return Ok(());
        }
        let id = |answer: &client::Raw| {
            answer.json()["id"].as_str().map(str::to_owned).with_context(|| format!("no session: {}", answer.text()))
        };
        close(id(&first)?).await?;
        let one = async |number: usize| {
            let opened = id(&open().await?)?;
            let page = self.site.url(&format!("/p/{number}"));
            let code = format!("await page.goto('{page}'); await page.textContent('#root')");
            let work = json!({ "code": code, "language": "node" }).to_string();
            let worked = client.send(Method::POST, &format!("/v2/browser/{opened}/execute"), work).await?;
            ensure!(worked.status == 200, "session {number} runs no code: {} {}", worked.status, worked.text());
            let closed = close(opened).await?;
            ensure!(closed.status == 200, "session {number} is not closed: {} {}", closed.status, closed.text());
            Ok(())
        };
        self.in_a_row("sessions", times, one).await
    }

    /// Stops the server and checks that no process outlives it.
    async fn end(mut self) -> Result<()> {
        self.server.terminate()?;
        self.server.ended(Duration::from_secs(30)).await?;
        tokio::time::sleep(QUIET).await;
        let rest = Tree::below(std::process::id())?;
        let left = rest.processes.iter().filter(|process| process.name.starts_with(CHROMIUM) && !process.ended).count();
        say!("after the end of the server: {left} processes of Chromium");
        ensure!(left == 0, "{left} processes of Chromium are left");
        Ok(())
    }
}

//! `cargo xtask chaos search`: kill -9 at random moments while a site is crawled and indexed, with queries all the time. In
//! the end every page is found once, and no query was answered 5xx.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use client::Run;
use lab::{Installation, Node};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use wire::JobStatus;
use xtask::say;

use crate::made_site::MadeSite;
use crate::random::Random;
use crate::team::{Team, shown, whole_crawl};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of kills.
    #[arg(long, default_value_t = 50)]
    times: usize,
    /// Number of pages of the site.
    #[arg(long, default_value_t = 5000)]
    pages: usize,
}

const CREDITS: u64 = 10_000_000;
/// Pages at the same time.
const AT_ONCE: usize = 16;
/// Response time of a page, so that the crawl lasts for many kills.
const PAGE: Duration = Duration::from_millis(150);
/// Timeout of the crawl after the last kill, and until all its pages are indexed.
const PATIENCE: Duration = Duration::from_secs(900);
/// Pause between two queries during the kills.
const QUERY_EVERY: Duration = Duration::from_millis(20);

pub(crate) async fn run(args: Args) -> Result<()> {
    let site = MadeSite::slow(args.pages, PAGE).await;
    let installation = super::installation(site.addr())?.set("worker.lease_s", "3");
    let installation = installation.set("worker.per_host", AT_ONCE.to_string());
    let mut server = installation.server()?;
    let team = Team::with(server.addr(), &json!({ "name": "search", "credits": CREDITS, "rateLimit": 0 })).await?;
    let mut request = whole_crawl(&site.url(0), args.pages + 5, AT_ONCE);
    request["scrapeOptions"]["storeInCache"] = true.into();
    let run = team.crawl(server.addr(), &request).await?;
    let asked = Questions::start(&team, server.addr(), args.pages);
    let mut random = Random::new(u64::from(std::process::id()));
    let mut killed = 0;
    while killed < args.times && !is_over(&team, server.addr(), run).await? {
        tokio::time::sleep(Duration::from_millis(200 + random.high() % 1000)).await;
        server = restart(server, &installation, &asked)?;
        killed += 1;
    }
    let end = team.finished(server.addr(), run, PATIENCE).await?;
    ensure!(end.status == JobStatus::Completed && end.completed == args.pages as u64, "ended as {}", shown(&end));
    // What was read when it was over can be lost in the index alone.
    while killed < args.times {
        tokio::time::sleep(Duration::from_millis(200 + random.high() % 1000)).await;
        server = restart(server, &installation, &asked)?;
        killed += 1;
    }
    let ended = Instant::now();
    let (answered, failed) = asked.stop().await?;
    ensure!(failed.is_empty(), "{} of {answered} queries were answered 5xx: {}", failed.len(), failed[0]);
    every_page_once(&team, server.addr(), &site).await?;
    say!(
        "killed {killed} times while {} pages were crawled and indexed: every page is found, none twice, {:.1} s after the \
         last kill; {answered} queries meanwhile, none answered 5xx",
        args.pages,
        ended.elapsed().as_secs_f64()
    );
    Ok(())
}

async fn is_over(team: &Team, addr: SocketAddr, run: Run) -> Result<bool> {
    Ok(team.status(addr, run).await?.status.is_final())
}

fn restart(server: Node, installation: &Installation, asked: &Questions) -> Result<Node> {
    server.kill()?;
    let server = installation.server()?;
    *asked.addr.lock() = server.addr();
    Ok(server)
}

/// Waits until every page of the site is found by its title, and fails if one is found twice.
async fn every_page_once(team: &Team, addr: SocketAddr, site: &MadeSite) -> Result<()> {
    let started = Instant::now();
    for number in 0..site.pages() {
        let url = site.url(number);
        loop {
            let answer = team.post(addr, "/v2/search", &question(number)).await?;
            ensure!(answer.status == 200, "page {number}: {} {}", answer.status, answer.text());
            let answer = answer.json();
            let found = answer["data"]["web"].as_array().context("no list of pages")?;
            let times = found.iter().filter(|page| page["url"] == url.as_str()).count();
            ensure!(times <= 1, "{url} is found {times} times");
            if times == 1 {
                break;
            }
            ensure!(started.elapsed() < PATIENCE, "{url} is not found: {answer}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    Ok(())
}

fn question(page: usize) -> Value {
    json!({ "query": format!("intitle:\"Page {page}\""), "limit": 10 })
}

/// Queries that go on in the background.
struct Questions {
    addr: Arc<Mutex<SocketAddr>>,
    is_over: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
    failed: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Questions {
    fn start(team: &Team, addr: SocketAddr, pages: usize) -> Self {
        let addr = Arc::new(Mutex::new(addr));
        let (is_over, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let failed = Arc::new(Mutex::new(Vec::new()));
        let (team, at, over, count, errors) =
            (team.clone(), Arc::clone(&addr), Arc::clone(&is_over), Arc::clone(&answered), Arc::clone(&failed));
        let task = tokio::spawn(async move {
            let mut random = Random::new(7);
            while !over.load(Ordering::Relaxed) {
                let addr = *at.lock();
                let page = random.high() as usize % pages;
                // No answer comes from a server that has just been killed.
                if let Ok(answer) = team.post(addr, "/v2/search", &question(page)).await {
                    count.fetch_add(1, Ordering::Relaxed);
                    if answer.status >= 500 {
                        errors.lock().push(format!("{} {}", answer.status, answer.text()));
                    }
                }
                tokio::time::sleep(QUERY_EVERY).await;
            }
        });
        Self { addr, is_over, answered, failed, task }
    }

    /// Ends the queries; returns how many were answered, and the answers of 5xx.
    async fn stop(self) -> Result<(usize, Vec<String>)> {
        self.is_over.store(true, Ordering::Relaxed);
        self.task.await?;
        let failed = std::mem::take(&mut *self.failed.lock());
        Ok((self.answered.load(Ordering::Relaxed), failed))
    }
}

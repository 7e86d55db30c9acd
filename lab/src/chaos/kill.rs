//! `cargo xtask chaos kill`: kill -9 at random moments of crawls of 1 000 pages, first of one process on SQLite, then of a
//! server and a worker on PostgreSQL.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use client::Run;
use lab::{Installation, Node};
use wire::JobStatus;
use xtask::db::Cluster;
use xtask::say;

use super::changes::{self, Changes};
use crate::made_site::MadeSite;
use crate::random::Random;
use crate::team::{Team, shown, whole_crawl};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of kills, half of them with each database.
    #[arg(long, default_value_t = 100)]
    times: usize,
    /// Number of pages of the crawl.
    #[arg(long, default_value_t = 1000)]
    pages: usize,
    /// Lease of jobs in seconds, after which those of a killed process are retried.
    #[arg(long, default_value_t = 3)]
    lease: u64,
    /// Run only with this database: sqlite or postgres.
    #[arg(long)]
    only: Option<String>,
    /// Track changes: the crawls have the format `changeTracking`, the site changes between them, and at the end the kept
    /// versions and their bodies are counted.
    #[arg(long)]
    changes: bool,
}

/// Timeout until a page is completed after a kill.
const MAX_RESUME: Duration = Duration::from_secs(90);
const CREDITS: u64 = 1_000_000;
/// Minimum number of crawls that track changes, if none of them ends before its kills.
const MIN_CRAWLS: usize = 3;
/// Response time of a page, so that a crawl lasts for many kills.
const PAGE: Duration = Duration::from_millis(60);

pub(crate) async fn run(args: Args) -> Result<()> {
    let wanted = |name: &str| args.only.as_deref().is_none_or(|only| only == name);
    let both = args.only.is_none();
    if wanted("sqlite") {
        let times = if both { args.times / 2 } else { args.times };
        Experiment::new("SQLite", &args, None).await?.run(times).await?;
    }
    if wanted("postgres") {
        let times = if both { args.times - args.times / 2 } else { args.times };
        let cluster = Cluster::start()?;
        Experiment::new("PostgreSQL, server and worker", &args, Some(cluster.url())).await?.run(times).await?;
    }
    Ok(())
}

struct Experiment {
    name: &'static str,
    site: MadeSite,
    installation: Installation,
    server: Option<Node>,
    /// Separate worker, if the server does not run jobs.
    worker: Option<Node>,
    apart: bool,
    random: Random,
    longest: Duration,
    /// What is checked of the kept versions, if the crawls track changes.
    changes: Option<Changes>,
}

impl Experiment {
    async fn new(name: &'static str, args: &Args, database: Option<String>) -> Result<Self> {
        let site = match args.changes {
            true => MadeSite::changing(args.pages, PAGE).await,
            false => MadeSite::slow(args.pages, PAGE).await,
        };
        let mut installation = super::installation(site.addr())?.set("worker.lease_s", args.lease.to_string());
        let apart = database.is_some();
        let changes = args.changes.then(|| Changes::new(installation.data(), database.clone()));
        if changes.is_some() {
            installation = installation.set("worker.every_s", "1");
        }
        if let Some(url) = database {
            installation = installation.set("store.url", url).set("worker.embedded", "false");
        }
        let random = Random::new(u64::from(std::process::id()));
        let (server, worker, longest) = (None, None, Duration::ZERO);
        Ok(Self { name, site, installation, server, worker, apart, random, longest, changes })
    }

    async fn run(mut self, times: usize) -> Result<()> {
        self.start()?;
        let addr = self.addr()?;
        let team = Team::new(addr, "kill", CREDITS).await?;
        let (mut killed, mut crawls) = (0, 0_usize);
        // One more crawl without kills compares everything that the kills may have spoilt.
        let mut is_to_compare = self.changes.is_some();
        while killed < times || is_to_compare {
            is_to_compare &= killed < times;
            crawls += 1;
            // Versions are replaced by those of the next crawl.
            let most = if self.changes.is_some() { times.div_ceil(MIN_CRAWLS) } else { times };
            killed += self.crawl(&team, most.min(times - killed)).await?;
            let left = team.credits(self.addr()?).await?;
            let spent = i64::try_from(crawls * self.site.pages())?;
            ensure!(left == CREDITS as i64 - spent, "{left} credits are left, {spent} should be spent");
        }
        say!(
            "{}: killed {killed} times in {crawls} crawls of {} pages: 0 lost, 0 charged twice, resumed after {:.1} s at most",
            self.name,
            self.site.pages(),
            self.longest.as_secs_f64()
        );
        match &mut self.changes {
            Some(changes) => changes.count(self.site.pages()).await,
            None => Ok(()),
        }
    }

    /// Runs one crawl with up to `max` kills, and returns their number.
    async fn crawl(&mut self, team: &Team, max: usize) -> Result<usize> {
        let pages = self.site.pages();
        let mut request = whole_crawl(&self.site.url(0), pages + 5, 4);
        if self.changes.is_some() {
            request["scrapeOptions"]["formats"] = changes::formats();
        }
        let run = team.crawl(self.addr()?, &request).await?;
        let mut killed = 0;
        loop {
            let moment = Duration::from_millis(100 + self.random.high() % 1200);
            tokio::time::sleep(moment).await;
            let progress = team.status(self.addr()?, run).await?;
            if progress.status.is_final() || killed == max {
                break;
            }
            killed += 1;
            self.kill()?;
            let resumed = self.resumed(team, run, progress.completed).await?;
            self.longest = self.longest.max(resumed);
        }
        let end = team.finished(self.addr()?, run, Duration::from_secs(600)).await?;
        ensure!(end.status == JobStatus::Completed, "ended as {}", shown(&end));
        ensure!(end.completed == pages as u64, "{} of {pages} pages", end.completed);
        ensure!(end.credits_used == pages as i64, "{} credits for {pages} pages", end.credits_used);
        let documents = team.addresses(self.addr()?, run).await?;
        ensure!(documents.len() == pages, "{} documents of {pages} pages", documents.len());
        if let Some(changes) = &mut self.changes {
            let addr = self.server.as_ref().map(Node::addr).context("no server runs")?;
            changes.check(team, addr, run).await?;
            self.site.publish();
        }
        Ok(killed)
    }

    /// Returns the time until another page, or the job, is completed.
    async fn resumed(&self, team: &Team, run: Run, before: u64) -> Result<Duration> {
        let started = Instant::now();
        loop {
            let progress = team.status(self.addr()?, run).await?;
            if progress.completed > before || progress.status.is_final() {
                return Ok(started.elapsed());
            }
            ensure!(started.elapsed() < MAX_RESUME, "not resumed within {} s", MAX_RESUME.as_secs());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn start(&mut self) -> Result<()> {
        if self.server.is_none() {
            self.server = Some(self.installation.server()?);
        }
        if self.apart && self.worker.is_none() {
            self.worker = Some(self.installation.worker()?);
        }
        Ok(())
    }

    /// Kills a process, mostly the one that runs jobs, and starts it again.
    fn kill(&mut self) -> Result<()> {
        let victim =
            if self.apart && !self.random.high().is_multiple_of(4) { self.worker.take() } else { self.server.take() };
        victim.map_or(Ok(()), Node::kill)?;
        self.start()
    }

    fn addr(&self) -> Result<std::net::SocketAddr> {
        self.server.as_ref().map(Node::addr).context("no server runs")
    }
}

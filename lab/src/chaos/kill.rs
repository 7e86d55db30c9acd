//! `cargo xtask chaos kill`: kill -9 at random moments of crawls of 1 000 pages. First one process on SQLite, then a server and a
//! worker on PostgreSQL.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::client::{Team, crawl};
use super::node::{Node, Place};
use crate::db::Cluster;
use crate::made_site::MadeSite;
use crate::say;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How often; half of it with each database.
    #[arg(long, default_value_t = 100)]
    times: usize,
    /// Pages of the crawl.
    #[arg(long, default_value_t = 1000)]
    pages: usize,
    /// Seconds after which jobs of a killed process are done again.
    #[arg(long, default_value_t = 3)]
    lease: u64,
    /// Only with this database: sqlite or postgres.
    #[arg(long)]
    only: Option<String>,
}

/// Longest time until a page is done again.
const RESUME: Duration = Duration::from_secs(90);
const CREDITS: u64 = 1_000_000;
/// How long a page takes, so that a crawl lives to see many deaths.
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
    place: Place,
    server: Option<Node>,
    /// A process of its own when the server only serves.
    worker: Option<Node>,
    apart: bool,
    random: u64,
    longest: Duration,
}

impl Experiment {
    async fn new(name: &'static str, args: &Args, database: Option<String>) -> Result<Self> {
        let site = MadeSite::slow(args.pages, PAGE).await;
        let mut settings = vec![("QUARRY__WORKER__LEASE_S", args.lease.to_string())];
        let apart = database.is_some();
        if let Some(url) = database {
            settings.push(("QUARRY__STORE__URL", url));
            settings.push(("QUARRY__WORKER__EMBEDDED", "false".to_owned()));
        }
        let place = Place::new(site.addr(), &settings)?;
        let seed = u64::from(std::process::id());
        Ok(Self { name, site, place, server: None, worker: None, apart, random: seed, longest: Duration::ZERO })
    }

    async fn run(mut self, times: usize) -> Result<()> {
        self.start()?;
        let addr = self.addr()?;
        let team = Team::new(addr, "kill", CREDITS).await?;
        let (mut killed, mut crawls) = (0, 0_usize);
        while killed < times {
            crawls += 1;
            killed += self.crawl(&team, times - killed).await?;
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
        Ok(())
    }

    /// One crawl with up to `most` deaths, and how many there were.
    async fn crawl(&mut self, team: &Team, most: usize) -> Result<usize> {
        let pages = self.site.pages();
        let request = crawl(&self.site.url(0), pages + 5, 4);
        let job = team.start(self.addr()?, "/v2/crawl", &request).await?;
        let mut killed = 0;
        loop {
            let moment = Duration::from_millis(100 + self.random() % 1200);
            tokio::time::sleep(moment).await;
            let status = team.status(self.addr()?, &job).await?;
            if status["status"] != "scraping" || killed == most {
                break;
            }
            killed += 1;
            let before = status["completed"].as_u64().unwrap_or(0);
            self.kill()?;
            let resumed = self.resumed(team, &job, before).await?;
            self.longest = self.longest.max(resumed);
        }
        let end = team.finished(self.addr()?, &job, Duration::from_secs(600)).await?;
        ensure!(end["status"] == "completed", "ended as {end}");
        let count = |key: &str| end[key].as_u64().unwrap_or(0) as usize;
        ensure!(count("completed") == pages, "{} of {pages} pages", count("completed"));
        ensure!(count("creditsUsed") == pages, "{} credits for {pages} pages", count("creditsUsed"));
        let documents = team.documents(self.addr()?, &job).await?;
        ensure!(documents.len() == pages, "{} documents of {pages} pages", documents.len());
        Ok(killed)
    }

    /// How long it takes until a page more is done, or the job.
    async fn resumed(&self, team: &Team, job: &str, before: u64) -> Result<Duration> {
        let started = Instant::now();
        loop {
            let status = team.status(self.addr()?, job).await?;
            if status["completed"].as_u64().unwrap_or(0) > before || status["status"] != "scraping" {
                return Ok(started.elapsed());
            }
            ensure!(started.elapsed() < RESUME, "not resumed within {} s", RESUME.as_secs());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn start(&mut self) -> Result<()> {
        if self.server.is_none() {
            self.server = Some(self.place.server(&[])?);
        }
        if self.apart && self.worker.is_none() {
            self.worker = Some(self.place.worker()?);
        }
        Ok(())
    }

    /// Kills a process, mostly the one that works, and starts it again.
    fn kill(&mut self) -> Result<()> {
        let victim =
            if self.apart && !self.random().is_multiple_of(4) { self.worker.take() } else { self.server.take() };
        victim.map_or(Ok(()), Node::kill)?;
        self.start()
    }

    fn addr(&self) -> Result<std::net::SocketAddr> {
        self.server.as_ref().map(|server| server.addr).ok_or_else(|| anyhow::anyhow!("no server runs"))
    }

    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random >> 33
    }
}

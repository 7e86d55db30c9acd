//! `cargo xtask chaos cluster`: two machines with a server and a worker each, which share only a PostgreSQL and an
//! S3-compatible store. Work started on one is watched, read and stopped on the other.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use client::Run;
use lab::{Node, service};
use serde_json::{Value, json};
use testkit::Site;
use wire::JobStatus;
use xtask::db::Cluster;
use xtask::say;

use super::watch::{Texts, add, watch};
use crate::made_site::MadeSite;
use crate::moto::Moto;
use crate::random::Random;
use crate::team::{Team, shown, whole_crawl};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of pages of the crawl.
    #[arg(long, default_value_t = 500)]
    pages: usize,
}

/// Response time of a page.
const PAGE: Duration = Duration::from_millis(50);
/// Concurrent pages of both workers together.
const AT_ONCE: usize = 8;
/// Timeout of one job.
const PATIENCE: Duration = Duration::from_secs(300);
const CREDITS: u64 = 100_000;
/// Numbers on a large page: enough for its document to be stored as a blob instead of in a row.
const NUMBERS: u64 = 20_000;

pub(crate) async fn run(args: Args) -> Result<()> {
    let experiment = Experiment::new(args.pages).await?;
    let (run, texts) = experiment.crawled().await?;
    experiment.shared(run, &texts).await?;
    experiment.stored(&texts).await?;
    experiment.large().await?;
    experiment.cancelled().await
}

struct Experiment {
    machines: [Machine; 2],
    team: Team,
    site: MadeSite,
    bucket: Moto,
    /// Dropped after the processes that use it.
    _cluster: Cluster,
    large: Site,
}

/// A server and a worker with their own data folder.
struct Machine {
    server: Node,
    worker: Node,
}

impl Machine {
    fn start(site: SocketAddr, settings: &[(&'static str, String)]) -> Result<Self> {
        let installation = super::installation(site)?.set_all(settings.iter().cloned());
        Ok(Self { server: installation.server()?, worker: installation.worker()? })
    }
}

impl Experiment {
    async fn new(pages: usize) -> Result<Self> {
        let (site, large) = (MadeSite::slow(pages, PAGE).await, Site::start().await);
        large.html("/", large_page());
        let (cluster, bucket) = (Cluster::start()?, Moto::start().await?);
        let mut settings = bucket.settings();
        settings.extend([
            ("store.url", cluster.url()),
            ("egress.allow", format!("{},{}", site.addr(), large.addr())),
            ("worker.embedded", "false".to_owned()),
            ("worker.per_host", AT_ONCE.to_string()),
            // A worker that could run all of them would claim the next ones with its commits, and leave none to the other.
            ("queues.pages", (AT_ONCE / 2).to_string()),
        ]);
        let machines = [Machine::start(site.addr(), &settings)?, Machine::start(site.addr(), &settings)?];
        let team = Team::new(machines[0].server.addr(), "cluster", CREDITS).await?;
        Ok(Self { machines, team, site, bucket, _cluster: cluster, large })
    }

    fn servers(&self) -> [SocketAddr; 2] {
        self.machines.each_ref().map(|machine| machine.server.addr())
    }

    /// Starts a crawl on the first server and watches it on the second one. Returns the run and its texts.
    async fn crawled(&self) -> Result<(Run, Texts)> {
        let ([first, second], pages) = (self.servers(), self.site.pages());
        let run = self.start(first).await?;
        let started = Instant::now();
        let (watched, ended) = tokio::join!(
            async { watch(second, &self.team, run, PATIENCE).await.map(|watched| (watched, started.elapsed())) },
            async { self.team.finished(first, run, PATIENCE).await.map(|_| started.elapsed()) },
        );
        let ((watched, told), ended) = (watched?, ended?);
        let (end, whole) = (&watched.end, (JobStatus::Completed, pages as u64));
        ensure!((end.status, end.completed) == whole, "the last message is {}", shown(end));
        ensure!(watched.texts.len() == pages, "{} of {pages} pages were seen", watched.texts.len());
        say!(
            "started on server 1, watched on server 2: {pages} pages, each once, {} of them in messages of their own; \
             the first after {:.0} ms, the end after {:.1} s, {:.1} s after server 1 knew of it",
            watched.messages,
            watched.first.as_secs_f64() * 1e3,
            told.as_secs_f64(),
            told.saturating_sub(ended).as_secs_f64()
        );
        Ok((run, watched.texts))
    }

    /// Checks that both servers report the same crawl, and that both workers took part.
    async fn shared(&self, run: Run, seen: &Texts) -> Result<()> {
        let pages = self.site.pages();
        for addr in self.servers() {
            let end = self.team.status(addr, run).await?;
            let whole = (JobStatus::Completed, pages as u64, pages as u64, pages as i64);
            let found = (end.status, end.total, end.completed, end.credits_used);
            ensure!(found == whole, "{addr} says it ended as {}, not with {pages} pages", shown(&end));
            let left = self.team.credits(addr).await?;
            ensure!(left == CREDITS as i64 - pages as i64, "{addr} says that {left} credits are left");
            ensure!(self.texts(addr, run).await? == *seen, "{addr} has other documents than the watcher saw");
        }
        say!("both servers: completed, {pages} pages, {pages} credits, the documents that the watcher saw");
        let mut shares = Vec::with_capacity(self.machines.len());
        for machine in &self.machines {
            let share = pages_done(machine.worker.addr()).await?;
            ensure!(share > 0, "a worker had no part in it");
            shares.push(format!("{share} ({} %)", share * 100 / pages));
        }
        say!("pages of worker 1 and 2: {}", shares.join(" and "));
        Ok(())
    }

    /// Checks that the servers find the copies that a worker has cached.
    async fn stored(&self, texts: &Texts) -> Result<()> {
        let url = self.site.url(self.site.pages() / 2);
        for addr in self.servers() {
            let answer = self.team.post(addr, "/v2/scrape", &json!({ "url": url, "maxAge": 3_600_000 })).await?.json();
            let document = &answer["data"];
            ensure!(document["metadata"]["cacheState"] == "hit", "{addr} has no copy: {answer}");
            let text = document["markdown"].as_str();
            ensure!(text == texts.get(&url).map(String::as_str), "{addr} makes another text of its copy");
        }
        say!("both servers answer from the copies");
        Ok(())
    }

    /// Checks a document and a page that are stored in the bucket instead of the database.
    async fn large(&self) -> Result<()> {
        let [first, second] = self.servers();
        let urls = [self.large.url("/")];
        let request = json!({ "urls": urls, "formats": ["markdown"], "onlyMainContent": false, "maxAge": 0 });
        let run = self.team.batch(first, &request).await?;
        let watched = watch(second, &self.team, run, PATIENCE).await?;
        let (end, pages) = (&watched.end, watched.texts.len());
        ensure!(end.status == JobStatus::Completed && pages == 1, "the last message is {}", shown(end));
        for addr in self.servers() {
            ensure!(self.texts(addr, run).await? == watched.texts, "{addr} has another document than the watcher saw");
        }
        for kind in ["documents", "content"] {
            let kept = self.bucket.count(&format!("{kind}/")).await?;
            ensure!(kept == 1, "{kept} of {kind} are in the bucket");
        }
        let bytes: usize = watched.texts.values().map(String::len).sum();
        say!("a document of {} KB and its page are in the bucket, both servers and the watcher have it", bytes / 1000);
        Ok(())
    }

    /// Starts a crawl on the first server and cancels it on the second one.
    async fn cancelled(&self) -> Result<()> {
        let [first, second] = self.servers();
        let before = self.team.credits(first).await?;
        let run = self.start(first).await?;
        let (watched, stopped) = tokio::join!(watch(first, &self.team, run, PATIENCE), self.stop(second, run));
        stopped?;
        let last = watched?.end;
        ensure!(last.status == JobStatus::Cancelled, "the last message is {}", shown(&last));
        // Results that the workers had in progress are discarded.
        tokio::time::sleep(Duration::from_secs(3)).await;
        for addr in [first, second] {
            let end = self.team.status(addr, run).await?;
            let same =
                (end.status, end.completed, end.credits_used) == (last.status, last.completed, last.credits_used);
            ensure!(same, "{addr} says that it ended as {}, not as {}", shown(&end), shown(&last));
            let spent = before - self.team.credits(addr).await?;
            ensure!(end.credits_used == spent, "{addr} says that {spent} credits were spent: {}", shown(&end));
        }
        let pages = last.completed;
        say!("cancelled on server 2 after {pages} pages: cancelled on both, told to the watcher on server 1");
        Ok(())
    }

    /// Starts a crawl of the site that caches its pages.
    async fn start(&self, addr: SocketAddr) -> Result<Run> {
        let mut request = whole_crawl(&self.site.url(0), self.site.pages() + 5, AT_ONCE);
        request["scrapeOptions"]["storeInCache"] = Value::Bool(true);
        self.team.crawl(addr, &request).await
    }

    /// Cancels a crawl once it has some pages.
    async fn stop(&self, addr: SocketAddr, run: Run) -> Result<()> {
        loop {
            let progress = self.team.status(addr, run).await?;
            let working = progress.status == JobStatus::Scraping;
            ensure!(working, "it was over before it could be stopped: {}", shown(&progress));
            if progress.completed >= 10 {
                self.team.at(addr)?.cancel(run).await?;
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the texts of all documents, as read from this server.
    async fn texts(&self, addr: SocketAddr, run: Run) -> Result<Texts> {
        let mut texts = Texts::new();
        self.team.documents(addr, run, 100, |document| add(&mut texts, &document)).await?;
        Ok(texts)
    }
}

/// Returns the number of pages that a worker has completed, from its metrics.
async fn pages_done(worker: SocketAddr) -> Result<usize> {
    let metrics = service::get(worker, "/metrics").await?.text();
    let count = metrics.lines().find_map(|line| line.strip_prefix("quarry_page_seconds_count "));
    // The metric is missing until the worker has completed one.
    Ok(count.map_or(Ok(0), |count| count.trim().parse())?)
}

/// Generates a page of numbers that compress badly.
fn large_page() -> String {
    let mut html = "<!doctype html><title>Numbers</title><main><h1>Numbers</h1>".to_owned();
    let mut random = Random::new(1);
    for number in 0..NUMBERS {
        html.push_str(if number % 100 == 0 { "<p>" } else { " " });
        html.push_str(&format!("{:016x}", random.next()));
    }
    html.push_str("</main>");
    html
}

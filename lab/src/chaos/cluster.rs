//! `cargo xtask chaos cluster`: two machines with a server and a worker each. They share nothing but one PostgreSQL and
//! one S3-compatible store. What is started on one is watched, read and stopped on the other.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use testkit::Site;

use super::client::{Team, crawl};
use super::node::{Node, Place};
use super::watch::{Texts, add, watch};
use crate::db::Cluster;
use crate::hostile::http;
use crate::made_site::MadeSite;
use crate::moto::Moto;
use crate::say;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pages of the crawl.
    #[arg(long, default_value_t = 500)]
    pages: usize,
}

/// How long a page takes.
const PAGE: Duration = Duration::from_millis(50);
/// Pages at a time, of both workers together.
const AT_ONCE: usize = 8;
/// Longest time for one job.
const PATIENCE: Duration = Duration::from_secs(300);
const CREDITS: u64 = 100_000;
/// Numbers on a large page: with so many, its document is too large for a row and becomes a blob.
const NUMBERS: u64 = 20_000;

pub(crate) async fn run(args: Args) -> Result<()> {
    let experiment = Experiment::new(args.pages).await?;
    let (job, texts) = experiment.crawled().await?;
    experiment.shared(&job, &texts).await?;
    experiment.stored(&texts).await?;
    experiment.large().await?;
    experiment.cancelled().await
}

struct Experiment {
    machines: [Machine; 2],
    team: Team,
    site: MadeSite,
    bucket: Moto,
    /// Ends after the processes that use it.
    _cluster: Cluster,
    large: Site,
}

/// A server and a worker with a data folder of their own.
struct Machine {
    server: Node,
    worker: Node,
    _place: Place,
}

impl Machine {
    fn start(site: SocketAddr, settings: &[(&str, String)]) -> Result<Self> {
        let place = Place::new(site, settings)?;
        Ok(Self { server: place.server(&[])?, worker: place.worker()?, _place: place })
    }
}

impl Experiment {
    async fn new(pages: usize) -> Result<Self> {
        let (site, large) = (MadeSite::slow(pages, PAGE).await, Site::start().await);
        large.html("/", large_page());
        let (cluster, bucket) = (Cluster::start()?, Moto::start().await?);
        let mut settings = bucket.settings();
        settings.extend([
            ("QUARRY__STORE__URL", cluster.url()),
            ("QUARRY__EGRESS__ALLOW", format!("{},{}", site.addr(), large.addr())),
            ("QUARRY__WORKER__EMBEDDED", "false".to_owned()),
            ("QUARRY__WORKER__PER_HOST", AT_ONCE.to_string()),
        ]);
        let machines = [Machine::start(site.addr(), &settings)?, Machine::start(site.addr(), &settings)?];
        let team = Team::new(machines[0].server.addr, "cluster", CREDITS).await?;
        Ok(Self { machines, team, site, bucket, _cluster: cluster, large })
    }

    fn servers(&self) -> [SocketAddr; 2] {
        self.machines.each_ref().map(|machine| machine.server.addr)
    }

    /// Starts a crawl on the first server and watches it on the second one. Gives the job and what was seen of it.
    async fn crawled(&self) -> Result<(String, Texts)> {
        let ([first, second], pages) = (self.servers(), self.site.pages());
        let job = self.start(first).await?;
        let started = Instant::now();
        let (watched, ended) = tokio::join!(
            async { watch(second, &self.team, &job, PATIENCE).await.map(|watched| (watched, started.elapsed())) },
            async { self.team.finished(first, &job, PATIENCE).await.map(|_| started.elapsed()) },
        );
        let ((watched, told), ended) = (watched?, ended?);
        ensure!(watched.last["type"] == "done", "the last message is {}", watched.last);
        ensure!(watched.last["data"]["completed"] == pages as u64, "the last message is {}", watched.last);
        ensure!(watched.texts.len() == pages, "{} of {pages} pages were seen", watched.texts.len());
        say!(
            "started on server 1, watched on server 2: {pages} pages, each once, {} of them in messages of their own; \
             the first after {:.0} ms, the end after {:.1} s, {:.1} s after server 1 knew of it",
            watched.messages,
            watched.first.as_secs_f64() * 1e3,
            told.as_secs_f64(),
            told.saturating_sub(ended).as_secs_f64()
        );
        Ok((job, watched.texts))
    }

    /// Both servers say the same of the crawl, and both workers had a part in it.
    async fn shared(&self, job: &str, seen: &Texts) -> Result<()> {
        let pages = self.site.pages();
        for addr in self.servers() {
            let end = self.team.status(addr, job).await?;
            ensure!(end["status"] == "completed", "{addr} says it ended as {end}");
            for key in ["total", "completed", "creditsUsed"] {
                ensure!(end[key] == pages as u64, "{addr} says that {key} is {}, not {pages}", end[key]);
            }
            let left = self.team.credits(addr).await?;
            ensure!(left == CREDITS as i64 - pages as i64, "{addr} says that {left} credits are left");
            ensure!(self.texts(addr, job).await? == *seen, "{addr} has other documents than the watcher saw");
        }
        say!("both servers: completed, {pages} pages, {pages} credits, the documents that the watcher saw");
        let mut shares = Vec::with_capacity(self.machines.len());
        for machine in &self.machines {
            let share = pages_done(machine.worker.addr).await?;
            ensure!(share > 0, "a worker had no part in it");
            shares.push(format!("{share} ({} %)", share * 100 / pages));
        }
        say!("pages of worker 1 and 2: {}", shares.join(" and "));
        Ok(())
    }

    /// What a worker has put into the bucket, the servers find there.
    async fn stored(&self, texts: &Texts) -> Result<()> {
        let (pages, bodies) = (self.site.pages(), self.bucket.count("content/").await?);
        ensure!(bodies == pages, "{bodies} bodies of {pages} pages are in the bucket");
        let url = self.site.url(pages / 2);
        for addr in self.servers() {
            let answer = self.team.post(addr, "/v2/scrape", &json!({ "url": url, "maxAge": 3_600_000 })).await?.json();
            let document = &answer["data"];
            ensure!(document["metadata"]["cacheState"] == "hit", "{addr} has no copy: {answer}");
            let text = document["markdown"].as_str();
            ensure!(text == texts.get(&url).map(String::as_str), "{addr} makes another text of its copy");
        }
        say!("{bodies} bodies are in the bucket, both servers answer from them");
        Ok(())
    }

    /// A document that is kept in the bucket and not in the database.
    async fn large(&self) -> Result<()> {
        let [first, second] = self.servers();
        let urls = [self.large.url("/")];
        let request = json!({ "urls": urls, "formats": ["markdown"], "onlyMainContent": false, "maxAge": 0 });
        let job = self.team.start(first, "/v2/batch/scrape", &request).await?;
        let watched = watch(second, &self.team, &job, PATIENCE).await?;
        ensure!(watched.last["type"] == "done" && watched.texts.len() == 1, "the last message is {}", watched.last);
        for addr in self.servers() {
            ensure!(self.texts(addr, &job).await? == watched.texts, "{addr} has another document than the watcher saw");
        }
        let kept = self.bucket.count("documents/").await?;
        ensure!(kept == 1, "{kept} documents are in the bucket");
        let bytes: usize = watched.texts.values().map(String::len).sum();
        say!("a document of {} KB is in the bucket, both servers and the watcher have it", bytes / 1000);
        Ok(())
    }

    /// A crawl that was started on the first server is stopped on the second one.
    async fn cancelled(&self) -> Result<()> {
        let [first, second] = self.servers();
        let before = self.team.credits(first).await?;
        let job = self.start(first).await?;
        let (watched, stopped) = tokio::join!(watch(first, &self.team, &job, PATIENCE), self.stop(second, &job));
        stopped?;
        let last = watched?.last;
        ensure!(last["status"] == "cancelled", "the last message is {last}");
        // What the workers had in hand comes to nothing.
        tokio::time::sleep(Duration::from_secs(3)).await;
        for addr in [first, second] {
            let end = self.team.status(addr, &job).await?;
            for key in ["status", "completed", "creditsUsed"] {
                ensure!(end[key] == last[key], "{addr} says that {key} is {}, not {}", end[key], last[key]);
            }
            let spent = before - self.team.credits(addr).await?;
            ensure!(end["creditsUsed"] == spent, "{addr} says that {spent} credits were spent: {end}");
        }
        let pages = &last["completed"];
        say!("cancelled on server 2 after {pages} pages: cancelled on both, told to the watcher on server 1");
        Ok(())
    }

    /// Starts a crawl of the site that leaves its pages in the cache.
    async fn start(&self, addr: SocketAddr) -> Result<String> {
        let mut request = crawl(&self.site.url(0), self.site.pages() + 5, AT_ONCE);
        request["scrapeOptions"]["storeInCache"] = Value::Bool(true);
        self.team.start(addr, "/v2/crawl", &request).await
    }

    /// Stops a crawl once it has some pages.
    async fn stop(&self, addr: SocketAddr, job: &str) -> Result<()> {
        loop {
            let status = self.team.status(addr, job).await?;
            ensure!(status["status"] == "scraping", "it was over before it could be stopped: {status}");
            if status["completed"].as_u64().is_some_and(|pages| pages >= 10) {
                return self.team.cancel(addr, job).await;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// All documents, as this server gives them.
    async fn texts(&self, addr: SocketAddr, job: &str) -> Result<Texts> {
        let mut texts = Texts::new();
        loop {
            let chunk = self.team.read(addr, &format!("{job}?skip={}&limit=100", texts.len())).await?;
            let data = chunk["data"].as_array().with_context(|| format!("no data in {chunk}"))?;
            if data.is_empty() {
                return Ok(texts);
            }
            data.iter().try_for_each(|document| add(&mut texts, document))?;
        }
    }
}

/// How many pages a worker has made documents of, as it counted them.
async fn pages_done(worker: SocketAddr) -> Result<usize> {
    let metrics = http::get(worker, "/metrics", "").await?.text();
    let count = metrics.lines().find_map(|line| line.strip_prefix("quarry_page_seconds_count "));
    // A worker that has done none does not know of the figure yet.
    Ok(count.map_or(Ok(0), |count| count.trim().parse())?)
}

/// A page of numbers that compress badly.
fn large_page() -> String {
    let mut html = "<!doctype html><title>Numbers</title><main><h1>Numbers</h1>".to_owned();
    let mut random = 1_u64;
    for number in 0..NUMBERS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        html.push_str(if number % 100 == 0 { "<p>" } else { " " });
        html.push_str(&format!("{random:016x}"));
    }
    html.push_str("</main>");
    html
}

//! `cargo xtask bench monitors`: many monitors of one page each that are due at once, beside a batch of the same pages and,
//! if asked for, changedetection.io.

mod peer;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base::{Clock, SystemClock, Timestamp};
use chrono::{TimeDelta, Timelike};
use client::{Client, Run};
use lab::{Node, service};
use serde_json::{Value, json};
use wire::{JobStatus, MonitorView, MonitorsQuery, ResultsQuery};
use xtask::db::Cluster;
use xtask::say;

use super::load;
use crate::made_site::MadeSite;
use crate::monitor::pages_target;

/// Arguments of `bench monitors`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of monitors, and of pages of the batch.
    #[arg(long, default_value_t = 2000)]
    monitors: usize,
    /// Maximum number of concurrent requests to the site.
    #[arg(long, default_value_t = 16)]
    per_host: u32,
    /// Run only with this database: sqlite or postgres.
    #[arg(long)]
    only: Option<String>,
    /// Measure changedetection.io too, which is installed from PyPI the first time.
    #[arg(long)]
    peer: bool,
    /// Path of a built server, instead of building one.
    #[arg(long)]
    server: Option<PathBuf>,
}

/// Connections that make monitors.
const CONNECTIONS: usize = 8;
/// Monitors that are surely made in a second.
const MADE_PER_SECOND: usize = 25;
/// Pause between two looks.
const POLL: Duration = Duration::from_millis(100);
/// Timeout of a round.
const PATIENCE: Duration = Duration::from_secs(900);
/// Number of monitors in an answer.
const LISTED: usize = 100;

/// Prints a line for each round and the ratios; fails when a check or a page is missing.
pub(crate) async fn run(args: Args) -> Result<()> {
    let program = super::server(args.server.as_ref())?;
    let site = MadeSite::start(args.monitors).await;
    say!("{} pages of {} KB", args.monitors, site.page(1).len() / 1000);
    let wanted = |name: &str| args.only.as_deref().is_none_or(|only| only == name);
    let mut best = None;
    if wanted("sqlite") {
        best = Some(rounds(&args, &site, &program, "SQLite", None).await?);
    }
    if wanted("postgres") {
        let cluster = Cluster::durable()?;
        let same = rounds(&args, &site, &program, "PostgreSQL", Some(cluster.url())).await?;
        best = best.or(Some(same));
    }
    if args.peer {
        let own = best.context("--peer needs a database")?;
        let peer = peer::measure(&site).await?;
        peer.tell("changedetection.io, checks of unchanged pages");
        say!("checks per processor second: {:.1} × changedetection.io", peer.cpu_ms() / own.cpu_ms());
    }
    Ok(())
}

/// Figures of a round.
#[derive(Debug, Clone, Copy)]
struct Figures {
    number: usize,
    took: Duration,
    cpu: Duration,
}

impl Figures {
    fn tell(&self, name: &str) {
        let rate = self.number as f64 / self.took.as_secs_f64();
        say!(
            "{name}: {} in {:.1} s, {rate:.0}/s, CPU {:.2} ms each",
            self.number,
            self.took.as_secs_f64(),
            self.cpu_ms()
        );
    }

    fn cpu_ms(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e3 / self.number as f64
    }
}

/// Measures a server, and returns the figures of checks of unchanged pages.
async fn rounds(args: &Args, site: &MadeSite, program: &Path, name: &str, database: Option<String>) -> Result<Figures> {
    let installation = super::installation(program, &site.addr().to_string())?
        .set("worker.per_host", args.per_host.to_string())
        .set("monitors.max_per_team", args.monitors.to_string())
        .set_all(database.map(|url| ("store.url", url)));
    let server = installation.server()?;
    let bench = Bench { server: &server, client: server.client(None)?, site, number: args.monitors };
    let due = bench.create().await?;
    let first = bench.checks(due, 1, "new").await?;
    first.tell(&format!("{name}, checks of new pages"));
    let batch = bench.batch().await?;
    batch.tell(&format!("{name}, pages of a batch"));
    let due = bench.reschedule().await?;
    let second = bench.checks(due, 2, "same").await?;
    second.tell(&format!("{name}, checks of unchanged pages"));
    let [new, same] = [first, second].map(|figures| figures.cpu_ms() / batch.cpu_ms());
    say!("{name}: a check of a new page costs {new:.2} × a page of a batch, of an unchanged one {same:.2} ×");
    Ok(second)
}

struct Bench<'a> {
    server: &'a Node,
    client: Client,
    site: &'a MadeSite,
    number: usize,
}

impl Bench<'_> {
    /// Creates all monitors for a moment in the future, and returns it.
    async fn create(&self) -> Result<Timestamp> {
        let due = self.moment();
        let request = |number: usize| {
            let target = pages_target(&[self.site.url(number)]);
            let body = json!({ "name": number.to_string(), "schedule": schedule(due), "targets": [target] });
            load::post(&self.address(), "/v2/monitor", &body.to_string())
        };
        self.send((0..self.number).map(request).collect(), due).await?;
        Ok(due)
    }

    /// Sets the schedule of all monitors to another moment in the future, and returns it.
    async fn reschedule(&self) -> Result<Timestamp> {
        let due = self.moment();
        let body = json!({ "schedule": schedule(due) }).to_string();
        let request =
            |monitor: &MonitorView| load::patch(&self.address(), &format!("/v2/monitor/{}", monitor.id), &body);
        let requests = self.monitors().await?.iter().map(request).collect();
        self.send(requests, due).await?;
        Ok(due)
    }

    async fn send(&self, requests: Vec<String>, due: Timestamp) -> Result<()> {
        load::run(&self.address(), requests, CONNECTIONS).await?;
        ensure!(SystemClock.now() < due, "the monitors were not ready when they were due");
        Ok(())
    }

    /// Returns the next full minute that leaves time for a request for each monitor.
    fn moment(&self) -> Timestamp {
        let seconds = i64::try_from(self.number / MADE_PER_SECOND).unwrap_or(i64::MAX);
        let ready = SystemClock.now() + TimeDelta::seconds(seconds + 70);
        ready - TimeDelta::seconds(ready.timestamp() % 60) - TimeDelta::nanoseconds(ready.nanosecond().into())
    }

    /// Waits for the moment and until all checks of a round are over, and looks at their pages.
    async fn checks(&self, due: Timestamp, round: usize, status: &str) -> Result<Figures> {
        let until = (due - SystemClock.now()).to_std().context("the moment has passed")?;
        tokio::time::sleep(until).await;
        let (started, before) = (Instant::now(), self.server.cpu()?);
        while self.completed().await? < self.number * round {
            ensure!(started.elapsed() < PATIENCE, "{} checks are over", self.completed().await?);
            tokio::time::sleep(POLL).await;
        }
        let (took, cpu) = (started.elapsed(), self.server.cpu()? - before);
        for monitor in self.monitors().await? {
            let summary = serde_json::to_value(monitor.last_check_summary.context("a monitor without a check")?)?;
            ensure!(summary["totalPages"] == 1 && summary[status] == 1, "{}: {summary}, not {status}", monitor.name);
        }
        Ok(Figures { number: self.number, took, cpu })
    }

    /// Returns the number of completed checks so far.
    async fn completed(&self) -> Result<usize> {
        let metrics = service::get(self.server.addr(), "/metrics").await?.text();
        let line = "quarry_monitor_checks_total{status=\"completed\"} ";
        let found = metrics.lines().find_map(|text| text.strip_prefix(line));
        Ok(found.map(str::parse::<usize>).transpose()?.unwrap_or(0))
    }

    async fn monitors(&self) -> Result<Vec<MonitorView>> {
        let mut all = Vec::new();
        while all.len() < self.number {
            let query = MonitorsQuery { limit: u32::try_from(LISTED)?, offset: all.len() as u64 };
            let some = self.client.monitors(query).await?;
            ensure!(!some.is_empty(), "{} of {} monitors are listed", all.len(), self.number);
            all.extend(some);
        }
        Ok(all)
    }

    /// Runs a batch of the pages.
    async fn batch(&self) -> Result<Figures> {
        let urls: Vec<String> = (0..self.number).map(|number| self.site.url(number)).collect();
        let request = json!({ "urls": urls, "formats": ["markdown"], "maxAge": 0, "storeInCache": false });
        let (started, before) = (Instant::now(), self.server.cpu()?);
        let run = Run::batch(self.client.batch(&request).await?.id);
        let end = loop {
            let progress = self.client.status(run, ResultsQuery { skip: None, limit: Some(1) }).await?;
            if progress.status.is_final() {
                break progress;
            }
            ensure!(started.elapsed() < PATIENCE, "{} pages are done", progress.completed);
            tokio::time::sleep(POLL).await;
        };
        let (took, cpu) = (started.elapsed(), self.server.cpu()? - before);
        let done = end.completed == self.number as u64 && end.status == JobStatus::Completed;
        ensure!(done, "the batch has {} pages of {}", end.completed, self.number);
        Ok(Figures { number: self.number, took, cpu })
    }

    fn address(&self) -> String {
        self.server.addr().to_string()
    }
}

/// Returns a schedule with this moment as its next.
fn schedule(due: Timestamp) -> Value {
    json!({ "cron": format!("{} {} * * *", due.minute(), due.hour()) })
}

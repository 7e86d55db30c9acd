//! `cargo xtask bench queue-enqueue|queue-cycle|queue-backlog|queue-latency|queue-sqlite`: the queue compared with plain
//! SQL for the same work at the same time, by pgbench or the sqlite3 shell. The ratio should not depend on the machine.

mod reference;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use self::reference::{Pgbench, QueueWork};
use crate::db::Cluster;
use crate::{say, sh};

/// Arguments of the queue benchmarks.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Duration of one measurement in seconds.
    #[arg(long, default_value_t = 5)]
    seconds: usize,
    /// Number of alternating measurements of each side; the median of the ratios counts.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Number of teams with jobs, each with one lane.
    #[arg(long, default_value_t = 8)]
    teams: usize,
    /// Number of jobs in the large backlog.
    #[arg(long, default_value_t = 2_000_000)]
    backlog: usize,
}

/// Measures adding jobs, 100 in a call.
pub(crate) fn enqueue(args: &Args) -> Result<()> {
    let bench = Bench::start(args)?;
    let ours = || bench.rate("enqueue", &["clients=2", "batch=100"]);
    bench.compare("enqueue", 0.6, || bench.pgbench.rate(QueueWork::Enqueue, args.seconds), ours)
}

/// Measures claiming and finishing jobs, 50 at a time.
pub(crate) fn cycle(args: &Args) -> Result<()> {
    let bench = Bench::start(args)?;
    let enough = args.seconds * args.rounds * 40_000;
    bench.pgbench.fill(enough)?;
    bench.rate("fill", &[&format!("jobs={enough}")])?;
    bench.pgbench.settle()?;
    let ours = || bench.rate("cycle", &["clients=4", "batch=50"]);
    bench.compare("claim and finish", 0.6, || bench.pgbench.rate(QueueWork::Cycle, args.seconds), ours)
}

/// Measures claiming and finishing jobs with a small and a large backlog.
pub(crate) fn backlog(args: &Args) -> Result<()> {
    let bench = Bench::start(args)?;
    let small = args.seconds * args.rounds * 20_000;
    let measure = |jobs: usize| -> Result<f64> {
        bench.rate("fill", &[&format!("jobs={jobs}")])?;
        bench.pgbench.settle()?;
        let rates: Result<Vec<f64>> =
            (0..args.rounds).map(|_| bench.rate("cycle", &["clients=4", "batch=50"])).collect();
        Ok(median(rates?))
    };
    let before = measure(small)?;
    let after = measure(args.backlog)?;
    say!("claim and finish: {before:.0} jobs/s of {small}, {after:.0} jobs/s of {}", args.backlog);
    verdict("rate with the large backlog to the rate with the small one", after / before, 0.9)
}

/// Measures the latency from adding a job to its handler, on an idle worker with its own pool.
pub(crate) fn latency(args: &Args) -> Result<()> {
    let bench = Bench::start(args)?;
    let sqlite = tempfile::tempdir()?;
    for (name, url) in [("SQLite", sqlite_url(&sqlite)), ("PostgreSQL", bench.url.clone())] {
        let out = bench.load(&url, "latency", &["jobs=400"])?;
        let times: Vec<f64> = out.split_whitespace().filter_map(|micros| micros.parse().ok()).collect();
        let [p50, p99] = times[..] else { bail!("no times in {out}") };
        let (p50, p99) = (p50 / 1000.0, p99 / 1000.0);
        say!("{name}: from enqueue to handler p50 {p50:.1} ms, p99 {p99:.1} ms (wanted: 10 and 50)");
        if p50 > 10.0 || p99 > 50.0 {
            bail!("too slow");
        }
    }
    Ok(())
}

/// Measures one SQLite file: claiming and finishing 100 at a time, and adding 100 in a call.
pub(crate) fn sqlite(args: &Args) -> Result<()> {
    let bench = Bench::build(args)?;
    let (folder, plain) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let url = sqlite_url(&folder);
    let run = |task: &str| rate_of(&bench.load(&url, task, &["clients=1", "batch=100"])?);
    let adding = || reference::sqlite(plain.path(), QueueWork::Enqueue);
    bench.compare("enqueue", 0.5, adding, || run("enqueue"))?;
    let cycling = || reference::sqlite(plain.path(), QueueWork::Cycle);
    bench.compare("claim and finish", 0.5, cycling, || run("cycle"))
}

/// A database and the programs that use it.
struct Bench<'a> {
    args: &'a Args,
    program: PathBuf,
    /// Connection URL; empty without PostgreSQL.
    url: String,
    pgbench: Pgbench,
    _cluster: Option<Cluster>,
}

impl<'a> Bench<'a> {
    fn start(args: &'a Args) -> Result<Self> {
        let cluster = Cluster::durable()?;
        let url = cluster.url();
        let pgbench = Pgbench::prepare(&url)?;
        Ok(Self { url, pgbench, _cluster: Some(cluster), ..Self::build(args)? })
    }

    fn build(args: &'a Args) -> Result<Self> {
        let mut build = sh::cargo();
        sh::run(build.args(["build", "--quiet", "--release", "--package", "queue", "--example", "queue_load"]))?;
        let program = sh::root().join("target/release/examples/queue_load");
        Ok(Self { args, program, url: String::new(), pgbench: Pgbench::default(), _cluster: None })
    }

    fn load(&self, url: &str, task: &str, numbers: &[&str]) -> Result<String> {
        let mut command = sh::command(&self.program);
        command.args([url, task]).args(numbers);
        command.arg(format!("seconds={}", self.args.seconds)).arg(format!("teams={}", self.args.teams));
        sh::output(&mut command)
    }

    fn rate(&self, task: &str, numbers: &[&str]) -> Result<f64> {
        rate_of(&self.load(&self.url, task, numbers)?)
    }

    /// Measures both sides in turn; fails when the median of the ratios is below `least`.
    fn compare(
        &self,
        name: &str,
        least: f64,
        plain: impl Fn() -> Result<f64>,
        ours: impl Fn() -> Result<f64>,
    ) -> Result<()> {
        let mut ratios = Vec::new();
        for _ in 0..self.args.rounds {
            let (plain, ours) = (plain()?, ours()?);
            say!("{name}: {ours:.0} jobs/s, plain SQL {plain:.0}, ratio {:.2}", ours / plain);
            ratios.push(ours / plain);
        }
        verdict(&format!("{name}, ratio to plain SQL"), median(ratios), least)
    }
}

fn verdict(what: &str, figure: f64, least: f64) -> Result<()> {
    say!("{what}: {figure:.2} (wanted: {least} or more)");
    if figure < least {
        bail!("{what} is too low");
    }
    Ok(())
}

fn rate_of(text: &str) -> Result<f64> {
    text.trim().parse().with_context(|| format!("no rate in {text}"))
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

fn sqlite_url(folder: &TempDir) -> String {
    format!("sqlite://{}/queue.db", folder.path().display())
}

//! Many monitors for a virtual day on two schedulers, processes of their own, one of which is killed in each hour.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use app::auth::{Caller, authenticate};
use app::{Operations, monitors, teams};
use base::{Clock, SystemClock, Timestamp};
use chrono::TimeDelta;
use clap::ValueEnum;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::json;
use store::monitors as rows;
use tempfile::TempDir;
use testkit::{Reply, Site};
use xtask::db::Cluster;
use xtask::say;

use super::clock::VirtualClock;
use super::scheduler::{Place, open};
use super::spread;
use super::tally::Tally;
use crate::random::Random;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of monitors, of one page each.
    #[arg(long, default_value_t = 10_000)]
    monitors: usize,
    /// Virtual hours.
    #[arg(long, default_value_t = 24)]
    hours: i32,
    /// Virtual seconds in a real one.
    #[arg(long, default_value_t = 20)]
    speed: u32,
    /// Schedule of the monitors, as a text; what it leaves open is spread.
    #[arg(long, default_value = "hourly")]
    schedule: String,
    /// Lease of jobs in real seconds, after which those of a killed scheduler are taken over.
    #[arg(long, default_value_t = 10)]
    lease: u32,
    /// Real seconds for which the processor time of a scheduler without due monitors is measured.
    #[arg(long, default_value_t = 20)]
    idle: u32,
    /// Database.
    #[arg(long, value_enum, default_value_t = Database::Postgres)]
    database: Database,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Database {
    Sqlite,
    Postgres,
}

/// Teams that share the monitors.
const TEAMS: usize = 20;
/// Monitors that are created at the same time.
const AT_ONCE: usize = 8;
/// Virtual time at the beginning: a Monday.
const BEGIN: &str = "2026-03-02T00:00:00Z";
const CREDITS: i64 = 100_000_000;
/// Real time until the schedulers are ready.
const READY: TimeDelta = TimeDelta::seconds(5);
/// Timeout after the last virtual hour until nothing is due any more.
const PATIENCE: Duration = Duration::from_secs(600);
/// Goals.
const MAX_LATE_P99: f64 = 2.0;
const MIN_SPREAD: f64 = 0.001;

/// Prints a line per hour and the comparison; fails when a fire has no check or several, or when checks are late.
pub(super) async fn run(args: &Args) -> Result<()> {
    let site = Site::start().await;
    site.others(|seen| (seen.path != "/robots.txt").then(|| page(&seen.path)));
    let (folder, cluster) = (tempfile::tempdir()?, start(args.database)?);
    let database = match &cluster {
        Some(cluster) => cluster.url(),
        None => format!("sqlite://{}/quarry.db", folder.path().display()),
    };
    let place = Place { database, data: folder.path().join("data"), allow: site.addr() };
    let begin: Timestamp = BEGIN.parse()?;
    // The clock of this process stands still, so nothing is due while monitors are made.
    let operations = open(&place, VirtualClock::still(begin)).await?;
    let teams = create(args, &operations, &site).await?;
    idle(args, &place, &folder, begin).await?;
    let at = SystemClock.now() + READY;
    let clock = VirtualClock { begin, at, speed: i32::try_from(args.speed)? };
    let mut day = Day { args, place: &place, log: folder.path(), clock, site: &site, random: Random::new(7) };
    let pair = day.pass().await?;
    let end = begin + TimeDelta::hours(1) * args.hours;
    day.rest(pair, &operations, end).await?;
    report(args, &operations, &teams, end).await
}

fn start(database: Database) -> Result<Option<Cluster>> {
    match database {
        Database::Sqlite => Ok(None),
        Database::Postgres => Cluster::start().map(Some),
    }
}

fn page(path: &str) -> Reply {
    let body = format!("<!doctype html><title>{path}</title><main><h1>{path}</h1><p>The price is 10 EUR.</p></main>");
    Reply { body: body.into(), ..Reply::default() }.header("content-type", "text/html")
}

/// Creates the teams and their monitors.
async fn create(args: &Args, operations: &Operations, site: &Site) -> Result<Vec<Caller>> {
    let mut callers = Vec::new();
    for number in 0..TEAMS {
        let request = wire::decode_create_team(json!({ "name": format!("team {number}"), "credits": CREDITS }))?;
        let made = teams::create(&operations.app, request).await?;
        callers.push(authenticate(&operations.app, Some(&made.api_key)).await?);
    }
    let callers_of = &callers;
    let make = |number: usize| async move {
        let caller = &callers_of[number % TEAMS];
        let request = wire::decode_create_monitor(json!({
            "name": format!("monitor {number}"),
            "schedule": { "text": args.schedule },
            "targets": [{ "type": "scrape", "urls": [site.url(&format!("/p/{number}")).as_str()] }],
        }))?;
        monitors::create(&operations.monitors, caller, request).await?;
        anyhow::Ok(())
    };
    let started = Instant::now();
    stream::iter(0..args.monitors).map(make).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
    say!("{} monitors, \"{}\", created in {:.0} s", args.monitors, args.schedule, started.elapsed().as_secs_f64());
    Ok(callers)
}

/// Measures the processor time of a scheduler that has nothing to do.
async fn idle(args: &Args, place: &Place, folder: &TempDir, begin: Timestamp) -> Result<()> {
    if args.idle == 0 {
        return Ok(());
    }
    let clock = VirtualClock { at: SystemClock.now() + TimeDelta::days(1), speed: 1, begin };
    let mut scheduler = Scheduler::start(args, place, folder.path(), clock)?;
    tokio::time::sleep(READY.to_std()?).await;
    let before = lab::cpu(scheduler.0.id())?;
    let time = Duration::from_secs(args.idle.into());
    tokio::time::sleep(time).await;
    let share = (lab::cpu(scheduler.0.id())? - before).as_secs_f64() / time.as_secs_f64();
    ensure!(scheduler.runs()?, "the scheduler has ended");
    say!("a scheduler with {} monitors, none of them due: {:.2} % of a core", args.monitors, share * 100.0);
    Ok(())
}

/// A scheduler, killed when dropped.
struct Scheduler(Child);

impl Scheduler {
    fn start(args: &Args, place: &Place, log: &Path, clock: VirtualClock) -> Result<Self> {
        let open = |path: &Path| -> Result<File> { Ok(OpenOptions::new().create(true).append(true).open(path)?) };
        let log = open(&log.join("log"))?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["monitor-sim", "scheduler", "--database", &place.database, "--data"]).arg(&place.data);
        command.args(["--allow", &place.allow.to_string(), "--begin", &clock.begin.to_rfc3339()]);
        command.args(["--at", &clock.at.to_rfc3339(), "--speed", &clock.speed.to_string()]);
        command.args(["--lease", &args.lease.to_string()]);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Ok(Self(command.spawn().context("cannot start a scheduler")?))
    }

    fn runs(&mut self) -> Result<bool> {
        Ok(self.0.try_wait()?.is_none())
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        // SIGKILL.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The virtual day.
struct Day<'a> {
    args: &'a Args,
    place: &'a Place,
    log: &'a Path,
    clock: VirtualClock,
    site: &'a Site,
    random: Random,
}

impl Day<'_> {
    /// Lets the hours pass on two schedulers, and kills one of them at some moment of each.
    async fn pass(&mut self) -> Result<[Scheduler; 2]> {
        let mut pair = [self.start()?, self.start()?];
        for hour in 0..self.args.hours {
            let minute = i32::try_from(self.random.high() % 59)?;
            let begin = self.clock.begin + TimeDelta::hours(1) * hour;
            tokio::time::sleep(self.clock.until(begin + TimeDelta::minutes(1) * minute)).await;
            for scheduler in &mut pair {
                ensure!(scheduler.runs()?, "a scheduler has ended: {}", self.said());
            }
            // The one that is replaced is killed.
            pair[usize::try_from(hour % 2)?] = self.start()?;
            tokio::time::sleep(self.clock.until(begin + TimeDelta::hours(1))).await;
            let requests = self.site.take_requests().len();
            say!("hour {}: {requests} requests, one scheduler killed at minute {minute}", hour + 1);
        }
        Ok(pair)
    }

    /// Lets the schedulers run on until nothing of the day is due, and its last checks have had their time.
    async fn rest(&self, pair: [Scheduler; 2], operations: &Operations, end: Timestamp) -> Result<()> {
        let started = Instant::now();
        tokio::time::sleep(Duration::from_secs(u64::from(self.args.lease) * 2)).await;
        loop {
            let due = rows::due(&mut operations.app.store().conn().await?, end, 1).await?;
            let Some(late) = due.first() else { break };
            ensure!(started.elapsed() < PATIENCE, "the monitor {} is still due: {}", late.id, self.said());
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        drop(pair);
        Ok(())
    }

    fn start(&self) -> Result<Scheduler> {
        Scheduler::start(self.args, self.place, self.log, self.clock)
    }

    /// Returns the end of the log of the schedulers.
    fn said(&self) -> String {
        let log = std::fs::read(self.log.join("log")).unwrap_or_default();
        let end = log.len().saturating_sub(2000);
        String::from_utf8_lossy(&log[end..]).into_owned()
    }
}

/// Compares what the database has with what the schedules ask for.
async fn report(args: &Args, operations: &Operations, teams: &[Caller], end: Timestamp) -> Result<()> {
    let tally = Tally::of(operations, BEGIN.parse()?, end).await?;
    let (fires, missed, surplus) = (tally.fires, tally.missed, tally.surplus);
    say!("{fires} fires: {missed} without a check, {surplus} checks too many; checks: {:?}", tally.statuses);
    let real = |share: f64| tally.late_at(share) / f64::from(args.speed);
    let (p50, p99, worst) = (real(0.5), real(0.99), real(1.0));
    say!("late by p50 {p50:.2} s, p99 {p99:.2} s, at most {worst:.2} s of real time, at {} × its speed", args.speed);
    let spread = spread::probability(&tally.minutes);
    say!("spread over the minutes of an hour: chi-square p {spread:.3}");
    let mut spent = 0;
    for caller in teams {
        let balance = store::ledger::balance(&mut operations.app.store().conn().await?, &caller.team.id).await?;
        spent += balance.spent;
    }
    say!("{spent} credits spent, {} by the checks", tally.credits);
    ensure!(missed == 0 && surplus == 0, "not every fire has exactly one check");
    ensure!(spent == tally.credits, "the checks charge something else than the teams have spent");
    ensure!(p99 <= MAX_LATE_P99, "checks are late");
    ensure!(spread > MIN_SPREAD, "the checks crowd in some minutes");
    Ok(())
}

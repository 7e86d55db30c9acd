//! Nights in which the clocks of New York and Berlin change, played by the real server under libfaketime: its clock on the
//! wall begins a while before the change and runs faster, its timers stay as they are. Beside them a server whose clock is
//! set back and forth.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base::{Clock, SystemClock, Timestamp};
use chrono::TimeDelta;
use futures_util::future::join_all;
use lab::{Installation, Node, programs};
use serde_json::json;
use testkit::{Reply, Site};
use xtask::{say, setup};

use super::jumps;
use crate::monitor::{Monitor, pages_target};
use crate::team::{OPERATOR, Team};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Path of a server that was built with the feature `system-allocator`, instead of building one.
    #[arg(long)]
    server: Option<PathBuf>,
    /// Virtual seconds in a real one.
    #[arg(long, default_value_t = 60)]
    speed: u32,
}

/// Night in which a clock changes.
struct Night {
    name: &'static str,
    zone: &'static str,
    /// Time of the server when it starts.
    begin: &'static str,
    /// Schedules, each with the moments at which it has to run.
    schedules: &'static [(&'static str, &'static [&'static str])],
}

/// Virtual time for making the monitors; nothing is due in it.
const MAKING: TimeDelta = TimeDelta::minutes(10);
/// Virtual time after that.
const LENGTH: TimeDelta = TimeDelta::minutes(80);
/// Real time that the last checks get.
const REST: Duration = Duration::from_secs(5);
/// Lease of jobs in seconds of the server's clock: it must last for some real ones.
const LEASE: u32 = 600;

/// In spring the hours from 2 to 3 are left out, in autumn those from 1 to 2 (New York) and from 2 to 3 (Berlin) come twice.
const NIGHTS: [Night; 4] = [
    Night {
        name: "New York, spring",
        zone: "America/New_York",
        begin: "2027-03-14T06:40:00Z",
        schedules: &[
            ("30 2 * * *", &["2027-03-14T07:00:00Z"]),
            ("0,20,40 2 * * *", &["2027-03-14T07:00:00Z"]),
            ("*/30 * * * *", &["2027-03-14T07:00:00Z", "2027-03-14T07:30:00Z", "2027-03-14T08:00:00Z"]),
            ("30 3 * * *", &["2027-03-14T07:30:00Z"]),
            ("30 1 * * *", &[]),
        ],
    },
    Night {
        name: "Berlin, spring",
        zone: "Europe/Berlin",
        begin: "2027-03-28T00:40:00Z",
        schedules: &[
            ("30 2 * * *", &["2027-03-28T01:00:00Z"]),
            ("0,20,40 2 * * *", &["2027-03-28T01:00:00Z"]),
            ("*/30 * * * *", &["2027-03-28T01:00:00Z", "2027-03-28T01:30:00Z", "2027-03-28T02:00:00Z"]),
            ("30 3 * * *", &["2027-03-28T01:30:00Z"]),
            ("30 1 * * *", &[]),
        ],
    },
    Night {
        name: "New York, autumn",
        zone: "America/New_York",
        begin: "2027-11-07T05:10:00Z",
        schedules: &[
            ("30 1 * * *", &["2027-11-07T05:30:00Z"]),
            ("0 1 * * *", &[]),
            ("*/30 * * * *", &["2027-11-07T05:30:00Z", "2027-11-07T06:00:00Z", "2027-11-07T06:30:00Z"]),
            ("30 * * * *", &["2027-11-07T05:30:00Z", "2027-11-07T06:30:00Z"]),
        ],
    },
    Night {
        name: "Berlin, autumn",
        zone: "Europe/Berlin",
        begin: "2027-10-31T00:10:00Z",
        schedules: &[
            ("30 2 * * *", &["2027-10-31T00:30:00Z"]),
            ("0 2 * * *", &[]),
            ("*/30 * * * *", &["2027-10-31T00:30:00Z", "2027-10-31T01:00:00Z", "2027-10-31T01:30:00Z"]),
            ("30 * * * *", &["2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z"]),
        ],
    },
];

/// Plays all nights side by side, and prints the checks of each schedule; fails when one is missing or too many.
pub(super) async fn run(args: &Args) -> Result<()> {
    let library = setup::for_other_times()?;
    let server = args.server.clone().map_or_else(programs::for_other_times, Ok)?;
    let site = Site::start().await;
    site.others(|_| {
        Some(Reply { body: "<h1>Night</h1>".into(), ..Reply::default() }.header("content-type", "text/html"))
    });
    let played = NIGHTS.iter().map(|night| night.play(args.speed, &server, &library, &site));
    let jumped = jumps::play(args.speed, &server, &library, &site);
    let (played, jumped) = tokio::join!(join_all(played), jumped);
    let mut faults = Vec::from_iter(jumped.context("a clock that jumps")?);
    for (night, played) in NIGHTS.iter().zip(played) {
        faults.extend(played.with_context(|| night.name)?);
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

/// Returns a server whose clock on the wall is that of libfaketime.
pub(super) fn installation(server: &Path, library: &Path, site: &Site) -> Result<Installation> {
    let installation = Installation::new(server.to_owned())?
        .set("egress.allow", site.addr().to_string())
        .set("admin.token", OPERATOR)
        .set("log.level", "warn")
        .set("worker.lease_s", LEASE.to_string())
        .env("TZ", "UTC")
        .env("LD_PRELOAD", library.display().to_string())
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("DONT_FAKE_MONOTONIC", "1");
    Ok(installation)
}

impl Night {
    /// Plays the night, and returns what was wrong.
    async fn play(&self, speed: u32, server: &Path, library: &Path, site: &Site) -> Result<Vec<String>> {
        let begin: Timestamp = self.begin.parse()?;
        let time = format!("@{} x{speed}", begin.format("%Y-%m-%d %H:%M:%S"));
        let installation = installation(server, library, site)?.env("FAKETIME", time);
        let started = SystemClock.now();
        let node = tokio::task::spawn_blocking(move || installation.server()).await??;
        let monitors = self.create(&node, site).await?;
        let took = (SystemClock.now() - started) * i32::try_from(speed)?;
        ensure!(took < MAKING, "the monitors were made too late, after {} minutes of the night", took.num_minutes());
        let whole = (MAKING + LENGTH) / i32::try_from(speed)?;
        let rest = (started + whole - SystemClock.now()).to_std().unwrap_or_default();
        tokio::time::sleep(rest + REST).await;
        let mut faults = Vec::new();
        for (monitor, (cron, expect)) in monitors.iter().zip(self.schedules) {
            let found = fires(monitor, node.addr(), begin + MAKING + LENGTH).await?;
            let name = format!("{}: {cron}", self.name);
            faults.extend(compare(&name, &found, expect)?);
        }
        Ok(faults)
    }

    async fn create(&self, node: &Node, site: &Site) -> Result<Vec<Monitor>> {
        let team = Team::new(node.addr(), self.name, 1000).await?;
        let mut monitors = Vec::new();
        for (cron, _) in self.schedules {
            let target = pages_target(&[site.url("/").to_string()]);
            let schedule = json!({ "cron": cron, "timezone": self.zone });
            let body = json!({ "name": cron, "schedule": schedule, "targets": [target] });
            monitors.push(Monitor::create(&team, node.addr(), &body).await?);
        }
        Ok(monitors)
    }
}

/// Prints the times for which checks were made, and returns what is wrong with them.
pub(super) fn compare(name: &str, found: &[Timestamp], expect: &[&str]) -> Result<Option<String>> {
    let expect = expect.iter().map(|time| time.parse()).collect::<Result<Vec<Timestamp>, _>>()?;
    let times: Vec<String> = found.iter().map(|time| time.format("%H:%M").to_string()).collect();
    say!("{name}: {} checks, {} UTC", found.len(), times.join(" "));
    Ok((found != expect).then(|| format!("{name} has checks for {found:?}, expected {expect:?}")))
}

/// Returns the times for which checks were made, oldest first; all of them must have read their page.
pub(super) async fn fires(monitor: &Monitor, addr: SocketAddr, end: Timestamp) -> Result<Vec<Timestamp>> {
    let mut found = Vec::new();
    for check in monitor.checks(addr).await? {
        let fire = check.scheduled_for.context("a check without its fire")?;
        if fire > end {
            continue;
        }
        let status = check.status.as_str();
        ensure!(status == "completed", "the check of {fire} is {status}: {:?}", check.error);
        found.push(fire);
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use monitor_scheduler::Schedule;

    use super::*;

    #[test]
    fn the_expected_checks_are_in_their_nights() {
        for night in &NIGHTS {
            let from = night.begin.parse::<Timestamp>().unwrap() + MAKING;
            for (cron, expect) in night.schedules {
                let schedule = Schedule::cron(cron, night.zone).unwrap();
                let fires = std::iter::successors(schedule.next(from), |fire| schedule.next(*fire));
                let found: Vec<Timestamp> = fires.take_while(|fire| *fire <= from + LENGTH).collect();
                let expect: Vec<Timestamp> = expect.iter().map(|time| time.parse().unwrap()).collect();
                assert_eq!(found, expect, "{}: {cron}", night.name);
            }
        }
    }
}

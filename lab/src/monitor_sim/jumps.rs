//! A server whose clock is set back by an hour, and later forward again: what has had its check gets no other, and what was
//! missed becomes one.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use base::{Clock, SystemClock, Timestamp};
use chrono::TimeDelta;
use serde_json::json;
use testkit::Site;

use super::nights::{compare, fires, installation};
use crate::monitor::{Monitor, pages_target};
use crate::team::Team;

/// Time of the server when it starts.
const BEGIN: &str = "2027-05-03T12:01:00Z";
const CRON: &str = "*/10 * * * *";
/// Virtual time from the start until the monitor is due.
const MAKING: TimeDelta = TimeDelta::minutes(9);
/// Changes of the clock: virtual time from the start if it had not been changed, and how far it is off from then on.
const CHANGES: [(TimeDelta, TimeDelta); 2] =
    [(TimeDelta::minutes(22), TimeDelta::hours(-1)), (TimeDelta::minutes(93), TimeDelta::zero())];
const END: TimeDelta = TimeDelta::minutes(104);
/// Checks that are expected. At 12:23 the clock is set to 11:23, at 12:34 to 13:34.
const EXPECT: [&str; 5] = [
    "2027-05-03T12:10:00Z",
    "2027-05-03T12:20:00Z",
    "2027-05-03T12:30:00Z",
    "2027-05-03T13:30:00Z",
    "2027-05-03T13:40:00Z",
];
/// Real time that the last check gets.
const REST: Duration = Duration::from_secs(3);

/// Plays it, and returns what was wrong.
pub(super) async fn play(speed: u32, server: &Path, library: &Path, site: &Site) -> Result<Option<String>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("time");
    let (begin, started): (Timestamp, Timestamp) = (BEGIN.parse()?, SystemClock.now());
    let set = |off: TimeDelta| -> Result<()> {
        let seconds = (begin - started + off).num_seconds();
        let new = file.with_extension("new");
        fs::write(&new, format!("{seconds:+} x{speed}\n"))?;
        Ok(fs::rename(&new, &file)?)
    };
    set(TimeDelta::zero())?;
    let installation = installation(server, library, site)?
        .env("FAKETIME_TIMESTAMP_FILE", file.display().to_string())
        .env("FAKETIME_NO_CACHE", "1");
    let node = tokio::task::spawn_blocking(move || installation.server()).await??;
    let team = Team::new(node.addr(), "jumps", 1000).await?;
    let target = pages_target(&[site.url("/").to_string()]);
    let body = json!({ "name": CRON, "schedule": { "cron": CRON }, "targets": [target] });
    let monitor = Monitor::create(&team, node.addr(), &body).await?;
    let speed = i32::try_from(speed)?;
    ensure!((SystemClock.now() - started) * speed < MAKING, "the monitor was made too late");
    let until = |virtual_time: TimeDelta| {
        let left = started + virtual_time / speed - SystemClock.now();
        tokio::time::sleep(left.to_std().unwrap_or_default())
    };
    for (at, off) in CHANGES {
        until(at).await;
        set(off)?;
    }
    until(END).await;
    tokio::time::sleep(REST).await;
    let found = fires(&monitor, node.addr(), Timestamp::MAX_UTC).await?;
    compare(&format!("a clock that jumps: {CRON}"), &found, &EXPECT)
}

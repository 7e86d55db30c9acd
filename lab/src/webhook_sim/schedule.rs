//! Retry schedule for a receiver that answers 500, with a clock that advances in steps of two seconds.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use base::Clock;
use chrono::TimeDelta;
use testkit::{ManualClock, Reply, Site};
use webhooks::Event;
use wire::event::{COMPLETED, CRAWL};

use super::Args;
use super::stage::Stage;
use crate::say;

/// Due times of the attempts, in seconds after the first.
const OFFSETS: [i64; 4] = [0, 60, 360, 1260];
/// Step of the clock.
const STEP: Duration = Duration::from_secs(2);
/// Real time that the queue gets to notice a step.
const PAUSE: Duration = Duration::from_millis(25);
/// Total time of the clock: the last attempt and another pause of the longest kind.
const END: i64 = 1260 + 1000;

/// Prints the times of the attempts and the final delivery state.
pub(super) async fn run(args: &Args) -> Result<()> {
    let clock = ManualClock::default();
    let site = Site::start().await;
    site.respond("/hook", Reply { status: 500, ..Reply::default() });
    let stage = Stage::start(args.database, std::sync::Arc::new(clock.clone()), &[&site]).await?;
    let team = stage.team().await?;
    let completed = CRAWL.event(COMPLETED).context("crawls have an event for their end")?;
    stage.emit(&team, "job", &site.url("/hook"), &[Event::new(completed)]).await?;
    let begin = clock.now();
    let mut offsets = Vec::new();
    while clock.now() - begin < TimeDelta::seconds(END) {
        // Wait for a running attempt: the clock must not advance meanwhile.
        tokio::time::sleep(PAUSE).await;
        let seen = site.requests().len();
        while offsets.len() < seen {
            offsets.push((clock.now() - begin).num_seconds());
        }
        clock.advance(STEP);
    }
    let log = stage.log(&team).await?;
    let state = log.first().map_or("gone", |delivery| delivery.state.as_str());
    say!("attempts after {offsets:?} s, expected {OFFSETS:?} s; then {state}");
    ensure!(offsets.len() == OFFSETS.len(), "{} attempts instead of {}", offsets.len(), OFFSETS.len());
    let off = |(found, expect): (&i64, &i64)| (found - expect).abs() * 10 > *expect && (found - expect).abs() > 2;
    ensure!(!offsets.iter().zip(&OFFSETS).any(off), "an attempt is more than a tenth off");
    ensure!(state == "failed", "the delivery ended as {state}");
    Ok(())
}

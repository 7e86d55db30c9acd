//! Isolation of a hanging receiver: its team has many events, another team a few, which must not be delayed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base::SystemClock;
use testkit::{Reply, Script, Site};
use webhooks::Event;
use wire::event::{CRAWL, PAGE};

use super::Args;
use super::stage::Stage;
use crate::say;

/// Number of events for the hanging receiver.
const EVENTS: usize = 10_000;
/// Number of events of the other team, sent one after another.
const OTHERS: usize = 200;
/// Maximum 99th percentile of their latency.
const MAX_P99: Duration = Duration::from_secs(2);

/// Prints the latency of the other team's events from the commit to the receiver.
pub(super) async fn run(args: &Args) -> Result<()> {
    let (dead, alive) = (Site::start().await, Site::start().await);
    dead.script("/hook", vec![Script::Hang(Duration::from_secs(3600))]);
    alive.respond("/hook", Reply::default());
    let stage = Stage::start(args.database, Arc::new(SystemClock), &[&dead, &alive]).await?;
    let (big, small) = (stage.team().await?, stage.team().await?);
    let count = args.events.unwrap_or(EVENTS);
    let page = CRAWL.event(PAGE).context("crawls have an event for each page")?;
    let events = vec![Event::new(page); count];
    stage.emit(&big, "big", &dead.url("/hook"), &events).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut times = Vec::with_capacity(OTHERS);
    for turn in 0..OTHERS {
        let event = Event::new(page);
        let start = Instant::now();
        stage.emit(&small, "small", &alive.url("/hook"), &[event]).await?;
        while alive.requests().len() <= turn {
            ensure!(start.elapsed() < Duration::from_secs(30), "event {turn} of the other team did not arrive");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        times.push(start.elapsed());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    times.sort();
    let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    let most = times.last().copied().context("no event was sent")?;
    let hanging = dead.requests().len();
    say!("{count} events wait for a receiver that hangs ({hanging} attempts so far)");
    say!("another team: p50 {p50:.0?}, p99 {p99:.0?}, longest {most:.0?}; allowed p99 {MAX_P99:?}");
    ensure!(hanging > 0, "the dead receiver was never tried");
    ensure!(p99 <= MAX_P99, "p99 {p99:?} is over {MAX_P99:?}");
    Ok(())
}

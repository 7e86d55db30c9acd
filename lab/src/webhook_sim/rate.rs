//! Rate of deliveries to a fast receiver, which verifies every signature.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use base::{Clock, SystemClock};
use serde_json::value::RawValue;
use testkit::{Reply, Seen, Site};
use webhooks::{Event, Received, SIGNATURE, SigningSecret, standard_verify, verify};
use wire::event::{CRAWL, PAGE};

use super::Args;
use super::stage::Stage;
use crate::say;

/// Total number of events.
const EVENTS: usize = 5000;
/// Number of jobs that emit them.
const JOBS: usize = 8;
/// Minimum rate in deliveries per second.
const MIN_RATE: f64 = 500.0;

/// Prints the rate from the start of the worker to the last arrival.
pub(super) async fn run(args: &Args) -> Result<()> {
    let site = Site::start().await;
    site.respond("/hook", Reply { status: 204, ..Reply::default() });
    let mut stage = Stage::idle(args.database, Arc::new(SystemClock), &[&site]).await?;
    let team = stage.team().await?;
    let each = args.events.unwrap_or(EVENTS).div_ceil(JOBS);
    let text = format!(r#"{{"markdown":"{}","metadata":{{"statusCode":200}}}}"#, "word ".repeat(400));
    let document = RawValue::from_string(text)?;
    let page = CRAWL.event(PAGE).context("crawls have an event for each page")?;
    let events = vec![Event::new(page).with_json(&document); each];
    for job in 0..JOBS {
        stage.emit(&team, &format!("job-{job}"), &site.url("/hook"), &events).await?;
    }
    let count = each * JOBS;
    let start = Instant::now();
    stage.work();
    while site.requests().len() < count {
        ensure!(start.elapsed() < Duration::from_secs(120), "only {} of {count} arrived", site.requests().len());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let rate = count as f64 / start.elapsed().as_secs_f64();
    let seen = site.requests();
    let secret = stage.secret(&team).await?;
    let right = seen.iter().filter(|seen| is_right(seen, &secret)).count();
    let ids: HashSet<&str> = seen.iter().map(|seen| seen.header("webhook-id")).collect();
    say!("{count} deliveries: {rate:.0} a second, at least {MIN_RATE:.0}; {right} of {} signatures right", seen.len());
    ensure!(right == seen.len(), "{} signatures are wrong", seen.len() - right);
    ensure!(ids.len() == count, "{} different ids for {count} events", ids.len());
    ensure!(rate >= MIN_RATE, "{rate:.0} deliveries a second are below {MIN_RATE}");
    Ok(())
}

/// Whether a receiver would accept the delivery.
fn is_right(seen: &Seen, secret: &SigningSecret) -> bool {
    let received = Received {
        id: seen.header("webhook-id"),
        timestamp: seen.header("webhook-timestamp"),
        signatures: seen.header("webhook-signature"),
        body: &seen.body,
    };
    verify(secret.text(), &seen.body, seen.header(SIGNATURE))
        && standard_verify(secret.key(), &received, SystemClock.now().timestamp(), Duration::from_secs(300))
}

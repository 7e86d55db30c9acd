//! Scenarios about crawls: cancellation, and misbehaving receivers of webhooks.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use testkit::{Reply, Script};
use wire::JobStatus;

use crate::hostile::case::Case;
use crate::hostile::server::Server;
use crate::hostile::stage::Stage;

/// Number of pages of the crawled site.
const PAGES: usize = 200;
/// Timeout of a job or a delivery.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);

/// Cancels a crawl after a part of its pages.
pub(crate) async fn cancelled(case: &Case, stage: &Stage, server: &Server) -> Result<Value> {
    let part = case.setup.get("cancel_at").and_then(Value::as_f64).context("setup.cancel_at")?;
    let team = server.new_team(&json!({"name": "stops", "credits": 1000, "concurrency": 8})).await?;
    slow_site(stage);
    let body = json!({"url": stage.page("/"), "limit": PAGES, "scrapeOptions": {"maxAge": 0}});
    let client = team.at(server.addr)?;
    let run = client.crawl(&body).await?;
    let enough = PAGES as f64 * part;
    until(async || Ok(team.status(server.addr, run).await?.completed as f64 >= enough)).await?;
    client.cancel(run).await?;
    let wait = case.expected.get("pages_after_cancel_s").and_then(|pair| pair.get(0)?.as_u64()).unwrap_or(5);
    tokio::time::sleep(Duration::from_secs(wait)).await;
    let asked = stage.origin.requests().len();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let late = stage.origin.requests().len() - asked;
    let end = team.status(server.addr, run).await?;
    ensure!(end.status == JobStatus::Cancelled, "the crawl is {}", end.status.as_str());
    let charged = end.credits_used;
    Ok(json!({
        "charged_equals_completed": charged == end.completed as i64,
        "reserved_released": 1000 - server.credits(&team.key).await? == charged,
        "pages_after_cancel_s": [wait, late],
    }))
}

/// Tests a receiver that redirects.
pub(crate) async fn redirected(case: &Case, stage: &Stage, server: &Server) -> Result<Value> {
    let receiver = receiver(case)?;
    let status = receiver.get("status").and_then(Value::as_u64).context("setup.receiver.status")?;
    let to = receiver.get("headers").and_then(|headers| headers["Location"].as_str()).context("Location")?.to_owned();
    let target = to.rsplit('/').next().map(|path| format!("/{path}")).unwrap_or_default();
    stage.receiver.respond("/h", Reply { status: u16::try_from(status)?, ..Reply::default() }.header("Location", &to));
    let (result, _) = delivery(stage, server).await?;
    let followed = stage.origin.requests().iter().any(|request| request.path == target);
    Ok(json!({"redirect_followed": followed, "counts_as": result}))
}

/// Tests a slow receiver, once just below and once just above the timeout.
pub(crate) async fn delayed(case: &Case, stage: &Stage, server: &Server) -> Result<Value> {
    let receiver = receiver(case)?;
    let delays = receiver.get("delay_s").and_then(Value::as_array).context("setup.receiver.delay_s")?;
    let mut results = Vec::new();
    for delay in delays.iter().filter_map(Value::as_f64) {
        let delay = Duration::from_secs_f64(delay);
        stage.receiver.respond("/h", Reply { delay, ..Reply::default() });
        results.push(delivery(stage, server).await?.0);
    }
    Ok(json!({"counts_as": results}))
}

/// Tests a receiver that sends its answer one byte at a time.
pub(crate) async fn dripped(stage: &Stage, server: &Server) -> Result<Value> {
    stage.receiver.script("/h", vec![Script::DripHead(Duration::from_secs(1))]);
    let (result, seconds) = delivery(stage, server).await?;
    Ok(json!({"counts_as": result, "attempt_seconds_max": seconds}))
}

fn receiver(case: &Case) -> Result<&serde_json::Map<String, Value>> {
    case.setup.get("receiver").and_then(Value::as_object).context("setup.receiver")
}

/// Crawls one page with a webhook, and returns result and duration of its first attempt.
async fn delivery(stage: &Stage, server: &Server) -> Result<(&'static str, f64)> {
    stage.origin.html("/", "<p>one page");
    let team = server.new_team(&json!({"name": "tells", "credits": 1000})).await?;
    let hook = format!("http://hook.test:{}/h", stage.receiver.addr().port());
    let webhook = json!({"url": hook, "events": ["started"]});
    team.crawl(server.addr, &json!({"url": stage.page("/"), "limit": 1, "webhook": webhook})).await?;
    let path = format!("/admin/teams/{}/webhooks/deliveries", team.id);
    let mut last = Value::Null;
    until(async || {
        last = server.operator_get(&path).await?["data"][0].take();
        Ok(last["attempts"].as_u64().is_some_and(|attempts| attempts > 0))
    })
    .await?;
    let seconds = last["durationMs"].as_f64().context("durationMs is no number")? / 1000.0;
    Ok((if last["state"] == "delivered" { "success" } else { "failure" }, seconds))
}

fn slow_site(stage: &Stage) {
    let links: String = (1..PAGES).map(|n| format!("<a href=/p/{n}>{n}</a> ")).collect();
    stage.origin.others(move |seen| {
        let known = seen.path == "/" || seen.path.starts_with("/p/");
        let body = format!("<h1>{}</h1>{links}", seen.path).into();
        let delay = Duration::from_millis(100);
        known.then(|| Reply { body, delay, ..Reply::default() }.header("Content-Type", "text/html"))
    });
}

async fn until(mut done: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let started = Instant::now();
    while !done().await? {
        ensure!(started.elapsed() < PATIENCE, "not after {} s", PATIENCE.as_secs());
        tokio::time::sleep(POLL).await;
    }
    Ok(())
}

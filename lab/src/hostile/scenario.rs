//! Cases described in words. Each implemented one is a function here; the others are pending.

mod jobs;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use client::Client;
use http::Method;
use serde_json::{Value, json};
use testkit::Reply;

use super::case::{Case, Object};
use super::server::Server;
use super::stage::Stage;

const OUT_OF_CREDITS: &str = "64 concurrent requests, 10 credits left, each costs 1";
const TERMINATED: &str = "SIGTERM during 50 running scrapes";
const CANCELLED: &str = "crawl cancelled by DELETE at 50 %";
const REDIRECTED: &str = "receiver answers 302";
const DELAYED: &str = "receiver answers after 9.5 s / 10.5 s";
const DRIPPED: &str = "receiver drips its status line for 60 s";

/// Whether the scenario exists.
pub(crate) fn exists(name: &str) -> bool {
    [OUT_OF_CREDITS, TERMINATED, CANCELLED, REDIRECTED, DELAYED, DRIPPED].contains(&name)
}

/// Runs a scenario, and returns its observations under the names of its expectations.
pub(crate) async fn play(case: &Case, stage: &Stage, server: &mut Server) -> Result<Object> {
    let observed = match case.input_text("scenario") {
        OUT_OF_CREDITS => out_of_credits(case, stage, server).await?,
        TERMINATED => terminated(stage, server).await?,
        CANCELLED => jobs::cancelled(case, stage, server).await?,
        REDIRECTED => jobs::redirected(case, stage, server).await?,
        DELAYED => jobs::delayed(case, stage, server).await?,
        DRIPPED => jobs::dripped(stage, server).await?,
        other => bail!("the scenario {other:?} is not known"),
    };
    observed.as_object().cloned().context("a scenario observes an object")
}

/// Whether the scenario ends the service, so that the next case needs a new one.
pub(crate) fn ends_server(case: &Case) -> bool {
    case.input_text("scenario") == TERMINATED
}

async fn out_of_credits(case: &Case, stage: &Stage, server: &Server) -> Result<Value> {
    let number = |key: &str| case.setup.get(key).and_then(Value::as_u64).with_context(|| format!("setup.{key}"));
    let (parallel, credits) = (number("parallel")?, number("credits")?);
    let team = server.new_team(&json!({"name": "poor", "credits": credits, "concurrency": parallel})).await?;
    stage.origin.html("/", "<h1>one credit</h1>");
    let statuses = running(stage, &team.at(server.addr)?, parallel).await?;
    let count = |status: u16| statuses.iter().filter(|own| **own == status).count();
    Ok(json!({"http_200": count(200), "http_402": count(402), "balance": server.credits(&team.key).await?}))
}

/// Sends SIGTERM to the service while scrapes wait for a slow page. A new connection that is refused because the socket
/// is closed is observed as status 0.
async fn terminated(stage: &Stage, server: &mut Server) -> Result<Value> {
    let slow = Reply { delay: Duration::from_secs(3), body: "<h1>slow</h1>".into(), ..Reply::default() };
    stage.origin.respond("/", slow.header("content-type", "text/html"));
    let client = server.client(&server.team.key)?;
    let started = Instant::now();
    let late = async {
        while stage.origin.requests().len() < 50 && started.elapsed() < Duration::from_secs(10) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let terminated = Instant::now();
        let exit = server.terminate(Duration::from_secs(40));
        let new = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let body = json!({"url": stage.page("/")}).to_string();
            client.send(Method::POST, "/v2/scrape", body).await.map_or(0, |answer| answer.status)
        };
        let (exit, new) = tokio::join!(exit, new);
        Ok::<_, anyhow::Error>((exit?, new, terminated.elapsed()))
    };
    let (statuses, late) = tokio::join!(running(stage, &client, 50), late);
    let (statuses, (exit, new, took)) = (statuses?, late?);
    let finished = statuses.iter().filter(|status| **status == 200).count();
    Ok(json!({
        "new_requests": new,
        "in_flight_finish": finished == 50,
        "exit_code": exit,
        "exit_seconds_max": took.as_secs_f64(),
        "jobs_lost": 50 - finished,
    }))
}

/// Runs this number of concurrent scrapes and returns their statuses.
async fn running(stage: &Stage, client: &Client, number: u64) -> Result<Vec<u16>> {
    let mut scrapes = tokio::task::JoinSet::new();
    for _ in 0..number {
        let client = client.clone();
        let body = json!({"url": stage.page("/"), "formats": ["markdown"], "maxAge": 0}).to_string();
        scrapes.spawn(async move { client.send(Method::POST, "/v2/scrape", body).await.map(|answer| answer.status) });
    }
    Ok(scrapes.join_all().await.into_iter().collect::<client::Result<_>>()?)
}

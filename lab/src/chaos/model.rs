//! `cargo xtask chaos model`: scrapes with the format `json` while their model is slow, is killed in the middle of an
//! answer, or is still answering when the server is killed.

mod endpoint;
mod load;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use client::Raw;
use lab::Installation;
use serde_json::{Value, json};
use testkit::Site;
use url::Url;
use wire::JobStatus;
use xtask::say;

use crate::team::{Team, shown};

pub(crate) use endpoint::{EndpointArgs, endpoint};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of scrapes with `json`.
    #[arg(long, default_value_t = 1000)]
    scrapes: usize,
    /// Scrapes at the same time.
    #[arg(long, default_value_t = 32)]
    together: usize,
    /// Calls of the model at the same time.
    #[arg(long, default_value_t = 16)]
    parallel: u16,
    /// Milliseconds that the model takes for an answer.
    #[arg(long, default_value_t = 2000)]
    answer_ms: u64,
}

const CREDITS: u64 = 1_000_000;
/// Price of a scrape with `json`.
const PRICE: i64 = 5;
/// Answer of the model.
const ANSWER: &str = r#"{"title": "Granite"}"#;
/// Time that a response may take after its deadline.
const MAX_LATE: Duration = Duration::from_millis(100);
/// Pages of the batch during which the server is killed.
const PAGES: usize = 24;

pub(crate) async fn run(args: Args) -> Result<()> {
    let site = Site::start().await;
    site.html("/page", "<h1>Granite</h1><p>It is a hard stone, and it is old.</p>");
    site.html("/innocent", format!("<h1>A page</h1><p>{}</p>", "Somebody else reads this page meanwhile. ".repeat(50)));
    load::run(&site, &args).await?;
    deadline(&site).await?;
    endpoint_killed(&site).await?;
    server_killed(&site).await
}

/// Returns the programs, which ask this model.
fn installation(site: &Site, model: &Url, parallel: u16) -> Result<Installation> {
    Ok(super::installation(site.addr())?
        .set("llm.url", model.as_str())
        .set("llm.model", "scripted")
        .set("llm.parallel", parallel.to_string()))
}

/// Returns the request of a scrape with `json`, which asks the model even if the page has been read before.
fn with_json(url: &Url, formats: &[&str], timeout: Duration) -> Value {
    let schema = json!({ "type": "object", "properties": { "title": { "type": "string" } } });
    let mut all: Vec<Value> = formats.iter().map(|format| json!(format)).collect();
    all.push(json!({ "type": "json", "schema": schema }));
    let timeout = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    json!({ "url": url, "formats": all, "maxAge": 0, "storeInCache": false, "timeout": timeout })
}

/// Scrapes with a model that answers after the deadline.
async fn deadline(site: &Site) -> Result<()> {
    let model = endpoint::Process::start(Duration::from_secs(30))?;
    let server = installation(site, model.url(), 4)?.server()?;
    let team = Team::new(server.addr(), "deadline", CREDITS).await?;
    let timeout = Duration::from_secs(3);
    let mut slowest = Duration::ZERO;
    for _ in 0..5 {
        let started = Instant::now();
        let request = with_json(&site.url("/page"), &["markdown"], timeout);
        let answer = team.post(server.addr(), "/v2/scrape", &request).await?;
        slowest = slowest.max(started.elapsed());
        delivered_without_json(&answer)?;
    }
    ensure!(slowest <= timeout + MAX_LATE, "a response took {slowest:?} with a timeout of {timeout:?}");
    say!("deadline: 5 scrapes with a timeout of {timeout:?} and a model of 30 s, slowest response after {slowest:.2?}");
    Ok(())
}

/// Checks that a page was delivered without `json`, with a warning.
fn delivered_without_json(answer: &Raw) -> Result<()> {
    let body: Value = serde_json::from_slice(&answer.body)?;
    ensure!(answer.status == 200, "the page was not delivered: {body}");
    let data = &body["data"];
    ensure!(data["markdown"].is_string() && data["warning"].is_string(), "no page, or no warning: {body}");
    ensure!(data["json"].is_null(), "it has a json that no model gave: {body}");
    ensure!(data["metadata"]["creditsUsed"] == 1, "it was charged for: {body}");
    Ok(())
}

/// Kills the endpoint in the middle of an answer.
async fn endpoint_killed(site: &Site) -> Result<()> {
    let model = endpoint::Process::start(Duration::from_secs(2))?;
    let server = installation(site, model.url(), 4)?.server()?;
    let addr = server.addr();
    let team = Team::new(addr, "endpoint", CREDITS).await?;
    let scrape = |formats: &'static [&'static str]| {
        let (team, request) = (team.clone(), with_json(&site.url("/page"), formats, Duration::from_secs(20)));
        tokio::spawn(async move { team.post(addr, "/v2/scrape", &request).await })
    };
    let (page, alone) = (scrape(&["markdown"]), scrape(&[]));
    tokio::time::sleep(Duration::from_secs(1)).await;
    model.kill()?;
    let started = Instant::now();
    delivered_without_json(&page.await??)?;
    let alone = alone.await??;
    let body: Value = serde_json::from_slice(&alone.body)?;
    ensure!(alone.status == 503 && body["code"] == "MODEL_UNAVAILABLE", "{}: {body}", alone.status);
    let left = team.credits(addr).await?;
    ensure!(left == CREDITS as i64 - 1, "{} credits were charged, not 1", CREDITS as i64 - left);
    say!(
        "endpoint killed: the page came without json, json alone got 503, 1 credit charged, after {:.2?}",
        started.elapsed()
    );
    Ok(())
}

/// Kills the server while the model answers for pages of a batch, and starts it again.
async fn server_killed(site: &Site) -> Result<()> {
    let model = endpoint::Process::start(Duration::from_millis(500))?;
    let installation = installation(site, model.url(), 4)?.set("worker.lease_s", "3");
    let server = installation.server()?;
    let team = Team::new(server.addr(), "server", CREDITS).await?;
    let urls: Vec<String> = (0..PAGES).map(|number| format!("{}?{number}", site.url("/page"))).collect();
    let mut request = with_json(&site.url("/page"), &[], Duration::from_secs(20));
    if let Some(request) = request.as_object_mut() {
        request.remove("url");
        request.insert("urls".to_owned(), json!(urls));
    }
    let run = team.batch(server.addr(), &request).await?;
    tokio::time::sleep(Duration::from_millis(1300)).await;
    server.kill()?;
    let server = installation.server()?;
    let end = team.finished(server.addr(), run, Duration::from_secs(120)).await?;
    let whole = (JobStatus::Completed, PAGES as u64, PAGES as i64 * PRICE);
    ensure!((end.status, end.completed, end.credits_used) == whole, "ended as {}", shown(&end));
    let mut answers = 0;
    let each = |document: Value| {
        ensure!(document["json"]["title"] == "Granite", "a page without its answer: {document}");
        answers += 1;
        Ok(())
    };
    team.documents(server.addr(), run, 100, each).await.context("documents of the batch")?;
    let left = team.credits(server.addr()).await?;
    ensure!(left == CREDITS as i64 - whole.2, "{} credits were charged, not {}", CREDITS as i64 - left, whole.2);
    say!("server killed: {answers} of {PAGES} pages have their answer, each is charged once, {} credits", whole.2);
    Ok(())
}

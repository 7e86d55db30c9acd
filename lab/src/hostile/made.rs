//! Jobs that a case names and that have to be there before it: `{JOB_OF_TEAM_A}`, `{BATCH_OF_TEAM_A}`, `{BIG_JOB}`.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use testkit::Reply;

use super::case::Case;
use super::follow::follow;
use super::http;
use super::server::Server;
use super::stage::Stage;

/// Pages of the big job; each is about 1 MB, so that a chunk of its results is as large as a chunk may be.
const BIG_PAGES: usize = 12;
/// How long the big job may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes what the case names, as the team with this key: the name of each with the id.
pub(crate) async fn jobs(
    case: &Case,
    stage: &Stage,
    server: &Server,
    key: &str,
) -> Result<Vec<(&'static str, String)>> {
    let text = Value::from(case.input.clone()).to_string();
    let mut made = Vec::new();
    for name in ["JOB_OF_TEAM_A", "BATCH_OF_TEAM_A", "BIG_JOB"] {
        if text.contains(&format!("{{{name}}}")) {
            made.push((name, make(name, stage, server, key).await?));
        }
    }
    Ok(made)
}

async fn make(name: &str, stage: &Stage, server: &Server, key: &str) -> Result<String> {
    let start = format!("http://origin.test:{}/", stage.origin.addr().port());
    let (path, body) = match name {
        "BATCH_OF_TEAM_A" => ("/v2/batch/scrape", json!({"urls": [start]})),
        _ => ("/v2/crawl", json!({"url": start, "limit": BIG_PAGES})),
    };
    if name == "BIG_JOB" {
        stage.origin.others(|_| Some(big_page()));
    }
    let answer = http::post(server.addr, path, &format!("Authorization: Bearer {key}\r\n"), &body).await?;
    ensure!(answer.status == 200, "POST {path} answers {}: {}", answer.status, answer.text());
    let id = answer.json()["id"].as_str().context("no id")?.to_owned();
    if name == "BIG_JOB" {
        let job = follow(server.addr, key, &format!("{path}/{id}"), PATIENCE).await?;
        ensure!(job.text.len() > 10_000_000, "the big job has only {} bytes", job.text.len());
    }
    Ok(id)
}

fn big_page() -> Reply {
    let links: String = (1..BIG_PAGES).map(|n| format!("<a href=/big/{n}>{n}</a> ")).collect();
    let body = format!("{links}<p>{}", "words of a page that is large ".repeat(36_000));
    Reply { body: body.into(), ..Reply::default() }.header("Content-Type", "text/html")
}

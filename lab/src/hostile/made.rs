//! Jobs that must exist before a case which refers to them: `{JOB_OF_TEAM_A}`, `{BATCH_OF_TEAM_A}`,
//! `{SCRAPE_OF_TEAM_A}`, `{MONITOR_OF_TEAM_A}`,
//! `{BIG_JOB}`, and `{JOB}`, which the case describes in `setup.job`.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use testkit::Reply;

use super::case::Case;
use super::follow::{follow, follow_check};
use super::server::Server;
use super::stage::Stage;

/// Number of pages of the big job; each is about 1 MB, so that its results fill a response up to its limit.
const BIG_PAGES: usize = 12;
/// Timeout of the big job.
const PATIENCE: Duration = Duration::from_secs(60);

/// Creates the jobs and scrapes that the case names, as the team with this key, and returns their ids by name.
pub(crate) async fn jobs(
    case: &Case,
    stage: &Stage,
    server: &Server,
    key: &str,
) -> Result<Vec<(&'static str, String)>> {
    let text = Value::from(case.input.clone()).to_string();
    let mut made = Vec::new();
    for name in ["JOB_OF_TEAM_A", "BATCH_OF_TEAM_A", "SCRAPE_OF_TEAM_A", "MONITOR_OF_TEAM_A", "BIG_JOB"] {
        if text.contains(&format!("{{{name}}}")) {
            made.push((name, make(name, stage, server, key).await?));
        }
    }
    Ok(made)
}

async fn make(name: &str, stage: &Stage, server: &Server, key: &str) -> Result<String> {
    let start = stage.page("/");
    let (path, body) = match name {
        "BATCH_OF_TEAM_A" => ("/v2/batch/scrape", json!({"urls": [start]})),
        "MONITOR_OF_TEAM_A" => {
            let target = json!({"type": "scrape", "urls": [start]});
            ("/v2/monitor", json!({"name": "of team A", "schedule": {"text": "daily"}, "targets": [target]}))
        }
        "SCRAPE_OF_TEAM_A" => return scrape(stage, server, key, &start).await,
        _ => ("/v2/crawl", json!({"url": start, "limit": BIG_PAGES})),
    };
    if name == "BIG_JOB" {
        stage.origin.others(|_| Some(big_page()));
    }
    let id = id_in(&server.post(path, key, &body).await?)?;
    if name == "BIG_JOB" {
        let job = follow(&server.client(key)?, &format!("{path}/{id}"), PATIENCE).await?;
        ensure!(job.text.len() > 10_000_000, "the big job has only {} bytes", job.text.len());
    }
    Ok(id)
}

/// Runs a scrape that is stored, and returns its id.
async fn scrape(stage: &Stage, server: &Server, key: &str, url: &str) -> Result<String> {
    stage.origin.html("/", "<h1>a page of team A</h1>");
    let json = server.post("/v2/scrape", key, &json!({"url": url})).await?;
    let ids = ["/scrape_id", "/id", "/data/metadata/scrapeId", "/data/id"].map(|path| json.pointer(path));
    let id = ids.into_iter().flatten().find_map(Value::as_str);
    Ok(id.with_context(|| format!("no id of the scrape in {json}"))?.to_owned())
}

/// A job described by a case.
pub(crate) struct DescribedJob {
    /// Path for reading it.
    pub(crate) path: String,
    pub(crate) id: String,
}

/// Creates the jobs of `setup.job`, one after another, and returns the last one: `{"path", "json", "count", "ended"}`,
/// or an array of them. A path that ends with `/run` begins checks of the monitor before, `{JOB}` in it.
pub(crate) async fn own(setup: &Value, server: &Server, key: &str) -> Result<DescribedJob> {
    let mut last = None;
    for job in setup.as_array().map_or(std::slice::from_ref(setup), Vec::as_slice) {
        last = Some(own_job(job, last, server, key).await?);
    }
    last.context("setup.job is empty")
}

async fn own_job(setup: &Value, before: Option<DescribedJob>, server: &Server, key: &str) -> Result<DescribedJob> {
    let setup = setup.as_object().context("setup.job is no object")?;
    if let Some(key) = setup.keys().find(|key| !["path", "json", "count", "ended"].contains(&key.as_str())) {
        bail!("setup.job.{key} is not known");
    }
    let path = setup.get("path").and_then(Value::as_str).context("setup.job has no path")?;
    let body = setup.get("json").context("setup.job has no json")?;
    let (is_ended, count) =
        (setup.get("ended") == Some(&Value::Bool(true)), setup.get("count").and_then(Value::as_u64));
    if path.ends_with("/run") {
        let monitor = before.context("there is no monitor to run")?;
        let path = path.replace("{JOB}", &monitor.id);
        for _ in 0..count.unwrap_or(1) {
            let check = id_in(&server.post(&path, key, body).await?)?;
            if is_ended {
                let job = follow_check(&server.client(key)?, &check_path(&path, &check), PATIENCE).await?;
                ensure!(
                    !matches!(job.status.as_str(), "queued" | "running"),
                    "the check of the case is {}",
                    job.status
                );
            }
        }
        return Ok(monitor);
    }
    let mut id = String::new();
    for _ in 0..count.unwrap_or(1) {
        id = id_in(&server.post(path, key, body).await?)?;
    }
    let path = format!("{path}/{id}");
    if is_ended {
        let job = follow(&server.client(key)?, &path, PATIENCE).await?;
        ensure!(job.status == "completed", "the job of the case is {}", job.status);
    }
    Ok(DescribedJob { path, id })
}

/// Returns the path of a check that a call of `run` has begun.
pub(crate) fn check_path(run: &str, check: &str) -> String {
    format!("{}/checks/{check}", run.trim_end_matches("/run"))
}

/// Returns the id in an answer about something new.
fn id_in(answer: &Value) -> Result<String> {
    let id = answer["id"].as_str().or(answer["data"]["id"].as_str());
    Ok(id.with_context(|| format!("no id in {answer}"))?.to_owned())
}

fn big_page() -> Reply {
    let links: String = (1..BIG_PAGES).map(|n| format!("<a href=/big/{n}>{n}</a> ")).collect();
    let body = format!("{links}<p>{}", "words of a page that is large ".repeat(36_000));
    Reply { body: body.into(), ..Reply::default() }.header("Content-Type", "text/html")
}

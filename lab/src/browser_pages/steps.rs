//! The last page, with a sequence of fourteen actions.

use std::process::Stdio;

use anyhow::{Context, Result};
use lab::Node;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::scrape::{ScrapeResult, Scraper, file};

/// Sizes of the two PDFs, in points.
const SHEETS: [[f64; 2]; 2] = [[842.0, 595.0], [612.0, 792.0]];

/// Returns a request with all actions, in order.
pub(super) fn request() -> Value {
    request_with(&json!({"type": "click", "selector": ".pick", "all": true}))
}

fn request_with(pick: &Value) -> Value {
    let mut request = super::scrape::markdown_request();
    request["actions"] = json!([
        {"type": "wait", "selector": ".swal2-confirm"},
        {"type": "click", "selector": ".swal2-confirm"},
        {"type": "click", "selector": "#editor .ql-editor"},
        {"type": "write", "text": "nine herrings"},
        {"type": "press", "key": "Enter"},
        {"type": "scroll", "direction": "down"},
        pick,
        {"type": "executeJavascript", "script": "document.querySelectorAll('.picked').length"},
        {"type": "wait", "milliseconds": 200},
        {"type": "screenshot", "fullPage": true},
        {"type": "scrape"},
        {"type": "executeJavascript", "script": "Promise.resolve({a: [1, null]})"},
        {"type": "pdf", "format": "A4", "landscape": true},
        {"type": "generatePDF", "format": "Letter", "scale": 0.5},
    ]);
    request
}

/// Returns the failures of the results.
pub(super) async fn judge(done: &ScrapeResult, node: &Node) -> Vec<String> {
    let actions = &done.answer["data"]["actions"];
    if !actions.is_object() {
        return vec!["no results of actions".to_owned()];
    }
    let mut failures = Vec::new();
    let length = |list: &str| actions[list].as_array().map_or(0, Vec::len);
    for (list, expect) in [("screenshots", 1), ("scrapes", 1), ("javascriptReturns", 2), ("pdfs", 2)] {
        if length(list) != expect {
            failures.push(format!("{} {list}", length(list)));
        }
    }
    let scraped = &actions["scrapes"][0];
    let holds = |member: &str, text: &str| scraped[member].as_str().is_some_and(|value| value.contains(text));
    if !holds("html", "nine herrings") || !holds("url", "/steps/") {
        failures.push("the scrape in between does not hold what was written".to_owned());
    }
    let returns = json!([{"type": "number", "value": 3}, {"type": "object", "value": {"a": [1, null]}}]);
    if actions["javascriptReturns"] != returns {
        failures.push(format!("scripts returned {}", actions["javascriptReturns"]));
    }
    for (number, size) in SHEETS.iter().enumerate() {
        if let Err(error) = sheet(&actions["pdfs"][number], size, node).await {
            failures.push(format!("pdf {number}: {error:#}"));
        }
    }
    failures
}

/// Returns the text of a PDF of an answer.
pub(super) async fn printed(url: &Value, node: &Node) -> Result<String> {
    let bytes = file(node, url.as_str().context("no URL")?).await?;
    piped("pdftotext", &["-", "-"], &bytes).await
}

async fn sheet(url: &Value, size: &[f64; 2], node: &Node) -> Result<()> {
    let bytes = file(node, url.as_str().context("no URL")?).await?;
    let text = printed(url, node).await?;
    anyhow::ensure!(text.contains("nine herrings"), "its text does not hold what was written");
    let about = piped("pdfinfo", &["-"], &bytes).await?;
    let has = about.lines().find(|line| line.starts_with("Page size:")).context("pdfinfo tells no size")?;
    // Chromium rounds page sizes to its own pixels, which are larger than a point.
    let numbers: Vec<f64> = has.split_whitespace().filter_map(|part| part.parse().ok()).collect();
    let fits = numbers.len() == 2 && numbers.iter().zip(size).all(|(has, want)| (has - want).abs() <= 1.0);
    anyhow::ensure!(fits, "{has}, expected {size:?}");
    Ok(())
}

async fn piped(program: &str, arguments: &[&str], input: &[u8]) -> Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot start {program}; install poppler-utils"))?;
    let mut stdin = child.stdin.take().context("no input")?;
    let feed = async {
        // pdftotext may stop reading before the end.
        let _ = stdin.write_all(input).await;
        drop(stdin);
    };
    let (output, ()) = tokio::join!(child.wait_with_output(), feed);
    Ok(String::from_utf8_lossy(&output?.stdout).into_owned())
}

/// Scrapes the page with renamed buttons and without `all`: the error must name the failing action, and cost nothing.
pub(super) async fn broken(scraper: &Scraper<'_>) -> Result<Vec<String>> {
    let request = request_with(&json!({"type": "click", "selector": ".pick"}));
    let (addr, team) = (scraper.node.addr(), scraper.team);
    let before = team.credits(addr).await?;
    let done = scraper.scrape("steps", "?broken=1", &request).await?;
    let cost = before - team.credits(addr).await?;
    let details = done.answer["details"].to_string();
    let code = done.answer["code"].as_str().unwrap_or_default();
    let mut failures = Vec::new();
    if cost != 0 {
        failures.push(format!("broken: it cost {cost} credits"));
    }
    if code != "SCRAPE_ACTION_ERROR" || done.status != 422 {
        failures.push(format!("broken: {}", super::judge::refused(done.status, &done.answer)));
    }
    let missing: Vec<&str> = ["6", "click", ".pick"].into_iter().filter(|part| !details.contains(part)).collect();
    if !missing.is_empty() {
        failures.push(format!("broken: details {details} lack {missing:?}"));
    }
    Ok(failures)
}

//! Pages with unusual behaviour: `lab/browser-pages/behaviour.json`, profiles across scrapes, and sessions.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use xtask::say;

use super::scrape::{ScrapeResult, Scraper, markdown_request};
use super::summary::Summary;
use super::{book, connect, judge, steps};

/// A page with its request and the expected result.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OddPage {
    id: String,
    path: String,
    /// Additional members of the request.
    #[serde(default)]
    request: serde_json::Map<String, Value>,
    #[serde(default)]
    seen: Vec<String>,
    #[serde(default)]
    not_seen: Vec<String>,
    url_ends: Option<String>,
    /// Expected `metadata.statusCode`.
    status_code: Option<u16>,
    /// Accepted statuses of the answer.
    #[serde(default = "success")]
    statuses: Vec<u16>,
    /// Whether a warning is expected.
    #[serde(default)]
    warning: bool,
    max_ms: Option<u64>,
    /// Expected texts of the first PDF.
    #[serde(default)]
    pdf_seen: Vec<String>,
    #[serde(default)]
    pdf_not_seen: Vec<String>,
    /// Text that requests to the first origin must contain, and requests to the second must not.
    only_first: Option<String>,
}

fn success() -> Vec<u16> {
    vec![200]
}

fn read_oddities() -> Result<Vec<OddPage>> {
    let path = book::home().join("behaviour.json");
    serde_json::from_slice(&fs::read(&path)?).with_context(|| format!("{} is no table of pages", path.display()))
}

/// Scrapes the pages one after another, and prints a line for each.
pub(super) async fn run(scraper: &Scraper<'_>, only: &[String], summary: &mut Summary) -> Result<()> {
    let wanted = |id: &str| only.is_empty() || only.iter().any(|own| own == id);
    for odd in read_oddities()?.iter().filter(|odd| wanted(&odd.id)) {
        let page = odd.path.trim_start_matches('/').split_once('/');
        let (folder, rest) = page.with_context(|| format!("{} is in no folder", odd.path))?;
        let mut request = markdown_request();
        request.as_object_mut().context("no request")?.extend(odd.request.clone());
        let done = scraper.scrape(folder, rest, &request).await?;
        let mut failures = judge(odd, &done);
        failures.extend(look_closer(odd, &done, scraper).await);
        print(&odd.id, done.took, &failures, summary);
    }
    if wanted("profile") {
        let failures = profile(scraper).await?;
        print("profile", Duration::ZERO, &failures, summary);
    }
    if wanted("sessions") {
        let failures = connect::run(scraper).await?;
        print("sessions", Duration::ZERO, &failures, summary);
    }
    Ok(())
}

fn print(id: &str, took: Duration, failures: &[String], summary: &mut Summary) {
    let verdict = if failures.is_empty() { "right" } else { "WRONG" };
    say!("{verdict}    {id}: {} ms {}", took.as_millis(), failures.join("; "));
    summary.behaved.0 += usize::from(failures.is_empty());
    summary.behaved.1 += 1;
}

fn judge(odd: &OddPage, done: &ScrapeResult) -> Vec<String> {
    let data = &done.answer["data"];
    if !odd.statuses.contains(&done.status) {
        return vec![judge::refused(done.status, &done.answer)];
    }
    let text = judge::folded(data["markdown"].as_str().unwrap_or_default());
    let missing = odd.seen.iter().filter(|seen| !text.contains(*seen)).map(|seen| format!("no {seen:?}"));
    let stray = odd.not_seen.iter().filter(|stray| text.contains(*stray)).map(|stray| format!("holds {stray:?}"));
    let mut failures: Vec<String> = missing.chain(stray).collect();
    let url = data["metadata"]["url"].as_str().unwrap_or_default();
    if odd.url_ends.as_ref().is_some_and(|end| !url.ends_with(end)) {
        failures.push(format!("metadata.url is {url}"));
    }
    let code = data["metadata"]["statusCode"].as_u64();
    if odd.status_code.is_some_and(|expect| code != Some(expect.into())) {
        failures.push(format!("statusCode is {code:?}"));
    }
    let warned = data["warning"].is_string() || done.answer["warning"].is_string();
    if odd.warning && done.status == 200 && !warned {
        failures.push("no warning".to_owned());
    }
    let took = u64::try_from(done.took.as_millis()).unwrap_or(u64::MAX);
    if let Some(most) = odd.max_ms.filter(|most| took > *most) {
        failures.push(format!("it took {took} ms, {most} at most"));
    }
    failures
}

/// Checks results outside the markdown: PDFs, and the destinations of secrets.
async fn look_closer(odd: &OddPage, done: &ScrapeResult, scraper: &Scraper<'_>) -> Vec<String> {
    let mut failures = Vec::new();
    if !odd.pdf_seen.is_empty() {
        match steps::printed(&done.answer["data"]["actions"]["pdfs"][0], scraper.node).await {
            Ok(text) => {
                failures.extend(
                    odd.pdf_seen.iter().filter(|seen| !text.contains(*seen)).map(|seen| format!("pdf: no {seen:?}")),
                );
                let stray = odd.pdf_not_seen.iter().filter(|stray| text.contains(*stray));
                failures.extend(stray.map(|stray| format!("pdf: holds {stray:?}")));
            }
            Err(error) => failures.push(format!("pdf: {error:#}")),
        }
    }
    if let Some(secret) = &odd.only_first {
        let heads = scraper.pages.heads(&format!("/api/{}/", odd.id));
        let first = scraper.pages.first_port();
        let holds = |head: &[u8]| String::from_utf8_lossy(head).contains(secret);
        let (own, other): (Vec<_>, Vec<_>) = heads.into_iter().partition(|(port, _)| *port == first);
        if own.is_empty() || other.is_empty() {
            failures.push(format!("{} requests to the first origin, {} to the second", own.len(), other.len()));
        }
        if !own.iter().all(|(_, seen)| holds(&seen.head)) {
            failures.push("the first origin did not get the headers".to_owned());
        }
        if other.iter().any(|(_, seen)| holds(&seen.head)) {
            failures.push("the second origin got the headers".to_owned());
        }
    }
    failures
}

/// Checks that a page keeps its storage between scrapes with the same profile.
async fn profile(scraper: &Scraper<'_>) -> Result<Vec<String>> {
    let request = |saves: bool| {
        let mut request = markdown_request();
        request["profile"] = json!({"name": "of the odd pages", "saveChanges": saves});
        request
    };
    let mut failures = Vec::new();
    let visits =
        [(true, "Visit 1, new"), (true, "Visit 2, known"), (false, "Visit 3, known"), (false, "Visit 3, known")];
    for (saves, expect) in visits {
        let done = scraper.scrape("login", "", &request(saves)).await?;
        let text = judge::folded(done.answer["data"]["markdown"].as_str().unwrap_or_default());
        if done.status != 200 {
            return Ok(vec![judge::refused(done.status, &done.answer)]);
        }
        if !text.contains(expect) {
            failures.push(format!("{text:?}, expected {expect:?}"));
        }
    }
    let saving = request(true);
    let (one, two) = tokio::join!(scraper.scrape("login", "", &saving), scraper.scrape("login", "", &saving));
    let mut statuses =
        [one?, two?].map(|done| (done.status, done.answer["code"].as_str().unwrap_or_default().to_owned()));
    statuses.sort();
    if statuses[0].0 != 200 || statuses[1] != (409, "PROFILE_IN_USE".to_owned()) {
        failures.push(format!("two savers at a time: {statuses:?}"));
    }
    Ok(failures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_odd_page_is_there() {
        let all = read_oddities().unwrap();
        let folder = book::home().join("behaviour");
        let routes = book::routes(&folder).unwrap();
        for odd in &all {
            let path = odd.path.split('?').next().unwrap_or_default();
            let file = folder.join(path.trim_start_matches('/'));
            assert!(file.join("index.html").is_file() || routes.contains_key(path), "{odd:?}");
        }
    }
}

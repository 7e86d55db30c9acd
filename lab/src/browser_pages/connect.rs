//! Sessions driven by Playwright over the DevTools protocol: `lab/browser-pages/connect.mjs`.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use http::Method;
use serde_json::{Value, json};
use tokio::process::Command;

use super::book;
use super::scrape::Scraper;
use crate::team::Team;

/// Timeout of the script.
const MAX_TIME: Duration = Duration::from_secs(120);

/// Drives a separate session, then the held page of a scrape, and returns the failures.
pub(super) async fn run(scraper: &Scraper<'_>) -> Result<Vec<String>> {
    let (addr, page) = (scraper.node.addr(), scraper.pages.url("/form/"));
    let others = Team::new(addr, "others", 1_000_000).await?;
    let (ours, theirs) = (session(scraper.team, scraper).await?, session(&others, scraper).await?);
    let mut failures = playwright(&text(&ours, "cdpUrl")?, &page, "own", &wrong(&ours, &theirs)?).await?;
    for (team, session) in [(scraper.team, &ours), (&others, &theirs)] {
        end(team, scraper, &format!("/v2/browser/{}", text(session, "id")?)).await?;
    }
    let actions = json!([{ "type": "click", "selector": "#go" }]);
    let request = json!({ "url": page, "actions": actions });
    let mut held = Vec::new();
    for team in [scraper.team, &others] {
        let scraped = team.post(addr, "/v2/scrape", &request).await?.json();
        let id = text(&scraped["data"]["metadata"], "scrapeId")?;
        let path = format!("/v2/scrape/{id}/interact");
        let code = json!({ "code": "await page.textContent('#said')", "timeout": 60 });
        let executed = team.post(addr, &path, &code).await?.json();
        if executed["result"] != "Hello " {
            failures.push(format!("the page of the scrape is not as it was: {executed}"));
        }
        held.push((team, path, executed));
    }
    let (ours, theirs) = (&held[0].2, &held[1].2);
    failures.extend(playwright(&text(ours, "cdpUrl")?, &page, "held", &wrong(ours, theirs)?).await?);
    for (team, path, _) in &held {
        end(team, scraper, path).await?;
    }
    Ok(failures)
}

async fn session(team: &Team, scraper: &Scraper<'_>) -> Result<Value> {
    let started = team.post(scraper.node.addr(), "/v2/browser", &json!({ "ttl": 300 })).await?;
    ensure!(started.status == 200, "no session: {}", started.text());
    Ok(started.json())
}

async fn end(team: &Team, scraper: &Scraper<'_>, path: &str) -> Result<()> {
    let ended = team.at(scraper.node.addr())?.send(Method::DELETE, path, "").await?;
    ensure!(ended.status == 200, "{path} does not end: {}", ended.text());
    Ok(())
}

/// Returns URLs that must be refused: each session with the token of the other, and without a token.
fn wrong(ours: &Value, theirs: &Value) -> Result<Vec<String>> {
    let (ours, theirs) = (text(ours, "cdpUrl")?, text(theirs, "cdpUrl")?);
    let (place, token) = (split(&ours)?.0, split(&theirs)?.1);
    Ok(vec![format!("{place}/{token}"), format!("{place}/{}", "0".repeat(token.len()))])
}

fn split(url: &str) -> Result<(&str, &str)> {
    url.rsplit_once('/').context("an address without a token")
}

fn text(value: &Value, key: &str) -> Result<String> {
    value[key].as_str().map(str::to_owned).with_context(|| format!("no {key} in {value}"))
}

async fn playwright(cdp: &str, page: &str, kind: &str, wrong: &[String]) -> Result<Vec<String>> {
    let mut node = Command::new("node");
    node.current_dir(book::home()).args(["connect.mjs", cdp, page, kind]).args(wrong).kill_on_drop(true);
    let done = tokio::time::timeout(MAX_TIME, node.output()).await.context("playwright hangs")??;
    let said = String::from_utf8_lossy(&done.stdout);
    let mut failures: Vec<String> = said.lines().map(|line| format!("{kind}: {line}")).collect();
    if !done.status.success() {
        failures.push(format!("{kind}: playwright fails: {}", String::from_utf8_lossy(&done.stderr).trim()));
    }
    Ok(failures)
}

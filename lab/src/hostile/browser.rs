//! Support for cases with a browser: it must be installed, started before the measurement, and still work afterwards.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::alive::{ALIVE, ALIVE_PAGE};
use super::case::Case;
use super::raw::{self, Response};
use super::server::Server;
use super::stage::Stage;

/// Timeout of its scrape.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether the case needs a browser.
pub(crate) fn needs(case: &Case) -> bool {
    case.setup.get("needs").and_then(Value::as_str) == Some("browser")
}

/// Whether the server finds a browser on this machine.
pub(crate) fn is_installed() -> bool {
    #[expect(clippy::disallowed_methods, reason = "the server that is started here reads it")]
    let path = std::env::var_os("QUARRY__BROWSER__PATH").filter(|path| !path.is_empty()).map(Into::into);
    browser::Settings { path, ..browser::Settings::default() }.program().is_some()
}

/// Scrapes [`ALIVE_PAGE`], and returns the duration; an answer without its text is an error.
pub(crate) async fn is_alive(stage: &Stage, server: &Server) -> Result<Duration> {
    let url = format!("http://origin2.test:{}{ALIVE_PAGE}", stage.origin2.addr().port());
    let body = json!({"url": url, "formats": ["markdown"], "maxAge": 0, "waitFor": 100, "timeout": 30_000});
    let started = Instant::now();
    let request = raw::post(server.addr, "/v2/scrape", &server.other.key, &body);
    let (answer, _): (Response, _) = raw::exchange(server.addr, request, PATIENCE).await.context("no next scrape")?;
    ensure!(
        answer.status == 200 && answer.text().contains(ALIVE),
        "the next scrape: {} {}",
        answer.status,
        answer.text()
    );
    Ok(started.elapsed())
}

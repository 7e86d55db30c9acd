//! Playwright as a contender, by `lab/browser-pages/bench.mjs`, which answers each input line with one line.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{RoundResult, Target, measured};
use crate::browser_pages::book;

/// Condition for a complete page.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wait {
    /// The expected text is visible.
    Text,
    /// No request during half a second.
    NetworkIdle,
}

/// Node with one browser; killed when dropped.
pub(super) struct Playwright {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
struct Figures {
    seconds: f64,
    ms: Vec<f64>,
}

impl Playwright {
    pub(super) fn start(chromium: &Path) -> Result<Self> {
        let mut command = Command::new("node");
        command.current_dir(book::home()).arg("bench.mjs").arg(chromium);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self { child, input, output })
    }

    /// Runs one round.
    pub(super) async fn turn(&mut self, pages: &[Target], together: usize, wait: Wait) -> Result<RoundResult> {
        let wait = match wait {
            Wait::Text => "text",
            Wait::NetworkIdle => "networkidle",
        };
        let round = json!({"pages": pages, "together": together, "wait": wait});
        let root = self.child.id().context("playwright has ended")?;
        let work = async {
            self.input.write_all(format!("{round}\n").as_bytes()).await?;
            let mut line = String::new();
            self.output.read_line(&mut line).await?;
            let figures: Figures = serde_json::from_str(&line).with_context(|| format!("playwright says {line:?}"))?;
            let times = figures.ms.iter().map(|ms| Duration::from_secs_f64(ms / 1000.0)).collect();
            Ok((Duration::from_secs_f64(figures.seconds), times))
        };
        measured(root, work).await
    }
}

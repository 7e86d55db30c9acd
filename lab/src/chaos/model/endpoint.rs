//! A model server in a process of its own, which can be killed.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use testkit::{ModelFault, ModelServer};
use url::Url;
use xtask::say;

use super::ANSWER;

/// Answers that the process prepares; more than an experiment asks for.
const ANSWERS: usize = 10_000;

/// Arguments of the process.
#[derive(clap::Args)]
pub(crate) struct EndpointArgs {
    /// Milliseconds that an answer takes.
    #[arg(long)]
    answer_ms: u64,
}

/// Runs the model server until the process is killed.
pub(crate) async fn endpoint(args: EndpointArgs) -> Result<()> {
    let model = ModelServer::start(|_| ANSWER.to_owned()).await;
    model.fail_with(vec![ModelFault::Slow(Duration::from_millis(args.answer_ms)); ANSWERS]);
    say!("{}", model.url("/v1"));
    std::future::pending().await
}

/// Model server in a process of its own, killed when dropped.
pub(super) struct Process {
    child: Child,
    url: Url,
}

impl Process {
    /// Starts a model server that takes this time for an answer.
    pub(super) fn start(answer: Duration) -> Result<Self> {
        let time = answer.as_millis().to_string();
        let mut command = Command::new(env::current_exe()?);
        command.args(["chaos", "model-endpoint", "--answer-ms", &time]).stdout(Stdio::piped());
        let mut child = command.spawn().context("no model server")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        Ok(Self { url: line.trim().parse().context("no URL of the model server")?, child })
    }

    /// Returns its base URL.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Kills it with SIGKILL.
    pub(super) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing is left to do for a process that has ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

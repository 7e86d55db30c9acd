//! A process of the service that can be killed, paused and started again on the same data.

use std::fs::OpenOptions;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::up;

/// Where programs and data are, for all processes of one experiment.
pub(crate) struct Place {
    folder: TempDir,
    server: PathBuf,
    worker: PathBuf,
    settings: Vec<(String, String)>,
}

/// The token of the operator in all experiments.
pub(crate) const OPERATOR: &str = "operator-of-the-chaos-tests-0123456789";

impl Place {
    /// Builds the programs. `allow` is admitted by the egress guard.
    pub(crate) fn new(allow: SocketAddr, more: &[(&str, String)]) -> Result<Self> {
        Self::with(up::server(false)?, allow, more)
    }

    /// The same with a server that is there already.
    pub(crate) fn with(server: PathBuf, allow: SocketAddr, more: &[(&str, String)]) -> Result<Self> {
        let worker = server.with_file_name("quarry-worker");
        let folder = tempfile::tempdir()?;
        let mut settings = vec![
            ("QUARRY__DATA__DIR".to_owned(), folder.path().join("data").display().to_string()),
            ("QUARRY__EGRESS__ALLOW".to_owned(), allow.to_string()),
            ("QUARRY__ADMIN__TOKEN".to_owned(), OPERATOR.to_owned()),
            ("QUARRY__LOG__LEVEL".to_owned(), "info".to_owned()),
        ];
        settings.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        Ok(Self { folder, server, worker, settings })
    }

    /// Starts a server.
    pub(crate) fn server(&self, more: &[(&str, &str)]) -> Result<Node> {
        self.start(&self.server.clone(), "QUARRY__SERVER__LISTEN", more)
    }

    /// Starts a worker.
    pub(crate) fn worker(&self) -> Result<Node> {
        self.start(&self.worker.clone(), "QUARRY__WORKER__LISTEN", &[])
    }

    fn start(&self, program: &Path, listen: &str, more: &[(&str, &str)]) -> Result<Node> {
        let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let log = OpenOptions::new().create(true).append(true).open(self.folder.path().join("log"))?;
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .envs(self.settings.iter().map(|(key, value)| (key, value)))
            .envs(more.iter().copied())
            .env(listen, addr.to_string())
            .stdout(log.try_clone()?)
            .stderr(log);
        let child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut node = Node { child, addr };
        up::wait_ready(&mut node.child, &addr.to_string())?;
        Ok(node)
    }
}

/// A running process; killed when dropped.
pub(crate) struct Node {
    child: Child,
    pub(crate) addr: SocketAddr,
}

impl Node {
    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as a crash does.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    pub(crate) fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    pub(crate) fn go_on(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    pub(crate) fn terminate(&self) -> Result<()> {
        self.signal(Signal::TERM)
    }

    /// Waits for its end.
    pub(crate) async fn ended(&mut self, patience: Duration) -> Result<ExitStatus> {
        let started = Instant::now();
        while started.elapsed() < patience {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        bail!("not ended within {} s", patience.as_secs())
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let pid = Pid::from_raw(i32::try_from(self.child.id())?).context("no process id")?;
        Ok(kill_process(pid, signal)?)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! A running program of the comparison.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use lab::{Node, service};
use tempfile::TempDir;
use xtask::db::Cluster;

/// Timeout until the program answers.
const MAX_READY: Duration = Duration::from_secs(60);

/// A running program with its resources; everything ends and is removed when dropped.
pub(super) enum Running {
    /// Quarry, and its private database.
    Quarry { node: Node, _cluster: Option<Cluster> },
    /// Another program.
    Other(Process),
}

impl Running {
    pub(super) fn addr(&self) -> SocketAddr {
        match self {
            Self::Quarry { node, .. } => node.addr(),
            Self::Other(process) => process.addr,
        }
    }

    /// Returns the processor time of its process so far, without that of a database server.
    pub(super) fn cpu(&self) -> Result<Duration> {
        match self {
            Self::Quarry { node, .. } => node.cpu(),
            Self::Other(process) => lab::cpu(process.child.id()),
        }
    }
}

/// A process with its own folder; killed when dropped.
pub(super) struct Process {
    child: Child,
    addr: SocketAddr,
    folder: TempDir,
}

impl Process {
    /// Starts a program and waits until it answers. `describe` gets the folder and the port to listen on. The
    /// environment holds only the variables set there, so that no personal settings apply.
    pub(super) async fn start(
        program: &Path,
        describe: impl FnOnce(&mut Command, &Path, u16) -> Result<()>,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let addr = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let log = File::create(folder.path().join("log"))?;
        let mut command = Command::new(program);
        command.current_dir(folder.path()).env_clear();
        command.env("HOME", folder.path()).env("TMPDIR", folder.path());
        describe(&mut command, folder.path(), addr.port())?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut process = Self { child, addr, folder };
        process.ready().await?;
        Ok(process)
    }

    /// Waits until the program answers anything: health paths differ between programs.
    async fn ready(&mut self) -> Result<()> {
        let started = Instant::now();
        while service::get(self.addr, "/").await.is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("it ended with {status}; its log: {}", self.log());
            }
            ensure!(started.elapsed() < MAX_READY, "no answer for {} s; its log: {}", MAX_READY.as_secs(), self.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Returns the end of the program's output.
    fn log(&self) -> String {
        let log = fs::read(self.folder.path().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&log[log.len().saturating_sub(2000)..]).into_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

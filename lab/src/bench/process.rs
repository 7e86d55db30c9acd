//! The server under measurement: a child process with a data folder of its own.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::up;

/// A running server; ends when dropped.
pub(crate) struct Server {
    child: Child,
    /// `host:port`.
    pub(crate) address: String,
    /// How long it took to be ready.
    pub(crate) ready_after: Duration,
    _data: TempDir,
}

impl Server {
    /// Starts `program` with an empty data folder; `allow` is admitted by the egress guard.
    pub(crate) fn start(program: &Path, allow: &str) -> Result<Self> {
        Self::start_with(program, allow, &[])
    }

    /// The same with more settings, as environment variables.
    pub(crate) fn start_with(program: &Path, allow: &str, more: &[(&str, &str)]) -> Result<Self> {
        let data = tempfile::tempdir()?;
        let address = format!("127.0.0.1:{}", TcpListener::bind("127.0.0.1:0")?.local_addr()?.port());
        let log = File::create(data.path().join("server.log"))?;
        let mut child = Command::new(program)
            .current_dir(data.path())
            .env("QUARRY__SERVER__LISTEN", &address)
            .env("QUARRY__DATA__DIR", data.path().join("data"))
            .env("QUARRY__EGRESS__ALLOW", allow)
            .env("QUARRY__LOG__LEVEL", "warn")
            .envs(more.iter().copied())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let ready_after = up::wait_ready(&mut child, &address)?;
        Ok(Self { child, address, ready_after, _data: data })
    }

    /// Where it listens.
    pub(crate) fn addr(&self) -> Result<SocketAddr> {
        Ok(self.address.parse()?)
    }

    /// Processor time that it has used so far, all threads together.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // Behind the name, which may hold anything: field 14 is the time in the program, 15 the time in the kernel.
        let (_, fields) = stat.rsplit_once(')').context("no name in /proc")?;
        let ticks = |index: usize| fields.split_whitespace().nth(index).and_then(|field| field.parse::<u64>().ok());
        let ticks = ticks(11).zip(ticks(12)).context("no times in /proc")?;
        // Linux tells every program that there are 100 ticks in a second.
        Ok(Duration::from_millis(10) * u32::try_from(ticks.0 + ticks.1)?)
    }

    /// Resident memory now and at its highest, in MiB.
    pub(crate) fn memory(&self) -> Result<(f64, f64)> {
        let status = fs::read_to_string(PathBuf::from(format!("/proc/{}/status", self.child.id())))?;
        let field = |name: &str| -> Result<f64> {
            let line =
                status.lines().find(|line| line.starts_with(name)).with_context(|| format!("no {name} in /proc"))?;
            let kib: f64 = line.split_whitespace().nth(1).context("no figure")?.parse()?;
            Ok(kib / 1024.0)
        };
        Ok((field("VmRSS:")?, field("VmHWM:")?))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

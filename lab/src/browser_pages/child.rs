//! The server of a page, run by Node.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

/// Timeout until it prints its port.
const MAX_START: Duration = Duration::from_secs(20);

/// A Node process; killed when dropped.
pub(super) struct Child {
    addr: SocketAddr,
    _process: tokio::process::Child,
}

impl Child {
    /// Starts a script, which prints its port on loopback as its first line.
    pub(super) async fn start(script: &Path) -> Result<Self> {
        let mut command = Command::new("node");
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().context("cannot start node")?;
        let output = process.stdout.take().context("no output")?;
        let mut line = String::new();
        tokio::time::timeout(MAX_START, BufReader::new(output).read_line(&mut line)).await??;
        let port = line.trim().parse().with_context(|| format!("{} says no port: {line:?}", script.display()))?;
        Ok(Self { addr: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), _process: process })
    }

    pub(super) fn addr(&self) -> SocketAddr {
        self.addr
    }
}

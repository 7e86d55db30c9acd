//! `cargo xtask db start|stop`: a private PostgreSQL cluster on loopback for tests, in its own folder.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::{say, sh};

/// A running private cluster, stopped when dropped.
pub struct Cluster {
    folder: PathBuf,
    port: u16,
}

impl Cluster {
    /// Creates and starts a cluster in a new folder in the system's temporary folder.
    pub fn start() -> Result<Self> {
        start_in(&own_folder(), QUICK)
    }

    /// Creates and starts a cluster for benchmarks, with fsync as in production.
    pub fn durable() -> Result<Self> {
        start_in(&own_folder(), DURABLE)
    }

    /// Stops the cluster like a crash, without flushing anything.
    pub fn crash(&self) -> Result<()> {
        let bin = binaries().context("PostgreSQL is not installed")?;
        let mut stop = as_postgres(&bin.join("pg_ctl"));
        sh::run(stop.args(["-s", "-w", "-m", "immediate", "-D"]).arg(&self.folder).arg("stop"))
    }

    /// Restarts the cluster after [`Cluster::crash`].
    pub fn restart(&self) -> Result<()> {
        run_in(&self.folder, self.port, QUICK)
    }

    /// Sends a signal to all of its processes, such as SIGSTOP and SIGCONT to simulate a network failure.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let pid = fs::read_to_string(self.folder.join("postmaster.pid"))?;
        let pid = pid.lines().next().context("no process id")?.to_owned();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
        for pid in std::iter::once(pid.as_str()).chain(children.split_whitespace()) {
            let pid = Pid::from_raw(pid.parse()?).context("no process id")?;
            // A backend may have ended meanwhile.
            let _ = kill_process(pid, signal);
        }
        Ok(())
    }

    /// Returns the URL of its administrator database.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = stop_in(&self.folder);
    }
}

/// Returns the folder of PostgreSQL's server programs, newest version first; Debian keeps them off the PATH.
pub fn binaries() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|bin| bin.join("initdb").is_file())
        .collect();
    found.sort();
    found.pop()
}

/// Starts a cluster that outlives this process and prints its URL.
pub(crate) fn start() -> Result<()> {
    let folder = kept_folder();
    if folder.join("postmaster.pid").exists() {
        bail!("a database already runs in {}; stop it with cargo xtask db stop", folder.display());
    }
    let cluster = start_in(&folder, QUICK)?;
    say!("QUARRY_TEST_POSTGRES={}", cluster.url());
    std::mem::forget(cluster);
    Ok(())
}

/// Stops the cluster of [`start`] and removes its folder.
pub(crate) fn stop() -> Result<()> {
    stop_in(&kept_folder())
}

/// Tests measure correctness, not durability: without fsync they are several times faster.
const QUICK: &str = "-c fsync=off";
const DURABLE: &str = "-c shared_buffers=512MB -c max_wal_size=4GB";

fn own_folder() -> PathBuf {
    std::env::temp_dir().join(format!("quarry-pg-{}", std::process::id()))
}

fn kept_folder() -> PathBuf {
    std::env::temp_dir().join("quarry-pg-dev")
}

fn start_in(folder: &Path, settings: &str) -> Result<Cluster> {
    let bin = binaries().context("PostgreSQL is not installed; run cargo xtask setup")?;
    fs::create_dir_all(folder)?;
    if sh::is_root() {
        sh::run(Command::new("chown").arg("postgres").arg(folder))?;
    }
    sh::output(
        as_postgres(&bin.join("initdb")).args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "-N", "-D"]).arg(folder),
    )?;
    let attempt = || {
        let port = free_port()?;
        run_in(folder, port, settings).map(|()| port)
    };
    // Another program may take the port before the cluster has it.
    let port = attempt().or_else(|_| attempt()).or_else(|_| attempt())?;
    Ok(Cluster { folder: folder.to_path_buf(), port })
}

fn run_in(folder: &Path, port: u16, settings: &str) -> Result<()> {
    let bin = binaries().context("PostgreSQL is not installed; run cargo xtask setup")?;
    let options = format!("-p {port} -c listen_addresses=127.0.0.1 {settings} -c max_connections=200 -k ''");
    let log = folder.join("server.log");
    sh::run(
        as_postgres(&bin.join("pg_ctl"))
            .args(["-s", "-w", "-o", &options, "-D"])
            .arg(folder)
            .arg("-l")
            .arg(&log)
            .arg("start"),
    )
}

fn stop_in(folder: &Path) -> Result<()> {
    if let Some(bin) = binaries()
        && folder.join("postmaster.pid").exists()
    {
        sh::run(as_postgres(&bin.join("pg_ctl")).args(["-s", "-w", "-m", "immediate", "-D"]).arg(folder).arg("stop"))?;
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}

/// Returns a command that runs as the user `postgres`: PostgreSQL refuses to run as root, and Debian's package creates that
/// user.
fn as_postgres(program: &Path) -> Command {
    let mut command = if sh::is_root() {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir("/");
    command
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

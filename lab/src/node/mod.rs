//! Processes of the service on their own data folder: start, readiness, pause, kill, measurement.

mod counts;
mod readings;
mod tree;

use std::fs::{self, OpenOptions};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, bail};
use client::Client;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use xtask::up;

pub use counts::Counts;
pub use readings::{Memory, MemoryWatch, cpu};
pub use tree::{Process, Tree, adopt_orphans};

use crate::service;

/// Working folder of the programs in the folder of the installation. It is several levels deep, so that
/// [`Installation::strays`] also finds files written through `..`.
const HOME: &str = "a/b/c/d";
/// Name prefix of the temporary folders of browsers.
const BROWSER_FOLDER: &str = "quarry-chromium-";
/// What a program logs when it ends because its port is in use.
const CANNOT_LISTEN: &str = "cannot listen on";

/// Programs, settings and a data folder that are shared by all processes started from it. The folder is removed with the
/// last of them.
#[derive(Debug, Clone)]
pub struct Installation {
    folder: Arc<TempDir>,
    server: PathBuf,
    environment: Vec<(String, String)>,
}

impl Installation {
    /// Creates an empty folder for the server at this path and the worker next to it.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub fn new(server: PathBuf) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let installation = Self { folder: Arc::new(folder), server, environment: Vec::new() };
        let (home, data, temporary) = (installation.home(), installation.data(), installation.temporary());
        fs::create_dir_all(&temporary)?;
        let text = |path: &Path| path.display().to_string();
        Ok(installation.env("HOME", text(&home)).env("TMPDIR", text(&temporary)).set("data.dir", text(&data)))
    }

    /// Sets `key`, such as `worker.per_host`, for every process that is started later.
    #[must_use]
    pub fn set(self, key: &str, value: impl Into<String>) -> Self {
        self.env(&variable(key), value)
    }

    /// Sets several keys.
    #[must_use]
    pub fn set_all<'a>(self, settings: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        settings.into_iter().fold(self, |installation, (key, value)| installation.set(key, value))
    }

    /// Sets an environment variable for every process that is started later.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Starts a server and waits until it is ready, blocking the thread.
    ///
    /// # Errors
    /// When it ends or is not ready in time; the error contains its log.
    pub fn server(&self) -> Result<Node> {
        on_free_address(|addr| self.start(&self.server, "server.listen", addr))
    }

    /// Starts one of several servers on a database, like [`Installation::server`], with its own `sessions.public_url`.
    ///
    /// # Errors
    /// Those of [`Installation::server`].
    pub fn one_of_several(&self) -> Result<Node> {
        on_free_address(|addr| {
            let known = self.clone().set("sessions.public_url", format!("http://{addr}"));
            known.start(&known.server, "server.listen", addr)
        })
    }

    /// Starts a worker and waits until it is ready, blocking the thread.
    ///
    /// # Errors
    /// Those of [`Installation::server`].
    pub fn worker(&self) -> Result<Node> {
        let program = self.server.with_file_name("quarry-worker");
        on_free_address(|addr| self.start(&program, "worker.listen", addr))
    }

    /// Returns a command of the server, such as `index stats`, on the data of this installation.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.server);
        command.args(arguments).current_dir(self.home()).stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Returns the data folder.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.home().join("data")
    }

    /// Returns the logs of all processes so far.
    #[must_use]
    pub fn log(&self) -> Vec<u8> {
        fs::read(self.log_file()).unwrap_or_default()
    }

    /// Returns files outside the data folder, except those in the temporary folder of a running Chromium.
    #[must_use]
    pub fn strays(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        files_below(self.folder.path(), &self.data(), &mut found);
        let (log, temporary) = (self.log_file(), self.temporary());
        found.retain(|path| *path != log && !is_of_browser(path, &temporary));
        found
    }

    /// Returns the folder for temporary files.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        self.home().join("tmp")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join(HOME)
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn start(&self, program: &Path, listen: &str, addr: SocketAddr) -> Result<Node> {
        let log = OpenOptions::new().create(true).append(true).open(self.log_file())?;
        let mut command = Command::new(program);
        command
            .current_dir(self.home())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env(variable(listen), addr.to_string())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut node = Node { child, addr, ready_after: Duration::ZERO, _folder: Arc::clone(&self.folder) };
        let ready = up::wait_ready(&mut node.child, &addr.to_string());
        node.ready_after = ready.with_context(|| format!("its log: {}", String::from_utf8_lossy(&self.log())))?;
        Ok(node)
    }
}

/// Returns whether a file is in the temporary folder of a running Chromium.
fn is_of_browser(path: &Path, temporary: &Path) -> bool {
    let inside = path.strip_prefix(temporary).ok().and_then(|rest| rest.components().next());
    inside.is_some_and(|folder| folder.as_os_str().to_string_lossy().starts_with(BROWSER_FOLDER))
}

/// Starts a node on a free loopback address, at most three times if other programs take its port meanwhile.
fn on_free_address(start: impl Fn(SocketAddr) -> Result<Node>) -> Result<Node> {
    let attempt = || start(free_address()?);
    // The error contains the log of the program.
    let again = |error: Error| if format!("{error:#}").contains(CANNOT_LISTEN) { attempt() } else { Err(error) };
    attempt().or_else(again).or_else(again)
}

/// Returns a free loopback address.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// Returns the environment variable of a setting: `QUARRY__WORKER__PER_HOST` for `worker.per_host`.
fn variable(key: &str) -> String {
    format!("QUARRY__{}", key.to_uppercase().replace('.', "__"))
}

fn files_below(folder: &Path, except: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && path != except {
            files_below(&path, except, into);
        } else if path != except {
            into.push(path);
        }
    }
}

/// A running server or worker, killed when dropped.
#[derive(Debug)]
pub struct Node {
    child: Child,
    addr: SocketAddr,
    ready_after: Duration,
    /// Kept as long as the process runs.
    _folder: Arc<TempDir>,
}

impl Node {
    /// Returns the listening address.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the time from the start until it was ready.
    #[must_use]
    pub fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// Returns a client with this key.
    ///
    /// # Errors
    /// When the key is not valid in a header.
    pub fn client(&self, key: Option<&str>) -> client::Result<Client> {
        service::client(self.addr, key)
    }

    /// Kills the process, like a crash.
    ///
    /// # Errors
    /// When it has ended already.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Pauses the process with SIGSTOP.
    ///
    /// # Errors
    /// When it has ended.
    pub fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// Resumes the process after [`Node::pause`].
    ///
    /// # Errors
    /// When it has ended.
    pub fn resume(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// Sends SIGTERM to the process.
    ///
    /// # Errors
    /// When it has ended.
    pub fn terminate(&self) -> Result<()> {
        self.signal(Signal::TERM)
    }

    /// Waits for the end of the process.
    ///
    /// # Errors
    /// When it still runs after `patience`.
    pub async fn ended(&mut self, patience: Duration) -> Result<ExitStatus> {
        let started = Instant::now();
        while started.elapsed() < patience {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        bail!("not ended within {} s", patience.as_secs())
    }

    /// Returns whether the process runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Returns the CPU time used so far by all threads.
    ///
    /// # Errors
    /// When it has ended.
    pub fn cpu(&self) -> Result<Duration> {
        readings::cpu(self.child.id())
    }

    /// Returns the counters of the process so far.
    ///
    /// # Errors
    /// When it has ended or belongs to another user.
    pub fn counts(&self) -> Result<Counts> {
        Counts::of_process(self.child.id())
    }

    /// Returns the resident memory.
    ///
    /// # Errors
    /// When it has ended.
    pub fn memory(&self) -> Result<Memory> {
        readings::memory(self.child.id())
    }

    /// Returns the process with all its descendants.
    ///
    /// # Errors
    /// When /proc cannot be read.
    pub fn tree(&self) -> Result<Tree> {
        Tree::below(self.child.id())
    }

    /// Watches the growth of its memory from now on.
    #[must_use]
    pub fn watch_memory(&self) -> MemoryWatch {
        MemoryWatch::start(self.child.id())
    }

    /// Watches the growth of the memory of the process and its descendants from now on.
    #[must_use]
    pub fn watch_tree(&self) -> MemoryWatch {
        MemoryWatch::start_tree(self.child.id())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates an installation with a shell script instead of the server.
    fn installation(script: &str) -> (Installation, TempDir) {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("quarry-server");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        (Installation::new(program).unwrap(), folder)
    }

    #[test]
    fn a_program_that_ends_too_soon_shows_its_log() {
        let (installation, _program) = installation("echo \"it is $QUARRY__WORKER__PER_HOST\"; exit 3");
        let installation = installation.set("worker.per_host", "20");
        let error = format!("{:#}", installation.server().unwrap_err());
        assert!(error.contains("it is 20") && error.contains("exit status: 3"), "{error}");
    }

    #[test]
    fn files_outside_of_the_data_folder_are_strays() {
        let script = "mkdir -p data tmp/quarry-chromium-7-x tmp/other; \
                      touch data/db ../../stray tmp/quarry-chromium-7-x/profile tmp/other/file; exit 1";
        let (installation, _program) = installation(script);
        installation.server().unwrap_err();
        let mut strays = installation.strays();
        strays.sort();
        let expect = ["a/b/c/d/tmp/other/file", "a/b/stray"].map(|path| installation.folder.path().join(path));
        assert_eq!(strays, expect, "what a running browser keeps is none");
    }

    #[tokio::test]
    async fn a_process_is_paused_measured_and_ended() {
        let (installation, _program) = installation("true");
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let (addr, folder) = ("127.0.0.1:1".parse().unwrap(), Arc::clone(&installation.folder));
        let mut node = Node { child, addr, ready_after: Duration::ZERO, _folder: folder };
        node.pause().unwrap();
        node.resume().unwrap();
        assert!(node.cpu().unwrap() < Duration::from_secs(1));
        assert_eq!(node.counts().unwrap().threads, 1);
        let memory = node.memory().unwrap();
        assert!(memory.now > 0.0 && memory.peak >= memory.now, "{memory:?}");
        assert!(node.watch_memory().finish().await < 100);
        assert!(node.is_running() && node.ended(Duration::from_millis(30)).await.is_err());
        node.terminate().unwrap();
        assert!(!node.ended(Duration::from_secs(5)).await.unwrap().success());
        assert!(!node.is_running());
    }
}

//! One browser: started, watched, ended with all its parts.

mod flags;
mod folder;
mod memory;
mod peer;
mod user;
mod version;
mod watch;

use std::ffi::OsString;
use std::fmt::Display;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use parking_lot::Mutex;
use rustix::process::{Pid, Resource, Rlimit, Signal};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cdp::{Connection, Session};
use crate::error::BrowserError;
use crate::settings::{Sandbox, Settings};
pub(crate) use flags::user_agent;
use peer::Peers;
use user::User;
pub(crate) use watch::{Overfed, Round, Watch};

/// How long a browser may take to answer its first call. A second is usual.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of address space that a page has beside the memory that it uses: stacks, and room that its scripts may grow into.
const UNUSED: u64 = 1 << 30;
/// How far a browser aside lets others go first on the processor, on a scale to 19.
const NICE: i32 = 10;
/// How much of what Chromium writes to its standard error is kept, to say why it did not start.
const MAX_WORDS: usize = 8 << 10;

/// Where distributions put the program itself. What is in `/usr/bin` is a script that starts it, which would be killed in
/// its place.
const PATHS: &[&str] = &[
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib64/chromium-browser/headless_shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
];

/// A running browser. Dropping it ends the browser and all its parts, and removes its folder.
pub(crate) struct Process {
    connection: Arc<Connection>,
    group: Pid,
    peers: Arc<Peers>,
    gone: CancellationToken,
    /// Pages that have ended for their memory.
    pub(crate) overfed: Overfed,
    /// Chromium's version, such as `156.0.8078.79`.
    pub(crate) version: String,
    pub(crate) started: Instant,
}

impl Process {
    /// Starts one.
    ///
    /// # Errors
    /// [`BrowserError::Unavailable`], which says what to do.
    pub(crate) async fn launch(settings: &Settings) -> Result<Self, BrowserError> {
        let program = found(settings.path.as_deref())?;
        let started = tokio::time::timeout(PATIENCE, Self::start(&program, settings)).await;
        started.unwrap_or_else(|_| Err(unavailable(format!("it did not answer within {} s", PATIENCE.as_secs()))))
    }

    async fn start(program: &Path, settings: &Settings) -> Result<Self, BrowserError> {
        let version = version::of(program).await.map_err(|reason| cannot_start(program, &reason))?;
        let user = User::of(settings)?;
        let profile = folder::make(user).map_err(|error| unavailable(format!("its folder cannot be made: {error}")))?;
        let flags = flags::all(program, &version, settings.sandbox == Sandbox::Off, profile.path());
        let spawned = spawn(program, flags, user, profile.path());
        let (mut child, from, to) = spawned.map_err(|error| cannot_start(program, &error))?;
        let pid = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        let group = pid.ok_or_else(|| unavailable("it ended at once".to_owned()))?;
        bound(group, settings);
        let words = Arc::new(Mutex::new(String::new()));
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(listen(stderr, Arc::clone(&words)));
        }
        let connection = Connection::open(from, to).map_err(|error| unavailable(error.to_string()))?;
        let connection = Arc::new(connection);
        let gone = CancellationToken::new();
        // From here on dropping ends it.
        let uid = user.map_or_else(|| rustix::process::geteuid().as_raw(), |user| user.uid);
        let peers = Arc::new(Peers::new(group.as_raw_nonzero().get().unsigned_abs(), uid));
        let (overfed, started) = (Overfed::default(), Instant::now());
        let process = Self { connection, group, peers, gone: gone.clone(), overfed, version, started };
        tokio::spawn(reap(child, group, Arc::clone(&process.connection), gone, profile));
        if process.browser().call("Browser.getVersion", json!({})).await.is_err() {
            // Its last words may still be on the way.
            tokio::time::sleep(Duration::from_millis(100)).await;
            return Err(unavailable(why(&words.lock())));
        }
        Ok(process)
    }

    /// The browser as a whole.
    pub(crate) fn browser(&self) -> Session {
        self.connection.browser()
    }

    /// Number of the process, which is also that of its group.
    pub(crate) fn pid(&self) -> u32 {
        self.group.as_raw_nonzero().get().unsigned_abs()
    }

    /// Which connections on loopback are its own.
    pub(crate) fn peers(&self) -> &Arc<Peers> {
        &self.peers
    }

    /// Whether it has ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.is_cancelled() || self.browser().is_closed()
    }

    /// Waits until it has ended and its folder is removed.
    pub(crate) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// For those who wait for the end after dropping it.
    pub(crate) fn end_token(&self) -> CancellationToken {
        self.gone.clone()
    }

    /// What looks at its memory and its work.
    pub(crate) fn watch(&self, settings: &Settings) -> Watch {
        Watch::new(self.pid(), settings, self.overfed.clone())
    }

    /// Lets others go first on the processor, with all its parts.
    pub(crate) fn go_last(&self) {
        let _ = rustix::process::setpriority_pgrp(Some(self.group), NICE);
    }

    /// Ends it at once.
    pub(crate) fn kill(&self) {
        kill(self.group);
        self.connection.close();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Has the kernel bound the memory of each part, which all of them have from the first: what they take within a moment, before
/// it is looked at. Where it does not let us, what is looked at is all.
fn bound(leader: Pid, settings: &Settings) {
    if settings.max_page_memory > 0 {
        let most = Some(settings.max_page_memory.saturating_mul(2).saturating_add(UNUSED));
        let limit = Rlimit { current: most, maximum: most };
        let _ = rustix::process::prlimit(Some(leader), Resource::Data, limit);
    }
}

fn kill(group: Pid) {
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
}

/// Waits for the end of the process, however it comes, and cleans up after it.
async fn reap(mut child: Child, group: Pid, connection: Arc<Connection>, gone: CancellationToken, profile: TempDir) {
    let _ = child.wait().await;
    connection.close();
    // Its parts end by themselves; those that hang do not.
    kill(group);
    let _ = tokio::task::spawn_blocking(move || drop(profile)).await;
    gone.cancel();
}

/// The program, where it is: the named one, or where distributions put it.
pub(crate) fn find(named: Option<&Path>) -> Option<PathBuf> {
    let is_there = |path: &PathBuf| path.is_file();
    match named {
        Some(path) => Some(path.to_owned()).filter(is_there),
        None => PATHS.iter().map(PathBuf::from).find(is_there),
    }
}

fn found(named: Option<&Path>) -> Result<PathBuf, BrowserError> {
    find(named).ok_or_else(|| {
        unavailable(match named {
            Some(path) => format!("browser.path is {}, where there is no file", path.display()),
            None => "no Chromium is installed; install chromium-headless-shell or set browser.path".to_owned(),
        })
    })
}

/// The process, and our ends of its pipes: where it is heard, and where it is told.
fn spawn(
    program: &Path,
    flags: Vec<OsString>,
    user: Option<User>,
    profile: &Path,
) -> io::Result<(Child, OwnedFd, OwnedFd)> {
    let (its_input, ours_to) = io::pipe()?;
    let (ours_from, its_output) = io::pipe()?;
    let mut command = std::process::Command::new(program);
    command.args(flags);
    // Nothing of our own environment: it holds secrets.
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", profile).env("TMPDIR", profile);
    command.env("LANG", "C.UTF-8").env("DBUS_SESSION_BUS_ADDRESS", "disabled:");
    command.current_dir(profile).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    if let Some(user) = user {
        command.uid(user.uid).gid(user.gid);
    }
    let mappings = vec![
        FdMapping { parent_fd: its_input.into(), child_fd: 3 },
        FdMapping { parent_fd: its_output.into(), child_fd: 4 },
    ];
    command.fd_mappings(mappings).map_err(io::Error::other)?;
    let child = Command::from(command).kill_on_drop(true).spawn()?;
    Ok((child, ours_from.into(), ours_to.into()))
}

/// Keeps the beginning of what it says, and reads the rest so that it can go on.
async fn listen(mut stderr: ChildStderr, words: Arc<Mutex<String>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut words = words.lock();
        if words.len() < MAX_WORDS {
            words.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    }
}

fn why(words: &str) -> String {
    if words.contains("No usable sandbox") || words.contains("Failed to move to new namespace") {
        return "this system does not let Chromium make its sandbox, which needs user namespaces; allow them, or set \
                browser.sandbox = \"off\" where every page may be trusted"
            .to_owned();
    }
    let last = words.lines().rev().find(|line| !line.trim().is_empty());
    format!("it ended while it started: {}", last.unwrap_or("it did not say why"))
}

fn cannot_start(program: &Path, reason: &dyn Display) -> BrowserError {
    unavailable(format!("{} cannot be started: {reason}", program.display()))
}

fn unavailable(reason: String) -> BrowserError {
    BrowserError::Unavailable { reason }
}

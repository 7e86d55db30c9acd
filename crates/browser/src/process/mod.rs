//! A browser process: start, supervision and end, including its child processes.

mod flags;
mod folder;
mod memory;
mod peer;
mod program;
mod user;
mod version;
mod watch;

use std::ffi::OsString;
use std::fmt::Display;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use cdp::{Connection, Session};
use children::{Child, Group, User, last_line};
use command_fds::{CommandFdExt, FdMapping};
use rustix::process::{Pid, Resource, Rlimit};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::BrowserError;
use crate::settings::{Sandbox, Settings};
pub(crate) use flags::user_agent;
use peer::Peers;
pub(crate) use watch::{Overfed, Round, Watch};

/// Time limit for a browser to answer its first call, which usually takes a second.
const PATIENCE: Duration = Duration::from_secs(20);
/// Address space that a page reserves without using it, in bytes: stacks, and room for the heaps of its scripts.
const UNUSED: u64 = 1 << 30;
/// Niceness of the separate browser for noisy pages, out of 19.
const NICE: i32 = 10;

/// A running browser. Dropping it kills all its processes and removes its profile folder.
pub(crate) struct Process {
    connection: Arc<Connection>,
    group: Group,
    peers: Arc<Peers>,
    gone: CancellationToken,
    /// Pages that ended because of their memory.
    pub(crate) overfed: Overfed,
    /// Chromium's version, such as `156.0.8078.79`.
    pub(crate) version: String,
    pub(crate) started: Instant,
}

impl Process {
    /// Starts a browser.
    ///
    /// # Errors
    /// [`BrowserError::Unavailable`], with a hint what to do.
    pub(crate) async fn launch(settings: &Settings) -> Result<Self, BrowserError> {
        let program = program::find(settings.path.as_deref()).map_err(unavailable)?;
        let started = tokio::time::timeout(PATIENCE, Self::start(&program, settings)).await;
        started.unwrap_or_else(|_| Err(unavailable(format!("Chromium did not answer within {} s", PATIENCE.as_secs()))))
    }

    async fn start(program: &Path, settings: &Settings) -> Result<Self, BrowserError> {
        let user = user::of(settings)?;
        let version = version::of(program, user).await.map_err(|reason| cannot_start(program, &reason))?;
        let profile = folder::make(user).map_err(|error| unavailable(format!("cannot create its folder: {error}")))?;
        let flags = flags::all(program, &version, settings.sandbox == Sandbox::Off, profile.path());
        let spawned = spawn(program, flags, user, profile.path());
        let (mut child, from, to) = spawned.map_err(|error| cannot_start(program, &error))?;
        let group = child.group();
        bound(group.leader(), settings);
        let words = child.words().map_err(|error| cannot_start(program, &error))?;
        let connection = Connection::open(from, to).map_err(|error| unavailable(error.to_string()))?;
        let connection = Arc::new(connection);
        let gone = CancellationToken::new();
        // From here on, dropping `process` cleans up.
        let uid = user.map_or_else(|| rustix::process::geteuid().as_raw(), |user| user.uid);
        let peers = Arc::new(Peers::new(group.id(), uid));
        let (overfed, started) = (Overfed::default(), Instant::now());
        let process = Self { connection, group, peers, gone: gone.clone(), overfed, version, started };
        tokio::spawn(reap(child, Arc::clone(&process.connection), gone, profile));
        if process.browser().call("Browser.getVersion", json!({})).await.is_err() {
            return Err(unavailable(why(&words.finish().await)));
        }
        Ok(process)
    }

    /// Returns the session of the browser itself.
    pub(crate) fn browser(&self) -> Session {
        self.connection.browser()
    }

    /// Returns the process id, which is also the id of the process group.
    pub(crate) fn pid(&self) -> u32 {
        self.group.id()
    }

    /// Returns the check whether a loopback connection comes from this browser.
    pub(crate) fn peers(&self) -> &Arc<Peers> {
        &self.peers
    }

    /// Whether the browser has ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.is_cancelled() || self.browser().is_closed()
    }

    /// Waits until the browser has ended and its profile folder is removed.
    pub(crate) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Returns a token that is cancelled at the end, for waiting after the drop.
    pub(crate) fn end_token(&self) -> CancellationToken {
        self.gone.clone()
    }

    /// Returns the monitor of its memory and CPU time.
    pub(crate) fn watch(&self, settings: &Settings) -> Watch {
        Watch::new(self.pid(), settings, self.overfed.clone())
    }

    /// Lowers the priority of all its processes.
    pub(crate) fn go_last(&self) {
        let _ = rustix::process::setpriority_pgrp(Some(self.group.leader()), NICE);
    }

    /// Kills all its processes.
    pub(crate) fn kill(&self) {
        self.group.kill();
        self.connection.close();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sets a memory limit on the first process, which all others inherit. It catches a page that allocates within a
/// moment, before the monitor sees it. If the kernel refuses, the monitor alone has to suffice.
fn bound(leader: Pid, settings: &Settings) {
    if settings.max_page_memory > 0 {
        let most = Some(settings.max_page_memory.saturating_mul(2).saturating_add(UNUSED));
        let limit = Rlimit { current: most, maximum: most };
        let _ = rustix::process::prlimit(Some(leader), Resource::Data, limit);
    }
}

/// Waits until the process ends for any reason, then cleans up.
async fn reap(mut child: Child, connection: Arc<Connection>, gone: CancellationToken, profile: TempDir) {
    let _ = child.process.wait().await;
    connection.close();
    // Kills its child processes, which exit by themselves unless they hang.
    drop(child);
    let _ = tokio::task::spawn_blocking(move || drop(profile)).await;
    gone.cancel();
}

/// Starts the process. Returns it with our ends of its pipes: for reading and for writing.
fn spawn(
    program: &Path,
    flags: Vec<OsString>,
    user: Option<User>,
    profile: &Path,
) -> io::Result<(Child, OwnedFd, OwnedFd)> {
    let (its_input, ours_to) = io::pipe()?;
    let (ours_from, its_output) = io::pipe()?;
    let mut command = children::command(program, user);
    command.args(flags).current_dir(profile).stderr(Stdio::piped());
    command.env("PATH", "/usr/bin:/bin").env("HOME", profile).env("TMPDIR", profile);
    command.env("LANG", "C.UTF-8").env("DBUS_SESSION_BUS_ADDRESS", "disabled:");
    // Chromium expects its ends of the debugging pipe at the file descriptors 3 and 4.
    let mappings = vec![
        FdMapping { parent_fd: its_input.into(), child_fd: 3 },
        FdMapping { parent_fd: its_output.into(), child_fd: 4 },
    ];
    command.as_std_mut().fd_mappings(mappings).map_err(io::Error::other)?;
    Ok((Child::start(&mut command)?, ours_from.into(), ours_to.into()))
}

fn why(words: &str) -> String {
    if words.contains("No usable sandbox") || words.contains("Failed to move to new namespace") {
        return "this system does not allow Chromium's sandbox, which needs user namespaces; allow them, or set \
                browser.sandbox = \"off\" if all pages are trusted"
            .to_owned();
    }
    format!("Chromium exited during its start: {}", last_line(words).unwrap_or("it gave no reason"))
}

fn cannot_start(program: &Path, reason: &dyn Display) -> BrowserError {
    unavailable(format!("{} cannot be started: {reason}", program.display()))
}

fn unavailable(reason: String) -> BrowserError {
    BrowserError::Unavailable { reason }
}

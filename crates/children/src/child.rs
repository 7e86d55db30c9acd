//! A child process and its process group.

use std::io;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use tokio::process::Command;

use crate::Words;

/// User and group that a child runs as, if the service runs as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// Returns a command whose child inherits nothing: it has no environment, as that holds secrets, no standard streams, a
/// process group of its own, and the root folder as its working directory. Root switches to `user`.
#[must_use]
pub fn command(program: &Path, user: Option<User>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir("/").process_group(0).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(user) = user.filter(|_| geteuid().is_root()) {
        command.uid(user.uid).gid(user.gid);
    }
    command
}

/// A child process. Dropping it kills its process group.
#[derive(Debug)]
pub struct Child {
    /// The process itself, with its pipes.
    pub process: tokio::process::Child,
    group: Group,
}

impl Child {
    /// Starts a [`command`]. Must be called inside a runtime.
    ///
    /// # Errors
    /// Of the system, when the program cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let process = command.spawn()?;
        let leader = process.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let group = Group(leader.ok_or_else(|| io::Error::other("the child has no process id"))?);
        Ok(Self { process, group })
    }

    /// Returns its process group.
    #[must_use]
    pub fn group(&self) -> Group {
        self.group
    }

    /// Takes its standard error, and collects the end of it.
    ///
    /// # Errors
    /// When the standard error is no pipe, or was taken before.
    pub fn words(&mut self) -> io::Result<Words> {
        self.process.stderr.take().map(Words::of).ok_or_else(|| io::Error::other("the child has no standard error"))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.group.kill();
    }
}

/// Process group of a child: the child, and the processes that it has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group(Pid);

impl Group {
    /// Returns the first process, whose id is also that of the group.
    #[must_use]
    pub fn leader(self) -> Pid {
        self.0
    }

    /// Returns the id of the group.
    #[must_use]
    pub fn id(self) -> u32 {
        self.0.as_raw_nonzero().get().unsigned_abs()
    }

    /// Kills all processes of the group.
    pub fn kill(self) {
        // The group may have ended already.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

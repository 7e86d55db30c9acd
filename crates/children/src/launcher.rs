//! Start of fenced children.

use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::apart::OUTSIDE;
use crate::{Child, Order, User, command, frame};

/// Time limit for a process to read its order.
const MAX_START: Duration = Duration::from_secs(5);

/// Starts children that sandbox themselves by an [`Order`]. They end with it.
pub struct Launcher {
    program: PathBuf,
    user: Option<User>,
    starter: Mutex<Option<mpsc::Sender<Wanted>>>,
}

/// Request to start a process.
struct Wanted {
    command: Command,
    runtime: Handle,
    started: oneshot::Sender<io::Result<Child>>,
}

impl Launcher {
    /// Creates a launcher of a program whose `main` calls [`run`](crate::run). For this program itself, use
    /// `/proc/self/exe`, which remains even if an update replaces the file.
    #[must_use]
    pub fn new(program: PathBuf, user: Option<User>) -> Self {
        Self { program, user, starter: Mutex::default() }
    }

    /// Starts the program for a [`Role::fenced`](crate::Role::fenced) and sends its order. Returns the child with our
    /// end of the socket that is its standard input. `prints` makes its output and standard error pipes.
    ///
    /// # Errors
    /// Of the system, when the process cannot be started or does not read its order within 5 s.
    pub async fn start(&self, role: &str, order: &Order, prints: bool) -> io::Result<(Child, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        let output = || if prints { Stdio::piped() } else { Stdio::null() };
        let mut command = command(&self.program, self.user);
        command.arg(role);
        if order.program.is_some() {
            command.arg(OUTSIDE);
        }
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(output()).stderr(output());
        let child = self.spawn(command).await?;
        // Blocking, but short: the socket buffer takes it at once, or the process is already reading. The timeout
        // covers a process that never starts.
        ours.set_write_timeout(Some(MAX_START))?;
        (&ours).write_all(&frame::head(order, 0)?)?;
        Ok((child, ours))
    }

    /// Starts a process from the starter thread.
    async fn spawn(&self, command: Command) -> io::Result<Child> {
        let (started, child) = oneshot::channel();
        let wanted = Wanted { command, runtime: Handle::current(), started };
        self.starter()?.send(wanted).map_err(|_| io::Error::other("the thread that starts processes has ended"))?;
        child.await.map_err(io::Error::other)?
    }

    /// Returns the channel to the starter thread. The parent-death signal of a child refers to the thread that started
    /// it, and threads of the runtime come and go. The starter lives as long as this value.
    fn starter(&self) -> io::Result<mpsc::Sender<Wanted>> {
        let mut starter = self.starter.lock();
        if let Some(starter) = &*starter {
            return Ok(starter.clone());
        }
        let (sender, all) = mpsc::channel::<Wanted>();
        let work = move || {
            for Wanted { mut command, runtime, started } in all {
                let _inside = runtime.enter();
                // If the caller has gone away, the child is dropped and so killed.
                let _ = started.send(Child::start(&mut command));
            }
        };
        thread::Builder::new().name("starter".to_owned()).spawn(work)?;
        *starter = Some(sender.clone());
        Ok(sender)
    }
}

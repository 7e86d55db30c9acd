//! Start of child processes for code, and their slots.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;

use browser::Hands;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};
use tokio::time::{Duration, Instant, timeout_at};

use crate::apart::OUTSIDE;
use crate::code::{Code, InteractError, Language, Ran};
use crate::node::Interpreter;
use crate::orders::{self, OrderError};
use crate::talk::Order;
use crate::{CHILD, shell};

/// Time limit for a process to read its order.
const MAX_START: Duration = Duration::from_secs(5);
/// Longest time that a call waits for a slot.
const PATIENCE: Duration = Duration::from_secs(10);

/// Settings for running code.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Program that is started again for code; it must begin with [`crate::child`]. Best is `/proc/self/exe`, which
    /// remains even if an update replaces the file. `None` means that JavaScript runs in a thread of this process and
    /// nothing else is run: for programs that cannot be started again.
    pub program: Option<PathBuf>,
    /// User and group of the child processes, if this process runs as root.
    pub user: Option<(u32, u32)>,
    /// Maximum number of concurrent calls.
    pub places: usize,
}

/// Runner of code and plain instructions.
pub struct Interact {
    pub(crate) settings: Settings,
    places: Semaphore,
    starter: Mutex<Option<mpsc::Sender<Wanted>>>,
}

/// Request to start a process.
struct Wanted {
    command: Command,
    runtime: Handle,
    started: oneshot::Sender<io::Result<Child>>,
}

/// State of a session that is kept between calls: the interpreter with its variables. Dropping it ends the interpreter.
#[derive(Default)]
pub struct Work {
    pub(crate) interpreter: Option<Interpreter>,
}

impl Interact {
    /// Creates a runner. Processes are started on demand.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let places = Semaphore::new(settings.places.max(1));
        Self { settings, places, starter: Mutex::default() }
    }

    /// Runs code on a page. An error in the code is part of the result: [`Ran::error`].
    ///
    /// # Errors
    /// [`InteractError`] when the code was not run, or the page is closed.
    pub async fn run(&self, hands: &Hands, code: &Code<'_>, work: &mut Work) -> Result<Ran, InteractError> {
        let deadline = Instant::now() + code.timeout;
        let _place = self.place(deadline).await?;
        match code.language {
            Language::Node => crate::node::run(self, hands, code.text, deadline, work).await,
            Language::Python | Language::Bash => shell::run(self, hands, code, deadline).await,
        }
    }

    /// Carries out a plain instruction without a language model. Returns what was done and read, as text.
    ///
    /// # Errors
    /// [`OrderError`]: the prompt is not plain, or the page does not have what it names.
    pub async fn obey(&self, hands: &Hands, prompt: &str, timeout: Duration) -> Result<String, OrderError> {
        orders::obey(hands, prompt, Instant::now() + timeout).await
    }

    async fn place(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, InteractError> {
        let place = timeout_at(deadline.min(Instant::now() + PATIENCE), self.places.acquire()).await;
        place.map_err(|_| InteractError::Busy)?.map_err(|_| InteractError::Busy)
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
                let _ = started.send(command.spawn());
            }
        };
        thread::Builder::new().name("starter".to_owned()).spawn(work)?;
        *starter = Some(sender.clone());
        Ok(sender)
    }
}

/// Child process with its process group. Both are killed on drop.
pub(crate) struct Process {
    pub(crate) child: Child,
    group: Option<Pid>,
}

impl Process {
    /// Starts the program again, with one end of a socket as its standard input, and sends its order.
    pub(crate) async fn start(interact: &Interact, order: &Order, prints: bool) -> io::Result<(Self, UnixStream)> {
        let settings = &interact.settings;
        let program =
            settings.program.as_deref().ok_or_else(|| io::Error::other("this program cannot start itself again"))?;
        let (ours, theirs) = UnixStream::pair()?;
        let output = || if prints { Stdio::piped() } else { Stdio::null() };
        let mut command = Command::new(program);
        command.arg(CHILD).env_clear().current_dir("/").process_group(0);
        if order.program.is_some() {
            command.arg(OUTSIDE);
        }
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(output()).stderr(output());
        if rustix::process::geteuid().is_root()
            && let Some((user, group)) = settings.user
        {
            command.uid(user).gid(group);
        }
        command.kill_on_drop(true);
        let child = interact.spawn(command).await?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let started = Self { child, group };
        let order = serde_json::to_vec(order)?;
        // Blocking, but short: the socket buffer takes it at once, or the process is already reading. The timeout
        // covers a process that never starts.
        ours.set_write_timeout(Some(MAX_START))?;
        io::Write::write_all(&mut &ours, &(order.len() as u64).to_le_bytes())?;
        io::Write::write_all(&mut &ours, &order)?;
        Ok((started, ours))
    }

    /// Returns the process group.
    pub(crate) fn group(&self) -> Option<Pid> {
        self.group
    }

    /// Kills the process and its group.
    pub(crate) fn end(&mut self) {
        if let Some(group) = self.group.take() {
            // The group may have ended already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

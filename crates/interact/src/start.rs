//! Where code is run: processes of its own, so many at a time.

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

/// How long a process may take to read what it is to do.
const MAX_START: Duration = Duration::from_secs(5);
/// How long a call may wait for its place, if it has so much time.
const PATIENCE: Duration = Duration::from_secs(10);

/// How code is run on this machine.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The program that is started again for code; it must begin with [`crate::child`]. Best is `/proc/self/exe`, which no
    /// update takes away. None means that JavaScript runs in a thread of this process and nothing else is run: for
    /// programs that cannot be started again.
    pub program: Option<PathBuf>,
    /// Whose such a process is, by number of user and group, when this one is root's.
    pub user: Option<(u32, u32)>,
    /// How many calls may be at work at the same time.
    pub places: usize,
}

/// Runs code and obeys orders.
pub struct Interact {
    pub(crate) settings: Settings,
    places: Semaphore,
    starter: Mutex<Option<mpsc::Sender<Wanted>>>,
}

/// A process that is to be started.
struct Wanted {
    command: Command,
    runtime: Handle,
    started: oneshot::Sender<io::Result<Child>>,
}

/// What stays from one call of a session to the next, besides the page: the interpreter with its variables. Dropping it ends
/// its process.
#[derive(Default)]
pub struct Work {
    pub(crate) interpreter: Option<Interpreter>,
}

impl Interact {
    /// Nothing is started before it is needed.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let places = Semaphore::new(settings.places.max(1));
        Self { settings, places, starter: Mutex::default() }
    }

    /// Runs code on a page. Code that fails is no error: [`Ran::error`] says what went wrong.
    ///
    /// # Errors
    /// [`InteractError`] when the code was not run, or the page is gone.
    pub async fn run(&self, hands: &Hands, code: &Code<'_>, work: &mut Work) -> Result<Ran, InteractError> {
        let deadline = Instant::now() + code.timeout;
        let _place = self.place(deadline).await?;
        match code.language {
            Language::Node => crate::node::run(self, hands, code.text, deadline, work).await,
            Language::Python | Language::Bash => shell::run(self, hands, code, deadline).await,
        }
    }

    /// Does what a sentence says, without a model. Returns what was done and read, as text.
    ///
    /// # Errors
    /// [`OrderError`]: the sentence is none of the plain ones, or the page does not have what it names.
    pub async fn obey(&self, hands: &Hands, prompt: &str, timeout: Duration) -> Result<String, OrderError> {
        orders::obey(hands, prompt, Instant::now() + timeout).await
    }

    async fn place(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, InteractError> {
        let place = timeout_at(deadline.min(Instant::now() + PATIENCE), self.places.acquire()).await;
        place.map_err(|_| InteractError::Busy)?.map_err(|_| InteractError::Busy)
    }

    /// Starts a process in the thread that is there for it.
    async fn spawn(&self, command: Command) -> io::Result<Child> {
        let (started, child) = oneshot::channel();
        let wanted = Wanted { command, runtime: Handle::current(), started };
        self.starter()?.send(wanted).map_err(|_| io::Error::other("the thread that starts processes is gone"))?;
        child.await.map_err(io::Error::other)?
    }

    /// The thread that starts processes. They end with whoever has started them, which to the kernel is a thread, and those
    /// of a runtime come and go; this one ends with us.
    fn starter(&self) -> io::Result<mpsc::Sender<Wanted>> {
        let mut starter = self.starter.lock();
        if let Some(starter) = &*starter {
            return Ok(starter.clone());
        }
        let (sender, all) = mpsc::channel::<Wanted>();
        let work = move || {
            for Wanted { mut command, runtime, started } in all {
                let _inside = runtime.enter();
                // Where nobody waits for it any more, it ends at once.
                let _ = started.send(command.spawn());
            }
        };
        thread::Builder::new().name("starter".to_owned()).spawn(work)?;
        *starter = Some(sender.clone());
        Ok(sender)
    }
}

/// A process for code, with the group that it started. Both end with this value.
pub(crate) struct Process {
    pub(crate) child: Child,
    group: Option<Pid>,
}

impl Process {
    /// Starts the program again, with one end of a socket as its standard input, and gives it its order.
    pub(crate) async fn start(interact: &Interact, order: &Order, prints: bool) -> io::Result<(Self, UnixStream)> {
        let settings = &interact.settings;
        let program =
            settings.program.as_deref().ok_or_else(|| io::Error::other("this program cannot start itself"))?;
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
        // The socket takes it at once, or the process is reading it already; one that does not even start is not waited for.
        ours.set_write_timeout(Some(MAX_START))?;
        io::Write::write_all(&mut &ours, &(order.len() as u64).to_le_bytes())?;
        io::Write::write_all(&mut &ours, &order)?;
        Ok((started, ours))
    }

    /// The group of all that it has started.
    pub(crate) fn group(&self) -> Option<Pid> {
        self.group
    }

    /// Ends it and all that it has started.
    pub(crate) fn end(&mut self) {
        if let Some(group) = self.group.take() {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

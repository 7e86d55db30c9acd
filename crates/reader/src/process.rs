//! One child process: start, messages, and cleanup. It is killed on drop.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use children::{Words, frame, last_line, processes};
use rustix::process::Signal;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::{Instant, timeout};

use crate::child::{AND, ROLE};
use crate::job::Failure;
use crate::message::{MAX_SAID, Said, Told};
use crate::programs::Program;
use crate::settings::Settings;

/// Time limit for a child to activate its sandbox. A few milliseconds are usual.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time limit for a child to exit after it has closed its pipe. It is dead already, or about to be.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// Child process. Dropping it kills the process.
pub(crate) struct Child {
    child: children::Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    words: Words,
    memory: u64,
    /// Whether it has OCR.
    pub(crate) can_ocr: bool,
    /// Number of documents that it has read.
    pub(crate) documents: u32,
    /// Time since when it is idle.
    pub(crate) idle_since: Instant,
    _running: Arc<()>,
}

/// Report of a child that has started.
pub(crate) struct Ready {
    pub(crate) missing: Vec<String>,
    pub(crate) languages: Vec<String>,
}

impl Child {
    /// Starts a program and waits until its sandbox is active.
    ///
    /// # Errors
    /// The reason as a message.
    pub(crate) async fn start(
        program: &Program,
        settings: &Settings,
        running: &Arc<()>,
    ) -> Result<(Self, Ready), String> {
        let mut child = Self::spawn(program, settings, running).map_err(|error| error.to_string())?;
        match timeout(PATIENCE, child.hear()).await {
            Ok(Ok(Said::Ready { missing, languages })) => {
                child.can_ocr = !languages.is_empty();
                Ok((child, Ready { missing, languages }))
            }
            Ok(Ok(_)) => Err("the program is no document reader".to_owned()),
            Ok(Err(_)) => Err(child.end().await.reason()),
            Err(_) => Err(format!("it was not ready within {} s", PATIENCE.as_secs())),
        }
    }

    fn spawn(program: &Program, settings: &Settings, running: &Arc<()>) -> io::Result<Self> {
        let mut command = children::command(&program.path, None);
        let languages = settings.ocr_languages.join(&AND.to_string());
        command.args([ROLE, &settings.memory.to_string(), &languages]);
        // One glibc arena, as each counts as 64 MiB of the memory limit; one OCR thread per page, as several children
        // work at the same time.
        command.env("LANG", "C.UTF-8").env("MALLOC_ARENA_MAX", "1").env("OMP_THREAD_LIMIT", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = children::Child::start(&mut command)?;
        let gone = || io::Error::other("the child has no pipes");
        let to = child.process.stdin.take().ok_or_else(gone)?;
        let from = BufReader::new(child.process.stdout.take().ok_or_else(gone)?);
        let words = child.words()?;
        Ok(Self {
            child,
            to,
            from,
            words,
            memory: settings.memory,
            can_ocr: false,
            documents: 0,
            idle_since: Instant::now(),
            _running: Arc::clone(running),
        })
    }

    /// Lowers the priority of the process for good.
    pub(crate) fn lower(&self) {
        // Where it fails, the work is done at the cost of others. The thread that reads documents is the first one.
        let _ = rustix::process::setpriority_process(Some(self.child.group().leader()), cpu::LOWEST);
    }

    /// Sends a message, with or without a file.
    pub(crate) async fn tell(&mut self, told: &Told, body: &[u8]) -> io::Result<()> {
        self.to.write_all(&frame::head(told, body.len())?).await?;
        self.to.write_all(body).await
    }

    /// Receives the next message.
    pub(crate) async fn hear(&mut self) -> io::Result<Said> {
        frame::from_child(&mut self.from, MAX_SAID).await
    }

    /// Whether the process is still running.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.process.try_wait(), Ok(None))
    }

    /// Returns its resident memory, in bytes.
    pub(crate) fn resident(&self) -> u64 {
        let memory = processes::memory(self.child.group().id()).unwrap_or_default();
        memory.own + memory.shared
    }

    /// Returns the failure of a document whose child has died.
    pub(crate) async fn fate(self) -> Failure {
        let most = self.memory >> 20;
        let end = self.end().await;
        let (status, last) = (end.status, end.reason());
        tracing::warn!(?status, last, "a document reader ended while it was reading a document; the document failed");
        // Messages of the Rust and C++ allocators. A SIGKILL that the pool did not send comes from the kernel's OOM
        // killer.
        let no_memory = ["memory allocation of", "bad_alloc"].iter().any(|word| end.words.contains(word));
        if no_memory || status.is_some_and(|status| status.signal() == Some(Signal::KILL.as_raw())) {
            let why = format!("reading the document exceeds {most} MiB of memory; split it and try again");
            return Failure::Limit(why);
        }
        Failure::Broken(
            "the document makes its reader fail; save it again with another program and try again".to_owned(),
        )
    }

    /// Waits for the exit.
    async fn end(mut self) -> End {
        let status = timeout(LAST_MOMENT, self.child.process.wait()).await;
        End { status: status.ok().and_then(Result::ok), words: self.words.finish().await }
    }
}

/// End of a child.
struct End {
    /// `None` if it is still running.
    status: Option<ExitStatus>,
    words: String,
}

impl End {
    /// Returns the last line of the standard error, or a replacement.
    fn reason(&self) -> String {
        match (last_line(&self.words), self.status) {
            (Some(last), _) => last.to_owned(),
            (None, Some(status)) => format!("it ended with {status}"),
            (None, None) => "it ended without a message".to_owned(),
        }
    }
}

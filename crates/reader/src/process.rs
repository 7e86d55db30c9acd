//! One child process: start, messages, and cleanup. It is killed on drop.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::child::{AND, CHILD};
use crate::frame::{self, LENGTHS, MAX_SAID, Said, Told};
use crate::job::Failure;
use crate::programs::Program;
use crate::settings::Settings;

/// Time limit for a child to activate its sandbox. A few milliseconds are usual.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time limit for a child to exit after it has closed its pipe. It is dead already, or about to be.
const LAST_MOMENT: Duration = Duration::from_secs(2);
/// Bytes of its standard error that are kept.
const MAX_WORDS: usize = 4 << 10;

/// Messages above this size are parsed on a blocking thread, as they may contain the text of a whole document.
const LONG: usize = 1 << 20;

/// Child process. Dropping it kills the process.
pub(crate) struct Child {
    process: tokio::process::Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    words: Arc<Mutex<String>>,
    listening: Option<JoinHandle<()>>,
    memory: u64,
    /// Whether it has OCR.
    pub(crate) can_ocr: bool,
    /// Number of documents that it has read.
    pub(crate) documents: u32,
    /// Time since when it is idle.
    pub(crate) idle_since: Instant,
    _counted: Counted,
}

/// Guard that counts a running child.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(running: &Arc<AtomicUsize>) -> Self {
        running.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(running))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
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
        running: &Arc<AtomicUsize>,
    ) -> Result<(Self, Ready), String> {
        let mut child = Self::spawn(program, settings, running).map_err(|error| error.to_string())?;
        match timeout(PATIENCE, child.hear()).await {
            Ok(Ok(Said::Ready { missing, languages })) => {
                child.can_ocr = !languages.is_empty();
                Ok((child, Ready { missing, languages }))
            }
            Ok(Ok(_)) => Err("the program is no document reader".to_owned()),
            Ok(Err(_)) => Err(child.last_words().await),
            Err(_) => Err(format!("it was not ready within {} s", PATIENCE.as_secs())),
        }
    }

    fn spawn(program: &Program, settings: &Settings, running: &Arc<AtomicUsize>) -> io::Result<Self> {
        let mut command = Command::new(&program.path);
        let languages = settings.ocr_languages.join(&AND.to_string());
        command.args([CHILD, &settings.memory.to_string(), &languages]).current_dir("/").process_group(0);
        // The environment is not inherited, as it holds secrets. One glibc arena, as each counts as 64 MiB of the
        // memory limit; one OCR thread per page, as several children work at the same time.
        command.env_clear().env("LANG", "C.UTF-8").env("MALLOC_ARENA_MAX", "1").env("OMP_THREAD_LIMIT", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.kill_on_drop(true).spawn()?;
        let gone = || io::Error::other("the child has no pipes");
        let to = process.stdin.take().ok_or_else(gone)?;
        let from = BufReader::new(process.stdout.take().ok_or_else(gone)?);
        let words = Arc::new(Mutex::new(String::new()));
        let stderr = process.stderr.take();
        let listening = stderr.map(|stderr| tokio::spawn(listen(stderr, Arc::clone(&words))));
        Ok(Self {
            process,
            to,
            from,
            words,
            listening,
            memory: settings.memory,
            can_ocr: false,
            documents: 0,
            idle_since: Instant::now(),
            _counted: Counted::new(running),
        })
    }

    /// Sends a message, with or without a file.
    pub(crate) async fn tell(&mut self, told: &Told, body: &[u8]) -> io::Result<()> {
        self.to.write_all(&frame::head(told, body.len())?).await?;
        self.to.write_all(body).await
    }

    /// Receives the next message.
    pub(crate) async fn hear(&mut self) -> io::Result<Said> {
        let mut lengths = [0; LENGTHS];
        self.from.read_exact(&mut lengths).await?;
        let (head, _) = frame::lengths(lengths, MAX_SAID, 0)?;
        let mut bytes = Vec::new();
        // The buffer grows with the received bytes, so an untrusted length cannot allocate memory.
        (&mut self.from).take(head as u64).read_to_end(&mut bytes).await?;
        if bytes.len() > LONG {
            return tokio::task::spawn_blocking(move || frame::message(&bytes)).await?;
        }
        frame::message(&bytes)
    }

    /// Whether the process is still running.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Returns its resident memory, in bytes.
    pub(crate) fn resident(&self) -> u64 {
        let statm = self.process.id().and_then(|id| std::fs::read_to_string(format!("/proc/{id}/statm")).ok());
        let pages = statm.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
        pages.unwrap_or(0) * rustix::param::page_size() as u64
    }

    /// Returns the failure of a document whose child has died.
    pub(crate) async fn fate(mut self) -> Failure {
        let last = self.last_words().await;
        let status = self.process.try_wait().ok().flatten();
        tracing::warn!(?status, last, "a document reader ended while it was reading a document; the document failed");
        // Messages of the Rust and C++ allocators. A SIGKILL that the pool did not send comes from the kernel's OOM
        // killer.
        let no_memory = ["memory allocation of", "bad_alloc"].iter().any(|word| self.words.lock().contains(word));
        if no_memory || status.is_some_and(|status| status.signal() == Some(Signal::KILL.as_raw())) {
            let most = self.memory >> 20;
            let why = format!("reading the document exceeds {most} MiB of memory; split it and try again");
            return Failure::Limit(why);
        }
        Failure::Broken(
            "the document makes its reader fail; save it again with another program and try again".to_owned(),
        )
    }

    /// Waits for the exit, and returns the last line of the standard error.
    async fn last_words(&mut self) -> String {
        let ended = timeout(LAST_MOMENT, self.process.wait()).await;
        if let Some(listening) = self.listening.take() {
            let _ = timeout(LAST_MOMENT, listening).await;
        }
        let words = self.words.lock();
        let last = words.lines().map(str::trim).rfind(|line| !line.is_empty());
        match (last, ended) {
            (Some(last), _) => last.to_owned(),
            (None, Ok(Ok(status))) => format!("it ended with {status}"),
            (None, _) => "it ended without a message".to_owned(),
        }
    }
}

/// Collects the end of the standard error.
async fn listen(mut stderr: ChildStderr, words: Arc<Mutex<String>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut words = words.lock();
        words.push_str(&String::from_utf8_lossy(&buffer[..count]));
        let excess = words.len().saturating_sub(MAX_WORDS);
        let start = words.ceil_char_boundary(excess);
        words.drain(..start);
    }
}

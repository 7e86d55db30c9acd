//! The pool of children, and the queues for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use base::Owner;
use cpu::line::{Line, Load, NoPlace, Place};
use parking_lot::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::job::{Answer, Failure, Job, ReadError};
use crate::process::{Child, Ready};
use crate::programs::Programs;
use crate::read;
use crate::settings::{Settings, StartError};

/// Error where no reader program exists.
const NO_PROGRAM: &str = "there is no reader program; put quarry-reader beside the server, or set documents.reader";

/// Pool of children. Dropping it kills them.
pub struct Pool(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) settings: Settings,
    programs: Programs,
    /// Slots for documents.
    documents: Line,
    /// Slots for pages under OCR. A document holds a slot of the other kind while it waits for its pages, so there is
    /// no deadlock.
    pub(crate) pages: Line,
    idle: Mutex<Vec<Child>>,
    /// Whether a task that ends idle children is running.
    sweeps: AtomicBool,
    /// Held once by every running child, which counts them.
    running: Arc<()>,
    /// Whether the missing sandbox restrictions have been logged.
    told: AtomicBool,
}

impl Pool {
    /// Creates a pool. Children are started on demand.
    ///
    /// # Errors
    /// [`StartError`] when the configured program does not exist.
    pub fn new(settings: Settings) -> Result<Self, StartError> {
        let programs = Programs::find(settings.reader.as_deref())?;
        let places = settings.places();
        Ok(Self(Arc::new(Inner {
            documents: Line::new(places, settings.waiting.into()),
            // Each document has at most this many workers.
            pages: Line::new(places, places * places),
            settings,
            programs,
            idle: Mutex::default(),
            sweeps: AtomicBool::new(false),
            running: Arc::default(),
            told: AtomicBool::new(false),
        })))
    }

    /// Whether OCR is available, as far as is known: until a child has started, whether its program exists.
    #[must_use]
    pub fn can_ocr(&self) -> bool {
        self.0.settings.enabled && self.0.programs.can_ocr()
    }

    /// Returns the languages of OCR; empty until a child has started.
    #[must_use]
    pub fn languages(&self) -> Vec<String> {
        self.0.programs.languages()
    }

    /// Whether documents can be read at all.
    #[must_use]
    pub fn can_read(&self) -> bool {
        self.0.settings.enabled && self.0.programs.best().is_some()
    }

    /// Returns the number of running children.
    #[must_use]
    pub fn children(&self) -> usize {
        Arc::strong_count(&self.0.running) - 1
    }

    /// Returns the load of the document slots and of the OCR slots: how many are taken, and how many callers wait.
    #[must_use]
    pub fn load(&self) -> [Load; 2] {
        [self.0.documents.load(), self.0.pages.load()]
    }

    /// Starts a child and ends it, to learn its capabilities.
    pub async fn look(&self) {
        if self.can_read() {
            // `start` has logged a failure.
            drop(self.0.start().await);
        }
    }

    /// Reads a document. `afford` is called once with the number of pages to be read, after the file is opened and
    /// before it is read. Dropping the future kills the child.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub async fn read<E>(
        &self,
        job: Job,
        deadline: Instant,
        afford: impl AsyncFnOnce(u32) -> Result<(), E>,
    ) -> Result<Answer, ReadError<E>> {
        let inner = &self.0;
        if !inner.settings.enabled {
            return Err(ReadError::Unavailable("the setting documents.enabled is off".to_owned()));
        }
        let deadline = deadline.min(Instant::now() + inner.settings.longest);
        let _place = inner.place(&job.owner, deadline).await?;
        let read = read::document(inner, &job, deadline, afford);
        timeout_at(deadline, read).await.unwrap_or(Err(ReadError::Timeout))
    }
}

impl Inner {
    async fn place(&self, owner: &Owner, deadline: Instant) -> Result<Place, Failure> {
        self.documents.enter(owner, deadline).await.map_err(|none| match none {
            NoPlace::Late => Failure::Timeout,
            NoPlace::Full => Failure::Unavailable("the queue of documents is full; try again later".to_owned()),
        })
    }

    /// Returns an idle child, or starts a new one.
    pub(crate) async fn child(&self) -> Result<Child, Failure> {
        let can_ocr = self.programs.can_ocr();
        loop {
            let idle = self.idle.lock().pop();
            let Some(mut child) = idle else { return self.start().await };
            // A child from before OCR became available is discarded.
            if child.is_alive() && child.can_ocr >= can_ocr {
                return Ok(child);
            }
        }
    }

    async fn start(&self) -> Result<Child, Failure> {
        loop {
            let Some(program) = self.programs.best() else { return Err(Failure::Unavailable(NO_PROGRAM.to_owned())) };
            match Child::start(&program, &self.settings, &self.running).await {
                Ok((child, ready)) => {
                    self.programs.started(&program, &ready.languages);
                    self.tell(&ready);
                    return Ok(child);
                }
                Err(why) => {
                    let path = program.path.display();
                    tracing::warn!(program = %path, why, "the document reader did not start; it is left out for 60 s");
                    if !self.programs.failed(&program) {
                        return Err(Failure::Unavailable(format!("{path} did not start: {why}")));
                    }
                }
            }
        }
    }

    fn tell(&self, ready: &Ready) {
        if !ready.missing.is_empty() && !self.told.swap(true, Ordering::Relaxed) {
            let missing = ready.missing.join("; ");
            tracing::warn!(missing, "the sandbox of the document readers is incomplete on this system");
        }
    }

    /// Keeps a child for the next document, unless it has grown too large or read too many.
    pub(crate) fn put_back(self: &Arc<Self>, mut child: Child) {
        child.documents += 1;
        if child.documents >= self.settings.recycle || child.resident() > self.settings.recycle_memory {
            return;
        }
        child.idle_since = Instant::now();
        self.idle.lock().push(child);
        if !self.sweeps.swap(true, Ordering::Relaxed) {
            tokio::spawn(sweep(Arc::downgrade(self), self.settings.idle));
        }
    }

    /// Ends children that have been idle for this long. Returns when the next one is due, if there is one.
    fn end_idle(&self, idle: std::time::Duration) -> Option<Instant> {
        let mut all = self.idle.lock();
        all.retain(|child| child.idle_since.elapsed() < idle);
        let next = all.iter().map(|child| child.idle_since + idle).min();
        if next.is_none() {
            // Stored under the lock, so that the next `put_back` starts a new sweep.
            self.sweeps.store(false, Ordering::Relaxed);
        }
        next
    }
}

async fn sweep(pool: Weak<Inner>, idle: std::time::Duration) {
    let mut next = Instant::now() + idle;
    loop {
        tokio::time::sleep_until(next).await;
        match pool.upgrade().and_then(|pool| pool.end_idle(idle)) {
            Some(due) => next = due,
            None => return,
        }
    }
}

//! The children of a pool, and the queues for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use base::Owner;
use cpu::line::{Line, NoPlace, Place};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::job::Failure;
use crate::process::{Child, Ready};
use crate::programs::Programs;
use crate::settings::Settings;

/// Error where no reader program exists.
const NO_PROGRAM: &str = "there is no reader program; put quarry-reader beside the server, or set documents.reader";

/// Priority of the children of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// That of this process.
    Usual,
    /// The lowest of the system.
    Lowest,
}

/// Children of one pool, and the queues for them.
pub(crate) struct Children {
    pub(crate) settings: Settings,
    pub(crate) programs: Programs,
    priority: Priority,
    /// Slots for documents.
    pub(crate) documents: Line,
    /// Slots for pages under OCR. A document holds a slot of the other kind while it waits for its pages, so there is
    /// no deadlock.
    pub(crate) pages: Line,
    idle: Mutex<Vec<Child>>,
    /// Whether a task that ends idle children is running.
    sweeps: AtomicBool,
    /// Held once by every running child, which counts them.
    pub(crate) running: Arc<()>,
    /// Whether the missing sandbox restrictions have been logged.
    told: AtomicBool,
}

impl Children {
    pub(crate) fn new(settings: Settings, programs: Programs, priority: Priority) -> Self {
        let places = settings.places();
        Self {
            documents: Line::new(places, settings.waiting.into()),
            // Each document has at most this many workers.
            pages: Line::new(places, places * places),
            settings,
            programs,
            priority,
            idle: Mutex::default(),
            sweeps: AtomicBool::new(false),
            running: Arc::default(),
            told: AtomicBool::new(false),
        }
    }

    /// Waits for a slot for a document.
    pub(crate) async fn place(&self, owner: &Owner, deadline: Instant) -> Result<Place, Failure> {
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

    /// Starts a child.
    pub(crate) async fn start(&self) -> Result<Child, Failure> {
        loop {
            let Some(program) = self.programs.best() else { return Err(Failure::Unavailable(NO_PROGRAM.to_owned())) };
            match Child::start(&program, &self.settings, &self.running).await {
                Ok((child, ready)) => {
                    self.programs.started(&program, &ready.languages);
                    self.tell(&ready);
                    if self.priority == Priority::Lowest {
                        child.lower();
                    }
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

async fn sweep(pool: Weak<Children>, idle: std::time::Duration) {
    let mut next = Instant::now() + idle;
    loop {
        tokio::time::sleep_until(next).await;
        match pool.upgrade().and_then(|pool| pool.end_idle(idle)) {
            Some(due) => next = due,
            None => return,
        }
    }
}

//! The children of this process, and who has one read.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

/// What to do where there is no program to read with.
const NO_PROGRAM: &str =
    "no program to read documents with is there; put quarry-reader beside the server, or set documents.reader";

/// The children of this process. Dropping it ends them.
pub struct Pool(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) settings: Settings,
    programs: Programs,
    /// Places for documents.
    documents: Line,
    /// Places for pages that are recognised. A document that waits for its pages holds a place of the other kind, so none
    /// waits for itself.
    pub(crate) pages: Line,
    idle: Mutex<Vec<Child>>,
    /// Somebody ends children that have been idle for long.
    sweeps: AtomicBool,
    running: Arc<AtomicUsize>,
    /// The walls that are missing were told.
    told: AtomicBool,
}

impl Pool {
    /// Starts nothing: children come when they are needed.
    ///
    /// # Errors
    /// [`StartError`] when the settings name a program that is not there.
    pub fn new(settings: Settings) -> Result<Self, StartError> {
        let programs = Programs::find(settings.reader.as_deref())?;
        let places = settings.places();
        Ok(Self(Arc::new(Inner {
            documents: Line::new(places, settings.waiting.into()),
            // Each document has so many who ask at most.
            pages: Line::new(places, places * places),
            settings,
            programs,
            idle: Mutex::default(),
            sweeps: AtomicBool::new(false),
            running: Arc::default(),
            told: AtomicBool::new(false),
        })))
    }

    /// Whether text can be recognised, as far as is known: until a child has started, whether its program is there.
    #[must_use]
    pub fn can_ocr(&self) -> bool {
        self.0.settings.enabled && self.0.programs.can_ocr()
    }

    /// The languages that text can be recognised in; empty until a child has started.
    #[must_use]
    pub fn languages(&self) -> Vec<String> {
        self.0.programs.languages()
    }

    /// Whether documents can be read at all.
    #[must_use]
    pub fn can_read(&self) -> bool {
        self.0.settings.enabled && self.0.programs.best().is_some()
    }

    /// How many children run.
    #[must_use]
    pub fn children(&self) -> usize {
        self.0.running.load(Ordering::Relaxed)
    }

    /// Places for documents, and for pages that are recognised: how many are taken, and how many wait for one.
    #[must_use]
    pub fn load(&self) -> [Load; 2] {
        [self.0.documents.load(), self.0.pages.load()]
    }

    /// Starts a child and ends it, to learn what it can do.
    pub async fn look(&self) {
        if self.can_read() {
            // What went wrong was logged.
            drop(self.0.start().await);
        }
    }

    /// Reads a document. `afford` is asked once, with the number of pages that will be read, after the file is opened and
    /// before it is read. Dropping the future ends the child.
    ///
    /// # Errors
    /// [`ReadError`], see its variants.
    pub async fn read<E>(
        &self,
        job: Job,
        deadline: Instant,
        afford: impl AsyncFnOnce(u32) -> Result<(), E>,
    ) -> Result<Answer, ReadError<E>> {
        let inner = &self.0;
        if !inner.settings.enabled {
            return Err(ReadError::Unavailable("documents.enabled is off".to_owned()));
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
            NoPlace::Full => Failure::Unavailable("too many documents wait already; try again later".to_owned()),
        })
    }

    /// An idle child, or a new one.
    pub(crate) async fn child(&self) -> Result<Child, Failure> {
        let can_ocr = self.programs.can_ocr();
        loop {
            let idle = self.idle.lock().pop();
            let Some(mut child) = idle else { return self.start().await };
            // One from before recognition was possible is of no use.
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
                    tracing::warn!(program = %path, why, "a program that reads documents did not start");
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
            tracing::warn!(missing, "the processes that read documents are less fenced in than they could be");
        }
    }

    /// Keeps a child for the next document, unless it has grown or had many.
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

    /// Ends children that have been idle for so long. When the next one is due, if there is one.
    fn end_idle(&self, idle: std::time::Duration) -> Option<Instant> {
        let mut all = self.idle.lock();
        all.retain(|child| child.idle_since.elapsed() < idle);
        let next = all.iter().map(|child| child.idle_since + idle).min();
        if next.is_none() {
            // Under the lock, so that whoever puts one back after this starts anew.
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

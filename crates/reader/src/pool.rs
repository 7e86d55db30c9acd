//! The pool of children, which reads documents.

use std::sync::Arc;
use std::time::Duration;

use cpu::line::Load;
use tokio::time::{Instant, timeout_at};

use crate::children::{Children, Priority};
use crate::job::{Answer, Job, ReadError};
use crate::programs::Programs;
use crate::read;
use crate::settings::{Settings, StartError};

/// Longest idle time of a child for work that can wait.
const SPARE_IDLE: Duration = Duration::from_secs(10);

/// Pool of children. Dropping it kills them.
pub struct Pool(Arc<Children>);

impl Pool {
    /// Creates a pool. Children are started on demand.
    ///
    /// # Errors
    /// [`StartError`] when the configured program does not exist.
    pub fn new(settings: Settings) -> Result<Self, StartError> {
        let programs = Programs::find(settings.reader.as_deref())?;
        Ok(Self(Arc::new(Children::new(settings, programs, Priority::Usual))))
    }

    /// Creates a pool for work that can wait: one child at a time, of the lowest priority, which ends soon after its last
    /// document.
    ///
    /// # Errors
    /// [`StartError`] when the configured program does not exist.
    pub fn spare(settings: &Settings) -> Result<Self, StartError> {
        let settings = Settings { children: 1, idle: settings.idle.min(SPARE_IDLE), ..settings.clone() };
        let programs = Programs::find(settings.reader.as_deref())?;
        Ok(Self(Arc::new(Children::new(settings, programs, Priority::Lowest))))
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
        let children = &self.0;
        if !children.settings.enabled {
            return Err(ReadError::Unavailable("the setting documents.enabled is off".to_owned()));
        }
        let deadline = deadline.min(Instant::now() + children.settings.longest);
        let _place = children.place(&job.owner, deadline).await?;
        let read = read::document(children, &job, deadline, afford);
        timeout_at(deadline, read).await.unwrap_or(Err(ReadError::Timeout))
    }
}

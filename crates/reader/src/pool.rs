//! The children of this process, and who has one read.

use tokio::time::Instant;

use crate::job::{Answer, Job, ReadError};
use crate::settings::{Settings, StartError};

/// The children of this process. Dropping it ends them.
pub struct Pool {
    settings: Settings,
}

impl Pool {
    /// Starts nothing: children come when they are needed.
    ///
    /// # Errors
    /// [`StartError`] when the settings name a program that is not there.
    pub fn new(settings: Settings) -> Result<Self, StartError> {
        Ok(Self { settings })
    }

    /// Whether text can be recognised.
    #[must_use]
    pub fn can_ocr(&self) -> bool {
        false
    }

    /// The languages that text can be recognised in.
    #[must_use]
    pub fn languages(&self) -> Vec<String> {
        Vec::new()
    }

    /// How many children run.
    #[must_use]
    pub fn children(&self) -> usize {
        0
    }

    /// Reads a document. `afford` is asked once, with the number of pages that will be read, after the file is opened and
    /// before it is read.
    ///
    /// # Errors
    /// [`ReadError`], see its variants.
    pub async fn read<E>(
        &self,
        _job: Job,
        _deadline: Instant,
        _afford: impl AsyncFnOnce(u32) -> Result<(), E>,
    ) -> Result<Answer, ReadError<E>> {
        Err(ReadError::Unavailable(format!("children are not there yet, {} MiB", self.settings.memory >> 20)))
    }
}

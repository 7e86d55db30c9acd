//! Index in a folder.

use std::path::{Path, PathBuf};

use crate::{Asked, Hit, IndexError, Writer};

/// Bounds of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Memory of the writer, in bytes. At least 15 MB.
    pub writer_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { writer_bytes: 48 << 20 }
    }
}

/// What an index holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Pages that can be found.
    pub pages: u64,
    /// Size of the files, in bytes.
    pub bytes: u64,
    /// Place of the follower, as the last commit has it.
    pub place: Option<String>,
}

/// Index of pages in a folder. Cheap to clone.
#[derive(Clone)]
pub struct PageIndex {
    folder: PathBuf,
}

impl PageIndex {
    /// Opens the index in a folder, which is made if it is missing.
    ///
    /// # Errors
    ///
    /// [`IndexError::Unreadable`] if the folder is damaged or of another format, [`IndexError::File`] if it cannot be
    /// made.
    pub fn open(folder: &Path, _settings: Settings) -> Result<Self, IndexError> {
        Ok(PageIndex { folder: folder.to_owned() })
    }

    /// Opens the writer. There is one at a time; it gives its memory back when it is dropped.
    ///
    /// # Errors
    ///
    /// [`IndexError::Busy`] if another is open.
    pub fn writer(&self) -> Result<Writer, IndexError> {
        Err(IndexError::Busy)
    }

    /// Answers a question with the pages of the last commit. Work for a processor, without waiting: at most some ten
    /// milliseconds. `stop` is asked now and then, and ends the work when it returns true.
    ///
    /// # Errors
    ///
    /// [`IndexError::Stopped`], and [`IndexError::Unreadable`] if the files are damaged.
    pub fn search(&self, _asked: &Asked<'_>, _stop: &dyn Fn() -> bool) -> Result<Vec<Hit>, IndexError> {
        Ok(Vec::new())
    }

    /// Returns what the index holds.
    ///
    /// # Errors
    ///
    /// [`IndexError::Unreadable`] if the files are damaged.
    pub fn stats(&self) -> Result<Stats, IndexError> {
        Ok(Stats::default())
    }

    /// Returns the folder of the index.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl std::fmt::Debug for PageIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PageIndex").field(&self.folder).finish()
    }
}

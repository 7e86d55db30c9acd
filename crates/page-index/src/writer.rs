//! The writer.

use crate::{IndexError, IndexedPage};

/// Writer of an index: nothing of it is found, and nothing outlasts the process, before [`Writer::commit`].
pub struct Writer {
    uncommitted: usize,
}

impl Writer {
    /// Adds a page. It takes the place of an older copy of the same scope and page key; a copy that is older than the
    /// one held is left out. Work for a processor.
    ///
    /// # Errors
    ///
    /// [`IndexError::File`] if a file could not be written; the writer has to be opened again then.
    pub fn put(&mut self, _page: &IndexedPage) -> Result<(), IndexError> {
        self.uncommitted += 1;
        Ok(())
    }

    /// Removes copies by their ids. Ids that are not held are left out.
    ///
    /// # Errors
    ///
    /// As [`Writer::put`].
    pub fn remove(&mut self, copies: &[String]) -> Result<(), IndexError> {
        self.uncommitted += copies.len();
        Ok(())
    }

    /// Makes everything so far visible and lasting, with the place of the follower.
    ///
    /// # Errors
    ///
    /// As [`Writer::put`].
    pub fn commit(&mut self, _place: &str) -> Result<(), IndexError> {
        self.uncommitted = 0;
        Ok(())
    }

    /// Returns how many pages were added or removed since the last commit.
    #[must_use]
    pub fn uncommitted(&self) -> usize {
        self.uncommitted
    }
}

//! Copies that an index holds, and the place of its follower.

use std::path::Path;

use crate::{IndexError, PageIndex};

impl PageIndex {
    /// Place.
    #[must_use]
    pub fn place(_folder: &Path) -> Option<String> {
        None
    }

    /// Copies.
    pub fn copies(&self, _after: &str, _limit: usize) -> Result<Vec<String>, IndexError> {
        Ok(Vec::new())
    }
}

impl PageIndex {
    /// Held.
    pub fn held(&self, _copies: &[String]) -> Result<Vec<String>, IndexError> {
        Ok(Vec::new())
    }
}
impl crate::Writer {
    /// Finish.
    pub fn finish(self) -> Result<(), IndexError> {
        Ok(())
    }
}

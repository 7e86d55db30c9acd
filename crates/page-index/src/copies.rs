//! Copies that an index holds, and the place of its follower.

use std::collections::BTreeSet;
use std::path::Path;

use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, SegmentReader, TERMINATED, Term};

use crate::index::{FORMAT, read_format};
use crate::{IndexError, PageIndex};

/// File of the library with what the last commit has.
const COMMIT_FILE: &str = "meta.json";

impl PageIndex {
    /// Returns the place of the follower in the index of a folder, without opening it; `None` if there is no index, or
    /// none that can be read.
    #[must_use]
    pub fn place(folder: &Path) -> Option<String> {
        read_format(folder).ok().flatten().filter(|format| format == FORMAT)?;
        let commit = std::fs::read(folder.join(COMMIT_FILE)).ok()?;
        let commit: serde_json::Value = serde_json::from_slice(&commit).ok()?;
        commit.get("payload")?.as_str().map(str::to_owned)
    }

    /// Returns the ids of copies that the last commit holds, in ascending order: those after this one, at most `limit`.
    ///
    /// # Errors
    ///
    /// [`IndexError::Unreadable`] if the files are damaged.
    pub fn copies(&self, after: &str, limit: usize) -> Result<Vec<String>, IndexError> {
        let mut copies = BTreeSet::new();
        for reader in self.0.view().searcher.segment_readers() {
            let found = self.copies_of(reader, after, limit).map_err(|error| self.0.failed(&error))?;
            copies.extend(found);
        }
        Ok(copies.into_iter().take(limit).collect())
    }

    /// Returns those of these copies that the last commit holds.
    ///
    /// # Errors
    ///
    /// [`IndexError::Unreadable`] if the files are damaged.
    pub fn held(&self, copies: &[String]) -> Result<Vec<String>, IndexError> {
        let view = self.0.view();
        let is_held = |copy: &str| -> tantivy::Result<bool> {
            for reader in view.searcher.segment_readers() {
                if self.is_in(reader, copy)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        let mut held = Vec::new();
        for copy in copies {
            if is_held(copy).map_err(|error| self.0.failed(&error))? {
                held.push(copy.clone());
            }
        }
        Ok(held)
    }

    /// Whether a segment holds a copy.
    fn is_in(&self, reader: &SegmentReader, copy: &str) -> tantivy::Result<bool> {
        let list = reader.inverted_index(self.0.fields.copy)?;
        let term = Term::from_field_text(self.0.fields.copy, copy);
        let Some(mut pages) = list.read_postings(&term, IndexRecordOption::Basic)? else { return Ok(false) };
        while pages.doc() != TERMINATED && reader.is_deleted(pages.doc()) {
            pages.advance();
        }
        Ok(pages.doc() != TERMINATED)
    }

    /// Returns the first copies of a segment after an id.
    fn copies_of(&self, reader: &SegmentReader, after: &str, limit: usize) -> tantivy::Result<Vec<String>> {
        let list = reader.inverted_index(self.0.fields.copy)?;
        let mut terms = list.terms().range().gt(after).into_stream()?;
        let mut copies = Vec::new();
        while copies.len() < limit && terms.advance() {
            let copy = String::from_utf8_lossy(terms.key()).into_owned();
            if self.is_in(reader, &copy)? {
                copies.push(copy);
            }
        }
        Ok(copies)
    }
}

//! Errors of the index.

use std::path::PathBuf;

/// Reason why the index did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The folder is damaged or was written in another format. Remove it, and index the pages again.
    #[error("the search index in {} cannot be read and has to be built again: {reason}", folder.display())]
    Unreadable {
        /// Folder of the index.
        folder: PathBuf,
        /// Fault, for the log.
        reason: String,
    },
    /// Another writer is open, of this process or another.
    #[error("another writer of the search index is open")]
    Busy,
    /// The stop function has ended a query.
    #[error("the query of the search index was stopped")]
    Stopped,
    /// A file could not be read or written.
    #[error("a file of the search index failed: {0}")]
    File(String),
}

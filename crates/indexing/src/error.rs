//! Errors of the index.

use std::io;

use cache::CacheError;
use cpu::CpuError;
use page_index::IndexError;

/// Reason why the index was not searched or not written.
#[derive(Debug, thiserror::Error)]
pub enum IndexingError {
    /// The settings have no index, or no page cache.
    #[error("there is no index: index.enabled or cache.enabled is false")]
    Disabled,
    /// The deadline has passed.
    #[error("the index did not answer in time")]
    Timeout,
    /// The work panicked; the panic hook has logged it.
    #[error("the work on the index panicked")]
    Panicked,
    /// The system has no thread for the index.
    #[error("cannot start the thread of the index")]
    Thread(#[source] io::Error),
    /// The index was damaged and is built again from the beginning.
    #[error("the index was damaged and is built again")]
    Lost,
    /// The files of the index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The page cache failed.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

impl IndexingError {
    /// Whether the database or the blob store is unavailable or full, which is logged separately.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Cache(error) if error.is_outage())
    }
}

impl From<CpuError> for IndexingError {
    fn from(error: CpuError) -> Self {
        match error {
            CpuError::Timeout => Self::Timeout,
            CpuError::Panicked => Self::Panicked,
        }
    }
}

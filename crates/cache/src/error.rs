//! Errors of the cache.

use blobs::BlobError;
use store::StoreError;

/// Error of reading, writing or sweeping the cache.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The database failed.
    #[error("cannot read or write the records of the cache")]
    Store(#[from] StoreError),
    /// The blob store failed.
    #[error("cannot read or write a body of the cache")]
    Blob(#[from] BlobError),
}

impl CacheError {
    /// Whether the database or the blob store is unavailable or full, which is logged separately.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Store(error) => error.trouble().is_some(),
            Self::Blob(error) => matches!(error, BlobError::Away(_) | BlobError::Full(_)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_none_of_the_cache() {
        let check = |error: CacheError, expect: bool| assert_eq!(error.is_outage(), expect, "{error:?}");
        check(StoreError::Pool("refused".to_owned()).into(), true);
        check(StoreError::Migration("database or disk is full".to_owned()).into(), true);
        check(StoreError::UnknownTeam.into(), false);
        check(BlobError::Away("refused".to_owned()).into(), true);
        check(BlobError::Full("0 bytes".to_owned()).into(), true);
        check(BlobError::Key("?".to_owned()).into(), false);
    }
}

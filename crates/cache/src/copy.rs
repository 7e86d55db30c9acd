//! New copies for the cache. Their rows are written in a transaction that takes place anyway: the booking of a scrape,
//! or the recording of the pages of a run.

use store::cache::{self as rows, CacheEntry};
use store::{Conn, StoreError};

/// Copy that a document was made from, or new copy of its page.
pub enum PageCopy {
    /// Copy in the cache, by its id.
    Kept(String),
    /// New copy, to be written with the scrape.
    New(Box<NewCopy>),
}

impl PageCopy {
    /// Returns the id of the copy.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Kept(id) => id,
            Self::New(copy) => &copy.entry.id,
        }
    }

    /// Returns the copy if it is to be written.
    #[must_use]
    pub fn into_new(self) -> Option<Box<NewCopy>> {
        match self {
            Self::Kept(_) => None,
            Self::New(copy) => Some(copy),
        }
    }
}

/// New copy whose body is in the database, or is written there with it.
pub struct NewCopy {
    pub(crate) entry: CacheEntry,
    /// Compressed body; absent when the database has it already.
    pub(crate) packed: Option<Vec<u8>>,
}

impl NewCopy {
    async fn write(&self, conn: &mut Conn) -> Result<(), StoreError> {
        match &self.packed {
            Some(packed) => rows::insert_with_body(conn, &self.entry, packed).await,
            // The body may have been removed since; then the page is not cached this time.
            None => rows::insert_beside_body(conn, &self.entry).await.map(drop),
        }
    }
}

/// Writes copies, last in a transaction and ordered by their bodies: another order could deadlock two transactions that
/// write the same bodies.
///
/// # Errors
/// [`StoreError`]; the transaction has to be rolled back.
#[crate::boxed]
pub async fn write_copies(conn: &mut Conn, mut copies: Vec<&NewCopy>) -> Result<(), StoreError> {
    copies.sort_by_key(|copy| &copy.entry.body_digest);
    for copy in copies {
        copy.write(conn).await?;
    }
    Ok(())
}

//! A copy on its way into the cache. Its rows are written in a transaction that is there anyway: that of the booking of a
//! scrape, or that of the pages of a run.

use store::cache::{self as rows, CacheEntry};
use store::{Conn, StoreError};

/// The copy that a document was made of, or that was made of its page.
pub(crate) enum PageCopy {
    /// It is in the cache, under this id.
    Kept(String),
    /// It is to be written with the scrape.
    New(Box<NewCopy>),
}

impl PageCopy {
    /// Its id.
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Kept(id) => id,
            Self::New(copy) => &copy.entry.id,
        }
    }

    /// What is to be written.
    pub(crate) fn into_new(self) -> Option<Box<NewCopy>> {
        match self {
            Self::Kept(_) => None,
            Self::New(copy) => Some(copy),
        }
    }
}

/// A copy whose body is in the database, or goes there with it.
pub(crate) struct NewCopy {
    pub(super) entry: CacheEntry,
    /// The body; absent when it was there.
    pub(super) packed: Option<Vec<u8>>,
}

impl NewCopy {
    async fn write(&self, conn: &mut Conn) -> Result<(), StoreError> {
        match &self.packed {
            Some(packed) => rows::insert_with_body(conn, &self.entry, packed).await,
            // Gone since: then the page is not kept this time.
            None => rows::insert_beside_body(conn, &self.entry).await.map(drop),
        }
    }
}

/// Writes copies, as the last of a transaction and in the order of their bodies: two that wrote the same ones in another
/// order would wait for each other.
pub(crate) async fn write_copies(conn: &mut Conn, mut copies: Vec<&NewCopy>) -> Result<(), StoreError> {
    copies.sort_by_key(|copy| &copy.entry.body_digest);
    for copy in copies {
        copy.write(conn).await?;
    }
    Ok(())
}

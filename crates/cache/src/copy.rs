//! Pages to keep: new copies for the cache, and new versions for change tracking. Their rows are written in a transaction
//! that takes place anyway: the booking of a scrape, or the recording of the pages of a run.

use store::cache::{self as rows, BodyPlace, CacheEntry};
use store::{Conn, StoreError};

use crate::versions::NewVersion;
use crate::{Cache, CacheError};

/// Stored page that a document was made from, or new one.
pub enum PageCopy {
    /// Copy in the cache, by its id.
    Kept(String),
    /// New copy, to be written with the scrape.
    New(Box<NewCopy>),
    /// New version for change tracking, to be written with the scrape.
    Version(Box<NewVersion>),
}

impl PageCopy {
    /// Returns the id of the copy in the cache, if it is one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Kept(id) => Some(id),
            Self::New(copy) => Some(&copy.entry.id),
            Self::Version(_) => None,
        }
    }

    /// Returns the page if it is to be written.
    #[must_use]
    pub fn into_new(self) -> Option<PageToKeep> {
        match self {
            Self::Kept(_) => None,
            Self::New(copy) => Some(PageToKeep::Copy(copy)),
            Self::Version(version) => Some(PageToKeep::Version(version)),
        }
    }
}

/// Page to be written with its scrape. Change tracking neither reads nor fills the cache, so it is one of the two.
pub enum PageToKeep {
    /// Copy for the cache.
    Copy(Box<NewCopy>),
    /// Version for change tracking.
    Version(Box<NewVersion>),
}

/// New copy whose body is in the database, or is written there with it.
pub struct NewCopy {
    pub(crate) entry: CacheEntry,
    /// Compressed body; absent when the database has it already.
    pub(crate) packed: Option<Vec<u8>>,
}

impl Cache {
    /// Writes new copies in a transaction of their own, for pages that belong to no scrape and to no run.
    ///
    /// # Errors
    /// [`CacheError`] when the database fails; nothing was written then.
    #[crate::boxed]
    pub async fn write_copies(&self, copies: Vec<PageCopy>) -> Result<(), CacheError> {
        let pages: Vec<PageToKeep> = copies.into_iter().filter_map(PageCopy::into_new).collect();
        let mut conn = self.conn().await?;
        Ok(conn.tx(async |conn: &mut Conn| write_pages(conn, pages.iter().collect()).await).await?)
    }
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

/// Change of a body in the database.
enum BodyChange<'a> {
    /// Adds a copy, with its body if the database lacks it.
    Copy(&'a NewCopy),
    /// Adds the body of a version.
    Add(&'a [u8]),
    /// Locks a body that a version does not use any more.
    LetGo,
}

/// Writes pages, last in a transaction. Their bodies are locked in the order of their digests: another order could
/// deadlock two transactions that write the same bodies.
///
/// # Errors
/// [`StoreError`]; the transaction has to be rolled back.
#[crate::boxed]
pub async fn write_pages(conn: &mut Conn, pages: Vec<&PageToKeep>) -> Result<(), StoreError> {
    let mut changes: Vec<(&str, BodyChange<'_>)> = Vec::new();
    let mut unused: Vec<BodyPlace> = Vec::new();
    for page in pages {
        match page {
            PageToKeep::Copy(copy) => changes.push((copy.entry.body_digest.as_str(), BodyChange::Copy(copy))),
            PageToKeep::Version(version) => {
                let Some(dropped) = version.write(conn).await? else { continue };
                unused.extend(dropped);
                let packed = version.packed.iter();
                changes.extend(packed.map(|body| (body.digest.as_str(), BodyChange::Add(&body.bytes))));
            }
        }
    }
    let dropped = unused.iter().filter(|body| body.in_row);
    changes.extend(dropped.map(|body| (body.digest.as_str(), BodyChange::LetGo)));
    changes.sort_by_key(|(digest, _)| *digest);
    for (digest, change) in changes {
        match change {
            BodyChange::Copy(copy) => copy.write(conn).await?,
            BodyChange::Add(packed) => rows::add_body(conn, digest, packed).await?,
            BodyChange::LetGo => {
                rows::lock_body(conn, digest).await?;
            }
        }
    }
    if unused.is_empty() { Ok(()) } else { rows::let_go(conn, unused).await }
}

//! Files that come out of pages: screenshots, PDFs, audio, exports. Whoever has the URL of one may read it until its end.
//!
//! Nothing is ever kept for a caller without data retention: what would be a file stands in the document itself.

use std::ops::Range;

use bytes::Bytes;
use fetch::FetchError;
use files::{FilesError, Lookup, Pieces};
use url::Url;

use crate::{App, AppError, room};

pub use ::files::{File, Kept, Link, NewFile};

/// Keeps a file. `address` is where the client has reached us, as `https://host:port`.
///
/// # Errors
/// [`AppError::StorageFull`] when the disk is nearly full, [`AppError::Scrape`] when the file is too large.
#[crate::boxed]
pub async fn keep(app: &App, new: NewFile, body: Bytes, address: &str) -> Result<Kept, AppError> {
    room::check(app)?;
    Ok(app.files().keep(new, body, address).await?)
}

/// The file that a URL leads to.
///
/// # Errors
/// [`AppError::NotFound`] for a URL that we have not signed, [`AppError::FileGone`] when its time is over.
#[crate::boxed]
pub async fn find(app: &App, link: &Link<'_>) -> Result<File, AppError> {
    match app.files().find(link).await? {
        Lookup::Found(file) => Ok(file),
        Lookup::Gone => Err(AppError::FileGone),
        Lookup::Unknown => Err(AppError::NotFound("file")),
    }
}

/// The bytes of a file in `range`, which must lie within it, as they come.
///
/// # Errors
/// [`AppError::FileGone`] when they are not there.
#[crate::boxed]
pub async fn read(app: &App, file: &File, range: Range<u64>) -> Result<Pieces, AppError> {
    app.files().read(file, range).await?.ok_or(AppError::FileGone)
}

/// Where the blob store hands the file out itself; `None` when [`read`] has to.
///
/// # Errors
/// [`AppError::Internal`] when the address cannot be signed.
#[crate::boxed]
pub async fn elsewhere(app: &App, file: &File) -> Result<Option<Url>, AppError> {
    Ok(app.files().elsewhere(file).await?)
}

/// Removes all files of a run or a scrape of a team; says how many.
///
/// # Errors
/// [`AppError::Internal`]. What was not done is done by upkeep; the files cannot be read all the same.
#[crate::boxed]
pub async fn erase(app: &App, team: &str, owner: &str) -> Result<usize, AppError> {
    Ok(app.files().erase(team, owner).await?)
}

/// Removes the files whose time is over; says how many.
pub(crate) async fn sweep(app: &App) -> Result<usize, AppError> {
    Ok(app.files().sweep().await?)
}

impl From<FilesError> for AppError {
    fn from(error: FilesError) -> Self {
        match error {
            FilesError::TooLarge { limit } => FetchError::TooLarge { what: "file", limit }.into(),
            FilesError::Unread { why, wait } => Self::UploadLimit { why, wait },
            FilesError::Store(_) | FilesError::Blob(_) => Self::internal(error),
        }
    }
}

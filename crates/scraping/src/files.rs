//! Files made from pages: screenshots, PDFs, audio, exports. The URL of a file grants access to it until it expires.
//!
//! Nothing is kept for callers with zero data retention: the document contains the file's data instead.

use std::ops::Range;

use bytes::Bytes;
use files::{Lookup, Pieces};
use kernel::{App, AppError, room};
use url::Url;

use crate::ScrapingError;

pub use ::files::{File, Kept, Link, NewFile};

/// Stores a file. `address` is the base URL that the client used, as `https://host:port`.
///
/// # Errors
/// [`AppError::StorageFull`] when the disk is nearly full, [`ScrapingError::Scrape`] when the file is too large.
#[crate::boxed]
pub async fn keep(app: &App, new: NewFile, body: Bytes, address: &str) -> Result<Kept, ScrapingError> {
    room::check(app)?;
    Ok(app.files().keep(new, body, address).await?)
}

/// Finds the file of a signed URL.
///
/// # Errors
/// [`AppError::NotFound`] for a URL that this service has not signed, [`ScrapingError::FileGone`] when it has expired.
#[crate::boxed]
pub async fn find(app: &App, link: &Link<'_>) -> Result<File, ScrapingError> {
    match app.files().find(link).await? {
        Lookup::Found(file) => Ok(file),
        Lookup::Gone => Err(ScrapingError::FileGone),
        Lookup::Unknown => Err(AppError::NotFound("file").into()),
    }
}

/// Streams the bytes of a file in `range`, which must lie within it.
///
/// # Errors
/// [`ScrapingError::FileGone`] when the file's data is gone.
#[crate::boxed]
pub async fn read(app: &App, file: &File, range: Range<u64>) -> Result<Pieces, ScrapingError> {
    app.files().read(file, range).await?.ok_or(ScrapingError::FileGone)
}

/// Returns a URL at which the blob store serves the file directly; `None` when [`read`] has to be used.
///
/// # Errors
/// [`AppError::Internal`] when the address cannot be signed.
#[crate::boxed]
pub async fn elsewhere(app: &App, file: &File) -> Result<Option<Url>, AppError> {
    app.files().elsewhere(file).await.map_err(AppError::internal)
}

/// Removes all files of a run or a scrape of a team; returns how many.
///
/// # Errors
/// [`AppError::Internal`]. Upkeep removes the rest; the files cannot be read any more in either case.
#[crate::boxed]
pub async fn erase(app: &App, team: &str, owner: &str) -> Result<usize, AppError> {
    app.files().erase(team, owner).await.map_err(AppError::internal)
}

/// Removes expired files; returns how many.
///
/// # Errors
/// [`AppError::Internal`]; the next call continues.
#[crate::boxed]
pub async fn sweep(app: &App) -> Result<usize, AppError> {
    app.files().sweep().await.map_err(AppError::internal)
}

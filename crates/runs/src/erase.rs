//! Removal of a run's data in batches, so that other writers never wait long.

use kernel::{App, AppError};
use scraping::files;
use store::runs::{self, Run};

/// Maximum number of rows of each table that one transaction removes.
const PIECE: u16 = 500;
/// Maximum total size of documents in rows that one transaction removes, counted uncompressed, in bytes; at least one
/// is removed.
const MAX_BYTES: i64 = 16 << 20;
/// Spec of a private run after its pages are erased.
const REDACTED: &str = r#"{"zeroDataRetention":true}"#;

/// Removes the pages and documents of an ended run; its row stays. Blobs are deleted first, so that a process killed in
/// between leaves no blob without a row.
async fn contents(app: &App, run: &str, is_private: bool) -> Result<(), AppError> {
    loop {
        let documents = runs::first_documents(&mut app.conn().await?, run, PIECE.into()).await?;
        let (mut last, mut sum, mut removed) = (0, 0, 0);
        for (seq, blob, bytes) in &documents {
            match blob {
                Some(key) => app.blobs().delete(key).await.map_err(AppError::internal)?,
                None => sum += bytes,
            }
            (last, removed) = (*seq, removed + 1);
            if sum > MAX_BYTES {
                break;
            }
        }
        let are_left = runs::erase(&mut app.conn().await?, run, last, PIECE.into(), is_private).await?;
        if !are_left && removed == documents.len() && removed < usize::from(PIECE) {
            return Ok(());
        }
    }
}

/// Removes an expired run and everything that belongs to it.
///
/// # Errors
/// [`AppError::Internal`]. The next call continues.
#[crate::boxed]
pub async fn whole(app: &App, run: &str) -> Result<(), AppError> {
    let row = runs::find(&mut app.conn().await?, run).await?;
    if let Some(row) = &row {
        files::erase(app, &row.team_id, run).await?;
    }
    contents(app, run, row.is_some_and(|row| row.private)).await?;
    runs::remove(&mut app.conn().await?, run).await?;
    Ok(())
}

/// Removes the addresses, pages and documents of a cancelled private run. Its status can still be read.
pub(super) async fn stopped(app: &App, run: &str) -> Result<(), AppError> {
    contents(app, run, true).await?;
    runs::redact(&mut app.conn().await?, run, REDACTED).await?;
    Ok(())
}

/// Expires a private run that ended without being cancelled, and removes it.
pub(super) async fn ended(app: &App, row: &Run) -> Result<(), AppError> {
    if !row.private {
        return Ok(());
    }
    // Expire it first: if the process is killed now, upkeep removes the rest.
    runs::expire(&mut app.conn().await?, &row.id, app.now()).await?;
    whole(app, &row.id).await
}

//! Removing what a run has made, piece by piece: no other writer waits for more than one piece.

use store::runs::{self, Run};

use crate::{App, AppError, files};

/// Rows of each kind that one transaction removes.
const PIECE: i64 = 500;
/// Documents in rows that one transaction removes, uncompressed, in bytes; one is always removed.
const MAX_BYTES: i64 = 16 << 20;
/// What is left of the spec of a private run once its pages are erased.
const REDACTED: &str = r#"{"zeroDataRetention":true}"#;

/// Removes pages and documents of a run that has ended; its row stays. What lies among the blobs goes first, so that a
/// process that dies in between leaves nothing that no row knows.
async fn contents(app: &App, run: &str, is_private: bool) -> Result<(), AppError> {
    loop {
        let documents = runs::first_documents(&mut app.conn().await?, run, PIECE).await?;
        let (mut last, mut sum) = (0, 0);
        for (seq, blob, bytes) in &documents {
            match blob {
                Some(key) => app.blobs.delete(key).await.map_err(AppError::internal)?,
                None => sum += bytes,
            }
            last = *seq;
            if sum > MAX_BYTES {
                break;
            }
        }
        if runs::erase(&mut app.conn().await?, run, last, PIECE, is_private).await? == 0 && documents.is_empty() {
            return Ok(());
        }
    }
}

/// Removes a run with everything that belongs to it. Nobody can read it any more: its time is over.
pub(crate) async fn whole(app: &App, run: &str) -> Result<(), AppError> {
    let row = runs::find(&mut app.conn().await?, run).await?;
    if let Some(row) = &row {
        files::erase(app, &row.team_id, run).await?;
    }
    contents(app, run, row.is_some_and(|row| row.private)).await?;
    runs::remove(&mut app.conn().await?, run).await?;
    Ok(())
}

/// Removes what a private run that was stopped has left: addresses, pages, documents. How it ended can still be read.
pub(super) async fn stopped(app: &App, run: &str) -> Result<(), AppError> {
    contents(app, run, true).await?;
    runs::redact(&mut app.conn().await?, run, REDACTED).await?;
    Ok(())
}

/// Ends the time of a private run that has ended by itself, and removes it.
pub(super) async fn ended(app: &App, row: &Run) -> Result<(), AppError> {
    if !row.private {
        return Ok(());
    }
    // First it can no longer be read; if the process dies now, maintenance goes on.
    runs::expire(&mut app.conn().await?, &row.id, app.now()).await?;
    whole(app, &row.id).await
}

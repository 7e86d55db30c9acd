//! Removing what a crawl or batch has made, piece by piece: no other writer waits for more than one piece.

use store::crawls::{self, Crawl};
use store::{Conn, StoreError};

use super::is_private;
use crate::{App, AppError};

/// Rows of each kind that one transaction removes.
const PIECE: i64 = 500;
/// Documents in rows that one transaction removes, uncompressed, in bytes; one is always removed.
const LARGEST: i64 = 16 << 20;
/// What is left of the request of a private job once its pages are erased.
const REDACTED: &str = r#"{"zeroDataRetention":true}"#;

/// Removes pages and documents of a job that has ended; its row stays. What lies among the blobs goes first, so that a
/// process that dies in between leaves nothing that no row knows.
async fn contents(app: &App, crawl: &str, is_private: bool) -> Result<(), AppError> {
    loop {
        let documents = crawls::first_documents(&mut app.conn().await?, crawl, PIECE).await?;
        let (mut last, mut sum) = (0, 0);
        for (seq, blob, bytes) in &documents {
            match blob {
                Some(key) => app.blobs.delete(key).await.map_err(AppError::internal)?,
                None => sum += bytes,
            }
            last = *seq;
            if sum > LARGEST {
                break;
            }
        }
        if crawls::erase(&mut app.conn().await?, crawl, last, PIECE, is_private).await? == 0 && documents.is_empty() {
            return Ok(());
        }
    }
}

/// Removes a job with everything that belongs to it. Nobody can read it any more: its time is over.
pub(crate) async fn whole(app: &App, crawl: &str) -> Result<(), AppError> {
    let row = crawls::find(&mut app.conn().await?, crawl).await?;
    contents(app, crawl, row.as_ref().is_some_and(is_private)).await?;
    crawls::remove(&mut app.conn().await?, crawl).await?;
    Ok(())
}

/// Removes what a private job that was stopped has left: addresses, pages, documents. How it ended can still be read.
pub(super) async fn stopped(app: &App, crawl: &str) -> Result<(), AppError> {
    contents(app, crawl, true).await?;
    crawls::redact(&mut app.conn().await?, crawl, REDACTED).await?;
    Ok(())
}

/// Ends the time of a private job that has ended by itself, and removes it. `false` for others.
pub(super) async fn ended(app: &App, row: &Crawl) -> Result<bool, AppError> {
    if !is_private(row) {
        return Ok(false);
    }
    // First it can no longer be read; if the process dies now, maintenance goes on.
    let now = app.now();
    let over: Result<(), StoreError> = app
        .conn()
        .await?
        .tx(async |conn: &mut Conn| match crawls::lock(conn, &row.id).await?.filter(|row| !row.is_open()) {
            Some(mut row) => {
                row.expires_at = now;
                crawls::save(conn, &row).await
            }
            None => Ok(()),
        })
        .await;
    over?;
    whole(app, &row.id).await?;
    Ok(true)
}

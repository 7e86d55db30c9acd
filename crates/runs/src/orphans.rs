//! Removal of document bodies without a row, left by a process that was killed between writing a body and keeping its
//! document. Bodies of discarded documents are removed at once by `runs::deposit`.

mod pass;

use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use kernel::AppError;
use store::runs;

pub(crate) use self::pass::Pass;
use self::pass::Progress;
use crate::{DOCUMENTS, Runs};

/// Minimum age of a body to remove: a younger one may belong to a document that is just being written.
const MIN_AGE: Duration = Duration::from_secs(60 * 60);
/// Maximum number of bodies examined in one round.
const MAX_BODIES: usize = 5000;
/// Pause between two passes.
const PAUSE: TimeDelta = TimeDelta::hours(1);

/// Examines the next bodies and removes those that no row refers to; returns how many.
///
/// # Errors
/// [`AppError`] of the database or the blob store; the next call continues.
#[crate::boxed]
pub async fn sweep(runs: &Runs) -> Result<usize, AppError> {
    let app = runs.app();
    let now = app.now();
    let progress = runs.orphans().0.lock().clone();
    if progress.after.is_none() && progress.next.is_some_and(|next| now < next) {
        return Ok(0);
    }
    let found = app.blobs().list(DOCUMENTS, progress.after.as_deref(), MAX_BODIES).await?;
    let is_last = found.len() < MAX_BODIES;
    let after = found.last().map(|found| found.key.clone()).filter(|_| !is_last);
    let old: Vec<&str> = found
        .iter()
        .filter(|found| {
            now.signed_duration_since(Timestamp::from(found.written_at)).to_std().is_ok_and(|age| age > MIN_AGE)
        })
        .map(|found| found.key.as_str())
        .collect();
    let known = runs::known_blobs(&mut app.conn().await?, &old).await?;
    let mut removed = 0;
    for key in old.into_iter().filter(|key| !known.contains(*key)) {
        app.blobs().delete(key).await?;
        removed += 1;
    }
    let next = is_last.then(|| now + PAUSE);
    *runs.orphans().0.lock() = Progress { after, next };
    Ok(removed)
}

//! Room for what is kept: the size of the cache, and how full the disk is.

use std::path::PathBuf;

use base::Timestamp;
use chrono::TimeDelta;
use outage::disk::{self, Room};
use parking_lot::{Mutex, MutexGuard};
use store::Trouble;

use crate::{App, AppError};

/// Age at which the known size of the cache is measured again, and pause between two warnings.
const MAX_AGE: TimeDelta = TimeDelta::minutes(1);

/// What this process knows of it.
#[derive(Debug, Default)]
pub(crate) struct DiskRoom(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Of the cache when it was last asked, and what this process has added since.
    bytes: u64,
    asked: Option<Timestamp>,
    warned: Option<Timestamp>,
}

impl DiskRoom {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock()
    }

    /// Whether it is time to ask for the size. One of several that come at once is told so.
    fn is_due(&self, now: Timestamp) -> bool {
        due(&mut self.known().asked, now)
    }

    fn take(&self, bytes: u64, most: u64) -> bool {
        let mut known = self.known();
        let sum = known.bytes.saturating_add(bytes);
        // What is admitted counts at once; what was measured is up to a minute old.
        if sum <= most {
            known.bytes = sum;
        }
        sum <= most
    }

    fn warn(&self, now: Timestamp, text: &str) {
        if due(&mut self.known().warned, now) {
            tracing::warn!("{text}");
        }
    }

    fn warn_short(&self, now: Timestamp, room: &Room, least: u64) {
        if due(&mut self.known().warned, now) {
            let (folder, free) = (room.folder.display(), room.free);
            tracing::warn!(
                %folder, free, least,
                "the disk is nearly full, nothing that needs room is kept ({room}): see data.min_free_mib"
            );
        }
    }
}

/// Whether the last time is long enough ago; then it becomes now.
fn due(last: &mut Option<Timestamp>, now: Timestamp) -> bool {
    let is_due = last.is_none_or(|last| now - last >= MAX_AGE);
    if is_due {
        *last = Some(now);
    }
    is_due
}

/// Whether the cache may keep another `bytes` bytes: not on a disk that is nearly full, and not when it is a tenth over its
/// size already, as upkeep then does not keep up with what comes.
pub(crate) async fn admits(app: &App, bytes: usize) -> bool {
    if is_short(app) || is_full(app) {
        return false;
    }
    let Some(most) = app.settings.cache.max_bytes else { return true };
    if app.room().is_due(app.now())
        && let Err(error) = measure(app).await
        && !error.is_outage()
    {
        tracing::warn!(?error, "size of the cache unknown, its last known size is used");
    }
    let admitted = app.room().take(bytes as u64, most.saturating_add(most / 10));
    if !admitted {
        app.room().warn(app.now(), "the cache is full until upkeep has made room: see cache.max_gib");
    }
    admitted
}

/// The bytes of the cache now.
pub(crate) async fn measure(app: &App) -> Result<i64, AppError> {
    let bytes = store::cache::bytes(&mut app.conn().await?).await?;
    app.room().known().bytes = u64::try_from(bytes).unwrap_or(0);
    Ok(bytes)
}

/// Refuses work whose results have to be kept while the disk is nearly full.
pub(crate) fn check(app: &App) -> Result<(), AppError> {
    if is_short(app) || is_full(app) { Err(AppError::StorageFull) } else { Ok(()) }
}

/// Whether a disk that we write to has less room than the operator wants to be left.
pub(crate) fn is_short(app: &App) -> bool {
    let least = app.settings.min_free;
    if least == 0 {
        return false;
    }
    let short = app.settings.folders.iter().filter_map(|folder| disk::room(folder)).find(|room| room.free < least);
    if let Some(room) = &short {
        app.room().warn_short(app.now(), room, least);
    }
    short.is_some()
}

/// Whether something could not be written for want of room, and still cannot, wherever the disk is.
pub(crate) fn is_full(app: &App) -> bool {
    app.store.trouble() == Some(Trouble::Full) || app.blobs.is_full()
}

/// The folders that we write to, with the bytes that are free there.
pub(crate) fn free_bytes(app: &App) -> Vec<(PathBuf, u64)> {
    let folders = app.settings.folders.iter();
    folders.filter_map(|folder| Some((folder.clone(), disk::room(folder)?.free))).collect()
}

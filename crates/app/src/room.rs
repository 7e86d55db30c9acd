//! Storage limits: the size of the cache, and free disk space.

use std::path::PathBuf;

use base::Timestamp;
use chrono::TimeDelta;
use outage::disk::{self, Room};
use parking_lot::{Mutex, MutexGuard};
use store::Trouble;

use crate::{App, AppError, Refusal as _};

/// Age at which the cache size is measured again, and interval between two warnings.
const MAX_AGE: TimeDelta = TimeDelta::minutes(1);

/// Storage state known to this process.
#[derive(Debug, Default)]
pub(crate) struct DiskRoom(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Measured size of the cache, plus what this process has added since.
    bytes: u64,
    asked: Option<Timestamp>,
    warned: Option<Timestamp>,
}

impl DiskRoom {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock()
    }

    /// Whether the size is due to be measured; true for one of several concurrent callers.
    fn is_due(&self, now: Timestamp) -> bool {
        due(&mut self.known().asked, now)
    }

    fn take(&self, bytes: u64, most: u64) -> bool {
        let mut known = self.known();
        let sum = known.bytes.saturating_add(bytes);
        // Admitted bytes count at once, because the measured size is up to a minute old.
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
                "disk nearly full, refusing work whose results have to be stored ({room}): see data.min_free_mib"
            );
        }
    }
}

/// Whether the last time is long enough ago; if so, sets it to now.
fn due(last: &mut Option<Timestamp>, now: Timestamp) -> bool {
    let is_due = last.is_none_or(|last| now - last >= MAX_AGE);
    if is_due {
        *last = Some(now);
    }
    is_due
}

/// Whether the cache may store another `bytes` bytes: not on a disk that is nearly full, and not when the cache is more
/// than a tenth over its size limit, which means that upkeep does not keep up.
pub(crate) async fn admits(app: &App, bytes: usize) -> bool {
    if is_short(app) || is_full(app) {
        return false;
    }
    let Some(most) = app.settings().cache.max_bytes else { return true };
    if app.room().is_due(app.now())
        && let Err(error) = measure(app).await
        && !error.is_outage()
    {
        tracing::warn!(?error, "could not measure the cache; using its last known size");
    }
    let admitted = app.room().take(bytes as u64, most.saturating_add(most / 10));
    if !admitted {
        app.room().warn(app.now(), "the cache is full, storing no more pages until upkeep has run: see cache.max_gib");
    }
    admitted
}

/// Measures the size of the cache in bytes.
pub(crate) async fn measure(app: &App) -> Result<i64, AppError> {
    let bytes = store::cache::bytes(&mut app.conn().await?).await?;
    app.room().known().bytes = u64::try_from(bytes).unwrap_or(0);
    Ok(bytes)
}

/// Refuses work whose results have to be stored while the disk is nearly full.
pub(crate) fn check(app: &App) -> Result<(), AppError> {
    if is_short(app) || is_full(app) { Err(AppError::StorageFull) } else { Ok(()) }
}

/// Whether a disk in use has less free space than `data.min_free_mib`.
pub(crate) fn is_short(app: &App) -> bool {
    let least = app.settings().min_free;
    if least == 0 {
        return false;
    }
    let short = app.settings().folders.iter().filter_map(|folder| disk::room(folder)).find(|room| room.free < least);
    if let Some(room) = &short {
        app.room().warn_short(app.now(), room, least);
    }
    short.is_some()
}

/// Whether a write has failed for lack of space and still does, on any disk.
pub(crate) fn is_full(app: &App) -> bool {
    app.store().trouble() == Some(Trouble::Full) || app.blobs().is_full()
}

/// Returns the data folders with the free bytes of their disks.
pub(crate) fn free_bytes(app: &App) -> Vec<(PathBuf, u64)> {
    let folders = app.settings().folders.iter();
    folders.filter_map(|folder| Some((folder.clone(), disk::room(folder)?.free))).collect()
}

//! Free disk space.

use std::path::PathBuf;
use std::sync::Arc;

use base::{Clock, Timestamp};
use blobs::Blobs;
use chrono::TimeDelta;
use outage::disk;
use parking_lot::Mutex;
use store::{Store, Trouble};

use crate::{App, AppError, Parts};

/// Interval between two warnings.
const BETWEEN_WARNINGS: TimeDelta = TimeDelta::minutes(1);

/// Disks of the data. Cheap to clone; clones warn together.
#[derive(Clone)]
pub(crate) struct DiskRoom(Arc<Inner>);

struct Inner {
    store: Store,
    blobs: Blobs,
    clock: Arc<dyn Clock>,
    folders: Vec<PathBuf>,
    /// Minimum free space in bytes; 0 disables the check.
    least: u64,
    warned: Mutex<Option<Timestamp>>,
}

impl DiskRoom {
    pub(crate) fn new(parts: &Parts) -> Self {
        let Parts { store, blobs, clock, settings, .. } = parts;
        Self(Arc::new(Inner {
            store: store.clone(),
            blobs: blobs.clone(),
            clock: Arc::clone(clock),
            folders: settings.folders.clone(),
            least: settings.min_free,
            warned: Mutex::default(),
        }))
    }

    /// Whether anything more may be stored.
    pub(crate) fn is_free(&self) -> bool {
        !self.is_short() && !self.is_full()
    }

    /// Whether a disk in use has less free space than `data.min_free_mib`.
    fn is_short(&self) -> bool {
        let least = self.0.least;
        if least == 0 {
            return false;
        }
        let short = self.0.folders.iter().filter_map(|folder| disk::room(folder)).find(|room| room.free < least);
        if let Some(room) = &short {
            self.warn(room);
        }
        short.is_some()
    }

    /// Whether a write has failed for lack of space and still does, on any disk.
    fn is_full(&self) -> bool {
        self.0.store.trouble() == Some(Trouble::Full) || self.0.blobs.is_full()
    }

    /// Whether a warning is due; if so, it counts as given.
    fn is_warning_due(&self) -> bool {
        let now = self.0.clock.now();
        let mut warned = self.0.warned.lock();
        let is_due = warned.is_none_or(|last| now - last >= BETWEEN_WARNINGS);
        if is_due {
            *warned = Some(now);
        }
        is_due
    }

    fn warn(&self, room: &disk::Room) {
        if self.is_warning_due() {
            let (folder, free, least) = (room.folder.display(), room.free, self.0.least);
            tracing::warn!(
                %folder, free, least,
                "disk nearly full, refusing work whose results have to be stored ({room}): see data.min_free_mib"
            );
        }
    }
}

/// Refuses work whose results have to be stored while the disk is nearly full.
///
/// # Errors
/// [`AppError::StorageFull`].
pub fn check(app: &App) -> Result<(), AppError> {
    if app.room().is_free() { Ok(()) } else { Err(AppError::StorageFull) }
}

/// Returns the data folders with the free bytes of their disks.
#[must_use]
pub fn free_bytes(app: &App) -> Vec<(PathBuf, u64)> {
    let folders = app.settings().folders.iter();
    folders.filter_map(|folder| Some((folder.clone(), disk::room(folder)?.free))).collect()
}

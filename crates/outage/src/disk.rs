//! Free space on the disk of a folder.

use std::fmt;
use std::path::{Path, PathBuf};

/// Free bytes below which a disk counts as full.
pub const NOTHING: u64 = 1 << 20;

/// Free space for a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// The folder, or its nearest existing parent.
    pub folder: PathBuf,
    /// Free space in bytes.
    pub free: u64,
    /// Size of the disk in bytes.
    pub size: u64,
}

impl Room {
    /// Returns whether the disk is full, with less than [`NOTHING`] free.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.free < NOTHING
    }
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mount = mount_point(&self.folder);
        write!(f, "{}, on the disk mounted at {}: ", self.folder.display(), mount.display())?;
        write!(f, "{} of {} bytes free", self.free, self.size)
    }
}

/// Returns the free space for a folder that may not exist yet; `None` when the system does not report it.
#[must_use]
pub fn room(folder: &Path) -> Option<Room> {
    let folder = std::path::absolute(folder).ok()?;
    let folder = folder.ancestors().find(|folder| folder.is_dir())?;
    let disk = rustix::fs::statvfs(folder).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
    Some(Room { folder: folder.to_owned(), free: bytes(disk.f_bavail), size: bytes(disk.f_blocks) })
}

/// Returns the mount point of a folder: its highest parent on the same file system.
fn mount_point(folder: &Path) -> PathBuf {
    use std::os::unix::fs::MetadataExt as _;
    let device = |folder: &Path| std::fs::metadata(folder).map(|known| known.dev()).ok();
    let own = device(folder);
    let same = folder.ancestors().take_while(|above| device(above) == own);
    same.last().unwrap_or(folder).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_does_not_exist_yet_has_the_room_of_the_one_above() {
        let folder = tempfile::tempdir().unwrap();
        let known = room(folder.path()).unwrap();
        assert!(known.size > 0 && known.free <= known.size);
        let missing = room(&folder.path().join("a/b")).unwrap();
        assert_eq!(missing.folder, known.folder);
        let text = missing.to_string();
        assert!(text.starts_with(folder.path().to_str().unwrap()) && text.contains("bytes free"), "{text}");
    }

    #[test]
    fn full_is_next_to_nothing() {
        let room = |free| Room { folder: "/".into(), free, size: 1 << 40 };
        assert!(room(0).is_full() && room(NOTHING - 1).is_full() && !room(NOTHING).is_full());
        assert_eq!(mount_point(Path::new("/")), Path::new("/"));
    }
}

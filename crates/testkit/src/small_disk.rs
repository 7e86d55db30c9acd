//! A small disk that tests can fill.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A file system in memory, mounted on its own folder and unmounted when dropped.
#[derive(Debug)]
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Mounts a file system of this size. Returns `None`, with a printed note, without root permissions.
    ///
    /// # Panics
    /// When there is no temporary folder.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test without its fake has failed")]
    pub fn mount(bytes: u64) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]).arg(folder.path());
        if !mount.output().is_ok_and(|done| done.status.success()) {
            let _ = writeln!(std::io::stderr(), "skipped: mounting a small disk needs root");
            return None;
        }
        Some(Self { folder })
    }

    /// Returns the mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Fills the disk completely.
    pub fn fill(&self) {
        let Ok(mut file) = File::options().create(true).append(true).open(self.ballast()) else { return };
        for size in [64 << 10, 4096, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
    }

    /// Removes the file written by [`SmallDisk::fill`].
    pub fn empty(&self) {
        let _ = fs::remove_file(self.ballast());
    }

    fn ballast(&self) -> std::path::PathBuf {
        self.path().join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazy, because files on it may still be open.
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

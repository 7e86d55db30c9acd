//! A disk of a few megabytes.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A file system in memory, mounted on a folder of its own; gone when dropped.
#[derive(Debug)]
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Mounts one of so many bytes. `None`, with a printed line, where that is not permitted: it takes root.
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
            let _ = writeln!(std::io::stderr(), "left out: a small disk cannot be mounted here, which takes root");
            return None;
        }
        Some(Self { folder })
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves no byte free.
    pub fn fill(&self) {
        let Ok(mut file) = File::options().create(true).append(true).open(self.ballast()) else { return };
        for size in [64 << 10, 4096, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
    }

    /// Takes away again what filled it.
    pub fn empty(&self) {
        let _ = fs::remove_file(self.ballast());
    }

    fn ballast(&self) -> std::path::PathBuf {
        self.path().join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // What still has files open on it lets go of it later.
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

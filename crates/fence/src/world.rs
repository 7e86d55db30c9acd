//! The file tree inside the sandbox, built of mounts. Nothing outside of it has a path.

use std::ffi::CString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change, mount_remount};
use rustix::process::chroot;

use crate::{FenceError, HOME, Limits, StartFile};

/// Number of files in [`HOME`].
const MAX_FILES: u32 = 4096;
/// Number of inodes in the rest of the tree: mount points and links.
const MAX_PLACES: u32 = 512;
/// Size of the rest of the tree, in bytes: its files are all empty.
const MAX_SIZE: u64 = 1 << 20;

/// Devices that hold no data of anybody.
pub(crate) const DEVICES: [&str; 4] = ["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];
/// A read-only device: a writable mapping of it would be memory that is charged to no process.
pub(crate) const ZERO: &str = "/dev/zero";
/// Paths by which shells name the ends of pipes. Nothing else in `/proc` can be opened: Landlock forbids it.
const PIPES: [&str; 5] = ["/proc", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// Builds the tree and makes it the root: the readable paths, [`DEVICES`], [`ZERO`], [`PIPES`], and [`HOME`] with its
/// files.
pub(crate) fn enter(reads: &[PathBuf], limits: &Limits, files: &[StartFile]) -> Result<(), FenceError> {
    build(reads, limits, files).map_err(|source| FenceError::Spaces { what: "mounting its files", source })
}

fn build(reads: &[PathBuf], limits: &Limits, files: &[StartFile]) -> io::Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    // The tree grows at the folder that has to be hidden anyway. `chroot` leaves the old root behind.
    let root = Path::new(HOME);
    mount_empty(root, MAX_SIZE, MAX_PLACES)?;
    let fixed = DEVICES.iter().chain(&[ZERO]).chain(&PIPES).map(Path::new);
    for path in reads.iter().map(PathBuf::as_path).chain(fixed) {
        show(root, path)?;
    }
    let home = within(root, root);
    fs::create_dir_all(&home)?;
    mount_empty(&home, limits.room, MAX_FILES)?;
    lay_out(&home, files)?;
    mount_remount(root, MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV, c"")?;
    chroot(root)?;
    std::env::set_current_dir(HOME)
}

fn mount_empty(at: &Path, size: u64, files: u32) -> io::Result<()> {
    let options = CString::new(format!("size={size},nr_inodes={files},mode=700"))?;
    Ok(mount("tmpfs", at, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())?)
}

/// Maps a path of the machine to its path in the tree.
fn within(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Makes a file or folder of the machine visible at the same path in the tree. Links are copied; missing paths are
/// ignored.
fn show(root: &Path, path: &Path) -> io::Result<()> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let place = within(root, path);
    place.parent().map_or(Ok(()), fs::create_dir_all)?;
    if found.is_symlink() {
        return symlink(fs::read_link(path)?, place);
    }
    if found.is_dir() {
        fs::create_dir_all(&place)?;
    } else {
        fs::File::create(&place)?;
    }
    Ok(mount_bind_recursive(path, &place)?)
}

fn lay_out(home: &Path, files: &[StartFile]) -> io::Result<()> {
    files.iter().try_for_each(|file| {
        let path = home.join(&file.path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut new = fs::OpenOptions::new().write(true).create_new(true).mode(0o700).open(path)?;
        new.write_all(file.text.as_bytes())
    })
}

//! Namespaces: an own network without an interface, own mounts, and an own count of processes.

use std::ffi::CString;
use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

use crate::{FenceError, HOME, Limits, StartFile};

/// How many files there may be in [`HOME`].
const MAX_FILES: u32 = 4096;

/// Leaves the namespaces of whoever started this process. In the new ones it is nobody else, and may set up mounts.
pub(crate) fn leave() -> Result<(), FenceError> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let flags = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS;
    unshare(flags)
        .map_err(|error| FenceError::Spaces { what: "leaving those of the service", source: error.into() })?;
    let write = |path: &str, text: String| {
        fs::write(path, text).map_err(|source| FenceError::Spaces { what: "naming the user", source })
    };
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))
}

#[expect(deprecated, reason = "what its successor warns of are shared file descriptors, which stay as they are here")]
fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    rustix::thread::unshare(flags)
}

/// Mounts an empty folder of bounded size over [`HOME`], which hides the real one, and lays out what is there at the start.
pub(crate) fn home(limits: &Limits, files: &[StartFile]) -> Result<(), FenceError> {
    let failed = |error: Errno| FenceError::Spaces { what: "mounting a folder", source: error.into() };
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).map_err(failed)?;
    let options = format!("size={},nr_inodes={MAX_FILES},mode=700", limits.room);
    let options = CString::new(options).map_err(|_| failed(Errno::INVAL))?;
    mount("tmpfs", HOME, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str()).map_err(failed)?;
    let filled = files.iter().try_for_each(|file| {
        let path = Path::new(HOME).join(&file.path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut new = fs::OpenOptions::new().write(true).create_new(true).mode(0o700).open(path)?;
        std::io::Write::write_all(&mut new, file.text.as_bytes())
    });
    filled
        .and_then(|()| std::env::set_current_dir(HOME))
        .map_err(|source| FenceError::Spaces { what: "filling a folder", source })
}

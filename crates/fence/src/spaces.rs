//! Namespaces: an own network without an interface, and own processes.

use std::fs;

use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags, set_capabilities};

use crate::FenceError;

/// Leaves the namespaces of whoever started this process. In the new ones it is nobody else, and may set up mounts.
pub(crate) fn leave() -> Result<(), FenceError> {
    leave_some(UnshareFlags::NEWNS | UnshareFlags::NEWNET | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS)
}

/// Has what this process starts live in a space of processes of its own: when the first of them ends, so do all others, and
/// whoever they have started. This process stays outside; it must have one thread.
///
/// # Errors
/// [`FenceError::Spaces`] where the kernel, or the container, gives none.
pub fn own_processes() -> Result<(), FenceError> {
    leave_some(UnshareFlags::NEWPID)
}

fn leave_some(flags: UnshareFlags) -> Result<(), FenceError> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(UnshareFlags::NEWUSER | flags)
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

/// Gives up every right beyond those of an ordinary user, those over the own namespaces too.
pub(crate) fn give_up_rights() -> Result<(), FenceError> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).map_err(|error| FenceError::Spaces { what: "giving up rights", source: error.into() })
}

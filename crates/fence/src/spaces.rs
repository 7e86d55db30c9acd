//! Namespaces: an own network without an interface, and own processes.

use std::fs;

use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, configure_capability_in_ambient_set, set_capabilities,
};

use crate::FenceError;

/// Leaves the namespaces of whoever started this process. In the new ones it is nobody else, and may set up mounts.
pub(crate) fn leave() -> Result<(), FenceError> {
    leave_some(UnshareFlags::NEWNS | UnshareFlags::NEWNET | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS)
}

/// Has what this process starts live in a space of processes of its own: when the first of them ends, so do all others, and
/// whoever they have started. This process stays outside; it must have one thread. The first of them is to call
/// [`show_own_processes`].
///
/// # Errors
/// [`FenceError::Spaces`] where the kernel, or the container, gives none.
pub fn own_processes() -> Result<(), FenceError> {
    leave_some(UnshareFlags::NEWPID)?;
    // Without it `show_own_processes` fails, and says so.
    let _ = keep_right(CapabilitySet::SYS_ADMIN);
    Ok(())
}

/// Lets the programs that this process starts have a right over its namespaces.
fn keep_right(right: CapabilitySet) -> Result<(), Errno> {
    let rights = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: right, ..rights })?;
    configure_capability_in_ambient_set(right, true)
}

/// Has `/proc` show the processes of the own space and nothing else of the machine, for this process and all that it starts;
/// then gives up every right. For the first process of a space ([`own_processes`]).
///
/// # Errors
/// [`FenceError::Spaces`] where the kernel, or the container, allows no such mount; `/proc` is as before then.
pub fn show_own_processes() -> Result<(), FenceError> {
    let shown = mount_own_processes();
    give_up_rights()?;
    shown.map_err(|error| FenceError::Spaces { what: "showing its own processes", source: error.into() })
}

fn mount_own_processes() -> Result<(), Errno> {
    unshare(UnshareFlags::NEWNS)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    // Only processes: nothing about the machine. Kernels before 5.8 do not know that.
    mount("proc", "/proc", "proc", flags, c"subset=pid").or_else(|_| mount("proc", "/proc", "proc", flags, c""))
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

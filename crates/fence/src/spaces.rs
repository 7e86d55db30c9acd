//! Namespaces: a network without an interface, and a separate PID namespace.

use std::fs;

use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, configure_capability_in_ambient_set, set_capabilities,
};

use crate::FenceError;

/// Moves this process into new namespaces, in which it keeps its user id and may set up mounts.
pub(crate) fn leave() -> Result<(), FenceError> {
    leave_some(UnshareFlags::NEWNS | UnshareFlags::NEWNET | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS)
}

/// Puts the child processes of this process into a PID namespace of their own: when the first child ends, the kernel
/// ends all others and their descendants. This process, which must have one thread, stays outside. The first child has
/// to call [`show_own_processes`].
///
/// # Errors
/// [`FenceError::Spaces`] if the kernel or the container does not allow it.
pub fn own_processes() -> Result<(), FenceError> {
    leave_some(UnshareFlags::NEWPID)?;
    // Without this capability `show_own_processes` fails and reports it.
    let _ = keep_right(CapabilitySet::SYS_ADMIN);
    Ok(())
}

/// Lets the programs that this process executes inherit a capability over its namespaces.
fn keep_right(right: CapabilitySet) -> Result<(), Errno> {
    let rights = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: right, ..rights })?;
    configure_capability_in_ambient_set(right, true)
}

/// Makes `/proc` show only the processes of this PID namespace, for this process and its descendants, then drops all
/// capabilities. For the first process of a PID namespace ([`own_processes`]).
///
/// # Errors
/// [`FenceError::Spaces`] if the kernel or the container does not allow the mount; `/proc` then stays as it was.
pub fn show_own_processes() -> Result<(), FenceError> {
    let shown = mount_own_processes();
    give_up_rights()?;
    shown.map_err(|error| FenceError::Spaces { what: "mounting /proc", source: error.into() })
}

fn mount_own_processes() -> Result<(), Errno> {
    unshare(UnshareFlags::NEWNS)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    // `subset=pid` hides everything else in `/proc`. Kernels before 5.8 do not support it.
    mount("proc", "/proc", "proc", flags, c"subset=pid").or_else(|_| mount("proc", "/proc", "proc", flags, c""))
}

fn leave_some(flags: UnshareFlags) -> Result<(), FenceError> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(UnshareFlags::NEWUSER | flags)
        .map_err(|error| FenceError::Spaces { what: "creating them", source: error.into() })?;
    let write = |path: &str, text: String| {
        fs::write(path, text).map_err(|source| FenceError::Spaces { what: "mapping the user", source })
    };
    // The kernel accepts `gid_map` of an unprivileged process only after `setgroups` was denied (user_namespaces(7)).
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))
}

#[expect(deprecated, reason = "its successor is unsafe for shared file descriptors, which stay as they are here")]
fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    rustix::thread::unshare(flags)
}

/// Drops all capabilities, including those over the process's own namespaces.
pub(crate) fn give_up_rights() -> Result<(), FenceError> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).map_err(|error| FenceError::Spaces { what: "dropping rights", source: error.into() })
}

//! A weaker sandbox, for a program of our own that reads untrusted input.

use std::path::PathBuf;

use crate::FenceError;

/// The sandbox of a program of our own that reads untrusted input. Such a program runs no foreign code, so the sandbox
/// only has to contain a bug in it: no files, no network, no other programs, bounded memory.
///
/// Works without namespaces, which containers rarely have, and for root. The memory limit is always set; the other
/// walls are set as far as the kernel supports them.
#[derive(Debug, Clone)]
pub struct Enclosure {
    /// Files and folders that the program may read. Paths that do not exist are ignored.
    pub reads: Vec<PathBuf>,
    /// Memory limit in bytes, on top of what the process has mapped already.
    pub memory: u64,
}

/// User id of `nobody` on all common systems. Root switches to it.
#[cfg(target_os = "linux")]
const NOBODY: u32 = 65534;
/// Niceness of the process, out of 19.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

impl Enclosure {
    /// Sandboxes this process irrevocably; it must have one thread. Returns the walls that this system does not
    /// support.
    ///
    /// # Errors
    /// [`FenceError`] if the memory limit cannot be set.
    #[cfg(target_os = "linux")]
    pub fn put_up(&self) -> Result<Vec<FenceError>, FenceError> {
        use rustix::process::Resource;

        use crate::limits::set;

        let memory = address_space()?.saturating_add(self.memory);
        let mut missing = Vec::new();
        missing.extend(go_last().err());
        missing.extend(become_nobody().err());
        let files = crate::files::wall(&self.reads, false);
        let signals_stay_inside = *files.as_ref().unwrap_or(&false);
        missing.extend(files.err());
        set(Resource::Core, 0, "core dumps")?;
        // Landlock does not cover writing to files that are open already; a file size of 0 does.
        set(Resource::Fsize, 0, "file size")?;
        set(Resource::As, memory, "memory")?;
        missing.extend(crate::syscalls::wall(signals_stay_inside).err());
        missing.extend(crate::syscalls::no_programs().err());
        Ok(missing)
    }

    /// Sandboxes this process.
    ///
    /// # Errors
    /// Always: this system has none of the walls.
    #[cfg(not(target_os = "linux"))]
    pub fn put_up(&self) -> Result<Vec<FenceError>, FenceError> {
        Err(FenceError::System)
    }
}

/// Size of the address space of this process, in bytes. Programs and libraries are mapped whole, used or not.
#[cfg(target_os = "linux")]
fn address_space() -> Result<u64, FenceError> {
    let failed = |source| FenceError::Limit { what: "memory", source };
    let pages = std::fs::read_to_string("/proc/self/statm").map_err(failed)?;
    let pages = pages.split(' ').next().and_then(|pages| pages.parse::<u64>().ok());
    let pages = pages.ok_or_else(|| failed(std::io::Error::other("/proc/self/statm cannot be read")))?;
    Ok(pages * rustix::param::page_size() as u64)
}

/// Lowers the priority of this process, and makes it the first that the kernel kills when memory runs out.
#[cfg(target_os = "linux")]
fn go_last() -> Result<(), FenceError> {
    let failed = |what, source| FenceError::Limit { what, source };
    std::fs::write("/proc/self/oom_score_adj", "1000").map_err(|source| failed("memory", source))?;
    rustix::process::setpriority_process(None, NICE).map_err(|error| failed("priority", error.into()))
}

#[cfg(target_os = "linux")]
fn become_nobody() -> Result<(), FenceError> {
    use rustix::process::{Gid, Uid};
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let failed = |error: rustix::io::Errno| FenceError::Spaces { what: "switching the user", source: error.into() };
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    rustix::thread::set_thread_groups(&[]).map_err(failed)?;
    rustix::thread::set_thread_res_gid(group, group, group).map_err(failed)?;
    rustix::thread::set_thread_res_uid(user, user, user).map_err(failed)
}

//! A lower fence: for a program of our own that reads what strangers wrote.

use std::path::PathBuf;

use crate::FenceError;

/// What a program of our own may do that reads what strangers wrote. It runs nothing of theirs, so what it needs is that a
/// mistake in it leads nowhere: no files, no network, no other programs, bounded memory.
///
/// It needs no namespaces, which containers rarely have, and it holds root too. Memory is always bounded; of the other walls
/// there are those that the kernel has.
#[derive(Debug, Clone)]
pub struct Enclosure {
    /// Files and folders that it may read. What does not exist is left out.
    pub reads: Vec<PathBuf>,
    /// Bytes of memory besides what it has already.
    pub memory: u64,
}

/// The user without rights, by the convention of all systems. Root becomes it.
#[cfg(target_os = "linux")]
const NOBODY: u32 = 65534;
/// How far others go first on the processor, on a scale to 19.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

impl Enclosure {
    /// Puts it up around this process, which must have one thread, for good. Returns the walls that this system does not give.
    ///
    /// # Errors
    /// [`FenceError`] if memory cannot be bounded.
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
        set(Resource::Fsize, 0, "file size")?;
        set(Resource::As, memory, "memory")?;
        missing.extend(crate::syscalls::wall(signals_stay_inside).err());
        missing.extend(crate::syscalls::no_programs().err());
        Ok(missing)
    }

    /// Puts it up around this process.
    ///
    /// # Errors
    /// Always: this system has none of the walls.
    #[cfg(not(target_os = "linux"))]
    pub fn put_up(&self) -> Result<Vec<FenceError>, FenceError> {
        Err(FenceError::System)
    }
}

/// Bytes of address space that this process has: programs and libraries are mapped whole, whatever they use of it.
#[cfg(target_os = "linux")]
fn address_space() -> Result<u64, FenceError> {
    let failed = |source| FenceError::Limit { what: "memory", source };
    let pages = std::fs::read_to_string("/proc/self/statm").map_err(failed)?;
    let pages = pages.split(' ').next().and_then(|pages| pages.parse::<u64>().ok());
    let pages = pages.ok_or_else(|| failed(std::io::Error::other("/proc/self/statm cannot be read")))?;
    Ok(pages * rustix::param::page_size() as u64)
}

/// Lets others go first, and be the ones who are left when memory runs out.
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
    let failed = |error: rustix::io::Errno| FenceError::Spaces { what: "becoming another user", source: error.into() };
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    rustix::thread::set_thread_groups(&[]).map_err(failed)?;
    rustix::thread::set_thread_res_gid(group, group, group).map_err(failed)?;
    rustix::thread::set_thread_res_uid(user, user, user).map_err(failed)
}

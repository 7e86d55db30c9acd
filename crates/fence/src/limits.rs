//! Resource limits of a sandboxed program.

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
use crate::FenceError;

/// Resource limits of a sandboxed program.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Limits {
    /// Address space of each process, in bytes.
    pub memory: u64,
    /// CPU time of each process, in seconds.
    pub cpu_s: u64,
    /// Number of processes and threads.
    pub processes: u64,
    /// Number of open files of each process.
    pub open_files: u64,
    /// Total size of the files in its folder, in bytes; also the limit of a single file.
    pub room: u64,
}

#[cfg(target_os = "linux")]
impl Limits {
    /// Sets the limits that do not hinder the setup of the sandbox. Also lowers the priority of this process, and makes
    /// it the first that the kernel kills when memory runs out.
    pub(crate) fn for_the_start(&self) -> Result<(), FenceError> {
        use rustix::process::Resource;
        // Fails if the service itself runs at a lower priority, which is then kept.
        let _ = rustix::process::setpriority_process(None, 10);
        set(Resource::Core, 0, "core dumps")?;
        set(Resource::Cpu, self.cpu_s, "processor time")?;
        set(Resource::Fsize, self.room, "file size")?;
        set(Resource::Nofile, self.open_files, "open files")?;
        let score = std::fs::write("/proc/self/oom_score_adj", "1000");
        score.map_err(|source| FenceError::Limit { what: "memory", source })
    }

    /// Sets the limits that hinder the setup of the sandbox. The kernel counts the processes per user namespace.
    pub(crate) fn for_the_program(&self) -> Result<(), FenceError> {
        use rustix::process::Resource;
        set(Resource::Nproc, self.processes, "processes")?;
        set(Resource::As, self.memory, "memory")
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn set(resource: rustix::process::Resource, most: u64, what: &'static str) -> Result<(), FenceError> {
    let limit = rustix::process::Rlimit { current: Some(most), maximum: Some(most) };
    rustix::process::setrlimit(resource, limit).map_err(|error| FenceError::Limit { what, source: error.into() })
}

//! How much a fenced program may use.

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
use crate::FenceError;

/// How much a fenced program may use.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Limits {
    /// Address space of each process, in bytes.
    pub memory: u64,
    /// Time of a processor for each process, in seconds.
    pub cpu_s: u64,
    /// Processes and threads together.
    pub processes: u64,
    /// Open files of each process.
    pub open_files: u64,
    /// Everything in its folder together, in bytes; one file may be as large.
    pub room: u64,
}

#[cfg(target_os = "linux")]
impl Limits {
    /// Those that do not hinder the fence itself. The kernel is told to end this process first when memory runs out, and
    /// to let others go before it.
    pub(crate) fn for_the_start(&self) -> Result<(), FenceError> {
        use rustix::process::Resource;
        // A service that lets others go first already stays so.
        let _ = rustix::process::setpriority_process(None, 10);
        set(Resource::Core, 0, "core dumps")?;
        set(Resource::Cpu, self.cpu_s, "processor time")?;
        set(Resource::Fsize, self.room, "file size")?;
        set(Resource::Nofile, self.open_files, "open files")?;
        let score = std::fs::write("/proc/self/oom_score_adj", "1000");
        score.map_err(|source| FenceError::Limit { what: "memory", source })
    }

    /// Those that are counted anew in the program's own namespaces.
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

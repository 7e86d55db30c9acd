//! Memory and CPU time of a browser's processes.

use std::fs;
use std::time::Duration;

use children::processes::{self, Stat};

/// Snapshot of a process of a browser.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) pid: u32,
    /// Whether it is a renderer, which shows the pages of one visit.
    pub(super) is_renderer: bool,
    /// Private memory, in bytes.
    pub(super) own: u64,
    /// Shared memory, in bytes.
    pub(super) shared: u64,
    /// CPU time so far.
    pub(super) cpu: Duration,
}

/// Returns the total memory of a process group: the private memory of all, plus the largest shared memory of one. That
/// approximates the proportional set size (PSS), which is slow to determine.
pub(super) fn total(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.own).sum::<u64>() + parts.iter().map(|part| part.shared).max().unwrap_or(0)
}

/// Returns the processes of a group; none if there is no `/proc`.
pub(super) fn of_group(group: u32) -> Vec<Part> {
    processes::of_group(group).filter_map(|(pid, stat)| measured(pid, is_renderer(pid), stat)).collect()
}

/// Measures a process again; `None` if it has ended.
pub(super) fn again(part: Part, group: u32) -> Option<Part> {
    let stat = processes::stat(part.pid).filter(|stat| stat.group == group)?;
    measured(part.pid, part.is_renderer, stat)
}

fn measured(pid: u32, is_renderer: bool, stat: Stat) -> Option<Part> {
    let memory = processes::memory(pid)?;
    Some(Part { pid, is_renderer, own: memory.own, shared: memory.shared, cpu: stat.cpu })
}

fn is_renderer(pid: u32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| matches!(byte, 0 | b' ')).any(|word| word == b"--type=renderer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_group_has_memory() {
        let group = rustix::process::getpgrp().as_raw_nonzero().get().unsigned_abs();
        let parts = of_group(group);
        let me = parts.iter().find(|part| part.pid == std::process::id()).copied().unwrap();
        assert!(total(&parts) > 1 << 20 && me.own > 0 && !me.is_renderer);
        let more = vec![1_u8; 64 << 20];
        let later = again(me, group).unwrap();
        assert!(later.own > me.own + (50 << 20), "{me:?} {later:?} {}", more.len());
        assert!(again(me, u32::MAX).is_none() && of_group(u32::MAX).is_empty());
    }
}

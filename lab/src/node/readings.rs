//! Readings of a process from proc(5).

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::task::JoinHandle;

use super::counts::Counts;
use super::tree::Tree;

/// Resident memory of a process, in MiB.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Current value.
    pub now: f64,
    /// Anonymous part of `now`: heap and stacks. The rest is pages of files, above all of the program, whose number
    /// depends on how the file lies in the page cache.
    pub own: f64,
    /// Peak so far.
    pub peak: f64,
}

/// Returns the CPU time used so far by all threads of a process.
///
/// # Errors
/// When it has ended.
pub fn cpu(pid: u32) -> Result<Duration> {
    let Counts { user, system, .. } = Counts::of_stat(&fs::read_to_string(format!("/proc/{pid}/stat"))?)?;
    Ok(user + system)
}

pub(super) fn memory(pid: u32) -> Result<Memory> {
    let mib = |field: &str| Ok::<_, anyhow::Error>(status_kib(pid, field)? as f64 / 1024.0);
    Ok(Memory { now: mib("VmRSS:")?, own: mib("RssAnon:")?, peak: mib("VmHWM:")? })
}

/// A watch on the resident memory of a process: by the high-water mark of the system, which misses nothing but cannot
/// always be reset, and by samples.
#[derive(Debug)]
pub struct MemoryWatch {
    pid: u32,
    before: u64,
    marked: bool,
    peak: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl MemoryWatch {
    pub(super) fn start(pid: u32) -> Self {
        // Writing 5 resets VmHWM to the current VmRSS.
        let marked = fs::write(format!("/proc/{pid}/clear_refs"), "5").is_ok();
        Self::sample(pid, marked, Duration::from_millis(20), now_kib)
    }

    /// Watches a process tree, counting shared memory once. A tree has no high-water mark, so only samples are used.
    pub(super) fn start_tree(pid: u32) -> Self {
        Self::sample(pid, false, Duration::from_millis(200), |pid| {
            Tree::below(pid).map_or(0, |tree| (tree.pss_mib * 1024.0) as u64)
        })
    }

    fn sample(pid: u32, marked: bool, every: Duration, now_kib: fn(u32) -> u64) -> Self {
        let before = now_kib(pid);
        let (peak, stop) = (Arc::new(AtomicU64::new(before)), Arc::new(AtomicBool::new(false)));
        let (shared_peak, shared_stop) = (Arc::clone(&peak), Arc::clone(&stop));
        // On a thread of its own, so that it misses no peak when the runtime is busy.
        let task = tokio::task::spawn_blocking(move || {
            while !shared_stop.load(Ordering::Relaxed) {
                shared_peak.fetch_max(now_kib(pid), Ordering::Relaxed);
                std::thread::sleep(every);
            }
        });
        Self { pid, before, marked, peak, stop, task }
    }

    /// Returns the growth of the memory at its peak in MiB.
    pub async fn finish(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.task.await;
        let mark = if self.marked { status_kib(self.pid, "VmHWM:").unwrap_or(0) } else { 0 };
        let peak = self.peak.load(Ordering::Relaxed).max(mark);
        peak.saturating_sub(self.before).div_ceil(1024)
    }
}

/// Returns the resident memory in KiB; 0 when the process has ended.
fn now_kib(pid: u32) -> u64 {
    status_kib(pid, "VmRSS:").unwrap_or(0)
}

fn status_kib(pid: u32, field: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let figure =
        line.and_then(|rest| rest.split_whitespace().next()).with_context(|| format!("no {field} in /proc"))?;
    Ok(figure.parse()?)
}

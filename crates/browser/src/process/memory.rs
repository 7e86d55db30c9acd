//! Memory and CPU time of a browser's processes.

use std::fs;
use std::time::Duration;

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
    numbered()
        .filter_map(|pid| {
            let cpu = cpu_of(pid, group)?;
            measured(Part { pid, is_renderer: is_renderer(pid), own: 0, shared: 0, cpu })
        })
        .collect()
}

/// Measures a process again; `None` if it has ended.
pub(super) fn again(part: Part, group: u32) -> Option<Part> {
    let cpu = cpu_of(part.pid, group)?;
    measured(Part { cpu, ..part })
}

/// Returns the process ids of a group.
pub(super) fn in_group(group: u32) -> impl Iterator<Item = u32> {
    numbered().filter(move |pid| group_of(*pid) == Some(group))
}

/// Returns the process group of a process.
pub(super) fn group_of(pid: u32) -> Option<u32> {
    fields(pid)?.split_whitespace().nth(2)?.parse().ok()
}

/// Returns all process ids.
fn numbered() -> impl Iterator<Item = u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
}

/// Returns the fields of proc_pid_stat(5) after the name, which is in brackets and may itself contain brackets.
fn fields(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.to_owned())
}

/// Returns the CPU time of a process if it belongs to the group.
fn cpu_of(pid: u32, group: u32) -> Option<Duration> {
    let fields = fields(pid)?;
    let mut fields = fields.split_whitespace();
    // Fields after the name: 3 is the group, 12 the user time, 13 the system time.
    let (its_group, user) = (fields.nth(2)?.parse::<u32>().ok()?, fields.nth(8)?.parse::<u64>().ok()?);
    let system: u64 = fields.next()?.parse().ok()?;
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    (its_group == group).then(|| Duration::from_millis((user + system) * 1000 / ticks))
}

/// Reads resident and shared pages from proc_pid_statm(5). A zombie has no resident pages.
fn measured(part: Part) -> Option<Part> {
    let text = fs::read_to_string(format!("/proc/{}/statm", part.pid)).ok()?;
    let mut numbers = text.split_whitespace().skip(1).map(|number| number.parse::<u64>().ok());
    let (resident, shared) = (numbers.next()??, numbers.next()??);
    let page = rustix::param::page_size() as u64;
    (resident > 0).then(|| Part { own: resident.saturating_sub(shared) * page, shared: shared * page, ..part })
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

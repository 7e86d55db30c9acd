//! How much memory a browser takes with all its parts, and how much work they have done.

use std::fs;
use std::time::Duration;

/// A process of a browser, as it is now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) pid: u32,
    /// Whether it shows pages, those of one visit.
    pub(super) is_renderer: bool,
    /// Bytes of memory that it has for itself.
    pub(super) own: u64,
    /// Bytes that it shares with others.
    pub(super) shared: u64,
    /// Time of processors that it has taken.
    pub(super) cpu: Duration,
}

/// Bytes of all processes of a group: what each has for itself, and once what the largest of them shares. That is near to
/// what the kernel calls proportional (PSS), which takes long to be counted.
pub(super) fn total(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.own).sum::<u64>() + parts.iter().map(|part| part.shared).max().unwrap_or(0)
}

/// All processes of a group. None where there is no `/proc`.
pub(super) fn of_group(group: u32) -> Vec<Part> {
    numbered()
        .filter_map(|pid| {
            let cpu = cpu_of(pid, group)?;
            measured(Part { pid, is_renderer: is_renderer(pid), own: 0, shared: 0, cpu })
        })
        .collect()
}

/// The same process a moment later; none when it has ended.
pub(super) fn again(part: Part, group: u32) -> Option<Part> {
    let cpu = cpu_of(part.pid, group)?;
    measured(Part { cpu, ..part })
}

/// The processes of a group.
pub(super) fn in_group(group: u32) -> impl Iterator<Item = u32> {
    numbered().filter(move |pid| group_of(*pid) == Some(group))
}

/// The group of a process.
pub(super) fn group_of(pid: u32) -> Option<u32> {
    fields(pid)?.split_whitespace().nth(2)?.parse().ok()
}

/// All processes.
fn numbered() -> impl Iterator<Item = u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
}

/// proc_pid_stat(5): the name in brackets may hold anything, so what follows the last one is read.
fn fields(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.to_owned())
}

/// The processor time of a process, if it is of the group.
fn cpu_of(pid: u32, group: u32) -> Option<Duration> {
    let fields = fields(pid)?;
    let mut fields = fields.split_whitespace();
    let (its_group, user) = (fields.nth(2)?.parse::<u32>().ok()?, fields.nth(8)?.parse::<u64>().ok()?);
    let system: u64 = fields.next()?.parse().ok()?;
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    (its_group == group).then(|| Duration::from_millis((user + system) * 1000 / ticks))
}

/// proc_pid_statm(5): resident pages, and those of them that are shared. A process that has ended has none, although it is there
/// until its parent asks for it.
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

//! Memory and CPU time of processes. Where there is no `/proc`, there seem to be no processes.

use std::fs;
use std::time::Duration;

/// Memory of a process, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// Private memory.
    pub own: u64,
    /// Memory that other processes may share, such as that of files.
    pub shared: u64,
}

/// State of a process in proc_pid_stat(5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Id of its process group.
    pub group: u32,
    /// CPU time so far.
    pub cpu: Duration,
}

/// Returns the ids and states of all processes of a group.
pub fn of_group(group: u32) -> impl Iterator<Item = (u32, Stat)> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter_map(|id| Some((id, stat(id)?))).filter(move |(_, stat)| stat.group == group)
}

/// Returns the state of a process; `None` if it has ended.
#[must_use]
pub fn stat(id: u32) -> Option<Stat> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name is in brackets and may itself contain anything, so the fields are counted after its last bracket. There,
    // 3 is the group, 12 the user time, 13 the system time.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let (group, user) = (fields.nth(2)?.parse().ok()?, fields.nth(8)?.parse::<u64>().ok()?);
    let system: u64 = fields.next()?.parse().ok()?;
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    Some(Stat { group, cpu: Duration::from_millis((user + system) * 1000 / ticks) })
}

/// Returns the memory of a process; `None` if it has ended.
#[must_use]
pub fn memory(id: u32) -> Option<Memory> {
    // Resident and shared pages of proc_pid_statm(5). A zombie has no resident pages.
    let text = fs::read_to_string(format!("/proc/{id}/statm")).ok()?;
    let mut pages = text.split_ascii_whitespace().skip(1).map_while(|number| number.parse::<u64>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    let page = rustix::param::page_size() as u64;
    (resident > 0).then(|| Memory { own: resident.saturating_sub(shared) * page, shared: shared * page })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_group_has_memory() {
        let me = std::process::id();
        let group = stat(me).unwrap().group;
        assert_eq!(group, rustix::process::getpgrp().as_raw_nonzero().get().unsigned_abs());
        assert!(of_group(group).any(|(id, _)| id == me));
        let before = memory(me).unwrap();
        let more = vec![1_u8; 64 << 20];
        let after = memory(me).unwrap();
        assert!(after.own > before.own + (50 << 20), "{before:?} {after:?} {}", more.len());
        assert!(memory(u32::MAX).is_none() && stat(u32::MAX).is_none() && of_group(u32::MAX).next().is_none());
    }
}

//! Memory limit for all processes of a call together; the kernel limits each of them, not their sum.
//!
//! Private memory is counted. The sandbox allows no shared memory except files in a folder of limited size (no
//! anonymous shared `mmap`, `memfd_create` or System V).

use std::fs;

use rustix::process::Pid;
use tokio::time::{Duration, sleep};

/// Memory limit of all processes of a call together, in bytes.
pub(crate) const MAX_TOGETHER: u64 = 1 << 30;
/// Polling interval.
const PACE: Duration = Duration::from_millis(100);

/// Waits until the processes of a group exceed the limit.
pub(crate) async fn too_much(group: Option<Pid>) {
    let Some(group) = group else { return std::future::pending().await };
    loop {
        sleep(PACE).await;
        let held = tokio::task::spawn_blocking(move || of_group(group)).await;
        if held.is_ok_and(|held| held > MAX_TOGETHER) {
            return;
        }
    }
}

/// Returns the memory of the processes of a group, in bytes, without file-backed pages.
fn of_group(group: Pid) -> u64 {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter_map(|number| held(number, group)).sum()
}

/// Returns the memory of a process if it belongs to the group; `None` also if it has just ended.
fn held(number: u32, group: Pid) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The process name may contain anything, so parsing starts after its last `)`: state, parent, group follow.
    let (_, fields) = stat.rsplit_once(')')?;
    let its_group = fields.split_ascii_whitespace().nth(2)?.parse::<i32>().ok()?;
    if its_group != group.as_raw_nonzero().get() {
        return None;
    }
    let pages = fs::read_to_string(format!("/proc/{number}/statm")).ok()?;
    let mut pages = pages.split_ascii_whitespace().skip(1).map_while(|field| field.parse::<u64>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    Some(resident.saturating_sub(shared) * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_group_holds_something() {
        let group = rustix::process::getpgrp();
        let before = of_group(group);
        let more = vec![1_u8; 64 << 20];
        let after = of_group(group);
        assert!(before > 0 && after > before + (50 << 20), "{before} {after} {}", more.len());
        assert_eq!(Pid::from_raw(i32::MAX).map(of_group), Some(0));
    }
}

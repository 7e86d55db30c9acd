//! How much memory a browser takes with all its parts.

use std::fs;

/// Bytes of all processes of a group: what each has for itself, and once what the largest of them shares. That is near to
/// what the kernel calls proportional (PSS), which it tells only to the owner of a process. 0 where there is no `/proc`.
pub(super) fn of_group(group: u32) -> u64 {
    let (mut own, mut shared) = (0, 0);
    for pid in in_group(group) {
        if let Some((resident, common)) = pages(pid) {
            own += resident.saturating_sub(common);
            shared = shared.max(common);
        }
    }
    (own + shared) * rustix::param::page_size() as u64
}

/// The processes of a group.
pub(super) fn in_group(group: u32) -> impl Iterator<Item = u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(move |pid| group_of(*pid) == Some(group))
}

/// proc_pid_stat(5): the name in brackets may hold anything, so what follows the last one is read.
pub(super) fn group_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(2)?.parse().ok()
}

/// proc_pid_statm(5): resident pages, and those of them that are shared.
fn pages(pid: u32) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut numbers = text.split_whitespace().skip(1).map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_group_has_memory() {
        let group = group_of(std::process::id()).unwrap();
        assert!(of_group(group) > 1 << 20);
        assert_eq!(of_group(u32::MAX), 0);
    }
}

//! A process with all its descendants from proc(5), and their total memory and handles.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

/// A process of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub id: u32,
    /// Process id of the parent.
    pub parent: u32,
    /// Name, truncated to 15 bytes.
    pub name: String,
    /// Whether it is a zombie: it has ended, and its parent has not waited for it.
    pub ended: bool,
}

impl Process {
    /// Kills the process; returns false when it had already ended.
    ///
    /// # Errors
    /// When it belongs to another user.
    pub fn kill(&self) -> Result<bool> {
        let id = Pid::from_raw(i32::try_from(self.id)?).context("no process id")?;
        match kill_process(id, Signal::KILL) {
            Ok(()) => Ok(true),
            Err(Errno::SRCH) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// A process tree with its memory and handles.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    /// Processes, the root first, including zombies.
    pub processes: Vec<Process>,
    /// Proportional set size in MiB, which counts shared memory once.
    pub pss_mib: f64,
    /// Proportional set size in MiB of the descendants alone.
    pub children_pss_mib: f64,
    /// Number of open file descriptors, including sockets and pipes.
    pub files: usize,
    /// Number of open file descriptors of the root alone.
    pub own_files: usize,
    /// Number of open sockets.
    pub sockets: usize,
}

impl Tree {
    /// Reads the tree of a process. Processes that end meanwhile count as far as they could be read.
    ///
    /// # Errors
    /// When /proc cannot be read.
    pub fn below(root: u32) -> Result<Self> {
        let all = every_process()?;
        let mut tree = Self { processes: descendants(&all, root), ..Self::default() };
        for process in &tree.processes {
            let pss_mib = pss_kib(process.id) as f64 / 1024.0;
            let held = held(process.id);
            if process.id == root {
                tree.own_files = held.len();
            } else {
                tree.children_pss_mib += pss_mib;
            }
            tree.pss_mib += pss_mib;
            tree.files += held.len();
            tree.sockets += held.iter().filter(|target| target.to_string_lossy().starts_with("socket:")).count();
        }
        Ok(tree)
    }

    /// Returns the number of processes of a program, including zombies.
    #[must_use]
    pub fn count(&self, program: &str) -> usize {
        self.processes.iter().filter(|process| process.name.starts_with(program)).count()
    }
}

/// Makes this process the parent of orphaned descendants (subreaper), so that [`Tree::below`] misses none.
///
/// # Errors
/// When the kernel does not support it.
pub fn adopt_orphans() -> Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

fn every_process() -> Result<Vec<Process>> {
    let ids = fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(ids.filter_map(|id: u32| parse(id, &fs::read_to_string(format!("/proc/{id}/stat")).ok()?)).collect())
}

/// Parses `/proc/PID/stat`: `7 (name) S 1 …`, where the name may contain any characters.
fn parse(id: u32, stat: &str) -> Option<Process> {
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    let mut fields = after.split_whitespace();
    let ended = matches!(fields.next()?, "Z" | "X");
    Some(Process { id, parent: fields.next()?.parse().ok()?, name, ended })
}

/// Returns the process and all its descendants, parents first.
fn descendants(all: &[Process], root: u32) -> Vec<Process> {
    let mut found: Vec<Process> = all.iter().filter(|process| process.id == root).cloned().collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|process| process.id) {
        found.extend(all.iter().filter(|process| process.parent == parent).cloned());
        next += 1;
    }
    found
}

fn pss_kib(id: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn held(id: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    entries.filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn names_may_hold_anything() {
        let process = parse(7, "7 (a) b (c) Z 3 7 7 0").unwrap();
        assert_eq!(process, Process { id: 7, parent: 3, name: "a) b (c".to_owned(), ended: true });
        assert_eq!(parse(7, "7 (a"), None);
    }

    #[test]
    fn a_child_and_what_it_holds_are_seen() {
        let mut child = Command::new("sh").args(["-c", "sleep 60 & wait"]).stdin(Stdio::piped()).spawn().unwrap();
        let tree = loop {
            let tree = Tree::below(child.id()).unwrap();
            if tree.count("sleep") == 1 {
                break tree;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        assert_eq!((tree.processes[0].id, tree.processes[1].parent), (child.id(), child.id()));
        assert!(tree.pss_mib > tree.children_pss_mib && tree.children_pss_mib > 0.0, "{tree:?}");
        assert!(tree.files > tree.own_files && tree.own_files >= 3, "{tree:?}");
        let sleeper = rustix::process::Pid::from_raw(i32::try_from(tree.processes[1].id).unwrap()).unwrap();
        rustix::process::kill_process(sleeper, rustix::process::Signal::KILL).unwrap();
        child.wait().unwrap();
        assert!(Tree::below(child.id()).unwrap().processes.is_empty());
    }

    #[test]
    fn this_process_is_not_below_a_stranger() {
        let all =
            [(2, 1), (3, 2), (4, 3), (5, 1)].map(|(id, parent)| parse(id, &format!("{id} (x) S {parent}")).unwrap());
        let ids: Vec<u32> = descendants(&all, 2).iter().map(|process| process.id).collect();
        assert_eq!(ids, [2, 3, 4]);
    }
}

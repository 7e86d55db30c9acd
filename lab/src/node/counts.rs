//! Counters of a process from proc(5), for the cost of a page.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// Counters of a process since its start, or between two times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// Current number of threads.
    pub threads: u64,
    /// Page faults without disk access.
    pub minor_faults: u64,
    /// Page faults with disk access.
    pub major_faults: u64,
    /// Voluntary context switches of the current threads.
    pub voluntary_switches: u64,
    /// Involuntary context switches of the current threads.
    pub involuntary_switches: u64,
    /// Bytes read by system calls such as `read`, from files, sockets and pipes.
    pub read: u64,
    /// Bytes written by system calls such as `write`.
    pub written: u64,
    /// Number of system calls such as `read`.
    pub read_calls: u64,
    /// Number of system calls such as `write`.
    pub write_calls: u64,
    /// Bytes read from the disk.
    pub from_disk: u64,
    /// Bytes to be written to the disk.
    pub to_disk: u64,
}

impl Counts {
    /// Reads the counters of a process.
    ///
    /// # Errors
    /// When it has ended or belongs to another user.
    pub fn of_process(pid: u32) -> Result<Self> {
        let file = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).with_context(|| format!("no {name}"));
        let mut counts = Self::of_stat(&file("stat")?)?;
        counts.add_io(&file("io")?)?;
        for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
            // Threads that end meanwhile are skipped.
            if let Ok(status) = fs::read_to_string(thread?.path().join("status")) {
                counts.voluntary_switches += field(&status, "voluntary_ctxt_switches:")?;
                counts.involuntary_switches += field(&status, "nonvoluntary_ctxt_switches:")?;
            }
        }
        Ok(counts)
    }

    /// Returns the difference to `before`, with the current number of threads.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let later = |now: u64, then: u64| now.saturating_sub(then);
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
            threads: self.threads,
            minor_faults: later(self.minor_faults, before.minor_faults),
            major_faults: later(self.major_faults, before.major_faults),
            voluntary_switches: later(self.voluntary_switches, before.voluntary_switches),
            involuntary_switches: later(self.involuntary_switches, before.involuntary_switches),
            read: later(self.read, before.read),
            written: later(self.written, before.written),
            read_calls: later(self.read_calls, before.read_calls),
            write_calls: later(self.write_calls, before.write_calls),
            from_disk: later(self.from_disk, before.from_disk),
            to_disk: later(self.to_disk, before.to_disk),
        }
    }

    /// Parses times, faults and threads from `/proc/PID/stat`, after the name, which may contain any characters.
    pub(super) fn of_stat(stat: &str) -> Result<Self> {
        let (_, fields) = stat.rsplit_once(')').context("no name in /proc")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let number = |field: usize| fields.get(field - 3).and_then(|text| text.parse::<u64>().ok());
        let number = |field: usize| number(field).with_context(|| format!("no field {field} in /proc"));
        // USER_HZ is 100 on Linux for all programs.
        let time = |field: usize| number(field).map(|ticks| Duration::from_millis(10 * ticks));
        Ok(Self {
            minor_faults: number(10)?,
            major_faults: number(12)?,
            user: time(14)?,
            system: time(15)?,
            threads: number(20)?,
            ..Self::default()
        })
    }

    fn add_io(&mut self, io: &str) -> Result<()> {
        self.read = field(io, "rchar:")?;
        self.written = field(io, "wchar:")?;
        self.read_calls = field(io, "syscr:")?;
        self.write_calls = field(io, "syscw:")?;
        self.from_disk = field(io, "read_bytes:")?;
        self.to_disk = field(io, "write_bytes:")?;
        Ok(())
    }
}

fn field(text: &str, name: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    Ok(line.with_context(|| format!("no {name} in /proc"))?.trim().parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_the_end_of_the_name() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 100 0 9 0 250 50 0 0 20 0 22 0 1 1 1";
        let counts = Counts::of_stat(stat).unwrap();
        assert_eq!((counts.minor_faults, counts.major_faults, counts.threads), (100, 9, 22));
        assert_eq!((counts.user, counts.system), (Duration::from_millis(2500), Duration::from_millis(500)));
        assert!(Counts::of_stat("7 (a) S 1 2").is_err());
    }

    #[test]
    fn this_process_counts() {
        let before = Counts::of_process(std::process::id()).unwrap();
        let text = fs::read("/proc/self/status").unwrap();
        let used = Counts::of_process(std::process::id()).unwrap().since(&before);
        assert!(used.read >= text.len() as u64 && used.read_calls >= 1 && used.threads >= 1, "{used:?}");
    }
}

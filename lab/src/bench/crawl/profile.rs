//! Cost of a page of a crawl, by the counters of Linux, which need neither root nor other programs.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use lab::{Counts, Node};

use super::perf::Perf;
use super::phase;

/// Counters of a server, from the start of the measurement.
pub(super) struct Profile<'a> {
    server: &'a Node,
    data: PathBuf,
    perf: Option<Perf>,
    counts: Counts,
    files: Files,
}

/// Sizes of the files in a data folder, in bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Files {
    database: u64,
    /// SQLite's write-ahead log, which restarts from its beginning after a checkpoint.
    log: u64,
    /// All other files, such as stored pages.
    others: u64,
}

impl<'a> Profile<'a> {
    /// Starts a measurement, with `perf` if it is installed.
    pub(super) fn start(server: &'a Node, data: PathBuf) -> Result<Self> {
        let perf = Perf::start(server.id())?;
        Ok(Self { server, perf, counts: server.counts()?, files: Files::of(&data), data })
    }

    /// Ends the measurement and returns its tables for `pages` crawled pages.
    pub(super) fn finish(self, pages: usize) -> Result<String> {
        let used = self.server.counts()?.since(&self.counts);
        let files = Files::of(&self.data).since(self.files);
        let mut text = costs(&used, files, pages);
        let _ = writeln!(text, "| memory of the server at its highest | {:.0} MiB |", self.server.memory()?.peak);
        if let Some(perf) = self.perf {
            let ms = (used.user + used.system).as_secs_f64() * 1e3 / pages as f64;
            text.push('\n');
            match perf.finish() {
                Ok(samples) => text.push_str(&phase::table(&samples, ms)),
                Err(error) => text.push_str(&format!("no phases: {error:#}\n")),
            }
        }
        Ok(text)
    }
}

/// Formats the counters per page of the server's process, without those of a database server.
fn costs(used: &Counts, files: Files, pages: usize) -> String {
    let each = |count: u64| count as f64 / pages as f64;
    let kb = |bytes: u64| each(bytes) / 1e3;
    let lines = [
        ("CPU in the program, in the kernel", [each(micros(used.user)) / 1e3, each(micros(used.system)) / 1e3], "ms"),
        ("bytes given to write, by read", [kb(used.written), kb(used.read)], "KB"),
        ("calls of write, of read", [each(used.write_calls), each(used.read_calls)], ""),
        ("bytes for the disk, from the disk", [kb(used.to_disk), kb(used.from_disk)], "KB"),
        (
            "switches: it waited, it was interrupted",
            [each(used.voluntary_switches), each(used.involuntary_switches)],
            "",
        ),
        ("page faults, without and with the disk", [each(used.minor_faults), each(used.major_faults)], ""),
        ("growth of the database, of its write-ahead log", [kb(files.database), kb(files.log)], "KB"),
    ];
    let mut text = String::from("| a page costs the server | |\n|---|---|\n");
    for (what, [first, second], unit) in lines {
        let _ = writeln!(text, "| {what} | {first:.3}, {second:.3} {unit} |");
    }
    let _ = writeln!(text, "| growth of other files | {:.3} KB |", kb(files.others));
    let _ = writeln!(text, "| threads at the end; only their switches are counted | {} |", used.threads);
    text
}

fn micros(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Files {
    fn of(folder: &Path) -> Self {
        let mut files = Self::default();
        files.add(folder);
        files
    }

    fn add(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let (size, name) = (entry.metadata().map_or(0, |metadata| metadata.len()), name.to_string_lossy());
            if path.is_dir() {
                self.add(&path);
            } else if name.ends_with(".db") {
                self.database += size;
            } else if name.ends_with(".db-wal") {
                self.log += size;
            } else {
                self.others += size;
            }
        }
    }

    fn since(self, before: Self) -> Self {
        Self {
            database: self.database.saturating_sub(before.database),
            log: self.log.saturating_sub(before.log),
            others: self.others.saturating_sub(before.others),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_grow_by_kind() {
        let folder = tempfile::tempdir().unwrap();
        let before = Files::of(folder.path());
        fs::create_dir(folder.path().join("blobs")).unwrap();
        for (name, size) in [("quarry.db", 30), ("quarry.db-wal", 20), ("quarry.db-shm", 5), ("blobs/a", 7)] {
            fs::write(folder.path().join(name), vec![0; size]).unwrap();
        }
        let files = Files::of(folder.path()).since(before);
        assert_eq!((files.database, files.log, files.others), (30, 20, 12));
    }

    #[test]
    fn costs_are_those_of_one_page() {
        let used = Counts { written: 40_000, user: std::time::Duration::from_millis(30), ..Counts::default() };
        let text = costs(&used, Files::default(), 10);
        assert!(text.contains("| CPU in the program, in the kernel | 3.000, 0.000 ms |"), "{text}");
        assert!(text.contains("| bytes given to write, by read | 4.000, 0.000 KB |"), "{text}");
    }
}

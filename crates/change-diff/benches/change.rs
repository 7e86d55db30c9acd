//! Time and memory of comparing two versions of a page, beside `git diff --no-index` on the same files in the same run:
//! `cargo xtask bench change`.
//!
//! Ours is the status and the diff with its tree, on versions in memory, as a scrape has them. Git reads files and writes
//! its diff into a pipe; starting the program takes it about two milliseconds.

#![expect(clippy::unwrap_used, reason = "a benchmark that stops when it cannot go on")]

use std::fs;
use std::hint::black_box;
use std::io::{Error, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base::Stop;
use change_diff::{Status, compare, tree, unified};

/// Size of a page in bytes, and the number of rounds.
const SIZES: [(&str, usize, usize); 3] = [("20 KB", 20_000, 300), ("1 MB", 1_000_000, 40), ("10 MB", 10_000_000, 11)];

const WORDS: [&str; 16] = [
    "harbour",
    "tea",
    "leaves",
    "crates",
    "river",
    "warehouse",
    "orders",
    "kettle",
    "blend",
    "storage",
    "batches",
    "windows",
    "customers",
    "delivery",
    "roast",
    "week",
];

/// Makes pages that are the same in every run.
struct Source(u64);

impl Source {
    fn next(&mut self, below: usize) -> usize {
        // Knuth's MMIX generator.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| WORDS[self.next(WORDS.len())]).collect::<Vec<_>>().join(" ")
    }

    fn page(&mut self, bytes: usize) -> String {
        let mut page = String::with_capacity(bytes + 200);
        while page.len() < bytes {
            let block = match self.next(8) {
                0 => format!("## {}\n\n", self.words(3)),
                1 => {
                    (0..5).map(|_| format!("- [{}](/p/{})\n", self.words(3), self.next(100_000))).collect::<String>()
                        + "\n"
                }
                2 => {
                    (0..6).map(|_| format!("| {} | {} € |\n", self.words(2), self.next(9999))).collect::<String>()
                        + "\n"
                }
                3 => format!("```\nlet  x = {};\n\n\nrun({});\n```\n\n", self.next(999), self.next(999)),
                _ => format!("{}.\n\n", self.words(30)),
            };
            page.push_str(&block);
        }
        page
    }

    /// Changes one in `every` lines.
    fn edit(&mut self, page: &str, every: usize) -> String {
        let mut edited = String::with_capacity(page.len());
        for line in page.split_inclusive('\n') {
            if line.len() > 1 && self.next(every) == 0 {
                edited.push_str(&format!("{} {}\n", self.words(8), self.next(1000)));
            } else {
                edited.push_str(line);
            }
        }
        edited
    }
}

fn one_line(page: &str) -> String {
    let middle = page[..page.len() / 2].rfind('\n').unwrap() + 1;
    format!("{}One line is new here.\n{}", &page[..middle], &page[middle..])
}

fn main() -> Result<(), Error> {
    let folder = tempfile::tempdir()?;
    let mut out = stdout().lock();
    writeln!(
        out,
        "{:6} {:22} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}",
        "page", "versions", "p50 ms", "worst ms", "git p50", "git worst", "changes", "peak MiB"
    )?;
    for (name, bytes, rounds) in SIZES {
        let mut source = Source(bytes as u64);
        let page = source.page(bytes);
        let invisible = page.replace('\n', " \r\n");
        for (what, current) in [
            ("same", page.clone()),
            ("only line ends differ", invisible),
            ("one line put in", one_line(&page)),
            ("2 % of lines changed", source.edit(&page, 50)),
            ("unrelated", source.page(bytes)),
        ] {
            let (changes, ours, peak) = measure(rounds, &page, &current);
            let git = git(folder.path(), rounds, &page, &current)?;
            writeln!(
                out,
                "{name:6} {what:22} {:>10.2} {:>10.2} {:>10.2} {:>10.2} {changes:>9} {peak:>9}",
                ours.0, ours.1, git.0, git.1
            )?;
        }
    }
    Ok(())
}

/// Returns the number of changed lines, the middle and the longest time in milliseconds, and the peak of resident memory in
/// MiB, with both versions in it.
fn measure(rounds: usize, previous: &str, current: &str) -> (usize, (f64, f64), u64) {
    let stop = Stop::new();
    let mut changes = 0;
    let _ = fs::write("/proc/self/clear_refs", "5");
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        let same = compare(previous, current) == Status::Same;
        let diff = if same { String::new() } else { unified(previous, current, &stop).unwrap() };
        let tree = tree(&diff);
        changes = tree.files.iter().map(|file| file.additions + file.deletions).sum();
        black_box(&tree);
        start.elapsed()
    });
    let times = times.collect();
    (changes, middle_and_worst(times), peak())
}

fn git(folder: &Path, rounds: usize, previous: &str, current: &str) -> Result<(f64, f64), Error> {
    fs::write(folder.join("previous.md"), previous)?;
    fs::write(folder.join("current.md"), current)?;
    let mut times = Vec::new();
    for _ in 0..rounds {
        let mut git = Command::new("git");
        git.args(["diff", "--no-index", "--no-color", "previous.md", "current.md"]).current_dir(folder);
        let start = Instant::now();
        black_box(git.stdin(Stdio::null()).output()?);
        times.push(start.elapsed());
    }
    Ok(middle_and_worst(times))
}

fn middle_and_worst(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    (milliseconds(times[times.len() / 2]), milliseconds(times[times.len() - 1]))
}

/// Returns the peak of resident memory since it was last reset, in MiB (proc(5)).
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) >> 10
}

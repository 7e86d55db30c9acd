//! Time of an answer and of a summary on one thread, from markdown in memory: `cargo bench -p extractive`.
//!
//! The pages are made, the same in every run: prose of the same words, headings, lists and tables. With `--python
//! PROGRAM`, a plain BM25 in Python ranks the sentences of the same pages. Hostile pages follow, with their time for a
//! megabyte.

#![expect(clippy::unwrap_used, reason = "a benchmark that stops when it cannot go on")]

use std::hint::black_box;
use std::io::{Error, Write, stdout};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base::Stop;
use extractive::{Page, Source};

/// Size of a page in bytes, and the number of rounds.
const SIZES: [(&str, usize, usize); 4] = [
    ("50 KB, 500 sentences", 50_000, 200),
    ("100 KB", 100_000, 100),
    ("1 MB", 1_000_000, 20),
    ("10 MB", 10_000_000, 5),
];
const QUESTION: &str = "When was the first warehouse at the river opened?";
const WORDS: [&str; 24] = [
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
    "the",
    "of",
    "and",
    "in",
    "opened",
    "with",
    "London",
    "1839",
];
const HOSTILE: [&str; 12] =
    ["word ", "a", "[", "[a](", "<a", "`", "*a_", "# a\n\n", "- a\n", "| a | b |\n", "A word of the river? ", "大"];

/// Reads a page, ranks its sentences by a plain BM25 for the question in its argument, and prints the seconds taken.
const BM25: &str = r#"
import sys, re, math, time
from collections import Counter
page, question = sys.stdin.read(), re.findall(r"\w+", sys.argv[1].lower())
start = time.perf_counter()
counts = [Counter(re.findall(r"\w+", s.lower())) for s in re.split(r"(?<=[.!?])\s+|\n+", page)]
found = Counter(word for count in counts for word in count)
lengths = [sum(count.values()) for count in counts]
mean = sum(lengths) / len(lengths)
def score(count, length):
    weigh = lambda word: math.log(1 + (len(counts) - found[word] + .5) / (found[word] + .5))
    part = lambda n: n * 2.2 / (n + 1.2 * (.25 + .75 * length / mean))
    return sum(weigh(word) * part(count[word]) for word in question if word in count)
max(map(score, counts, lengths))
print(time.perf_counter() - start)
"#;

/// Makes pages that are the same in every run.
struct Maker(u64);

impl Maker {
    fn next(&mut self, below: usize) -> usize {
        // Knuth's MMIX generator.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn sentence(&mut self) -> String {
        let words: Vec<&str> = (0..16).map(|_| WORDS[self.next(WORDS.len())]).collect();
        format!("The {}.", words.join(" "))
    }

    fn page(&mut self, bytes: usize) -> String {
        let mut page = String::with_capacity(bytes + 1000);
        while page.len() < bytes {
            match self.next(8) {
                0 => page.push_str("## The harbour\n\n"),
                1 => (0..4).for_each(|_| page.push_str(&format!("- {}\n", self.sentence()))),
                2 => page.push_str(&format!("| Kind | Price |\n| --- | --- |\n| {} | 12 |\n\n", self.sentence())),
                _ => {
                    (0..6).for_each(|_| page.push_str(&format!("{} ", self.sentence())));
                    page.push_str("\n\n");
                }
            }
        }
        page
    }
}

/// Returns the median time of reading a page and of what `work` does with it.
fn time(markdown: &str, rounds: usize, work: impl Fn(&Page<'_>)) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let started = Instant::now();
            let source = Source { markdown: black_box(markdown), title: "The harbour", language: "en" };
            work(&Page::read(&source, &Stop::new()).unwrap());
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[rounds / 2]
}

fn find(page: &Page<'_>) {
    black_box(page.find(QUESTION, None, &Stop::new()).unwrap());
}

/// Returns the time of a plain BM25 in Python.
fn baseline(python: &str, page: &str) -> Result<Duration, Error> {
    let mut child =
        Command::new(python).args(["-c", BM25, QUESTION]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or_else(|| Error::other("no standard input"))?.write_all(page.as_bytes())?;
    let output = child.wait_with_output()?;
    let seconds = String::from_utf8_lossy(&output.stdout).trim().parse().map_err(Error::other)?;
    Ok(Duration::from_secs_f64(seconds))
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().collect();
    let python = arguments.windows(2).find(|pair| pair[0] == "--python").map(|pair| pair[1].as_str());
    let mut out = stdout().lock();
    for (name, bytes, rounds) in SIZES {
        let page = Maker(1).page(bytes);
        let rate = |time: Duration| page.len() as f64 / 1e6 / time.as_secs_f64();
        let (read, found) = (time(&page, rounds, |_| {}), time(&page, rounds, find));
        let told = time(&page, rounds, |page| drop(black_box(page.summary(&Stop::new()).unwrap())));
        writeln!(
            out,
            "{name:22} read {:8.2?} {:5.1} MB/s   answer {:8.2?} {:5.1} MB/s   summary {:8.2?} {:5.1} MB/s",
            read,
            rate(read),
            found,
            rate(found),
            told,
            rate(told)
        )?;
        if let Some(python) = python {
            let taken = baseline(python, &page)?;
            writeln!(out, "{:22} a plain BM25 {taken:8.2?} {:5.1} MB/s", "", rate(taken))?;
        }
    }
    for unit in HOSTILE {
        let page = unit.repeat(4_000_000 / unit.len());
        writeln!(out, "{unit:24?} {:8.2?} for 1 MB", time(&page, 1, find) / 4)?;
    }
    Ok(())
}

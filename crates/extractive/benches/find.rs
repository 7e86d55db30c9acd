//! Time of an answer and of a summary on one thread, from markdown in memory: `cargo bench -p extractive`.
//!
//! The pages are made, the same in every run: prose of the same words, headings, lists and tables. Hostile pages
//! follow, with their time for a megabyte.

#![expect(clippy::unwrap_used, reason = "a benchmark that stops when it cannot go on")]

use std::hint::black_box;
use std::io::{Error, Write, stdout};
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

fn main() -> Result<(), Error> {
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
    }
    for unit in HOSTILE {
        let page = unit.repeat(4_000_000 / unit.len());
        writeln!(out, "{unit:24?} {:8.2?} for 1 MB", time(&page, 1, find) / 4)?;
    }
    Ok(())
}

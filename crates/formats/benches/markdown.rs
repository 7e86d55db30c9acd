//! Benchmark of HTML to markdown on one thread, compared with other engines: `cargo xtask bench markdown`.
//!
//! Pages are decoded beforehand. Every engine converts every page in every round, one engine after the other; the best
//! round of each page counts, in CPU time of the thread.

mod engines;

use std::hint::black_box;
use std::io::{Error, Write, stdout};

use engines::{ENGINES, Source};
use formats::{ContentOptions, MarkdownOptions, Page, content, html, links, markdown, metadata};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 5;
const PHASES: [&str; 6] = ["parse", "main content", "markdown", "clean html", "links", "metadata"];

fn main() -> Result<(), Error> {
    let sources = engines::sources()?;
    let bytes: usize = sources.iter().map(|source| source.html.len()).sum();
    let megabytes = bytes as f64 / 1e6;
    let mut out = stdout().lock();
    writeln!(out, "{} pages, {megabytes:.1} MB, best of {ROUNDS} rounds on one thread", sources.len())?;

    let mut whole = vec![[f64::MAX; ENGINES.len()]; sources.len()];
    let mut phases = vec![[f64::MAX; PHASES.len()]; sources.len()];
    for _ in 0..ROUNDS {
        for (place, engine) in ENGINES.iter().enumerate() {
            for (best, source) in whole.iter_mut().zip(&sources) {
                let started = seconds();
                black_box((engine.convert)(black_box(source)));
                best[place] = best[place].min(seconds() - started);
            }
        }
        for (best, source) in phases.iter_mut().zip(&sources) {
            let times = in_phases(source);
            best.iter_mut().zip(times).for_each(|(best, time)| *best = best.min(time));
        }
    }

    let total = |place: usize| whole.iter().map(|best| best[place]).sum::<f64>();
    writeln!(out, "{:24} {:>8} {:>9} {:>8}", "", "MB/s", "pages/s", "ratio")?;
    for (place, engine) in ENGINES.iter().enumerate() {
        let (rate, pages) = (megabytes / total(place), sources.len() as f64 / total(place));
        let ratio = total(1) / total(place);
        writeln!(out, "{:24} {rate:>8.1} {pages:>9.0} {ratio:>8.2}", engine.name)?;
    }
    writeln!(out, "ratio: speed beside {}", ENGINES[1].name)?;
    for (place, phase) in PHASES.iter().enumerate() {
        let time: f64 = phases.iter().map(|best| best[place]).sum();
        writeln!(out, "    {phase:20} {:>8.1} {:>8.2} ms/MB", megabytes / time, time * 1e3 / megabytes)?;
    }
    Ok(())
}

/// Measures the phases of our conversion of one page, in seconds.
fn in_phases(source: &Source) -> [f64; PHASES.len()] {
    let (page, parse) = timed(|| Page::parse(black_box(&source.html), &source.url));
    let (main, choose) = timed(|| content(&page, &ContentOptions::default()));
    let write = timed(|| markdown(&main, &MarkdownOptions::default())).1;
    let clean = timed(|| html(&main)).1;
    [parse, choose, write, clean, timed(|| links(&page)).1, timed(|| metadata(&page)).1]
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = seconds();
    let result = black_box(work());
    (result, seconds() - started)
}

fn seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

//! Memory use of HTML to markdown, compared with other engines: `cargo xtask bench markdown`. A separate benchmark,
//! because counting allocations slows them down.

mod engines;

use std::io::{Error, Write, stdout};

use engines::{ENGINES, Source};
use formats::Page;
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

fn main() -> Result<(), Error> {
    let sources = engines::sources()?;
    let mut out = stdout().lock();
    writeln!(out, "{:24} {:>8} {:>8} {:>8}", "peak heap of one page", "mean kB", "max kB", "x input")?;
    for engine in &ENGINES {
        report(&mut out, engine.name, &sources, |source| drop((engine.convert)(source)))?;
    }
    report(&mut out, "    parse only", &sources, |source| drop(Page::parse(&source.html, &source.url)))
}

fn report(out: &mut impl Write, name: &str, sources: &[Source], work: impl Fn(&Source)) -> Result<(), Error> {
    let (mut sum, mut most, mut bytes) = (0, 0, 0);
    for source in sources {
        // A first run, so that one-time allocations are not counted for the page.
        work(source);
        let before = HEAP.current_usage();
        HEAP.reset_peak_usage();
        work(source);
        let peak = HEAP.peak_usage().saturating_sub(before);
        sum += peak;
        most = most.max(peak);
        bytes += source.html.len();
    }
    let mean = sum as f64 / 1e3 / sources.len() as f64;
    writeln!(out, "{name:24} {mean:>8.0} {:>8.0} {:>8.1}", most as f64 / 1e3, sum as f64 / bytes as f64)
}

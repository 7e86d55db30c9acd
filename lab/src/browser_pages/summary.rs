//! Printed results and the final counts.

use std::time::Duration;

use xtask::say;

use super::book::{Book, Page};
use super::chosen;
use super::scrape::ScrapeResult;

/// Counts over all pages.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// Correct pages that need a browser.
    pub(super) right: usize,
    /// Correct pages with all formats.
    pub(super) formats: usize,
    /// Pages that needed no browser and used none.
    pub(super) plain: usize,
    /// Correct pages with unusual behaviour, and their total.
    pub(super) behaved: (usize, usize),
    /// Browser processes left after the shutdown.
    pub(super) left: usize,
    after: Vec<Duration>,
}

impl Summary {
    /// Prints and counts one page.
    pub(super) fn add(&mut self, page: &Page, done: &ScrapeResult, after: Duration, failures: &[String]) {
        let verdict = if failures.is_empty() { "right" } else { "WRONG" };
        say!(
            "{verdict} {:>2} {}: {}, {} ms, {} ms after ready, {} requests, {} KB{}{}",
            page.number,
            page.id,
            chosen::shown(&done.chosen),
            done.took.as_millis(),
            after.as_millis(),
            done.visit.asked.len(),
            done.bytes / 1000,
            if failures.is_empty() { "" } else { ": " },
            failures.join("; ")
        );
        self.right += usize::from(failures.is_empty());
        // Actions take their own time.
        if page.id != "steps" {
            self.after.push(after);
        }
    }

    /// Prints the totals.
    pub(super) fn print(&self, book: &Book, formats: bool) {
        say!("{} of {} pages that need a browser", self.right, book.pages.len());
        if formats {
            let asked = book.pages.iter().filter(|page| page.id != "steps").count();
            say!("{} of {asked} with all formats", self.formats);
        }
        say!("{} of {} pages that need none", self.plain, book.plain.len());
        if self.behaved.1 > 0 {
            say!("{} of {} odd pages", self.behaved.0, self.behaved.1);
        }
        let (half, most) = (percentile(&self.after, 50), percentile(&self.after, 95));
        say!("after ready: p50 {} ms, p95 {} ms", half.as_millis(), most.as_millis());
    }
}

/// Returns the percentile `share` of the times; zero for an empty list.
pub(crate) fn percentile(times: &[Duration], share: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    let last = sorted.len().saturating_sub(1);
    sorted.get((last * share).div_ceil(100)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_taken() {
        let times: Vec<Duration> = (1..=101).map(Duration::from_millis).collect();
        assert_eq!(percentile(&times, 50), Duration::from_millis(51));
        assert_eq!(percentile(&times, 95), Duration::from_millis(96));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }
}

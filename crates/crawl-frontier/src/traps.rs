//! Heuristics against crawler traps: repeating paths, calendars, sessions, thousands of queries, near-duplicate pages.
//!
//! There are three kinds of state. [`url_trap`] needs none. [`Family`] and [`Run`] are small values for a database row, so
//! that all workers of a crawl count together: one row per crawl and family, changed in the transaction that adds the URL
//! or stores the page. [`Traps`] keeps both in memory for a crawl with one worker, and can be saved as one value.

mod content;
mod shape;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use url::Url;

pub use content::{content_hash, words_hash};
pub use shape::{family, template, url_trap};

/// Maximum number of URLs of one path with different queries, and of dates of one calendar.
const MAX_VARIANTS: u32 = 2000;
/// Number of consecutive pages of one template with the same content that make a trap.
const MAX_RUN: u32 = 50;
/// Maximum number of different bits in the hashes of near-duplicates.
const NEAR: u32 = 3;
/// Maximum number of families, and of templates, in memory.
const MAX_KEPT: usize = 16_384;

/// Kind of trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trap {
    /// The path has more than 30 segments.
    Depth,
    /// The path repeats segments: `/a/b/a/b/a/b`.
    Repetition,
    /// The path has an impossible date.
    Calendar,
    /// One path has too many queries, or a calendar too many dates.
    Variants,
    /// The pages of one template all have the same content.
    NearDuplicates,
}

/// A set of URLs that are counted together, with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Identifying hash, stable over versions and machines, so it may be stored.
    pub hash: u64,
    /// Number of known URLs from which a new one of the family is a trap.
    pub most: u32,
}

/// Run of pages of one template with the same content. The default is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Run {
    /// [`content_hash`] of the first page of the run.
    pub hash: u64,
    /// Number of consecutive pages with this content.
    pub length: u32,
}

/// Counters of one crawl in memory. When full, the smallest counters are evicted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Traps {
    families: BTreeMap<u64, u32>,
    runs: BTreeMap<u64, Run>,
}

impl Trap {
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Depth => "the path has too many segments",
            Self::Repetition => "the path repeats the same segments",
            Self::Calendar => "the URL has an impossible date",
            Self::Variants => "the path has too many different queries or dates",
            Self::NearDuplicates => "pages with similar URLs all have the same content",
        }
    }
}

impl Run {
    /// Length from which a run is a trap.
    pub const MAX_LENGTH: u32 = MAX_RUN;

    /// Counts a fetched page.
    #[must_use]
    pub fn with_page(self, hash: u64) -> Self {
        if self.length > 0 && (self.hash ^ hash).count_ones() <= NEAR {
            Self { length: self.length.saturating_add(1), ..self }
        } else {
            Self { hash, length: 1 }
        }
    }

    /// Returns whether further URLs of the template should be skipped.
    #[must_use]
    pub fn is_trap(self) -> bool {
        self.length >= MAX_RUN
    }
}

impl Traps {
    /// Counts a URL with a new key. Returns the trap if the URL should be skipped, which is then not counted.
    pub fn enter(&mut self, url: &Url) -> Option<Trap> {
        if self.runs.get(&template(url)).is_some_and(|run| run.is_trap()) {
            return Some(Trap::NearDuplicates);
        }
        let family = family(url)?;
        if !self.families.contains_key(&family.hash) {
            self.make_room();
        }
        let count = self.families.entry(family.hash).or_default();
        if *count >= family.most {
            return Some(Trap::Variants);
        }
        *count += 1;
        None
    }

    /// Counts a fetched page, by its URL after redirects and its [`content_hash`].
    pub fn page(&mut self, url: &Url, content: u64) {
        let template = template(url);
        if !self.runs.contains_key(&template) && self.runs.len() >= MAX_KEPT {
            self.runs.retain(|_, run| run.length > 1);
            // All of them are runs of several pages: the new template is not tracked.
            if self.runs.len() >= MAX_KEPT {
                return;
            }
        }
        let run = self.runs.entry(template).or_default();
        // A trap stays one: late results of other workers must not reopen it.
        if !run.is_trap() {
            *run = run.with_page(content);
        }
    }

    /// Subtracts the smallest count from every counter that is not a trap yet, and removes those at zero (Misra and Gries
    /// 1982). Large families lose almost nothing.
    fn make_room(&mut self) {
        if self.families.len() < MAX_KEPT {
            return;
        }
        let Some(least) = self.families.values().copied().filter(|count| *count < MAX_VARIANTS).min() else {
            // All of them are traps: evict one.
            self.families.pop_first();
            return;
        };
        self.families.retain(|_, count| {
            if *count < MAX_VARIANTS {
                *count -= least;
            }
            *count > 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse("https://example.com").unwrap().join(text).unwrap()
    }

    #[test]
    fn queries_of_one_path_are_counted() {
        let mut traps = Traps::default();
        for number in 0..MAX_VARIANTS {
            assert_eq!(traps.enter(&url(&format!("/list?page={number}"))), None);
        }
        assert_eq!(traps.enter(&url("/list?page=x")), Some(Trap::Variants));
        assert_eq!(traps.enter(&url("/other?page=x")), None);
        assert_eq!(traps.enter(&url("/list")), None);
    }

    #[test]
    fn equal_pages_in_a_row_are_a_trap() {
        let mut traps = Traps::default();
        let same = content_hash("there is nothing on this day");
        for day in 1..50 {
            traps.page(&url(&format!("/calendar/{day}")), same);
            assert_eq!(traps.enter(&url("/calendar/77")), None);
        }
        traps.page(&url("/calendar/50"), same ^ 0b111);
        assert_eq!(traps.enter(&url("/calendar/77")), Some(Trap::NearDuplicates));
        traps.page(&url("/calendar/51"), !same);
        assert_eq!(traps.enter(&url("/calendar/78")), Some(Trap::NearDuplicates));
        assert_eq!(traps.enter(&url("/article/77")), None);
    }

    #[test]
    fn another_page_ends_a_run() {
        let run = (0..49).fold(Run::default(), |run, _| run.with_page(5));
        assert_eq!(run, Run { hash: 5, length: 49 });
        assert!(!run.is_trap() && run.with_page(5).is_trap());
        assert_eq!(run.with_page(!0), Run { hash: !0, length: 1 });
    }

    #[test]
    fn memory_is_bounded_and_heavy_families_stay() {
        let mut traps = Traps::default();
        for number in 0..60_000u64 {
            traps.enter(&url(&format!("/{number}?x")));
            traps.page(&url(&format!("/{}", "x".repeat(usize::try_from(number % 97).unwrap()))), number << 8);
            if number % 20 == 0 {
                traps.enter(&url(&format!("/heavy?x={number}")));
            }
        }
        assert!(traps.families.len() <= MAX_KEPT && traps.runs.len() <= MAX_KEPT);
        assert_eq!(traps.enter(&url("/heavy?x=y")), Some(Trap::Variants));
        let saved = serde_json::to_string(&traps).unwrap();
        assert_eq!(serde_json::from_str::<Traps>(&saved).unwrap(), traps);
    }
}

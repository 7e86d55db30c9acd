//! Sites without end: paths that repeat, calendars, sessions, queries in thousands, pages that are all the same.
//!
//! Three kinds of state. [`url_trap`] needs none. [`Family`] and [`Run`] are small values for a database row, so that
//! all workers of a crawl count together: a row per crawl and family, changed in the transaction that adds the URL or
//! stores the page. [`Traps`] keeps both in memory for a crawl with one worker, and can be saved as one value.

mod content;
mod shape;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use url::Url;

pub use content::{content_hash, words_hash};
pub use shape::{family, template, url_trap};

/// Most URLs of one path with different queries, and most dates of one calendar.
const MAX_VARIANTS: u32 = 2000;
/// So many pages of one template with the same content in a row are a trap.
const MAX_RUN: u32 = 50;
/// Bits in which two hashes of the same content may differ.
const NEAR: u32 = 3;
/// Most families and most templates that are kept in memory.
const MAX_KEPT: usize = 16_384;

/// What kind of trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trap {
    /// More than 30 path segments.
    Depth,
    /// Path segments that repeat: `/a/b/a/b/a/b`.
    Repetition,
    /// A date that no page can have.
    Calendar,
    /// One path with too many queries, or a calendar with too many dates.
    Variants,
    /// Pages of one template that all have the same content.
    NearDuplicates,
}

/// URLs that are counted together, and how many of them are enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Stable over versions and machines: may be stored.
    pub hash: u64,
    /// Known URLs from which on a new one of the family is a trap.
    pub most: u32,
}

/// The last pages of one template. The default is that of a template without pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Run {
    /// [`content_hash`] of the first page of the run.
    pub hash: u64,
    /// How many pages in a row had this content.
    pub length: u32,
}

/// Counters of one crawl in memory. Bounded: when it is full, the smallest counters are forgotten.
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
            Self::Repetition => "the path repeats itself",
            Self::Calendar => "the address has a date that no page can have",
            Self::Variants => "the path is known with too many queries or dates",
            Self::NearDuplicates => "pages with such addresses all have the same content",
        }
    }
}

impl Run {
    /// The length from which a run is a trap.
    pub const MAX_LENGTH: u32 = MAX_RUN;

    /// Counts a page that was fetched.
    #[must_use]
    pub fn with_page(self, hash: u64) -> Self {
        if self.length > 0 && (self.hash ^ hash).count_ones() <= NEAR {
            Self { length: self.length.saturating_add(1), ..self }
        } else {
            Self { hash, length: 1 }
        }
    }

    /// Whether further URLs of the template should be left alone.
    #[must_use]
    pub fn is_trap(self) -> bool {
        self.length >= MAX_RUN
    }
}

impl Traps {
    /// Counts a URL whose key is new, unless it is a trap: then it should be left alone and is not counted.
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

    /// Counts a page that was fetched, by its URL after redirects and its [`content_hash`].
    pub fn page(&mut self, url: &Url, content: u64) {
        let template = template(url);
        if !self.runs.contains_key(&template) && self.runs.len() >= MAX_KEPT {
            self.runs.retain(|_, run| run.length > 1);
            // All of them are runs: the new template is not watched.
            if self.runs.len() >= MAX_KEPT {
                return;
            }
        }
        let run = self.runs.entry(template).or_default();
        // A trap stays one, or late answers of other workers would open it again.
        if !run.is_trap() {
            *run = run.with_page(content);
        }
    }

    /// Takes from every counter what the smallest has (Misra and Gries 1982): a heavy family loses next to nothing.
    fn make_room(&mut self) {
        if self.families.len() < MAX_KEPT {
            return;
        }
        let Some(least) = self.families.values().copied().filter(|count| *count < MAX_VARIANTS).min() else {
            // All of them are traps: one is forgotten.
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

//! The best pages of a query, by the score of their words.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

use tantivy::columnar::{Column, StrColumn};
use tantivy::fastfield::AliveBitSet;
use tantivy::query::{EnableScoring, Weight};
use tantivy::{DocId, Score};

use crate::plan::Plan;
use crate::schema::flags;
use crate::view::{Segment, View, moment, number};
use crate::{Asked, PageKind, Source};

/// Pages between two looks at the stop function.
const BETWEEN_LOOKS: u32 = 256;

/// Page that matches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) score: Score,
    pub(crate) segment: u32,
    pub(crate) page: DocId,
}

impl Candidate {
    /// Compares by rank, the better first. Equal scores are in the order of the index.
    pub(crate) fn rank(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then((self.segment, self.page).cmp(&(other.segment, other.page)))
    }
}

/// Candidate in a heap whose top is the worst.
struct Held(Candidate);

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.rank(&other.0)
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Held {}

/// Returns the best candidates, in the order of their rank, or nothing if it was stopped.
pub(crate) fn collect(
    view: &View,
    plan: &Plan,
    asked: &Asked<'_>,
    most: usize,
    stop: &dyn Fn() -> bool,
) -> tantivy::Result<Option<Vec<Candidate>>> {
    let scoring = EnableScoring::enabled_from_statistics_provider(&plan.statistics, &view.searcher);
    let weight = plan.search.weight(scoring)?;
    let mut best = Best { heap: BinaryHeap::with_capacity(most + 1), most, seen: 0, stop, stopped: false };
    let mut segments: Vec<Segment<'_>> = view.segments().collect();
    // The largest is likely to have most of the best, which lets the others be skipped sooner.
    segments.sort_by_key(|segment| std::cmp::Reverse(segment.reader.num_docs()));
    for segment in segments {
        if (best.stop)() || best.stopped {
            return Ok(None);
        }
        if let Some(filter) = Filter::of(segment, asked)? {
            best.add(&*weight, segment, &filter)?;
        }
    }
    if best.stopped {
        return Ok(None);
    }
    let mut found: Vec<Candidate> = best.heap.into_iter().map(|held| held.0).collect();
    found.sort_by(Candidate::rank);
    Ok(Some(found))
}

struct Best<'a> {
    heap: BinaryHeap<Held>,
    most: usize,
    seen: u32,
    stop: &'a dyn Fn() -> bool,
    stopped: bool,
}

impl Best<'_> {
    fn add(&mut self, weight: &dyn Weight, segment: Segment<'_>, filter: &Filter<'_>) -> tantivy::Result<()> {
        weight.for_each_pruning(self.threshold(), segment.reader, &mut |page, score| {
            self.seen += 1;
            if self.seen.is_multiple_of(BETWEEN_LOOKS) && (self.stop)() {
                self.stopped = true;
            }
            if self.stopped {
                return Score::MAX;
            }
            if filter.has(page) {
                self.heap.push(Held(Candidate { score, segment: segment.number, page }));
                if self.heap.len() > self.most {
                    self.heap.pop();
                }
            }
            self.threshold()
        })
    }

    /// Returns the score that a page must exceed.
    fn threshold(&self) -> Score {
        if self.heap.len() < self.most {
            Score::MIN
        } else {
            self.heap.peek().map_or(Score::MIN, |worst| worst.0.score)
        }
    }
}

/// Conditions that are read from the columns of a segment.
struct Filter<'a> {
    alive: Option<&'a AliveBitSet>,
    /// Scopes that may be found, unless all of the segment may.
    scopes: Option<(&'a StrColumn, Vec<u64>)>,
    /// First and last moment of publication.
    published: Option<(Option<&'a Column<i64>>, RangeInclusive<i64>)>,
    flags: Option<(Option<&'a Column<u64>>, Flags)>,
}

/// Bits that the flags of a page must have.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    /// Bits that count.
    mask: u64,
    bits: u64,
}

impl<'a> Filter<'a> {
    /// Returns the filter of a segment, nothing if no page of it can pass.
    fn of(segment: Segment<'a>, asked: &Asked<'_>) -> tantivy::Result<Option<Self>> {
        let columns = segment.columns;
        let Some(scope) = &columns.scope else { return Ok(None) };
        let mut allowed = Vec::new();
        for name in asked.scopes {
            allowed.extend(scope.dictionary().term_ord(name.as_bytes())?);
        }
        allowed.sort_unstable();
        allowed.dedup();
        if allowed.is_empty() {
            return Ok(None);
        }
        let window = window(asked);
        let flags = Flags::of(asked);
        Ok(Some(Filter {
            alive: segment.reader.alive_bitset(),
            scopes: (allowed.len() < scope.num_terms()).then_some((scope, allowed)),
            published: (window != (i64::MIN..=i64::MAX)).then_some((columns.published.as_ref(), window)),
            flags: (flags.mask != 0).then_some((columns.flags.as_ref(), flags)),
        }))
    }

    fn has(&self, page: DocId) -> bool {
        let of_scope = |(column, allowed): &(&StrColumn, Vec<u64>)| {
            column.ords().first(page).is_some_and(|scope| allowed.contains(&scope))
        };
        self.alive.is_none_or(|alive| alive.is_alive(page))
            && self.scopes.as_ref().is_none_or(of_scope)
            && self.flags.is_none_or(|(column, flags)| number(column, page) & flags.mask == flags.bits)
            && self.published.as_ref().is_none_or(|(column, window)| {
                moment(*column, page).is_some_and(|published| window.contains(&published))
            })
    }
}

/// Returns the first and last moment of publication.
fn window(asked: &Asked<'_>) -> RangeInclusive<i64> {
    let window = asked.published.unwrap_or_default();
    let from = window.from.unwrap_or(i64::MIN).max(asked.query.after.unwrap_or(i64::MIN));
    let before = asked.query.before.map_or(i64::MAX, |before| before.saturating_sub(1));
    from..=window.until.unwrap_or(i64::MAX).min(before)
}

impl Flags {
    fn of(asked: &Asked<'_>) -> Self {
        let (mut mask, mut bits) = match asked.kind {
            Some(PageKind::Document) => (flags::DOCUMENT, flags::DOCUMENT),
            Some(PageKind::Page) => (flags::DOCUMENT, 0),
            None => (0, 0),
        };
        if asked.source == Source::News {
            mask |= flags::NEWS;
            bits |= flags::NEWS;
        }
        Flags { mask, bits }
    }
}

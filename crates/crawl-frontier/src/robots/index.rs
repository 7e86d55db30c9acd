//! Index for finding the deciding rule among thousands without testing each of them.
//!
//! The part of a pattern before its first star is its head. The heads are sorted, so those that are a prefix of the
//! path are found byte by byte, and only patterns with such a head are compared further.

use std::ops::Range;

use super::rule::Rule;
use crate::Steps;

/// Steps for comparing a pattern, in addition to its bytes.
const STEPS_PER_PATTERN: u64 = 16;
/// Size in bytes of an ordinary path and pattern.
const ORDINARY: u64 = 256;
/// Steps for each iteration of a binary search over the heads.
const STEPS_PER_LOOK: u64 = 8;

/// Rules sorted by head. `place` is the index in the list of all rules, of which the first match decides.
#[derive(Debug, Clone, Default)]
pub(super) struct Index(Vec<Entry>);

#[derive(Debug, Clone, Copy)]
struct Entry {
    place: u32,
    /// Number of bytes of the pattern before its first star, or before the `$` at its end.
    head: u32,
    /// Minimum length of a matching path in bytes.
    shortest: u32,
    rest: PatternTail,
}

/// The part of a pattern after its head.
#[derive(Debug, Clone, Copy, PartialEq)]
enum PatternTail {
    /// Empty: every path that begins with the head matches.
    Nothing,
    /// The end of the path.
    End,
    /// A star and more.
    Star,
}

impl Index {
    /// Builds the index of rules that are sorted by precedence.
    pub(super) fn of(rules: &[Rule]) -> Self {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let entry = |(place, rule): (usize, &Rule)| {
            let pattern = rule.pattern.strip_suffix('$').unwrap_or(&rule.pattern);
            let (head, rest) = match pattern.find('*') {
                Some(star) => (star, PatternTail::Star),
                None if pattern.len() < rule.pattern.len() => (pattern.len(), PatternTail::End),
                None => (pattern.len(), PatternTail::Nothing),
            };
            let stars = pattern.bytes().filter(|byte| *byte == b'*').count();
            let shortest = count(pattern.len() - stars);
            Entry { place: count(place), head: count(head), shortest, rest }
        };
        let mut entries: Vec<Entry> = rules.iter().enumerate().map(entry).collect();
        entries.sort_by(|one, other| one.head(rules).cmp(other.head(rules)));
        Self(entries)
    }

    pub(super) fn size(&self) -> usize {
        self.0.len() * size_of::<Entry>()
    }

    /// Returns the index of the deciding rule for a path, if any; the outer `None` when the steps are used up.
    pub(super) fn find(&self, rules: &[Rule], path: &str, steps: &mut Steps) -> Option<Option<usize>> {
        let bytes = path.as_bytes();
        // Rules are sorted by precedence, so the deciding one is that with the smallest place. Rules without a star are
        // decided by their head alone; those with one are only collected, and matched at the end, the first ones first.
        let (mut first, mut unsure) = (u32::MAX, Vec::new());
        let mut range = 0..self.0.len();
        // `range` holds the entries whose heads begin with the first `depth` bytes of the path; those that end there
        // come first in it.
        for depth in 0..=bytes.len() {
            while let Some(entry) = self.0.get(range.clone())?.first().filter(|entry| entry.head as usize == depth) {
                range.start += 1;
                match entry.rest {
                    PatternTail::Nothing => first = first.min(entry.place),
                    PatternTail::End if depth == bytes.len() => first = first.min(entry.place),
                    PatternTail::Star if entry.shortest as usize <= bytes.len() => unsure.push(entry),
                    PatternTail::End | PatternTail::Star => {}
                }
            }
            let Some(&byte) = bytes.get(depth).filter(|_| !range.is_empty()) else { break };
            if !steps.take(STEPS_PER_LOOK * u64::from(range.len().ilog2() + 1)) {
                return None;
            }
            range = self.narrowed(rules, range, depth, byte);
        }
        if !steps.take(unsure.len() as u64 * STEPS_PER_PATTERN) {
            return None;
        }
        // Entries come in long runs that are already sorted by place, which makes the sort fast.
        unsure.sort_by_key(|entry| entry.place);
        for entry in unsure {
            if entry.place > first {
                break;
            }
            let pattern = rules.get(entry.place as usize).map_or("", |rule| rule.pattern.as_str());
            // Pieces longer than the path are not searched for, so its length bounds the cost.
            if !steps.take(cost(bytes.len() - entry.head as usize + pattern.len().min(bytes.len()))) {
                return None;
            }
            if matches_from(&pattern[entry.head as usize..], &path[entry.head as usize..]) {
                first = entry.place;
                break;
            }
        }
        Some(usize::try_from(first).ok().filter(|place| *place < rules.len()))
    }

    /// Narrows a range of heads, which are longer than `depth` and equal up to it, to those with this byte at `depth`.
    fn narrowed(&self, rules: &[Rule], range: Range<usize>, depth: usize, byte: u8) -> Range<usize> {
        let Some(entries) = self.0.get(range.clone()) else { return 0..0 };
        let at = |entry: &Entry| entry.head(rules).get(depth).copied().unwrap_or_default();
        let start = entries.partition_point(|entry| at(entry) < byte);
        let length = entries.get(start..).unwrap_or_default().partition_point(|entry| at(entry) == byte);
        range.start + start..range.start + start + length
    }
}

impl Entry {
    fn head<'r>(&self, rules: &'r [Rule]) -> &'r [u8] {
        let pattern = rules.get(self.place as usize).map(|rule| rule.pattern.as_bytes());
        pattern.and_then(|pattern| pattern.get(..self.head as usize)).unwrap_or_default()
    }
}

/// Returns the steps for searching pieces in `bytes` bytes. Long hostile texts cost several nanoseconds per byte; the
/// many short texts do not.
fn cost(bytes: usize) -> u64 {
    let bytes = bytes as u64;
    bytes + 5 * bytes.saturating_sub(ORDINARY)
}

/// Returns whether the rest of a pattern, beginning with a star, matches the rest of a path. Each piece between stars
/// is searched for once, so the time is linear in both lengths.
fn matches_from(pattern: &str, path: &str) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*').skip(1);
    let mut rest = path;
    let mut piece = pieces.next().unwrap_or_default();
    for next in pieces {
        let Some(at) = find(rest, piece) else { return false };
        rest = &rest[at + piece.len()..];
        piece = next;
    }
    if anchored { rest.ends_with(piece) } else { find(rest, piece).is_some() }
}

/// Finds a piece in a text; a piece longer than the text is not searched for.
fn find(text: &str, piece: &str) -> Option<usize> {
    if piece.len() > text.len() { None } else { text.find(piece) }
}

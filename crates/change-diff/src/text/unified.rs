//! Unified diff of the canonical versions.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write;
use std::ops::Range;

use base::Stop;

use super::blocks::LineKind;
use super::compare::{Status, compare};
use super::key::{is_key, key, looks_like};
use super::lines::{Line, Lines, without_marks};
use super::slide::{Side, slide};
use crate::GaveUp;
use crate::align::{Changed, changed};

/// Lines of context before and after a change.
const CONTEXT: usize = 3;
/// Maximum number of lines of a version from the first change on. 50 MB of prose have half of it.
const MAX_LINES: usize = 2_000_000;

/// Lines that replace others. Places count from the first line after the common beginning.
struct Block {
    old: Range<usize>,
    new: Range<usize>,
}

/// Comparison of lines.
#[derive(Clone, Copy)]
enum Comparison {
    /// As their readers see them.
    Visible,
    /// By their characters.
    Exact,
}

/// The versions from their first difference on.
struct Versions<'t> {
    /// Number of lines before it, of either version.
    skipped: usize,
    /// Whether these lines have the same characters in both versions.
    is_equal: bool,
    /// The last of them.
    context: Vec<&'t str>,
    old: Vec<Line<'t>>,
    new: Vec<Line<'t>>,
}

/// Returns the unified diff from the previous to the current version, with three lines of context. Empty if the versions
/// are the same.
///
/// # Errors
///
/// [`GaveUp`] when `stop` is set, or when the versions differ in too many lines.
pub fn unified(previous: &str, current: &str, stop: &Stop) -> Result<String, GaveUp> {
    if previous == current {
        return Ok(String::new());
    }
    let (previous, current) = (without_marks(previous), without_marks(current));
    let versions = Versions::read(&previous, &current, Comparison::Visible, stop)?;
    let found = blocks(&versions, stop)?;
    if versions.leads_to(&previous, &current, &found) {
        return if stop.is_set() { Err(GaveUp::Stopped) } else { Ok(versions.print(&found)) };
    }
    // A kept line, with its own blanks, means something else between the new lines: then every character counts.
    let versions = Versions::read(&previous, &current, Comparison::Exact, stop)?;
    let found = blocks(&versions, stop)?;
    Ok(versions.print(&found))
}

impl<'t> Versions<'t> {
    fn read(previous: &'t str, current: &'t str, comparison: Comparison, stop: &Stop) -> Result<Self, GaveUp> {
        let read = |line: Line<'t>| match comparison {
            Comparison::Visible => line,
            Comparison::Exact => Line { kind: LineKind::Code, ..line },
        };
        let (mut before, mut after) = (Lines::new(previous).map(read), Lines::new(current).map(read));
        let mut context = VecDeque::with_capacity(CONTEXT + 1);
        let (mut skipped, mut is_equal) = (0, true);
        let first = loop {
            match (before.next(), after.next()) {
                (Some(one), Some(other)) if looks_like(one, other) => {
                    context.push_back(one.text);
                    if context.len() > CONTEXT {
                        context.pop_front();
                    }
                    skipped += 1;
                    is_equal &= one.text == other.text;
                }
                differing => break differing,
            }
        };
        let old = rest(first.0, before, stop)?;
        let new = rest(first.1, after, stop)?;
        Ok(Self { skipped, is_equal, context: context.into(), old, new })
    }

    /// Whether the diff, applied to the previous version, gives one that looks like the current.
    fn leads_to(&self, previous: &str, current: &str, blocks: &[Block]) -> bool {
        if self.is_equal && self.keeps_characters(blocks) {
            return true;
        }
        let mut applied: Vec<&str> = Lines::new(previous).take(self.skipped).map(|line| line.text).collect();
        let mut at = 0;
        for block in blocks {
            applied.extend(self.old[at..block.old.start].iter().map(|line| line.text));
            applied.extend(self.new[block.new.clone()].iter().map(|line| line.text));
            at = block.old.end;
        }
        applied.extend(self.old[at..].iter().map(|line| line.text));
        compare(&applied.join("\n"), current) == Status::Same
    }

    /// Whether all lines outside of the blocks have the same characters in both versions.
    fn keeps_characters(&self, blocks: &[Block]) -> bool {
        let (mut one, mut other) = (0, 0);
        let are_equal = |(one, other): (&Line<'_>, &Line<'_>)| one.text == other.text;
        for block in blocks {
            if !self.old[one..block.old.start].iter().zip(&self.new[other..block.new.start]).all(are_equal) {
                return false;
            }
            (one, other) = (block.old.end, block.new.end);
        }
        self.old[one..].iter().zip(&self.new[other..]).all(are_equal)
    }

    fn print(&self, blocks: &[Block]) -> String {
        let mut diff = String::new();
        if !blocks.is_empty() {
            diff.push_str("--- previous.md\n+++ current.md\n");
        }
        let near = |one: &Block, next: &Block| next.old.start - one.old.end <= 2 * CONTEXT;
        for hunk in blocks.chunk_by(near) {
            if let [first, ..] = hunk
                && let [.., last] = hunk
            {
                self.print_hunk(&mut diff, hunk, first, last);
            }
        }
        diff
    }

    fn print_hunk(&self, diff: &mut String, hunk: &[Block], first: &Block, last: &Block) {
        let inside = first.old.start.min(CONTEXT);
        let outside = &self.context[self.context.len() - (CONTEXT - inside).min(self.context.len())..];
        let above = inside + outside.len();
        let below = (self.old.len() - last.old.end).min(CONTEXT);
        let place = |first: usize, last: usize| Span {
            start: self.skipped + first - above,
            lines: above + last - first + below,
        };
        let (old, new) = (place(first.old.start, last.old.end), place(first.new.start, last.new.end));
        // Writing to a string cannot fail.
        let _ = writeln!(diff, "@@ -{old} +{new} @@");
        print_lines(diff, ' ', outside.iter().copied());
        let mut at = first.old.start - inside;
        for block in hunk {
            print_lines(diff, ' ', self.old[at..block.old.start].iter().map(|line| line.text));
            print_lines(diff, '-', self.old[block.old.clone()].iter().map(|line| line.text));
            print_lines(diff, '+', self.new[block.new.clone()].iter().map(|line| line.text));
            at = block.old.end;
        }
        print_lines(diff, ' ', self.old[at..at + below].iter().map(|line| line.text));
    }
}

/// Lines of a hunk in one version.
struct Span {
    start: usize,
    lines: usize,
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.lines {
            0 => write!(f, "{},0", self.start),
            1 => write!(f, "{}", self.start + 1),
            lines => write!(f, "{},{lines}", self.start + 1),
        }
    }
}

fn print_lines<'t>(diff: &mut String, sign: char, lines: impl Iterator<Item = &'t str>) {
    for line in lines {
        diff.push(sign);
        diff.push_str(line);
        diff.push('\n');
    }
}

fn rest<'t>(
    first: Option<Line<'t>>,
    lines: impl Iterator<Item = Line<'t>>,
    stop: &Stop,
) -> Result<Vec<Line<'t>>, GaveUp> {
    let rest: Vec<_> = first.into_iter().chain(lines).take(MAX_LINES + 1).collect();
    if stop.is_set() {
        return Err(GaveUp::Stopped);
    }
    if rest.len() > MAX_LINES { Err(GaveUp::TooLarge) } else { Ok(rest) }
}

/// Returns the changed blocks in order.
fn blocks(versions: &Versions<'_>, stop: &Stop) -> Result<Vec<Block>, GaveUp> {
    let (old, new) = (&versions.old[..], &versions.new[..]);
    let same = |(one, other): &(&Line<'_>, &Line<'_>)| looks_like(**one, **other);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let (before, after) = numbers(&old[..old.len() - end], &new[..new.len() - end]);
    let mut changed = changed(&before, &after, stop)?;
    changed.old.resize(old.len(), false);
    changed.new.resize(new.len(), false);
    slide(&mut Side { lines: old, changed: &mut changed.old }, &mut Side { lines: new, changed: &mut changed.new });
    part(versions, &mut changed);
    let mut blocks = Vec::new();
    let (mut one, mut other) = (0, 0);
    while one < old.len() || other < new.len() {
        let removed = run(&changed.old[one..]);
        let added = run(&changed.new[other..]);
        if removed + added > 0 {
            blocks.push(Block { old: one..one + removed, new: other..other + added });
        }
        one += removed + 1;
        other += added + 1;
    }
    Ok(blocks)
}

fn run(changed: &[bool]) -> usize {
    changed.iter().take_while(|&&changed| changed).count()
}

/// Marks pairs as changed that do not look the same after all: text that is code in the other version.
fn part(versions: &Versions<'_>, changed: &mut Changed) {
    let kept = |changed: &[bool]| -> Vec<usize> { (0..changed.len()).filter(|&place| !changed[place]).collect() };
    for (one, other) in kept(&changed.old).into_iter().zip(kept(&changed.new)) {
        if !looks_like(versions.old[one], versions.new[other]) {
            changed.old[one] = true;
            changed.new[other] = true;
        }
    }
}

/// Numbers the lines by their keys. Lines that only the current version has share a number.
fn numbers(old: &[Line<'_>], new: &[Line<'_>]) -> (Vec<u32>, Vec<u32>) {
    // Text that became code, or code that became text, keeps its characters.
    let code = old.iter().chain(new).filter(|line| line.kind == LineKind::Code && !is_key(line.text));
    let code: HashSet<&str> = code.map(|line| line.text).collect();
    let mut known: HashMap<Cow<'_, str>, u32> = HashMap::with_capacity(old.len());
    let before = old.iter().map(|&line| {
        let next = known.len() as u32;
        *known.entry(key_beside(line, &code)).or_insert(next)
    });
    let before: Vec<u32> = before.collect();
    let unknown = known.len() as u32;
    let after = new.iter().map(|&line| known.get(&*key_beside(line, &code)).copied().unwrap_or(unknown)).collect();
    (before, after)
}

/// Returns the key of a line, or the line itself if it is one of `code` in either version.
fn key_beside<'t>(line: Line<'t>, code: &HashSet<&str>) -> Cow<'t, str> {
    if code.contains(line.text) { Cow::Borrowed(line.text) } else { key(line) }
}

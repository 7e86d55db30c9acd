//! Choice among equal scripts: where a block of added or removed lines begins and ends.

use super::key::looks_like;
use super::lines::Line;

/// Lines of one version, and which of them are changed.
pub(super) struct Side<'a> {
    pub(super) lines: &'a [Line<'a>],
    pub(super) changed: &'a mut [bool],
}

/// Moves blocks of added lines, and of removed ones, to where a reader expects them: a paragraph ends with the blank
/// line after it, and an item that repeats its neighbour comes last.
///
/// A block can move by one line where the line that it leaves equals the line that it gains.
pub(super) fn slide(old: &mut Side<'_>, new: &mut Side<'_>) {
    slide_one(old, new);
    slide_one(new, old);
}

fn slide_one(side: &mut Side<'_>, other: &Side<'_>) {
    let (mut at, mut opposite) = (0, 0);
    while at < side.lines.len() {
        // Unchanged lines come in pairs: both places advance, past the changed ones of the other side.
        if !side.changed[at] {
            while other.changed.get(opposite).copied().unwrap_or(false) {
                opposite += 1;
            }
            at += 1;
            opposite += 1;
            continue;
        }
        let start = at;
        while side.changed.get(at).copied().unwrap_or(false) {
            at += 1;
        }
        // A block with changed lines opposite replaces them, and stays beside them.
        if !other.changed.get(opposite).copied().unwrap_or(false) {
            let down = Block { start, end: at, opposite }.place(side, other);
            // What was passed is unchanged on both sides.
            at += down;
            opposite += down;
        }
    }
}

/// Changed lines of one side that replace nothing.
struct Block {
    start: usize,
    end: usize,
    /// Place on the other side.
    opposite: usize,
}

impl Block {
    /// Moves the block to its best place, and returns how far that is below its first one.
    fn place(&self, side: &mut Side<'_>, other: &Side<'_>) -> usize {
        let up = (0..).take_while(|&up| self.can_rise(up, side, other)).count();
        let down = (0..).take_while(|&down| self.can_sink(down, side, other)).count();
        // The lowest place that ends with a blank line, else the lowest of all.
        let places = (self.end - up..=self.end + down).rev();
        let end = places.into_iter().find(|end| side.lines[end - 1].text.is_empty()).unwrap_or(self.end + down);
        let start = self.start + end - self.end;
        side.changed[self.start..self.end].fill(false);
        side.changed[start..end].fill(true);
        end.saturating_sub(self.end)
    }

    /// Whether the block can move up by one line more than `up`.
    fn can_rise(&self, up: usize, side: &Side<'_>, other: &Side<'_>) -> bool {
        up < self.start.min(self.opposite)
            && !side.changed[self.start - 1 - up]
            && !other.changed[self.opposite - 1 - up]
            && looks_like(side.lines[self.start - 1 - up], side.lines[self.end - 1 - up])
    }

    /// Whether the block can move down by one line more than `down`.
    fn can_sink(&self, down: usize, side: &Side<'_>, other: &Side<'_>) -> bool {
        self.end + down < side.lines.len()
            && !side.changed[self.end + down]
            && !other.changed.get(self.opposite + down).copied().unwrap_or(true)
            && looks_like(side.lines[self.start + down], side.lines[self.end + down])
    }
}

//! Choice among equal scripts: where a block of added or removed lines begins and ends.

/// Lines of one version by number, and which of them are changed.
pub(super) struct Side<'a> {
    pub(super) lines: &'a [u32],
    pub(super) changed: &'a mut [bool],
}

/// Moves blocks of added lines, and of removed ones, to where a reader expects them: a paragraph ends with the blank line
/// after it, and an item that repeats its neighbour comes last.
///
/// A block can move by one line where the line that it leaves equals the line that it gains. `blank` is the number of the
/// blank line.
pub(super) fn slide(old: &mut Side<'_>, new: &mut Side<'_>, blank: Option<u32>) {
    slide_one(old, new, blank);
    slide_one(new, old, blank);
}

fn slide_one(side: &mut Side<'_>, other: &Side<'_>, blank: Option<u32>) {
    let (mut at, mut opposite) = (0, 0);
    while at < side.lines.len() {
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
        if other.changed.get(opposite).copied().unwrap_or(false) {
            continue;
        }
        let block = Block { start, end: at, opposite };
        let down = block.place(side, other, blank);
        // What was passed is unchanged on both sides.
        at += down;
        opposite += down;
    }
}

struct Block {
    start: usize,
    end: usize,
    /// Place on the other side.
    opposite: usize,
}

impl Block {
    /// Moves the block to its best place, and returns how far that is below its first one.
    fn place(&self, side: &mut Side<'_>, other: &Side<'_>, blank: Option<u32>) -> usize {
        let up = self.room_above(side, other);
        let down = self.room_below(side, other);
        let ends_blank = |end: &usize| blank.is_some_and(|blank| side.lines[end - 1] == blank);
        let end = (self.end - up..=self.end + down).rev().find(ends_blank).unwrap_or(self.end + down);
        let start = self.start + end - self.end;
        side.changed[self.start..self.end].fill(false);
        side.changed[start..end].fill(true);
        end.saturating_sub(self.end)
    }

    fn room_above(&self, side: &Side<'_>, other: &Side<'_>) -> usize {
        let free = |up: &usize| {
            let unchanged = *up < self.start.min(self.opposite)
                && !side.changed[self.start - 1 - up]
                && !other.changed[self.opposite - 1 - up];
            unchanged && side.lines[self.start - 1 - up] == side.lines[self.end - 1 - up]
        };
        (0..).take_while(free).count()
    }

    fn room_below(&self, side: &Side<'_>, other: &Side<'_>) -> usize {
        let free = |down: &usize| {
            let unchanged = self.end + down < side.lines.len()
                && !side.changed[self.end + down]
                && !other.changed.get(self.opposite + down).copied().unwrap_or(true);
            unchanged && side.lines[self.start + down] == side.lines[self.end + down]
        };
        (0..).take_while(free).count()
    }
}

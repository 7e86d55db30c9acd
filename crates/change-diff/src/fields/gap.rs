//! Pairs of items between two that are equal.

use super::likeness::{Budget, EQUAL, Likeness};
use super::values::{Id, Values};

/// Item of a list.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) index: usize,
    pub(super) id: Id,
}

/// Items of both sides that lie between two equal ones.
pub(super) struct Gap<'a> {
    pub(super) values: &'a Values<'a>,
    pub(super) old: Vec<Item>,
    pub(super) new: Vec<Item>,
}

/// Items that are versions of one, by their indices.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) old: usize,
    pub(super) new: usize,
    /// Whether their parts are compared. Otherwise one replaces the other as a whole.
    pub(super) inside: bool,
}

/// Cost of a reported change. It outweighs all likeness, of which a gap has less than this: the shortest report is the
/// best one, and of equally short ones that of the likeliest pairs.
const CHANGE: u64 = 1 << 40;

/// Cost of an item without a partner. That of a pair is between nothing and two of them.
const ALONE: u64 = CHANGE + EQUAL as u64;

impl Likeness {
    /// Returns the cost of a pair, which is at most that of two items alone: an item of which much has changed is still a
    /// pair.
    fn cost(self) -> u64 {
        u64::from(self.changes) * CHANGE + 2 * u64::from(EQUAL - self.score)
    }
}

#[derive(Clone, Copy)]
enum GapStep {
    Pair { inside: bool },
    Old,
    New,
}

impl Gap<'_> {
    /// Returns the pairs in order that make the items most alike; when the budget is too small for that, the first with
    /// the first, the second with the second and so on.
    pub(super) fn pairs(&self, budget: &mut Budget) -> Vec<Pair> {
        if self.old.is_empty() || self.new.is_empty() {
            return Vec::new();
        }
        let work = |items: &[Item]| items.iter().map(|item| self.values.work(item.id)).sum::<usize>();
        let all = work(&self.old).saturating_mul(self.new.len()) + work(&self.new).saturating_mul(self.old.len());
        if budget.take(all) {
            return self.best();
        }
        let places = self.old.iter().zip(&self.new);
        places
            .filter(|(old, new)| budget.take(self.values.work(old.id) + self.values.work(new.id)))
            .filter_map(|(&old, &new)| self.pair(old, new))
            .collect()
    }

    fn pair(&self, old: Item, new: Item) -> Option<Pair> {
        let likeness = self.values.likeness(old.id, new.id)?;
        Some(Pair { old: old.index, new: new.index, inside: likeness.inside })
    }

    /// Finds the alignment of least cost, by its table over both sides.
    fn best(&self) -> Vec<Pair> {
        // The classic table of alignments, filled from the end, so that `follow` walks it from the start. Only two rows
        // of costs are kept: `costs` of this one and `below` of the next; `steps` remembers the best step of every
        // cell.
        let width = self.new.len() + 1;
        let mut steps = vec![GapStep::New; (self.old.len() + 1) * width];
        let mut below: Vec<u64> = (0..width).rev().map(|left| left as u64 * ALONE).collect();
        for (row, old) in self.old.iter().enumerate().rev() {
            let mut costs = vec![below[width - 1] + ALONE; width];
            steps[row * width + width - 1] = GapStep::Old;
            for (column, new) in self.new.iter().enumerate().rev() {
                // Of equal costs the item of the previous version comes first, as in a diff.
                let (cost, step) = if costs[column + 1] < below[column] {
                    (costs[column + 1] + ALONE, GapStep::New)
                } else {
                    (below[column] + ALONE, GapStep::Old)
                };
                let pair = self
                    .values
                    .likeness(old.id, new.id)
                    .map(|likeness| (below[column + 1] + likeness.cost(), GapStep::Pair { inside: likeness.inside }));
                // And a pair is better than two items alone.
                let best = pair.filter(|(paired, _)| *paired <= cost).unwrap_or((cost, step));
                (costs[column], steps[row * width + column]) = best;
            }
            below = costs;
        }
        self.follow(&steps)
    }

    fn follow(&self, steps: &[GapStep]) -> Vec<Pair> {
        let mut pairs = Vec::new();
        let (mut row, mut column) = (0, 0);
        while row < self.old.len() && column < self.new.len() {
            match steps[row * (self.new.len() + 1) + column] {
                GapStep::Pair { inside } => {
                    pairs.push(Pair { old: self.old[row].index, new: self.new[column].index, inside });
                    (row, column) = (row + 1, column + 1);
                }
                GapStep::Old => row += 1,
                GapStep::New => column += 1,
            }
        }
        pairs
    }
}

//! Pairs of blocks between two that are equal.

use std::ops::Range;

use super::likeness::{ALONE, NEVER, Sketch};
use super::slots::Slot;

/// Work that a comparison may spend on likeness, in pairs of blocks.
const MAX_PAIRS: usize = 200_000;

/// Blocks of both versions that lie between two equal ones.
#[derive(Debug, Clone)]
pub(super) struct Gap {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

impl Gap {
    /// Whether a block that is gone stood here.
    pub(super) fn is_near(&self, slot: &Slot) -> bool {
        (self.old.start..=self.old.end).contains(&(slot.at as usize))
    }
}

/// Blocks that are taken for versions of one, by their numbers in the lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Couple {
    pub(super) old: usize,
    pub(super) new: usize,
    pub(super) cost: u32,
}

/// Choice of couples, with the work that is left for it.
pub(super) struct Matcher {
    left: usize,
}

impl Default for Matcher {
    fn default() -> Self {
        Self { left: MAX_PAIRS }
    }
}

#[derive(Clone, Copy)]
enum Step {
    Couple,
    Old,
    New,
}

impl Matcher {
    /// Returns the couples in order that cost least; in a gap that is too large for that, the first with the first and so
    /// on. `cost` is that of a couple: at most two blocks alone, or [`NEVER`].
    pub(super) fn couples(
        &mut self,
        old: &[Sketch],
        new: &[Sketch],
        cost: impl Fn(usize, usize) -> u32,
    ) -> Vec<Couple> {
        let pairs = old.len() * new.len();
        if pairs > self.left {
            let in_order = (0..old.len().min(new.len())).map(|at| Couple { old: at, new: at, cost: cost(at, at) });
            return in_order.filter(|couple| couple.cost < NEVER).collect();
        }
        self.left -= pairs;
        let width = new.len() + 1;
        let mut costs = vec![0_u32; (old.len() + 1) * width];
        let mut steps = vec![Step::New; costs.len()];
        for row in (0..=old.len()).rev() {
            for column in (0..=new.len()).rev() {
                let at = row * width + column;
                let options = [
                    (row < old.len() && column < new.len())
                        .then(|| (costs[at + width + 1] + cost(row, column), Step::Couple)),
                    (row < old.len()).then(|| (costs[at + width] + ALONE, Step::Old)),
                    (column < new.len()).then(|| (costs[at + 1] + ALONE, Step::New)),
                ];
                if let Some((least, step)) = options.into_iter().flatten().min_by_key(|(cost, _)| *cost) {
                    (costs[at], steps[at]) = (least, step);
                }
            }
        }
        follow(&steps, old.len(), new.len(), cost)
    }
}

fn follow(steps: &[Step], rows: usize, columns: usize, cost: impl Fn(usize, usize) -> u32) -> Vec<Couple> {
    let (mut row, mut column, mut found) = (0, 0, Vec::new());
    while row < rows && column < columns {
        match steps[row * (columns + 1) + column] {
            Step::Couple => {
                found.push(Couple { old: row, new: column, cost: cost(row, column) });
                (row, column) = (row + 1, column + 1);
            }
            Step::Old => row += 1,
            Step::New => column += 1,
        }
    }
    found
}

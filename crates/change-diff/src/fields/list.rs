//! Lists: which item of one version became which of the other.

use std::collections::{HashMap, HashSet};

use base::Stop;

use super::gap::{Gap, Item, Pair};
use super::likeness::{Budget, IDENTITIES};
use super::values::{Id, Shape, Values};
use super::{Difference, path};
use crate::GaveUp;
use crate::align::{Changed, changed};

/// Both versions of a list.
pub(super) struct Lists<'a> {
    pub(super) values: &'a Values<'a>,
    pub(super) old: &'a [Id],
    pub(super) new: &'a [Id],
    pub(super) stop: &'a Stop,
}

/// Index of an item, and its gap: the number of equal items before it.
#[derive(Clone, Copy)]
struct GapItem {
    index: usize,
    gap: usize,
}

/// Items without an equal one, in order.
#[derive(Clone)]
struct Unmatched {
    old: Vec<GapItem>,
    new: Vec<GapItem>,
}

impl Lists<'_> {
    /// Returns the differences between the versions of the list at `path`, by index.
    pub(super) fn differences(&self, path: &str, budget: &mut Budget) -> Result<Vec<Difference>, GaveUp> {
        let unmatched = self.unmatched()?;
        let mut open = unmatched.clone();
        let mut pairs = self.by_identity(&mut open);
        pairs.extend(self.by_likeness(&open, budget));
        Ok(IndexChanges::new(self, &unmatched, &pairs).differences(self, path))
    }

    /// Aligns equal items in order, and returns the others. Items that are null count as absent.
    fn unmatched(&self) -> Result<Unmatched, GaveUp> {
        let mut numbers = HashMap::new();
        let mut known = |ids: &[Id]| -> (Vec<usize>, Vec<u32>) {
            let items = ids.iter().enumerate().filter(|(_, id)| !self.values.get(**id).value.is_null());
            let number = |(index, id): (usize, &Id)| {
                let next = numbers.len() as u32;
                (index, *numbers.entry(self.values.get(*id).class).or_insert(next))
            };
            items.map(number).unzip()
        };
        let (old, new) = (known(self.old), known(self.new));
        let Changed { old: removed, new: added } = changed(&old.1, &new.1, self.stop)?;
        Ok(Unmatched { old: loose(&old.0, &removed), new: loose(&new.0, &added) })
    }

    /// Takes items out of `open` that have the same identity on both sides and no surer one that differs. Returns them
    /// as pairs, except those that are equal: they have only moved.
    fn by_identity(&self, open: &mut Unmatched) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for key in IDENTITIES {
            let (old, new) = (self.unique(self.old, &open.old, key), self.unique(self.new, &open.new, key));
            // From the surest identity to the weakest; what is paired by one is not looked at by the next.
            let mut found: Vec<Pair> = old
                .iter()
                .filter_map(|(class, old)| Some(Pair { old: (*old)?, new: (*new.get(class)?)?, inside: true }))
                .filter(|pair| !self.is_contradicted(*pair))
                .collect();
            found.sort_unstable_by_key(|pair| pair.new);
            let (old, new): (HashSet<_>, HashSet<_>) = found.iter().map(|pair| (pair.old, pair.new)).unzip();
            open.old.retain(|item| !old.contains(&item.index));
            open.new.retain(|item| !new.contains(&item.index));
            pairs.extend(
                found.into_iter().filter(|pair| !self.values.are_equal(self.old[pair.old], self.new[pair.new])),
            );
        }
        pairs
    }

    /// Returns the indices of objects by the class of their identity; `None` where several have it.
    fn unique(&self, side: &[Id], items: &[GapItem], key: &str) -> HashMap<u32, Option<usize>> {
        let mut unique = HashMap::new();
        for item in items {
            if let Shape::Object(members) = &self.values.get(side[item.index]).shape
                && let Some(class) = self.values.identity(members, key)
            {
                unique.entry(class).and_modify(|index| *index = None).or_insert(Some(item.index));
            }
        }
        unique
    }

    fn is_contradicted(&self, pair: Pair) -> bool {
        match (&self.values.get(self.old[pair.old]).shape, &self.values.get(self.new[pair.new]).shape) {
            (Shape::Object(one), Shape::Object(other)) => self.values.contradict(one, other),
            _ => false,
        }
    }

    /// Pairs items that are alike and lie between the same equal ones.
    fn by_likeness(&self, open: &Unmatched, budget: &mut Budget) -> Vec<Pair> {
        let nodes = |ids: &[Id], items: &[GapItem]| -> Vec<Item> {
            items.iter().map(|item| Item { index: item.index, id: ids[item.index] }).collect()
        };
        let mut pairs = Vec::new();
        // Items with the same gap lie between the same two equal ones. Pairs across an equal item would cross its own.
        for old in open.old.chunk_by(|one, next| one.gap == next.gap) {
            let gap = old[0].gap;
            let from = open.new.partition_point(|item| item.gap < gap);
            let to = open.new.partition_point(|item| item.gap <= gap);
            let (old, new) = (nodes(self.old, old), nodes(self.new, &open.new[from..to]));
            pairs.extend(Gap { values: self.values, old, new }.pairs(budget));
        }
        pairs
    }
}

fn loose(indices: &[usize], changed: &[bool]) -> Vec<GapItem> {
    let mut gap = 0;
    let mut loose = Vec::new();
    for (&index, &changed) in indices.iter().zip(changed) {
        if changed {
            loose.push(GapItem { index, gap });
        } else {
            gap += 1;
        }
    }
    loose
}

/// Changes to report at each index.
struct IndexChanges {
    /// Items of the previous version that are gone.
    removed: Vec<Option<Id>>,
    /// Items of the current version that are new.
    added: Vec<Option<Id>>,
    /// Pairs by the index in the current version.
    pairs: Vec<Option<Pair>>,
}

impl IndexChanges {
    fn new(lists: &Lists<'_>, unmatched: &Unmatched, pairs: &[Pair]) -> Self {
        let length = lists.old.len().max(lists.new.len());
        let mut places = Self { removed: vec![None; length], added: vec![None; length], pairs: vec![None; length] };
        unmatched.old.iter().for_each(|item| places.removed[item.index] = Some(lists.old[item.index]));
        unmatched.new.iter().for_each(|item| places.added[item.index] = Some(lists.new[item.index]));
        for &pair in pairs {
            places.removed[pair.old] = None;
            places.added[pair.new] = None;
            places.pairs[pair.new] = Some(pair);
        }
        // When all of them are in place, as what is parted depends on the others.
        pairs.iter().for_each(|pair| places.part(pair.new, lists));
        places
    }

    /// Parts a pair whose path is that of a removed item too: the removed item and the current one of the pair become
    /// one change, the previous one of the pair counts as removed. The number of changes stays the same.
    fn part(&mut self, mut index: usize, lists: &Lists<'_>) {
        while self.removed[index].is_some()
            && let Some(pair) = self.pairs[index].take_if(|pair| lists.is_one_change(*pair))
        {
            // The index of the previous item may be that of another pair: go on there.
            self.added[index] = Some(lists.new[index]);
            self.removed[pair.old] = Some(lists.old[pair.old]);
            index = pair.old;
        }
    }

    /// Returns the changes by index; none where only the order of items around absent ones differs, which is a change
    /// of the list as a whole.
    fn differences(self, lists: &Lists<'_>, path: &str) -> Vec<Difference> {
        let mut found = Vec::new();
        for (index, (removed, added)) in self.removed.into_iter().zip(self.added).enumerate() {
            // Equal items can be out of step with those around them and still have the same index: no change of that
            // index.
            let is_equal = matches!((removed, added), (Some(old), Some(new)) if lists.values.are_equal(old, new));
            if (removed.is_some() || added.is_some()) && !is_equal {
                let path = path::item(path, index);
                found.push(Difference { path, previous: removed, current: added, inside: false });
            }
            if let Some(pair) = self.pairs[index] {
                let (previous, current) = (Some(lists.old[pair.old]), Some(lists.new[pair.new]));
                found.push(Difference { path: path::item(path, index), previous, current, inside: pair.inside });
            }
        }
        found
    }
}

impl Lists<'_> {
    /// Whether the pair is one change at its own path, and not changes of its parts.
    fn is_one_change(&self, pair: Pair) -> bool {
        let shapes = (&self.values.get(self.old[pair.old]).shape, &self.values.get(self.new[pair.new]).shape);
        !pair.inside || !matches!(shapes, (Shape::Object(_), Shape::Object(_)) | (Shape::List(_), Shape::List(_)))
    }
}

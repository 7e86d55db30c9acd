//! Which block of the current version was which before.

use std::collections::{HashMap, VecDeque};

use base::Stop;

use super::gaps::{Gap, Matcher};
use super::likeness::{NEVER, Sketch, UNLIKE, VOLATILE, digest};
use super::marks::Marks;
use super::slots::Slot;
use crate::GaveUp;
use crate::align::changed;
use crate::text::Block;

/// Origin of a block of the current version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Block of the previous version, as it was.
    Same(usize),
    /// Block of the previous version, in another place.
    Moved(usize),
    /// Block of the previous version, with other content.
    Changed {
        old: usize,
        /// Whether something besides its place says so.
        is_sure: bool,
    },
    /// Block that the previous version did not have and an earlier one had, by its number among those that are gone.
    Back(usize),
    /// Content that a volatile block beside it has had, with the marks of that block.
    Known(Marks),
    /// New block.
    New,
}

/// Pairs of the blocks of two versions.
pub(super) struct Pairs {
    /// Origins of the blocks of the current version.
    pub(super) origins: Vec<Origin>,
    /// Places in the current version of the blocks of the previous one; `None` for those that it does not have.
    pub(super) partners: Vec<Option<usize>>,
    /// Places between blocks that stay.
    pub(super) gaps: Vec<Gap>,
    /// What is known of the volatile blocks of each gap.
    pub(super) knowledge: Vec<Knowledge>,
    /// Places in the current version where the blocks of the previous one are, or would be.
    places: Vec<u32>,
}

/// What is known of the volatile blocks of a gap, those that are gone included.
pub(super) struct Knowledge {
    /// Digests of what they have had, with their marks.
    pub(super) contents: HashMap<u32, Marks>,
    /// Largest number of them at the same time.
    pub(super) width: u32,
    /// Number of checks in which they have changed, since one of them had a content for the first time.
    pub(super) repeats: u32,
}

/// Pairs while they are found.
struct Search<'a> {
    old: &'a [Block],
    new: &'a [Block],
    /// Slots of blocks of the previous version.
    at_old: HashMap<usize, &'a Slot>,
    /// Slots of blocks that are gone; `None` for one that is back.
    gone: Vec<Option<&'a Slot>>,
    origins: Vec<Origin>,
    partners: Vec<Option<usize>>,
}

impl Pairs {
    /// Finds the pairs of two versions. `slots` are those of the previous one.
    pub(super) fn find(old: &[Block], new: &[Block], slots: &[Slot], stop: &Stop) -> Result<Self, GaveUp> {
        let mut search = Search {
            old,
            new,
            at_old: slots.iter().filter(|slot| !slot.is_gone).map(|slot| (slot.at as usize, slot)).collect(),
            gone: slots.iter().filter(|slot| slot.is_gone).map(Some).collect(),
            origins: vec![Origin::New; new.len()],
            partners: vec![None; old.len()],
        };
        let gaps = search.align(stop)?;
        let gaps = search.widened(&gaps);
        let mut matcher = Matcher::default();
        let is_known = |slot: &Slot, sketch: &Sketch| slot.knows(sketch.key);
        let has_rotated = |slot: &Slot, sketch: &Sketch| slot.marks.is_volatile() && slot.knows(sketch.key);
        // A block that has always stayed as it is was moved; one that rotates is rather another one in its place.
        search.find_moved(&gaps, |slot| slot.is_none_or(|slot| !slot.marks.has_changed()));
        let knowledge: Vec<Knowledge> = gaps.iter().map(|gap| search.known(gap)).collect();
        for (gap, known) in gaps.iter().zip(&knowledge) {
            search.bring_back(gap, has_rotated);
            search.couple(gap, known, &mut matcher);
        }
        search.find_moved(&gaps, |_| true);
        let everywhere = Gap { old: 0..old.len(), new: 0..new.len() };
        search.bring_back(&everywhere, is_known);
        for gap in &gaps {
            search.bring_back(gap, |slot, sketch| slot.shape == sketch.shape);
        }
        for (gap, known) in gaps.iter().zip(&knowledge) {
            search.recognize(gap, known);
        }
        if stop.is_set() {
            return Err(GaveUp::Stopped);
        }
        let Search { origins, partners, .. } = search;
        let places = places(&partners, &origins);
        Ok(Self { origins, partners, gaps, knowledge, places })
    }

    /// Returns the place in the current version where a block of the previous one is, or would be.
    pub(super) fn place_of(&self, old: usize) -> u32 {
        self.places[old.min(self.places.len() - 1)]
    }

    /// Whether a pair of which only the place is known has other blocks beside it that may belong to it as well: ones
    /// without a partner, or with an unlike one, that count.
    pub(super) fn is_unsure(
        &self,
        gap: &Gap,
        is_lost: impl Fn(usize) -> bool,
        is_told: impl Fn(usize) -> bool,
    ) -> bool {
        gap.old.clone().any(|old| self.partners[old].is_none() && is_lost(old))
            || gap.new.clone().any(|new| match self.origins[new] {
                Origin::New | Origin::Changed { is_sure: false, .. } => is_told(new),
                _ => false,
            })
    }
}

impl Search<'_> {
    /// Pairs equal blocks in order; returns the gaps between them.
    fn align(&mut self, stop: &Stop) -> Result<Vec<Gap>, GaveUp> {
        let mut known: HashMap<&str, u32> = HashMap::with_capacity(self.old.len());
        let mut before = Vec::with_capacity(self.old.len());
        for block in self.old {
            let next = known.len() as u32;
            before.push(*known.entry(block.text.as_str()).or_insert(next));
        }
        let unknown = known.len() as u32;
        let after: Vec<u32> =
            self.new.iter().map(|block| known.get(block.text.as_str()).copied().unwrap_or(unknown)).collect();
        let changed = changed(&before, &after, stop)?;
        let run = |marks: &[bool]| marks.iter().take_while(|mark| **mark).count();
        let (mut one, mut other, mut gaps) = (0, 0, Vec::new());
        while one < self.old.len() || other < self.new.len() {
            let gap = Gap { old: one..one + run(&changed.old[one..]), new: other..other + run(&changed.new[other..]) };
            (one, other) = (gap.old.end, gap.new.end);
            if !gap.old.is_empty() || !gap.new.is_empty() {
                gaps.push(gap);
            }
            if one < self.old.len() && other < self.new.len() {
                (self.origins[other], self.partners[one]) = (Origin::Same(one), Some(other));
                (one, other) = (one + 1, other + 1);
            }
        }
        Ok(gaps)
    }

    fn is_volatile(&self, old: usize) -> bool {
        self.at_old.get(&old).is_some_and(|slot| slot.marks.is_volatile())
    }

    /// Widens the gaps by the volatile blocks beside them: that one of these is as it was says nothing of its neighbours.
    fn widened(&self, gaps: &[Gap]) -> Vec<Gap> {
        let is_equal =
            |old: usize, new: usize| self.origins.get(new) == Some(&Origin::Same(old)) && self.is_volatile(old);
        let mut wide: Vec<Gap> = Vec::with_capacity(gaps.len());
        for gap in gaps {
            let mut gap = gap.clone();
            while gap.old.start > 0 && gap.new.start > 0 && is_equal(gap.old.start - 1, gap.new.start - 1) {
                (gap.old.start, gap.new.start) = (gap.old.start - 1, gap.new.start - 1);
            }
            while is_equal(gap.old.end, gap.new.end) {
                (gap.old.end, gap.new.end) = (gap.old.end + 1, gap.new.end + 1);
            }
            match wide.last_mut().filter(|last| last.old.end >= gap.old.start && last.new.end >= gap.new.start) {
                Some(last) => (last.old.end, last.new.end) = (gap.old.end, gap.new.end),
                None => wide.push(gap),
            }
        }
        wide
    }

    /// Returns what is known of the volatile blocks of a gap.
    fn known(&self, gap: &Gap) -> Knowledge {
        let present = gap.old.clone().filter_map(|old| self.at_old.get(&old).copied());
        let gone = self.gone.iter().flatten().copied().filter(|slot| gap.is_near(slot));
        let mut known = Knowledge { contents: HashMap::new(), width: 0, repeats: 0 };
        for slot in present.chain(gone).filter(|slot| slot.marks.is_volatile()) {
            known.contents.extend(slot.keys.iter().map(|key| (*key, slot.marks)));
            known.width = known.width.max(slot.width);
            known.repeats = known.repeats.max(slot.repeats);
        }
        known
    }

    /// Takes free blocks of a gap for what its volatile blocks have had.
    fn recognize(&mut self, gap: &Gap, known: &Knowledge) {
        if known.contents.is_empty() {
            return;
        }
        for new in gap.new.clone().filter(|new| self.is_free(*new)).collect::<Vec<_>>() {
            if let Some(marks) = known.contents.get(&digest(&self.new[new].text)) {
                self.origins[new] = Origin::Known(*marks);
            }
        }
    }

    fn is_free(&self, new: usize) -> bool {
        self.origins[new] == Origin::New
    }

    /// Takes free blocks of a gap for blocks that were gone from there.
    fn bring_back(&mut self, gap: &Gap, is_it: impl Fn(&Slot, &Sketch) -> bool) {
        if !self.gone.iter().flatten().any(|slot| gap.is_near(slot)) {
            return;
        }
        for new in gap.new.clone() {
            if !self.is_free(new) {
                continue;
            }
            let sketch = Sketch::of(&self.new[new]);
            let fits = |slot: &Option<&Slot>| slot.is_some_and(|slot| gap.is_near(slot) && is_it(slot, &sketch));
            if let Some(found) = self.gone.iter().position(fits) {
                self.gone[found] = None;
                self.origins[new] = Origin::Back(found);
            }
        }
    }

    /// Pairs the free blocks of a gap with those that it had before.
    fn couple(&mut self, gap: &Gap, known: &Knowledge, matcher: &mut Matcher) {
        let olds: Vec<usize> = gap.old.clone().filter(|&old| self.partners[old].is_none()).collect();
        let news: Vec<usize> = gap.new.clone().filter(|&new| self.is_free(new)).collect();
        if olds.is_empty() || news.is_empty() {
            return;
        }
        let before: Vec<Sketch> = olds.iter().map(|&old| Sketch::of(&self.old[old])).collect();
        let after: Vec<Sketch> = news.iter().map(|&new| Sketch::of(&self.new[new])).collect();
        let cost = |one: usize, other: usize| {
            let alike = before[one].cost(&after[other]);
            let (slot, is_known) = (self.at_old.get(&olds[one]), known.contents.contains_key(&after[other].key));
            match slot {
                Some(slot) if slot.knows(after[other].key) => alike.min(2),
                Some(slot) if slot.marks.is_volatile() && is_known => alike.min(2),
                Some(slot) if slot.marks.is_volatile() => alike / VOLATILE,
                _ if is_known => NEVER,
                _ => alike,
            }
        };
        let couples = matcher.couples(&before, &after, cost);
        for couple in couples {
            let (old, new) = (olds[couple.old], news[couple.new]);
            let is_sure = couple.cost < if self.is_volatile(old) { UNLIKE / VOLATILE } else { UNLIKE };
            (self.origins[new], self.partners[old]) = (Origin::Changed { old, is_sure }, Some(new));
        }
    }

    /// Finds free blocks that stood in another place, of those whose slot `may_move`.
    fn find_moved(&mut self, gaps: &[Gap], may_move: impl Fn(Option<&Slot>) -> bool) {
        let mut free: HashMap<&str, VecDeque<usize>> = HashMap::new();
        let is_free = |old: &usize| self.partners[*old].is_none() && may_move(self.at_old.get(old).copied());
        for old in gaps.iter().flat_map(|gap| gap.old.clone()).filter(is_free) {
            free.entry(self.old[old].text.as_str()).or_default().push_back(old);
        }
        for new in gaps.iter().flat_map(|gap| gap.new.clone()) {
            if !self.is_free(new) {
                continue;
            }
            if let Some(old) = free.get_mut(self.new[new].text.as_str()).and_then(VecDeque::pop_front) {
                (self.origins[new], self.partners[old]) = (Origin::Moved(old), Some(new));
            }
        }
    }
}

/// Returns the places in the current version where the blocks of the previous one are, or would be, and the place after
/// the last.
fn places(partners: &[Option<usize>], origins: &[Origin]) -> Vec<u32> {
    let mut next = 0;
    let mut places = Vec::with_capacity(partners.len() + 1);
    for partner in partners {
        match *partner {
            Some(new) if !matches!(origins[new], Origin::Moved(_)) => {
                places.push(new as u32);
                next = new as u32 + 1;
            }
            _ => places.push(next),
        }
    }
    places.push(next);
    places
}

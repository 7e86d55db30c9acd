//! What the blocks of a page have done in a check.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::MAX_SLOTS;
use super::marks::Event;
use super::pairs::{Origin, Pairs};
use super::slots::Slot;
use crate::text::Block;

/// Minimum number of checks with changes, none of them to something new, after which other contents count.
const MIN_REPEATS: u32 = 20;

/// Blocks of two versions, and their pairs.
pub(super) struct Versions<'a> {
    pub(super) old: &'a [Block],
    pub(super) new: &'a [Block],
    pub(super) pairs: &'a Pairs,
}

/// Slots after a check.
pub(super) struct Noted {
    /// Those of the blocks of the current version, at their places.
    present: Vec<Option<Slot>>,
    /// Those of the blocks that the previous version had and this one has not, by their places there.
    lost: BTreeMap<usize, Slot>,
    /// Those of blocks that neither has.
    gone: Vec<Slot>,
}

impl Noted {
    /// Notes what the blocks have done. `placed` are the slots at their places in the previous version.
    pub(super) fn of(versions: &Versions<'_>, placed: Vec<Slot>) -> Self {
        let Versions { old, new, pairs } = *versions;
        let mut at_old: HashMap<usize, Slot> = HashMap::new();
        let mut gone: Vec<Option<Slot>> = Vec::new();
        for slot in placed {
            match slot.is_gone {
                true => gone.push(Some(slot)),
                false => drop(at_old.insert(slot.at as usize, slot)),
            }
        }
        let mut present = Vec::with_capacity(new.len());
        // Slots of pairs of which only the place is known, as they were.
        let mut unsure: HashMap<usize, Slot> = HashMap::new();
        for (place, block) in new.iter().enumerate() {
            let (before, event) = match pairs.origins[place] {
                Origin::Same(old) => (at_old.remove(&old), Event::Still),
                Origin::Moved(old) => (at_old.remove(&old), Event::Moved),
                Origin::Changed { old, .. } => (at_old.remove(&old), Event::Changed),
                Origin::Back(slot) => (gone[slot].take(), Event::Changed),
                Origin::Known(marks) => (Some(Slot { marks, ..Slot::default() }), Event::Changed),
                Origin::New => (None, Event::Changed),
            };
            if let (Some(slot), Origin::Changed { is_sure: false, .. }) = (&before, pairs.origins[place]) {
                unsure.insert(place, slot.clone());
            }
            let is_noted = before.is_some() || event != Event::Still;
            present.push(is_noted.then(|| before.unwrap_or_default().after(event).at_block(place, block)));
        }
        let lost = |place: usize| {
            let slot = at_old.get(&place).cloned().unwrap_or_else(|| Slot::default().at_block(place, &old[place]));
            (place, slot.lost(pairs.place_of(place)))
        };
        let lost = (0..old.len()).filter(|&place| pairs.partners[place].is_none()).map(lost).collect();
        let still = |slot: Slot| Slot { at: pairs.place_of(slot.at as usize), ..slot.after(Event::Still) };
        let gone = gone.into_iter().flatten().map(still).collect();
        let mut noted = Self { present, lost, gone };
        for gap in 0..pairs.gaps.len() {
            noted.part(gap, versions, &mut unsure);
        }
        noted
    }

    /// Parts the pairs of a gap of which only the place is known, if one of them may be another block than before: when
    /// other blocks of the gap count, when the gap would have more volatile blocks than it ever had, or when its volatile
    /// blocks have had nothing new for long.
    fn part(&mut self, number: usize, versions: &Versions<'_>, unsure: &mut HashMap<usize, Slot>) {
        let Versions { new, pairs, .. } = *versions;
        let gap = &pairs.gaps[number];
        let was_volatile = |old: &usize| match pairs.partners[*old] {
            Some(new) => self.is_volatile(new),
            None => self.lost.get(old).is_some_and(|slot| slot.marks.is_volatile()),
        };
        let known = &pairs.knowledge[number];
        let width = gap.old.clone().filter(was_volatile).count().max(known.width as usize);
        let mut volatile: Vec<usize> = gap.new.clone().filter(|new| self.is_volatile(*new)).collect();
        let is_full = volatile.len() > width;
        let is_closed = known.repeats >= MIN_REPEATS.max(3 * known.contents.len() as u32);
        if is_full || is_closed || pairs.is_unsure(gap, |old| self.is_lost_told(old), |new| !self.is_volatile(new)) {
            volatile.retain(|&place| {
                let Origin::Changed { old, .. } = pairs.origins[place] else { return true };
                let Some(before) = unsure.remove(&place) else { return true };
                self.gone.push(before.lost(pairs.place_of(old)));
                self.present[place] = Some(Slot::default().after(Event::Changed).at_block(place, &new[place]));
                false
            });
        }
        let is_novel = |place: &usize| {
            let slot = self.present[*place].as_ref();
            slot.and_then(Slot::last).is_some_and(|key| !known.contents.contains_key(&key))
        };
        let repeats = if volatile.iter().any(is_novel) { 0 } else { known.repeats + 1 };
        let width = width.max(volatile.len()) as u32;
        for place in gap.old.clone() {
            if let Some(slot) = self.lost.get_mut(&place) {
                (slot.width, slot.repeats) = (width, repeats);
            }
        }
        let around = gap.new.start as u32..=gap.new.end as u32;
        let gone = self.gone.iter_mut().filter(|slot| around.contains(&slot.at));
        for slot in self.present[gap.new.clone()].iter_mut().flatten().chain(gone) {
            (slot.width, slot.repeats) = (width, repeats);
        }
    }

    /// Whether a block of the current version is volatile.
    fn is_volatile(&self, new: usize) -> bool {
        self.present[new].as_ref().is_some_and(|slot| slot.marks.is_volatile())
    }

    /// Whether a block of the current version is left out.
    pub(super) fn is_new_out(&self, place: usize, pairs: &Pairs) -> bool {
        let may_move = matches!(pairs.origins[place], Origin::Same(_) | Origin::Moved(_));
        let is_out = |slot: &Slot| slot.marks.is_volatile() || may_move && slot.marks.is_restless();
        self.present[place].as_ref().is_some_and(is_out)
    }

    /// Whether a block of the previous version is left out.
    pub(super) fn is_old_out(&self, place: usize, pairs: &Pairs) -> bool {
        match pairs.partners[place] {
            Some(new) => self.is_new_out(new, pairs),
            None => !self.is_lost_told(place),
        }
    }

    /// Whether a block counts that the current version has not.
    fn is_lost_told(&self, old: usize) -> bool {
        self.lost.get(&old).is_some_and(|slot| !slot.marks.is_volatile())
    }

    /// Returns the slots that are worth remembering: with too many of them, those that have changed most.
    pub(super) fn kept(self) -> Vec<Slot> {
        let all = self.present.into_iter().flatten().chain(self.lost.into_values()).chain(self.gone);
        let mut kept: Vec<Slot> = all.filter(|slot| !slot.marks.is_idle()).collect();
        if kept.len() > MAX_SLOTS {
            kept.sort_by_key(|slot| (Reverse(slot.marks.weight()), slot.is_gone, slot.at));
            kept.truncate(MAX_SLOTS);
        }
        kept.sort_by_key(|slot| (slot.at, !slot.is_gone));
        kept
    }
}

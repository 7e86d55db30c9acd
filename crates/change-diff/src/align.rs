//! Alignment of two sequences: marks the changed items, so that the others pair up in order. Items are numbers: equal
//! items have the same number.

mod anchors;

use std::ops::Range;

use base::Stop;
use similar::Algorithm;
use similar::algorithms::{DiffHook, diff_slices};

use crate::GaveUp;

/// Number of items, of both sides together, up to which the script is a shortest one. The slowest such search, of a
/// sequence against its reverse, takes a tenth of a second.
const SHORTEST: usize = 12_000;
/// Number of items from which items that are unique on both sides split the search.
const SPLIT: usize = 1 << 17;
/// Maximum number of items in one search: it takes a time in the order of its power of 1.5, and as many stack frames as
/// its square root.
const MAX_SEARCHED: usize = 1 << 20;

/// Items that have no partner on the other side.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) old: Vec<bool>,
    pub(crate) new: Vec<bool>,
}

/// Items of one side that also occur on the other, with their places.
#[derive(Default)]
struct CommonItems {
    items: Vec<u32>,
    places: Vec<u32>,
}

/// Returns which items are changed. The numbers of both sides must be dense: memory is taken for the largest.
pub(crate) fn changed(old: &[u32], new: &[u32], stop: &Stop) -> Result<Changed, GaveUp> {
    // What is equal at both ends is part of every shortest script, and most versions differ in the middle only.
    let mut changed = Changed { old: vec![false; old.len()], new: vec![false; new.len()] };
    let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let same_end = |(one, other): &(&u32, &u32)| one == other;
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(same_end).count();
    let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    // Items that occur on one side only are changed in any case; without them the search is faster and needs less
    // depth.
    let (before, after) = common(old, new, start, &mut changed);
    if before.items.len() + after.items.len() < SPLIT {
        search(&before, &after, &mut changed, stop)?;
    } else {
        let anchors = anchors::anchors(&before.items, &after.items);
        let mut from = (0, 0);
        for to in anchors.into_iter().chain([(before.items.len(), after.items.len())]) {
            let (old, new) = (from.0..to.0, from.1..to.1);
            // Between two anchors further items may have lost their partner, which lies in another part.
            let (one, other) = (sorted(&before.items[old.clone()]), sorted(&after.items[new.clone()]));
            let old = before.among(&other, old, &mut changed.old);
            let new = after.among(&one, new, &mut changed.new);
            search(&old, &new, &mut changed, stop)?;
            from = (to.0 + 1, to.1 + 1);
        }
    }
    Ok(changed)
}

impl CommonItems {
    /// Returns the items of a part that occur in the same part of the other side, which is sorted. The others are changed.
    fn among(&self, other: &[u32], part: Range<usize>, changed: &mut [bool]) -> Self {
        let mut common = CommonItems::default();
        for at in part {
            if other.binary_search(&self.items[at]).is_ok() {
                common.items.push(self.items[at]);
                common.places.push(self.places[at]);
            } else {
                changed[self.places[at] as usize] = true;
            }
        }
        common
    }
}

fn sorted(items: &[u32]) -> Vec<u32> {
    let mut items = items.to_vec();
    items.sort_unstable();
    items
}

/// Returns the items that occur on both sides; the others are changed. `start` is the place of the first item.
fn common(old: &[u32], new: &[u32], start: usize, changed: &mut Changed) -> (CommonItems, CommonItems) {
    let numbers = old.iter().chain(new).max().map_or(0, |&largest| largest as usize + 1);
    // Bit 1 for the old side, bit 2 for the new one.
    let mut seen = vec![0_u8; numbers];
    old.iter().for_each(|&item| seen[item as usize] |= 1);
    new.iter().for_each(|&item| seen[item as usize] |= 2);
    let sort = |items: &[u32], changed: &mut [bool]| {
        let mut common = CommonItems::default();
        for (place, &item) in items.iter().enumerate() {
            if seen[item as usize] == 3 {
                common.items.push(item);
                common.places.push((start + place) as u32);
            } else {
                changed[start + place] = true;
            }
        }
        common
    };
    (sort(old, &mut changed.old), sort(new, &mut changed.new))
}

fn search(old: &CommonItems, new: &CommonItems, changed: &mut Changed, stop: &Stop) -> Result<(), GaveUp> {
    let items = old.items.len() + new.items.len();
    if items > MAX_SEARCHED && !old.items.is_empty() && !new.items.is_empty() {
        return Err(GaveUp::TooLarge);
    }
    let algorithm = if items <= SHORTEST { Algorithm::RawMyers } else { Algorithm::Myers };
    let mut marker = Marker { old: &old.places, new: &new.places, changed, stop };
    diff_slices(algorithm, &mut marker, &old.items, &new.items)
}

/// Marks what a search finds to be changed, and ends the search when the caller wants it to.
struct Marker<'a> {
    old: &'a [u32],
    new: &'a [u32],
    changed: &'a mut Changed,
    stop: &'a Stop,
}

impl Marker<'_> {
    fn go_on(&self) -> Result<(), GaveUp> {
        if self.stop.is_set() { Err(GaveUp::Stopped) } else { Ok(()) }
    }
}

impl DiffHook for Marker<'_> {
    type Error = GaveUp;

    fn equal(&mut self, _: usize, _: usize, _: usize) -> Result<(), GaveUp> {
        self.go_on()
    }

    fn delete(&mut self, old_index: usize, old_len: usize, _: usize) -> Result<(), GaveUp> {
        self.old[old_index..old_index + old_len].iter().for_each(|&place| self.changed.old[place as usize] = true);
        self.go_on()
    }

    fn insert(&mut self, _: usize, new_index: usize, new_len: usize) -> Result<(), GaveUp> {
        self.new[new_index..new_index + new_len].iter().for_each(|&place| self.changed.new[place as usize] = true);
        self.go_on()
    }
}

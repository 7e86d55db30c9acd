//! Blocks that change again and again: found by what they did in the last checks of a page, and left out of a comparison.

mod fields;
mod gaps;
mod likeness;
mod marks;
mod noted;
mod pairs;
mod slots;

use std::collections::{HashMap, HashSet};

use base::Stop;
use serde::{Deserialize, Serialize};

pub use self::fields::{FieldHistory, FieldReview};

use self::likeness::digest;
use self::marks::Event;
use self::noted::{Noted, Versions};
use self::pairs::Pairs;
use self::slots::Slot;
use crate::GaveUp;
use crate::text::{Block, Parts, canonical};

/// Maximum number of blocks of both versions together; the history of a longer page is dropped.
const MAX_BLOCKS: usize = 100_000;
/// Maximum number of blocks that a history remembers.
const MAX_SLOTS: usize = 200;

/// What the blocks of a page did in its last checks. Empty for a page that stays as it is; at most about 120 KB as JSON.
///
/// A block (paragraph, heading, item, row, line of code) is volatile from the check on that changes it for the third time
/// in five, until as many checks in a row leave it as it is as twice those that have changed it, at most 30. A block that
/// only changes its place is volatile in its place: another content of it still counts.
///
/// Volatile blocks beside each other share what they have had. Content that is new there is left out in the place of one
/// of them; it counts if there are more blocks than ever, or if nothing new has come there for 20 changes.
///
/// ```
/// use base::Stop;
/// use change_diff::{History, Status, compare};
///
/// let page = |visitors: u32, price: u32| format!("# Tea\n\nAssam: {price} €\n\nVisitor number {visitors}\n");
/// let mut history = History::default();
/// for visitors in 1..4 {
///     history = history.review(&page(visitors, 12), &page(visitors + 1, 12), &Stop::new())?.history;
/// }
/// assert_eq!(history.volatile().collect::<Vec<_>>(), ["Visitor number 4"]);
///
/// let quiet = history.review(&page(4, 12), &page(5, 12), &Stop::new())?;
/// assert_eq!(compare(&quiet.previous, &quiet.current), Status::Same);
/// let told = history.review(&page(4, 12), &page(5, 21), &Stop::new())?;
/// assert_eq!(compare(&told.previous, &told.current), Status::Changed);
/// # Ok::<(), change_diff::GaveUp>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct History {
    /// Blocks that have changed, by their places in the last version.
    slots: Vec<Slot>,
}

/// Two versions as they are to be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// Previous version, canonical, without volatile blocks.
    pub previous: String,
    /// Current version, canonical, without volatile blocks.
    pub current: String,
    /// History with this check.
    pub history: History,
}

impl History {
    /// Leaves volatile blocks out of two versions, and notes what has changed. The previous version must be that of the
    /// check before.
    ///
    /// # Errors
    ///
    /// [`GaveUp`] when `stop` is set, or when the versions are too large.
    pub fn review(&self, previous: &str, current: &str, stop: &Stop) -> Result<Review, GaveUp> {
        let (previous, current) = (canonical(previous), canonical(current));
        let (old, new) = (Parts::read(&previous), Parts::read(&current));
        if old.blocks.len() + new.blocks.len() > MAX_BLOCKS {
            return Ok(Review { previous, current, history: Self::default() });
        }
        let placed = self.placed(&old.blocks);
        let pairs = Pairs::find(&old.blocks, &new.blocks, &placed, stop)?;
        let noted = Noted::of(&Versions { old: &old.blocks, new: &new.blocks, pairs: &pairs }, placed);
        Ok(Review {
            previous: old.without(|place| noted.is_old_out(place, &pairs)),
            current: new.without(|place| noted.is_new_out(place, &pairs)),
            history: Self { slots: noted.kept() },
        })
    }

    /// Returns the history after a check that has found the same.
    #[must_use]
    pub fn rest(&self) -> Self {
        let slots = self.slots.iter().map(|slot| slot.clone().after(Event::Still));
        Self { slots: slots.filter(|slot| !slot.marks.is_idle()).collect() }
    }

    /// Returns the beginnings of the volatile blocks.
    pub fn volatile(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().filter(|slot| slot.marks.is_volatile()).map(|slot| slot.label.as_str())
    }

    /// Whether there is nothing to remember.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the slots at their places in the previous version. Other options or a newer version of the program may have
    /// made other blocks of it: a slot whose block is elsewhere moves there, one without its block is forgotten.
    fn placed(&self, old: &[Block]) -> Vec<Slot> {
        let is_there = |slot: &Slot| {
            slot.is_gone || old.get(slot.at as usize).is_some_and(|block| slot.last() == Some(digest(&block.text)))
        };
        let mut places: HashMap<u32, Option<usize>> = HashMap::new();
        if !self.slots.iter().all(is_there) {
            for (place, block) in old.iter().enumerate() {
                places.entry(digest(&block.text)).and_modify(|known| *known = None).or_insert(Some(place));
            }
        }
        let mut taken = HashSet::new();
        let mut placed = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            let mut slot = slot.clone();
            if slot.is_gone {
                slot.at = slot.at.min(old.len() as u32);
            } else if !is_there(&slot) {
                let Some(Some(place)) = slot.keys.first().and_then(|key| places.get(key)) else { continue };
                slot.at = *place as u32;
            }
            if slot.is_gone || taken.insert(slot.at) {
                placed.push(slot);
            }
        }
        placed
    }
}

//! Similarity of two list items.

use serde_json::Value;

use super::values::{Id, Shape, Values, union};

/// Keys whose values tell which item it is, the surest first.
pub(super) const IDENTITIES: [&str; 7] = ["id", "key", "sku", "url", "slug", "name", "title"];

// The scores are bands, so that one kind of likeness always outranks another, whatever the shares:
//   1000       equal
//   300 – 999  objects and lists whose parts are compared
//   150 – 750  texts, by what they have in common at both ends
//   150        two numbers, two truth values
//   100        objects and lists that have too little in common
//   50         values of different kinds

/// Likeness of equal items.
pub(super) const EQUAL: u32 = 1000;

/// Work that a comparison may spend on likeness, in members, items and bytes examined. Two million take some milliseconds.
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(2_000_000)
    }
}

impl Budget {
    /// Takes `work` from the budget, if there is enough of it.
    pub(super) fn take(&mut self, work: usize) -> bool {
        let enough = self.0 >= work;
        self.0 = self.0.saturating_sub(if enough { work } else { 0 });
        enough
    }
}

/// Two items as versions of one.
#[derive(Clone, Copy)]
pub(super) struct Likeness {
    /// From 1 to [`EQUAL`].
    pub(super) score: u32,
    /// Number of changes that the pair is reported as, at most 2.
    pub(super) changes: u32,
    /// Whether their parts are compared. Otherwise one replaces the other as a whole.
    pub(super) inside: bool,
}

/// Parts that two lists have in common.
struct Shares {
    equal: usize,
    /// Parts of the side that has fewer.
    fewer: usize,
    all: usize,
}

impl Shares {
    fn likeness(&self) -> Likeness {
        // One part that differs, or half of the smaller side equal: a report of single changes is shorter than the
        // items.
        let inside = self.all - self.equal <= 1 || (self.equal > 0 && 2 * self.equal >= self.fewer);
        let score = if inside { 300 + part(699, self.equal, self.all) } else { 100 };
        // A value that is replaced as a whole costs as much as two items: pairs whose parts are compared come first.
        let changes = if inside { (self.all - self.equal).min(2) as u32 } else { 2 };
        Likeness { score, changes, inside }
    }
}

impl Values<'_> {
    /// Returns how alike two items are, or `None` if they are certainly different ones.
    pub(super) fn likeness(&self, one: Id, other: Id) -> Option<Likeness> {
        let (one, other) = (self.get(one), self.get(other));
        Some(match (&one.shape, &other.shape) {
            (Shape::Object(one), Shape::Object(other)) => {
                let shares = self.shared_members(one, other);
                // An id may change while the rest stays: only with the other half different as well is it another item.
                if self.contradict(one, other) && 2 * shares.equal < shares.all {
                    return None;
                }
                shares.likeness()
            }
            (Shape::List(one), Shape::List(other)) => self.shared_items(one, other).likeness(),
            _ => Likeness { score: scalars(one.value, other.value), changes: 1, inside: false },
        })
    }

    /// Returns the upper bound of the work of comparing an item with another.
    pub(super) fn work(&self, id: Id) -> usize {
        let node = self.get(id);
        let parts = match &node.shape {
            Shape::Object(members) => members.len(),
            Shape::List(items) => items.len(),
            Shape::Scalar => node.value.as_str().map_or(0, |text| text.len() / 8),
        };
        1 + parts
    }

    /// Returns the class of a member that tells which item it is.
    pub(super) fn identity(&self, members: &[(&str, Id)], key: &str) -> Option<u32> {
        let place = members.binary_search_by_key(&key, |&(key, _)| key).ok()?;
        let node = self.get(members[place].1);
        match node.value {
            Value::Number(_) => Some(node.class),
            Value::String(text) => (!text.trim().is_empty()).then_some(node.class),
            _ => None,
        }
    }

    /// Whether the surest identity that both objects have differs.
    pub(super) fn contradict(&self, one: &[(&str, Id)], other: &[(&str, Id)]) -> bool {
        let both = |key: &&str| self.identity(one, key).zip(self.identity(other, key));
        IDENTITIES.iter().find_map(both).is_some_and(|(one, other)| one != other)
    }

    fn shared_members(&self, one: &[(&str, Id)], other: &[(&str, Id)]) -> Shares {
        let (mut equal, mut all) = (0, 0);
        for (_, previous, current) in union(one, other) {
            all += 1;
            equal += usize::from(self.same_member(previous, current));
        }
        Shares { equal, fewer: one.len().min(other.len()), all }
    }

    /// Counts the items that are equal at both ends.
    fn shared_items(&self, one: &[Id], other: &[Id]) -> Shares {
        let same = |(one, other): &(&Id, &Id)| self.are_equal(**one, **other);
        let start = one.iter().zip(other).take_while(same).count();
        let end = one[start..].iter().rev().zip(other[start..].iter().rev()).take_while(same).count();
        Shares { equal: start + end, fewer: one.len().min(other.len()), all: one.len().max(other.len()) }
    }
}

fn scalars(one: &Value, other: &Value) -> u32 {
    match (one, other) {
        (Value::String(one), Value::String(other)) => {
            let same = |(one, other): &(u8, u8)| one == other;
            let start = one.bytes().zip(other.bytes()).take_while(same).count();
            let (one, other) = (&one.as_bytes()[start..], &other.as_bytes()[start..]);
            let end = one.iter().rev().copied().zip(other.iter().rev().copied()).take_while(same).count();
            150 + part(600, start + end, start + one.len().max(other.len()))
        }
        (Value::Number(_), Value::Number(_)) | (Value::Bool(_), Value::Bool(_)) => 150,
        _ => 50,
    }
}

/// Returns `share / all` of `whole`.
fn part(whole: u32, share: usize, all: usize) -> u32 {
    (u64::from(whole) * share as u64 / all.max(1) as u64) as u32
}

//! Many short lists in two vectors. A vector for each of a million nodes would take several times their memory.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Lists by index.
#[derive(Debug, PartialEq)]
pub(super) struct Lists<T> {
    all: Vec<T>,
    /// End of each list in `all`; a list begins where the previous one ends.
    ends: Vec<usize>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { all: Vec::new(), ends: Vec::new() }
    }
}

impl<T> Lists<T> {
    pub(super) fn get(&self, at: usize) -> Option<&[T]> {
        let end = *self.ends.get(at)?;
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.all.get(begin..end)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.ends.len()).filter_map(|at| self.get(at))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lists<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Outer(PhantomData))
    }
}

struct Outer<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Outer<T> {
    type Value = Lists<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of lists")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut lists: A) -> Result<Self::Value, A::Error> {
        let mut read = Lists::default();
        while lists.next_element_seed(Inner(&mut read.all))?.is_some() {
            read.ends.push(read.all.len());
        }
        Ok(read)
    }
}

/// Appends the elements of one list.
struct Inner<'a, T>(&'a mut Vec<T>);

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Inner<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Inner<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(member) = list.next_element()? {
            self.0.push(member);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_found_by_their_place() {
        let lists: Lists<i32> = serde_json::from_str("[[1,2],[],[3]]").unwrap();
        assert_eq!(lists.iter().collect::<Vec<_>>(), [&[1, 2][..], &[], &[3]]);
        assert_eq!((lists.get(0), lists.get(1), lists.get(3)), (Some(&[1, 2][..]), Some(&[][..]), None));
        assert_eq!(serde_json::from_str::<Lists<i32>>("[]").unwrap(), Lists::default());
        assert!(serde_json::from_str::<Lists<i32>>("[1]").is_err());
    }
}

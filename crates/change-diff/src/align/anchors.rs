//! Anchors of a large comparison: the longest increasing chain of items that occur once on each side.

use std::cmp::Reverse;

/// Returns pairs of places of equal items, increasing on both sides. Takes `n log n`.
pub(super) fn anchors(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let pairs = unique_pairs(old, new);
    // Patience sorting: `tops` holds, by length, the chain that ends earliest in `new`; `before` its links.
    let mut tops: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (pair, &(_, place)) in pairs.iter().enumerate() {
        // The longest chain that this pair can continue; `tops` is sorted by place.
        let length = tops.partition_point(|&top| pairs[top].1 < place);
        before.push(length.checked_sub(1).map(|shorter| tops[shorter]));
        if length == tops.len() {
            tops.push(pair);
        } else {
            tops[length] = pair;
        }
    }
    let mut chain = Vec::with_capacity(tops.len());
    let mut next = tops.last().copied();
    while let Some(pair) = next {
        chain.push(pairs[pair]);
        next = before[pair];
    }
    chain.reverse();
    chain
}

/// Returns the places of the items that occur once on each side, in the order of `old`.
fn unique_pairs(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let numbers = old.iter().chain(new).max().map_or(0, |&largest| largest as usize + 1);
    let (old, new) = (places(old, numbers), places(new, numbers));
    let mut pairs: Vec<(usize, usize)> =
        old.into_iter().zip(new).filter_map(|(one, other)| Some((one.once()?, other.once()?))).collect();
    pairs.sort_unstable_by_key(|&(place, other)| (place, Reverse(other)));
    pairs
}

#[derive(Clone, Copy)]
enum Occurrences {
    None,
    Once(u32),
    Many,
}

impl Occurrences {
    fn once(self) -> Option<usize> {
        if let Self::Once(place) = self { Some(place as usize) } else { None }
    }
}

fn places(items: &[u32], numbers: usize) -> Vec<Occurrences> {
    let mut places = vec![Occurrences::None; numbers];
    for (place, &item) in items.iter().enumerate() {
        let known = &mut places[item as usize];
        *known = if matches!(known, Occurrences::None) { Occurrences::Once(place as u32) } else { Occurrences::Many };
    }
    places
}

//! Likeness of two blocks.

use std::cmp::Ordering;

use crate::text::{Block, BlockKind};

/// Cost of a block without a partner. A pair costs at most two of them.
pub(super) const ALONE: u32 = 50;
/// Divisor of the cost of a pair whose block changes again and again.
pub(super) const VOLATILE: u32 = 3;
/// Cost of a pair from which on its blocks may be two different ones.
pub(super) const UNLIKE: u32 = 60;
/// Cost of a pair that is none.
pub(super) const NEVER: u32 = 2 * ALONE + 1;
/// Number of words that are compared.
const MAX_WORDS: usize = 100;

/// Block of a gap, prepared for comparisons.
pub(super) struct Sketch {
    pub(super) key: u32,
    pub(super) shape: u32,
    kind: BlockKind,
    /// Digests of its words, sorted.
    words: Vec<u32>,
}

impl Sketch {
    pub(super) fn of(block: &Block) -> Self {
        let mut words: Vec<u32> = block.text.split_whitespace().take(MAX_WORDS).map(digest).collect();
        words.sort_unstable();
        Self { key: digest(&block.text), shape: digest(&shape(&block.text)), kind: block.kind, words }
    }

    /// Returns the cost of taking one for the other, from 0 to less than two blocks alone.
    pub(super) fn cost(&self, other: &Self) -> u32 {
        if self.key == other.key {
            return 0;
        }
        let kinds = if self.kind == other.kind { 0 } else { 5 };
        if self.shape == other.shape {
            return 5 + kinds;
        }
        let all = (self.words.len() + other.words.len()).max(1) as u32;
        20 + kinds + 70 * (all - (2 * common(&self.words, &other.words)).min(all)) / all
    }
}

/// Returns the number of words that both have.
fn common(one: &[u32], other: &[u32]) -> u32 {
    let (mut left, mut right, mut count) = (0, 0, 0);
    while let (Some(word), Some(beside)) = (one.get(left), other.get(right)) {
        match word.cmp(beside) {
            Ordering::Less => left += 1,
            Ordering::Greater => right += 1,
            Ordering::Equal => (left, right, count) = (left + 1, right + 1, count + 1),
        }
    }
    count
}

/// Returns the text with every number as `0`.
pub(super) fn shape(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    for letter in text.chars() {
        if !letter.is_numeric() {
            shape.push(letter);
        } else if !shape.ends_with('0') {
            shape.push('0');
        }
    }
    shape
}

/// Returns a digest that is the same in every version of the program (FNV-1a, folded to 32 bits).
pub(super) fn digest(text: &str) -> u32 {
    let wide = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (wide ^ (wide >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Parts;

    #[test]
    fn likeness_tells_versions_of_a_block_from_other_blocks() {
        let sketch = |text: &str| Sketch::of(&Parts::read(text).blocks[0]);
        let cost = |one: &str, other: &str| sketch(one).cost(&sketch(other));
        assert_eq!(cost("a b", "a b"), 0);
        assert_eq!(cost("Visitors: 1,204", "Visitors: 98"), 20 + 35, "the shape has a comma");
        assert_eq!(cost("Visitors: 1204", "Visitors: 98"), 5);
        assert!(cost("the shop opens at nine", "the shop opens at noon") < 35);
        assert!(cost("the shop opens at nine", "all prices are in euro") >= UNLIKE);
        assert!(cost("- one", "# two") < 2 * ALONE);
        assert_eq!(shape("12:30 – v2.07"), "0:0 – v0.0");
    }
}

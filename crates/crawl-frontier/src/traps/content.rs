//! A hash that near copies of a text share.

use base::Fnv;

/// Words that are looked at: enough to tell two pages apart.
const MAX_WORDS: usize = 5000;

/// SimHash (Charikar 2002) over triples of words: texts that are nearly the same differ in few bits. Take the main
/// content without markup. Stable over versions and machines: may be stored.
#[must_use]
pub fn content_hash(text: &str) -> u64 {
    let mut weights = [0i32; 64];
    let mut last = [0u64; 3];
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words.take(MAX_WORDS) {
        last = [last[1], last[2], Fnv::default().with(word.as_bytes()).value()];
        // The first two triples are padded, so that a text of one word has a hash as well.
        let triple = spread(last.iter().fold(Fnv::default(), |hash, part| hash.with(&part.to_le_bytes())).value());
        for (bit, weight) in weights.iter_mut().enumerate() {
            *weight += if triple >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    weights.iter().enumerate().filter(|(_, weight)| **weight > 0).fold(0, |hash, (bit, _)| hash | 1 << bit)
}

/// The value with all bits depending on all others (finaliser of MurmurHash3).
fn spread(mut value: u64) -> u64 {
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        value = (value ^ (value >> 33)).wrapping_mul(factor);
    }
    value ^ (value >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(one: &str, other: &str) -> u32 {
        (content_hash(one) ^ content_hash(other)).count_ones()
    }

    #[test]
    fn near_copies_are_near() {
        let words: Vec<String> = (0..400).map(|number| format!("word{}", number * number % 211)).collect();
        let page = words.join(" ");
        assert_eq!(distance(&page, &page.replace(' ', "\n, ")), 0);
        assert!(distance(&page, &page.replace("word25 ", "other ")) <= 8);
        let other: Vec<String> = (0..400).map(|number| format!("term{}", number * 7 % 307)).collect();
        assert!(distance(&page, &other.join(" ")) > 12);
        assert_ne!(content_hash("one"), content_hash("two"));
        assert_eq!(content_hash(""), 0);
    }
}

//! Hashes of content for the detection of duplicates and near-duplicates.

/// Number of words that are hashed: enough to distinguish pages.
const MAX_WORDS: usize = 5000;
/// Number of bits of the counters up to [`MAX_WORDS`].
const PLANES: usize = (usize::BITS - MAX_WORDS.leading_zeros()) as usize;
/// Constants without a pattern: the first digits of pi.
const PI: [u64; 3] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1];

/// Returns the SimHash (Charikar 2002) over triples of words: near-duplicates differ in few bits. Pass the main content
/// without markup. The hash is the same on all machines, so it may be stored.
#[must_use]
pub fn content_hash(text: &str) -> u64 {
    let (mut ones, mut before) = (BitCounts::default(), [0; 2]);
    for word in (Words { text, at: 0 }).take(MAX_WORDS) {
        let word = hash_of(word);
        // The first two triples are padded, so that a text of one word has a hash too.
        ones.count(fold(fold(before[0] ^ PI[0], before[1] ^ PI[1]), word ^ PI[2]));
        before = [before[1], word];
    }
    ones.majority()
}

/// Returns a hash of all words of a text in order, for finding exact duplicates. The hash is the same on all machines, so
/// it may be stored.
#[must_use]
pub fn words_hash(text: &str) -> u64 {
    (Words { text, at: 0 }).fold(PI[0], |hash, word| fold(hash ^ PI[1], hash_of(word) ^ PI[2]))
}

/// Counters of the ones in each of 64 bit positions. The counters are bit-sliced: plane `n` holds bit `n` of all of them,
/// so that one ripple-carry addition updates all 64. Most carries end after two planes.
#[derive(Default)]
struct BitCounts {
    planes: [u64; PLANES],
    counted: u64,
}

impl BitCounts {
    fn count(&mut self, value: u64) {
        self.counted += 1;
        let mut carry = value;
        for plane in &mut self.planes {
            (*plane, carry) = (*plane ^ carry, *plane & carry);
            if carry == 0 {
                break;
            }
        }
    }

    /// Returns the bits that were one in the majority of the hashes.
    fn majority(&self) -> u64 {
        let ones =
            |bit: u32| -> u64 { (0..).zip(&self.planes).map(|(place, plane)| (plane >> bit & 1) << place).sum() };
        (0..u64::BITS).filter(|bit| 2 * ones(*bit) > self.counted).fold(0, |hash, bit| hash | 1 << bit)
    }
}

/// The words of a text: runs of letters and digits.
struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl Words<'_> {
    /// Returns the first index from `at` on with a word character, or with `in_word` the first without one.
    fn next_place(&self, mut at: usize, in_word: bool) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let passed = if in_word { ByteClass::Between } else { ByteClass::Word };
        loop {
            // ASCII, which most texts are, needs no decoding.
            at += bytes.get(at..)?.iter().position(|byte| PLACES[usize::from(*byte)] != passed)?;
            if PLACES[usize::from(bytes[at])] != ByteClass::Unknown {
                return Some(at);
            }
            let char = self.text.get(at..)?.chars().next()?;
            if char.is_alphanumeric() == in_word {
                return Some(at);
            }
            at += char.len_utf8();
        }
    }
}

/// Class of a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Between,
    Word,
    /// Part of a multi-byte character.
    Unknown,
}

const PLACES: [ByteClass; 256] = {
    let mut places = [ByteClass::Unknown; 256];
    let mut byte = 0;
    while byte < 128 {
        places[byte] = if (byte as u8).is_ascii_alphanumeric() { ByteClass::Word } else { ByteClass::Between };
        byte += 1;
    }
    places
};

impl<'t> Iterator for Words<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        let start = self.next_place(self.at, true)?;
        self.at = self.next_place(start, false).unwrap_or(self.text.len());
        self.text.as_bytes().get(start..self.at)
    }
}

/// Hashes a word, eight bytes at a time.
fn hash_of(word: &[u8]) -> u64 {
    let (parts, rest) = word.as_chunks::<8>();
    let hash = parts.iter().fold(word.len() as u64, |hash, part| fold(hash ^ PI[0], u64::from_le_bytes(*part) ^ PI[1]));
    let rest = rest.iter().rev().fold(0, |part, byte| part << 8 | u64::from(*byte));
    fold(hash ^ PI[0], rest ^ PI[2])
}

/// Mixes two values by a folded multiplication: every bit of the result depends on all bits of both.
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
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
        assert_eq!(words_hash("# One, two\n"), words_hash("One (two)"));
        assert_ne!(words_hash("one two"), words_hash("two one"));
        assert_eq!(content_hash(""), 0);
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_of_any_script() {
        let check = |text: &str| {
            let expect: Vec<&str> =
                text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
            let words: Vec<&str> = Words { text, at: 0 }.map(|word| str::from_utf8(word).unwrap()).collect();
            assert_eq!(words, expect, "{text}");
        };
        check("");
        check("one");
        check(" two, words4 ");
        check("Gr\u{fc}\u{df}e aus \u{4e2d}\u{6587}\u{3002}\u{2014}ja");
        check("\u{a0}\u{a0}caf\u{e9}");
    }

    #[test]
    fn ones_are_counted_exactly() {
        let values: Vec<u64> = (0..MAX_WORDS as u64).map(|number| fold(number ^ PI[0], PI[1])).collect();
        let mut ones = BitCounts::default();
        values.iter().for_each(|value| ones.count(*value));
        for bit in 0..64 {
            let count = values.iter().filter(|value| *value >> bit & 1 == 1).count();
            assert_eq!(ones.majority() >> bit & 1 == 1, 2 * count > values.len(), "bit {bit}");
        }
    }

    /// The hash must not change, because stored hashes are compared with new ones.
    #[test]
    fn the_hash_stays_as_it_is() {
        assert_eq!(content_hash("The quick brown fox jumps over the lazy dog"), 0x4ca826ea11c27d01);
    }
}

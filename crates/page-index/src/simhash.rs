//! Fingerprints of texts, alike when the texts are.

/// Words in a row that make one feature.
const IN_A_ROW: usize = 3;
/// Fewest features of a text that has a fingerprint: shorter texts are alike by chance.
const FEWEST: usize = 16;
/// Most bits in which the fingerprints of near-duplicates differ.
const ALIKE: u32 = 6;

/// Returns the fingerprint of encoded terms, 0 for a short text.
pub(crate) fn simhash(terms: &str) -> u64 {
    let mut row = [0_u64; IN_A_ROW];
    let mut features = Vec::new();
    for (at, term) in terms.split(' ').filter(|term| !term.is_empty()).enumerate() {
        row.rotate_left(1);
        row[IN_A_ROW - 1] = hash(term.as_bytes());
        if at + 1 >= IN_A_ROW {
            features.push(row.iter().fold(0, |mixed, part| mix(mixed ^ part)));
        }
    }
    features.sort_unstable();
    features.dedup();
    if features.len() < FEWEST { 0 } else { majority(&features).max(1) }
}

/// Returns whether two fingerprints are those of near-duplicates.
pub(crate) fn are_alike(one: u64, other: u64) -> bool {
    one != 0 && other != 0 && (one ^ other).count_ones() <= ALIKE
}

/// Returns the bits that most of the features have.
fn majority(features: &[u64]) -> u64 {
    let mut counts = [0_u32; 64];
    for feature in features {
        for (bit, count) in counts.iter_mut().enumerate() {
            *count += u32::from(feature >> bit & 1 == 1);
        }
    }
    let half = u32::try_from(features.len() / 2).unwrap_or(u32::MAX);
    (0..64).filter(|bit| counts[*bit] > half).fold(0, |bits, bit| bits | 1 << bit)
}

/// Returns the FNV-1a hash.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// Spreads the bits of a number over all bits, as splitmix64 does.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_duplicates_are_alike_and_other_texts_are_not() {
        let words = |from: usize, to: usize| (from..to).map(|n| format!("w{} ", n * 7919 % 1000)).collect::<String>();
        let page = words(0, 400);
        assert!(are_alike(simhash(&page), simhash(&(page.clone() + "printed friday "))));
        assert!(!are_alike(simhash(&page), simhash(&words(400, 800))));
        // Two pages whose longer half is the same template.
        let template = words(0, 60);
        assert!(!are_alike(simhash(&(template.clone() + &words(100, 130))), simhash(&(template + &words(200, 230)))));
        assert_eq!(simhash("too short"), 0);
        assert!(!are_alike(0, 0));
    }
}

//! The threshold on log-odds above which blocks are kept: the one with the largest expected F1.
//!
//! With probabilities `p` and words `w`, keeping the blocks above a threshold finds `Σ p·w` wanted words among `Σ w`
//! kept ones, of `Σ p·w` over all blocks. The threshold with the largest expected F1 is near ½ on clear pages and lower
//! on uncertain ones, which therefore lose little. (Nan Ye et al., Optimizing F-measure: a tale of two approaches, ICML
//! 2012.)
//!
//! Errors of the blocks of one page are correlated: a model that misjudges a page is too sure or too doubtful of all of
//! it. Therefore the expected F1 is the mean over [`SHIFTS`] of all log-odds of the page.

/// The log-odds that a block is content, and its number of words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContentOdds {
    pub(crate) odds: f32,
    pub(crate) words: u32,
}

/// Error of the model on a whole page, in log-odds, with its probability: three-point Gauss–Hermite quadrature (0 and
/// ±√3·σ) of a normal distribution with σ = 1.6, which was the best value in cross-validation.
const SHIFTS: [(f32, f32); 3] = [(-2.77, 1.0 / 6.0), (0.0, 2.0 / 3.0), (2.77, 1.0 / 6.0)];

/// Returns the smallest log-odds that is worth keeping; −∞ if there are no blocks.
pub(crate) fn cut(blocks: &[ContentOdds]) -> f32 {
    let of = |block: &ContentOdds| {
        // A little more than zero, so that blocks without words do not make the F1 0 / 0.
        let words = block.words as f32 + 0.01;
        (block.odds, words, SHIFTS.map(|(shift, _)| words * probability(block.odds + shift)))
    };
    let mut order: Vec<(f32, f32, [f32; SHIFTS.len()])> = blocks.iter().map(of).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let add = |sums: &mut [f32; SHIFTS.len()], own: &[f32; SHIFTS.len()]| {
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    };
    let (mut wanted, mut found) = ([0.0; SHIFTS.len()], [0.0; SHIFTS.len()]);
    order.iter().for_each(|block| add(&mut wanted, &block.2));
    let mut kept = 0.0;
    let mut best = (0.0, f32::NEG_INFINITY);
    for (odds, words, hits) in order {
        kept += words;
        add(&mut found, &hits);
        let f1s = found.iter().zip(&wanted).map(|(found, wanted)| 2.0 * found / (kept + wanted));
        let expected: f32 = f1s.zip(SHIFTS).map(|(f1, (_, part))| f1 * part).sum();
        if expected > best.0 {
            best = (expected, odds);
        }
    }
    best.1
}

fn probability(odds: f32) -> f32 {
    1.0 / (1.0 + (-odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_follows_how_clear_the_page_is() {
        let check = |blocks: &[(f32, u32)], expect: f32| {
            let blocks: Vec<ContentOdds> = blocks.iter().map(|&(odds, words)| ContentOdds { odds, words }).collect();
            assert_eq!(cut(&blocks), expect, "{blocks:?}");
        };
        check(&[], f32::NEG_INFINITY);
        check(&[(-3.0, 5)], -3.0);
        // A clear page: a slightly unlikely block goes.
        check(&[(4.0, 100), (3.0, 100), (-0.5, 20), (-4.0, 100)], 3.0);
        // An unclear page: the same block stays.
        check(&[(0.0, 10), (-0.5, 20), (-3.0, 10)], -0.5);
        // If the whole page may be content, half of it is a worse guess than all of it.
        check(&[(0.5, 100), (-1.0, 100)], -1.0);
    }
}

//! From how sure we are of each block to which blocks are kept: the cut that promises the best F1.
//!
//! With probabilities `p` and words `w`, keeping the blocks above a cut finds `Σ p·w` wanted words among `Σ w` kept ones,
//! of `Σ p·w` over all blocks. The cut with the largest expected F1 is near ½ where the page is clear and lower where it
//! is not, so that uncertain pages lose little. (Nan Ye et al., Optimizing F-measure: a tale of two approaches, ICML 2012.)

/// One block: the log-odds that it is content, and its words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Odds {
    pub(crate) odds: f32,
    pub(crate) words: u32,
}

/// The smallest log-odds that is worth keeping. Below every block only when there is none.
pub(crate) fn cut(blocks: &[Odds]) -> f32 {
    let mut order: Vec<(f32, f32, f32)> = blocks
        .iter()
        .map(|block| {
            let words = block.words as f32 + 0.01;
            (block.odds, words, words * probability(block.odds))
        })
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let wanted: f32 = order.iter().map(|block| block.2).sum();
    let (mut kept, mut found) = (0.0, 0.0);
    let mut best = (0.0, f32::NEG_INFINITY);
    for (odds, words, hits) in order {
        kept += words;
        found += hits;
        let expected = 2.0 * found / (kept + wanted);
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
            let blocks: Vec<Odds> = blocks.iter().map(|&(odds, words)| Odds { odds, words }).collect();
            assert_eq!(cut(&blocks), expect, "{blocks:?}");
        };
        check(&[], f32::NEG_INFINITY);
        check(&[(-3.0, 5)], -3.0);
        // Clear: what is a little unlikely goes.
        check(&[(4.0, 100), (3.0, 100), (-0.5, 20), (-4.0, 100)], 3.0);
        // Unclear: the same block stays.
        check(&[(0.0, 10), (-0.5, 20), (-3.0, 10)], -0.5);
    }
}

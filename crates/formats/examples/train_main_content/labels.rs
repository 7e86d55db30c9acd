//! Labels of blocks from annotated text, and weights of blocks for training.

use std::collections::{HashMap, HashSet};

use crate::data::{Page, Set, Truth};

/// Label of a block without annotation.
pub(crate) const UNKNOWN: f32 = -1.0;

/// Returns the words of a text: runs of letters, digits and underscores.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the words of a text in lower case, separated by single spaces.
pub(crate) fn plain(text: &str) -> String {
    words(&text.to_lowercase()).collect::<Vec<_>>().join(" ")
}

/// Returns for each block the share that is content, or [`UNKNOWN`].
pub(crate) fn labels(page: &Page) -> Vec<f32> {
    let blocks: Vec<String> = page.texts.iter().map(|text| plain(text)).collect();
    match &page.truth {
        Truth::Segments { with, without } => {
            let mut labels = vec![UNKNOWN; blocks.len()];
            for (segments, label) in [(with, 1.0), (without, 0.0)] {
                for segment in segments.iter().map(|segment| plain(segment)).filter(|segment| !segment.is_empty()) {
                    let held = labels.iter_mut().zip(&blocks).filter(|(_, block)| block.contains(&segment));
                    held.for_each(|(held, _)| *held = label);
                }
            }
            labels
        }
        Truth::Text(text) => {
            let mut labels = of_text(&blocks, text);
            labels.iter_mut().zip(&page.put_in).filter(|(_, put_in)| **put_in).for_each(|(label, _)| *label = 0.0);
            labels
        }
    }
}

fn of_text(blocks: &[String], truth: &str) -> Vec<f32> {
    let whole = plain(truth);
    let whole: Vec<&str> = whole.split(' ').collect();
    let singles: HashSet<&str> = whole.iter().copied().collect();
    let pairs: HashSet<&[&str]> = whole.windows(2).collect();
    let triples: HashSet<&[&str]> = whole.windows(3).collect();
    let blocks: Vec<Vec<&str>> = blocks.iter().map(|block| words(block).collect()).collect();
    let in_order = coverage(&blocks, &triples);
    let covered = blocks.iter().zip(&in_order).map(|(block, &in_order)| match block.as_slice() {
        [] => UNKNOWN,
        _ if in_order == 1.0 || block.len() > 2 => in_order,
        [word] => f32::from(u8::from(singles.contains(word))),
        pair => f32::from(u8::from(pairs.contains(pair))),
    });
    let mut labels: Vec<f32> = covered.collect();
    doubt_short(&mut labels, &in_order, &blocks, truth);
    labels
}

/// Returns for each block the share of its words in triples that the annotated text has too. Triples cross the ends of
/// blocks: cells of a table and items of a list are recognised by their neighbours.
fn coverage(blocks: &[Vec<&str>], triples: &HashSet<&[&str]>) -> Vec<f32> {
    let stream: Vec<&str> = blocks.iter().flatten().copied().collect();
    let mut covered = vec![false; stream.len()];
    for (at, triple) in stream.windows(3).enumerate() {
        if triples.contains(triple) {
            covered[at..at + 3].fill(true);
        }
    }
    let mut rest = covered.as_slice();
    let part = |block: &Vec<&str>| {
        let (own, behind) = rest.split_at(block.len());
        rest = behind;
        own.iter().filter(|covered| **covered).count() as f32 / own.len().max(1) as f32
    };
    blocks.iter().map(part).collect()
}

/// Corrects the labels of short texts such as `Share` or a date, which most annotated texts contain by chance: they
/// count only in their order or among content.
fn doubt_short(labels: &mut [f32], in_order: &[f32], blocks: &[Vec<&str>], truth: &str) {
    let mut lines: HashMap<String, usize> = HashMap::new();
    truth.lines().for_each(|line| *lines.entry(plain(line)).or_default() += 1);
    let mut seen: HashMap<&[&str], usize> = HashMap::new();
    blocks.iter().for_each(|block| *seen.entry(block).or_default() += 1);
    let before = labels.to_vec();
    for (at, block) in
        blocks.iter().enumerate().filter(|(at, block)| block.len() < 6 && before[*at] > 0.0 && in_order[*at] < 1.0)
    {
        let own_lines = lines.get(&block.join(" ")).copied().unwrap_or(0);
        let around = at.saturating_sub(4)..(at + 5).min(blocks.len());
        let near: Vec<f32> =
            around.filter(|&other| other != at && blocks[other].len() >= 4).map(|i| before[i]).collect();
        let mean = match near.len() {
            0 if own_lines > 0 => 0.5,
            0 => 0.0,
            count => near.iter().sum::<f32>() / count as f32,
        };
        let doubtful = seen[block.as_slice()] > own_lines || block.len() < 3;
        if doubtful && mean < if own_lines > 0 { 0.2 } else { 0.34 } {
            labels[at] = 0.0;
        }
    }
}

/// Returns the weights of the blocks of a page: mostly by words, with a limit for each block, and 1 in sum.
pub(crate) fn weights(page: &Page, labels: &[f32]) -> Vec<f32> {
    if page.set == Set::Traf {
        return labels.iter().map(|&label| if label == UNKNOWN { 0.0 } else { 0.12 }).collect();
    }
    let lengths: Vec<f32> = page.texts.iter().map(|text| words(text).count() as f32).collect();
    let all: f32 = lengths.iter().sum();
    let content: f32 = lengths.iter().zip(labels).filter(|(_, label)| **label > 0.5).map(|(length, _)| length).sum();
    let total = if content > 0.0 { content.clamp(30.0, 3000.0) } else { all.max(30.0) };
    let weight = |(&length, &label): (&f32, &f32)| match label {
        UNKNOWN => 0.0,
        _ => (length / total).min(0.15) + 0.3 * length / (all + 1.0) + 0.0002,
    };
    let weights: Vec<f32> = lengths.iter().zip(labels).map(weight).collect();
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum.max(f32::MIN_POSITIVE)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(blocks: &[&str], truth: &str, expect: &[f32]) {
        let blocks: Vec<String> = blocks.iter().map(|block| plain(block)).collect();
        assert_eq!(of_text(&blocks, truth), expect);
    }

    #[test]
    fn words_are_what_counts() {
        assert_eq!(plain("  Don’t – say\u{a0}“a_b” 2×: ÄRGER!"), "don t say a_b 2 ärger");
    }

    #[test]
    fn a_block_is_content_as_far_as_the_truth_has_it() {
        let truth = "One two three four five six.\nSeven eight nine ten.";
        check(&["One two three four five six", "six seven nothing of this"], truth, &[1.0, 0.0]);
        check(&["two three four five but not the rest", "", "***"], truth, &[0.5, UNKNOWN, UNKNOWN]);
    }

    #[test]
    fn cells_are_known_by_their_order() {
        let table = ["Rank", "Name", "Points", "1", "Kyle", "5040", "Share", "1", "2"];
        check(&table, "Rank Name Points\n1 Kyle 5040", &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_short_block_counts_only_among_content() {
        let truth = "We share all of this with you every day.\nShare";
        let own = "We share all of this with you every day";
        check(&["Share", "some other words in here", own], truth, &[1.0, 0.0, 1.0]);
        check(&["Share", "Share", "some other words in here"], truth, &[0.0, 0.0, 0.0]);
    }
}

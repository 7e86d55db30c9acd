//! What the first model thinks of the blocks around a block: the second model judges with that, so that groups which look
//! the same are judged together, and what follows the content is seen as such.

use std::collections::HashMap;

use super::outline::Outline;

/// Blocks before and after that are looked at together.
const WINDOW: usize = 6;
/// Groups above a block that are looked at.
const LEVELS: [usize; 5] = [0, 1, 2, 3, 5];
/// Chance from which a block is taken for content.
const SURE: f32 = 0.7;

/// Words, and words that are content by what the first model thinks.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    words: f32,
    content: f32,
}

/// The first model's answers for all blocks of a page.
pub(crate) struct Verdicts<'o> {
    outline: &'o Outline,
    scores: &'o [f32],
    /// Sums over the blocks before each block, and over all.
    sums: Vec<Sum>,
    paths: HashMap<u64, Sum>,
    /// Sums over the groups with the same parent that look the same.
    kinds: HashMap<(usize, u64), (Sum, Sum, f32)>,
    /// Blocks since the last and to the next that is surely content.
    since: Vec<f32>,
    until: Vec<f32>,
    /// The last heading before each block and the blocks below it.
    sections: Vec<Option<(usize, usize)>>,
    /// The block that the content seems to begin with.
    start: usize,
}

impl Sum {
    fn part(self) -> f32 {
        if self.words > 0.0 { self.content / self.words } else { -1.0 }
    }

    fn plus(&mut self, other: Sum) {
        self.words += other.words;
        self.content += other.content;
    }
}

impl<'o> Verdicts<'o> {
    /// `scores` are log-odds, `start` the block that the content seems to begin with.
    pub(crate) fn of(outline: &'o Outline, scores: &'o [f32], start: usize) -> Verdicts<'o> {
        let (mut sums, mut sum) = (vec![Sum::default()], Sum::default());
        let mut paths: HashMap<u64, Sum> = HashMap::new();
        for (block, &score) in outline.blocks.iter().zip(scores) {
            let words = block.text.words as f32 + 0.1;
            let own = Sum { words, content: words * chance(score) };
            sum.plus(own);
            sums.push(sum);
            paths.entry(block.path).or_default().plus(own);
        }
        let between = |first: usize, end: usize| Sum {
            words: sums[end].words - sums[first].words,
            content: sums[end].content - sums[first].content,
        };
        let mut kinds: HashMap<(usize, u64), (Sum, Sum, f32)> = HashMap::new();
        for group in outline.groups.iter().skip(1) {
            let own = between(group.first, group.end);
            let kind = kinds.entry((group.parent, group.signature)).or_insert((Sum::default(), own, 0.0));
            kind.0.plus(own);
            kind.2 += 1.0;
        }
        let since = distances(scores.iter());
        let mut until = distances(scores.iter().rev());
        until.reverse();
        Verdicts { outline, scores, paths, kinds, since, until, sections: sections(outline), start, sums }
    }

    /// Hands `out` the name and value of every feature of a block, always in the same order.
    pub(crate) fn write(&self, at: usize, out: &mut impl FnMut(&'static str, f32)) {
        let count = self.scores.len();
        out("score", self.scores[at]);
        for step in [-3_isize, -2, -1, 1, 2, 3] {
            let other = at.checked_add_signed(step).and_then(|other| self.scores.get(other));
            out("score_near", other.copied().unwrap_or(-9.0));
        }
        out("part_before", self.between(at.saturating_sub(WINDOW), at).part());
        out("part_behind", self.between(at + 1, (at + 1 + WINDOW).min(count)).part());
        out("since_sure", self.since[at]);
        out("until_sure", self.until[at]);
        let all = self.sums[count];
        out("content", all.content);
        out("content_part", all.part());
        out("content_before", self.sums[at].content / all.content.max(0.1));
        out("content_before_abs", self.sums[at].content);
        let path = self.paths.get(&self.outline.blocks[at].path).copied().unwrap_or_default();
        out("part_of_path", path.part());
        let section = self.sections[at];
        out("score_of_heading", section.map_or(-9.0, |(heading, _)| self.scores[heading]));
        out("part_of_section", section.map_or(-1.0, |(heading, end)| self.between(heading + 1, end).part()));
        self.groups(at, out);
        self.borders(at, out);
    }

    /// The groups around the block, and the one with the most kin.
    fn groups(&self, at: usize, out: &mut impl FnMut(&'static str, f32)) {
        let groups = &self.outline.groups;
        let mut at_group = self.outline.blocks[at].group;
        let (mut best, mut kin, mut first) = (1.0, Sum::default(), Sum::default());
        let mut own = Sum::default();
        for level in 0..=LEVELS[LEVELS.len() - 1] {
            let group = &groups[at_group];
            let here = self.between(group.first, group.end);
            if LEVELS.contains(&level) {
                out("part_of_group", here.part());
                out("content_of_group", here.content);
            }
            let kind = self.kinds.get(&(group.parent, group.signature)).filter(|_| at_group > 0);
            if let Some((sum, one, count)) = kind.filter(|(_, _, count)| *count > best) {
                (best, kin, first, own) = (*count, *sum, *one, here);
            }
            at_group = group.parent;
        }
        out("part_of_kin", kin.part());
        out("part_of_first_kin", first.part());
        out("part_of_own_kin", own.part());
        out("content_of_kin", kin.content / self.sums[self.scores.len()].content.max(0.1));
    }

    /// What lies on both sides of the border between the start of the content and the block.
    fn borders(&self, at: usize, out: &mut impl FnMut(&'static str, f32)) {
        let border = super::passed::border(self.outline, self.start, at);
        let (inner, outer) = (border.inner, border.outer);
        let (inner, outer) = (self.between(inner.0, inner.1), self.between(outer.0, outer.1));
        out("part_of_inner", inner.part());
        out("content_of_inner", inner.content);
        out("part_of_outer", outer.part());
        out("content_of_outer", outer.content);
    }

    fn between(&self, first: usize, end: usize) -> Sum {
        let (from, to) = (self.sums[first.min(end)], self.sums[end]);
        Sum { words: to.words - from.words, content: to.content - from.content }
    }
}

fn chance(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}

/// Blocks since the last that is surely content, for each; 99 where there is none or it is far.
fn distances<'s>(scores: impl Iterator<Item = &'s f32>) -> Vec<f32> {
    let mut since = 99.0;
    let mut step = |score: &f32| {
        let found = since;
        since = if chance(*score) > SURE { 0.0 } else { (since + 1.0_f32).min(99.0) };
        found
    };
    scores.map(&mut step).collect()
}

/// For each block, the last heading before it and the end of what stands below that. A heading counts for itself.
fn sections(outline: &Outline) -> Vec<Option<(usize, usize)>> {
    let count = outline.blocks.len();
    let mut found = vec![None; count];
    let headings: Vec<usize> = (0..count).filter(|&at| outline.blocks[at].heading > 0).collect();
    for (number, &heading) in headings.iter().enumerate() {
        let end = headings.get(number + 1).copied().unwrap_or(count);
        found[heading..end].fill(Some((heading, end)));
    }
    found
}

//! Sums over blocks and groups, from which features are read.

use std::collections::HashMap;

use super::outline::{Block, Group, Outline};

/// Sums over all blocks with the same path.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Path {
    pub(super) count: f32,
    pub(super) letters: f32,
    pub(super) linked: f32,
    pub(super) prose: f32,
    pub(super) words: f32,
}

/// Sums over the blocks before a block; two of them give the sums over any range of blocks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) letters: f32,
    pub(super) linked: f32,
    pub(super) prose: f32,
    pub(super) words: f32,
    pub(super) links: f32,
    pub(super) headings: f32,
}

/// Sums over sibling groups with the same signature.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Repeated {
    pub(super) count: f32,
    pub(super) letters: f32,
    pub(super) linked: f32,
    /// Share of the parent's letters.
    pub(super) part: f32,
}

/// Returns the prefix sums of the blocks: one more than there are blocks.
pub(super) fn sums(blocks: &[Block]) -> Vec<Sum> {
    let mut sums = Vec::with_capacity(blocks.len() + 1);
    let mut sum = Sum::default();
    sums.push(sum);
    for block in blocks {
        let letters = block.text.letters as f32;
        sum.letters += letters;
        sum.linked += block.linked as f32;
        sum.words += block.text.words as f32;
        sum.links += f32::from(block.links);
        sum.headings += f32::from(u8::from(block.heading > 0));
        if block.is_prose() {
            sum.prose += letters;
        }
        sums.push(sum);
    }
    sums
}

/// Returns the sums over the blocks of each path.
pub(super) fn paths(blocks: &[Block]) -> HashMap<u64, Path> {
    let mut paths: HashMap<u64, Path> = HashMap::new();
    for block in blocks {
        let path = paths.entry(block.path).or_default();
        path.count += 1.0;
        path.letters += block.text.letters as f32;
        path.linked += block.linked as f32;
        path.words += block.text.words as f32;
        if block.is_prose() {
            path.prose += block.text.letters as f32;
        }
    }
    paths
}

/// Returns the sums over the siblings of each group that have its signature.
pub(super) fn repeated(groups: &[Group], sums: &[Sum]) -> Vec<Repeated> {
    let mut kinds: HashMap<(usize, u64), (f32, f32, f32)> = HashMap::new();
    for group in groups.iter().skip(1) {
        let entry = kinds.entry((group.parent, group.signature)).or_default();
        entry.0 += 1.0;
        entry.1 += sums[group.end].letters - sums[group.first].letters;
        entry.2 += sums[group.end].linked - sums[group.first].linked;
    }
    let of = |at: usize, group: &Group| {
        let (count, letters, linked) = kinds.get(&(group.parent, group.signature)).copied().unwrap_or_default();
        // The share of the parent's letters that all groups with this signature have together.
        let parent = &groups[group.parent];
        let whole = sums[parent.end].letters - sums[parent.first].letters;
        let part = letters / whole.max(1.0);
        if at == 0 {
            return Repeated::default();
        }
        Repeated { count, letters: letters / count, linked: linked / letters.max(1.0), part }
    };
    groups.iter().enumerate().map(|(at, group)| of(at, group)).collect()
}

/// Returns the mass of each group: the letters of prose directly in it, plus half of those in its children.
pub(super) fn mass(outline: &Outline) -> Vec<f32> {
    let groups = &outline.groups;
    let mut mass = vec![0.0; groups.len().max(1)];
    for (at, block) in outline.blocks.iter().enumerate().filter(|(_, block)| block.is_prose()) {
        let letters = block.text.letters as f32;
        let own = &groups[block.group];
        // A box with a single paragraph is only a wrapper, so the paragraph counts for the group around it.
        let alone = own.first == at && own.end == at + 1;
        let near = if alone { own.parent } else { block.group };
        mass[near] += letters;
        let above = groups[near].parent;
        if above != near {
            mass[above] += letters / 2.0;
        }
    }
    mass
}

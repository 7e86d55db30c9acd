//! The model that separates content from the rest: gradient-boosted decision trees, whose leaves are summed.
//!
//! model.txt is written by `cargo xtask train`. After comments, it has a line with the names of the features in their
//! order, a line with the base score, and a line for each tree in prefix notation: `feature<threshold` is a node,
//! followed by its subtree for values up to and including the threshold, then by the one for larger values; a bare
//! number is a leaf.

use std::sync::LazyLock;

/// Returns the log-odds that each block is content. `rows` has `width` features for each block, in the order of
/// [`Features::write`](super::features::Features::write).
pub(crate) fn scores(rows: &[f32], width: usize) -> Vec<f32> {
    let model = MODEL.within(&ranges(rows, width));
    rows.chunks_exact(width).map(|row| model.score(row)).collect()
}

/// Returns the least and the greatest value of each feature.
fn ranges(rows: &[f32], width: usize) -> Vec<(f32, f32)> {
    let mut ranges = vec![(f32::INFINITY, f32::NEG_INFINITY); width];
    for row in rows.chunks_exact(width) {
        for ((least, most), &value) in ranges.iter_mut().zip(row) {
            // NaN exceeds no threshold, like the smallest value.
            *least = least.min(if value.is_nan() { f32::NEG_INFINITY } else { value });
            *most = most.max(value);
        }
    }
    ranges
}

const TEXT: &str = include_str!("model.txt");

/// The parsed model; tests assert that the file is valid.
static MODEL: LazyLock<Model> = LazyLock::new(|| Model::read(TEXT).unwrap_or_default());

/// Names of the features that the file was made for.
#[cfg(test)]
fn names() -> impl Iterator<Item = &'static str> {
    TEXT.lines().find_map(|line| line.strip_prefix("features ")).unwrap_or_default().split(", ")
}

/// Number of trees that are walked together: while one waits for memory, the others proceed.
const ABREAST: usize = 8;

#[derive(Debug, Default)]
struct Model {
    base: f32,
    nodes: Vec<Node>,
    /// Values of the leaves, by the position of their node.
    values: Vec<f32>,
    groups: Vec<Group>,
}

/// A node of a tree. Its children are adjacent: `child` for values up to the threshold, `child + 1` for larger ones. A
/// leaf is its own child and has an infinite threshold, so that a walk stays there.
#[derive(Debug, Clone, Copy)]
struct Node {
    threshold: f32,
    feature: u16,
    child: u16,
}

/// Trees that are walked together.
#[derive(Debug)]
struct Group {
    roots: [u16; ABREAST],
    /// Number of steps after which every walk has reached a leaf.
    depth: usize,
}

impl Model {
    fn score(&self, features: &[f32]) -> f32 {
        let mut sum = self.base;
        for group in &self.groups {
            // Every walk takes `depth` steps, those that have reached a leaf too: no branch depends on the data.
            let mut walks = group.roots;
            for _ in 0..group.depth {
                for at in &mut walks {
                    let node = self.nodes[usize::from(*at)];
                    *at = node.child + u16::from(features[usize::from(node.feature)] > node.threshold);
                }
            }
            for at in walks {
                sum += self.values[usize::from(at)];
            }
        }
        sum
    }

    fn read(text: &str) -> Option<Model> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.next()?.strip_prefix("features ")?;
        let base = lines.next()?.strip_prefix("base ")?.parse().ok()?;
        let mut model = Model { base, ..Model::default() };
        let mut trees = Vec::new();
        for line in lines {
            trees.push(model.read_tree(line)?);
        }
        model.group(trees)?;
        Some(model)
    }

    /// Groups trees of similar depth. A leaf with value 0 fills the last group.
    fn group(&mut self, mut trees: Vec<(u16, usize)>) -> Option<()> {
        trees.sort_by_key(|&(_, depth)| depth);
        let nothing = self.add_leaf(0.0)?;
        for some in trees.chunks(ABREAST) {
            let mut roots = [nothing; ABREAST];
            roots.iter_mut().zip(some).for_each(|(root, tree)| *root = tree.0);
            self.groups.push(Group { roots, depth: some.iter().map(|tree| tree.1).max()? });
        }
        Some(())
    }

    /// Returns a smaller model that gives the same scores for rows whose features lie in these ranges: nodes with the
    /// same outcome for all rows are resolved once.
    fn within(&self, ranges: &[(f32, f32)]) -> Model {
        let mut less = Model { base: self.base, ..Model::default() };
        // Half of the nodes suffice for most pages. Without the reservation, growing the lists costs as much as filling
        // them.
        less.nodes.reserve(self.nodes.len() / 2);
        less.values.reserve(self.values.len() / 2);
        let mut trees = Vec::new();
        for root in self.groups.iter().flat_map(|group| group.roots) {
            let at = self.decided(root, ranges);
            if self.is_leaf(at) {
                less.base += self.values[usize::from(at)];
            } else {
                trees.extend(less.add_leaf(0.0).map(|place| (place, self.copy(at, ranges, &mut less, place))));
            }
        }
        // The smaller model has no more nodes than this one, so their numbers fit too.
        less.group(trees).map_or_else(Model::default, |()| less)
    }

    /// Returns the first node from `at` on where rows in these ranges may take different branches.
    fn decided(&self, mut at: u16, ranges: &[(f32, f32)]) -> u16 {
        while !self.is_leaf(at) {
            let node = self.nodes[usize::from(at)];
            let (least, most) = ranges[usize::from(node.feature)];
            if least <= node.threshold && most > node.threshold {
                return at;
            }
            at = node.child + u16::from(least > node.threshold);
        }
        at
    }

    /// Copies the subtree at `at` to `place` of the other model, and returns its depth.
    fn copy(&self, at: u16, ranges: &[(f32, f32)], into: &mut Model, place: u16) -> usize {
        let node = self.nodes[usize::from(at)];
        into.values[usize::from(place)] = self.values[usize::from(at)];
        if self.is_leaf(at) {
            return 0;
        }
        let (Some(child), Some(other)) = (into.add_leaf(0.0), into.add_leaf(0.0)) else { return 0 };
        into.nodes[usize::from(place)] = Node { child, ..node };
        let mut below = |from, place| self.copy(self.decided(from, ranges), ranges, into, place);
        1 + below(node.child, child).max(below(node.child + 1, other))
    }

    fn is_leaf(&self, at: u16) -> bool {
        self.nodes[usize::from(at)].child == at
    }

    /// Parses the tree in a line; returns its root and depth.
    fn read_tree(&mut self, line: &str) -> Option<(u16, usize)> {
        let root = self.add_leaf(0.0)?;
        let mut deepest = 0;
        // Nodes still to be read, the next one last.
        let mut open = vec![(root, 0)];
        for word in line.split(' ') {
            let (at, depth) = open.pop()?;
            deepest = deepest.max(depth);
            if let Some((feature, threshold)) = word.split_once('<') {
                let (child, _) = (self.add_leaf(0.0)?, self.add_leaf(0.0)?);
                self.nodes[usize::from(at)] =
                    Node { threshold: threshold.parse().ok()?, feature: feature.parse().ok()?, child };
                open.extend([(child + 1, depth + 1), (child, depth + 1)]);
            } else {
                self.values[usize::from(at)] = word.parse().ok()?;
            }
        }
        open.is_empty().then_some((root, deepest))
    }

    fn add_leaf(&mut self, value: f32) -> Option<u16> {
        let at = u16::try_from(self.nodes.len()).ok()?;
        self.nodes.push(Node { threshold: f32::INFINITY, feature: 0, child: at });
        self.values.push(value);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_content;

    fn check(text: &str, features: &[f32], expect: f32) {
        let model = Model::read(text).unwrap();
        assert!((model.score(features) - expect).abs() < 1e-6, "{}", model.score(features));
    }

    #[test]
    fn what_is_the_same_for_all_rows_is_decided_once() {
        let model = Model::read(TEXT).unwrap();
        let width = names().count();
        let mut random = 7_u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 40) as f32 / (1_u64 << 24) as f32
        };
        for spread in [0.0, 0.01, 0.3, 5.0] {
            let middle: Vec<f32> = (0..width).map(|_| next() * 4.0 - 1.0).collect();
            let mut rows: Vec<f32> = (0..20).flat_map(|_| middle.clone()).map(|at| at + spread * next()).collect();
            if spread > 1.0 {
                rows.iter_mut().step_by(7).for_each(|value| *value = f32::NAN);
            }
            let less = model.within(&ranges(&rows, width));
            assert!(less.nodes.len() <= model.nodes.len());
            assert!(less.groups.is_empty() || spread > 0.0, "one row needs no tree");
            assert!(!less.groups.is_empty() || spread < 1.0, "rows that differ do");
            for row in rows.chunks(width) {
                let (fast, plain) = (less.score(row), model.score(row));
                assert!((fast - plain).abs() < 1e-4, "{fast} {plain}");
            }
        }
    }

    #[test]
    fn adds_up_the_leaves_that_a_block_comes_to() {
        let text = "# of three trees\nfeatures a b\nbase 0.5\n0<1.5 1<2 0.1 0.2 0.4\n-1\n1<0 8 1<9 4 16";
        check(text, &[1.5, 2.0], 0.5 + 0.1 - 1.0 + 4.0);
        check(text, &[1.0, 2.5], 0.5 + 0.2 - 1.0 + 4.0);
        check(text, &[2.0, -1.0], 0.5 + 0.4 - 1.0 + 8.0);
        check(text, &[2.0, 10.0], 0.5 + 0.4 - 1.0 + 16.0);
    }

    #[test]
    fn takes_more_trees_than_are_walked_together() {
        let text = format!("features a\nbase 0{}", "\n0<1 0.25 0<2 0.5 1".repeat(ABREAST + 3));
        check(&text, &[0.0], 0.25 * (ABREAST + 3) as f32);
        check(&text, &[3.0], (ABREAST + 3) as f32);
    }

    #[test]
    fn a_broken_file_is_none() {
        for text in ["", "features a\nbase x", "features a\nbase 0\n0<1 2", "features a\nbase 0\n0<1 2 3 4", "base 0"] {
            assert!(Model::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_file_was_made_for_the_features_of_the_code() {
        assert_eq!(names().collect::<Vec<_>>(), main_content::names(), "run `cargo xtask train`");
    }

    #[test]
    fn the_file_can_be_read_and_asks_only_for_features_that_there_are() {
        let model = Model::read(TEXT).unwrap();
        assert!(model.groups.len() > 1);
        assert!(model.nodes.iter().all(|node| usize::from(node.feature) < names().count()));
    }
}

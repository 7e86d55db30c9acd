//! The model that tells content from the rest: decision trees whose answers are added up.
//!
//! model.txt is written by `cargo xtask train`. After comments, it has a line of the names of the features in the order
//! in which they are given, a line of the base, and a line for each tree: `feature<threshold` for a node, then what is
//! below it where that holds, then what is below it where not; a number alone is a leaf. It holds for equal values too.

use std::sync::LazyLock;

/// How much speaks for a block being content: log-odds, from the features that
/// [`Features::write`](super::features::Features::write) tells, in that order.
pub(crate) fn score(features: &[f32]) -> f32 {
    MODEL.score(features)
}

/// Whether each feature, in the order of the file, is asked for by any tree.
#[cfg(feature = "training")]
pub(crate) fn used() -> Vec<bool> {
    let mut used = vec![false; names().count()];
    for node in MODEL.nodes.iter().filter(|node| node.threshold < f32::INFINITY) {
        used[usize::from(node.feature)] = true;
    }
    used
}

const TEXT: &str = include_str!("model.txt");

/// The tests see to it that the file can be read.
static MODEL: LazyLock<Model> = LazyLock::new(|| Model::read(TEXT).unwrap_or_default());

/// Names of the features that the file was made for.
#[cfg(any(test, feature = "training"))]
fn names() -> impl Iterator<Item = &'static str> {
    TEXT.lines().find_map(|line| line.strip_prefix("features ")).unwrap_or_default().split(", ")
}

/// Trees that are walked together: while one waits for memory, the others go on.
const ABREAST: usize = 8;

#[derive(Debug, Default)]
struct Model {
    base: f32,
    nodes: Vec<Node>,
    /// What a leaf answers, by the number of its node.
    values: Vec<f32>,
    groups: Vec<Group>,
}

/// Both children of a node stand side by side. A leaf is its own child and never passes on.
#[derive(Debug, Clone, Copy)]
struct Node {
    threshold: f32,
    feature: u16,
    child: u16,
}

#[derive(Debug)]
struct Group {
    roots: [u16; ABREAST],
    /// Steps after which every walk has come to a leaf.
    depth: usize,
}

impl Model {
    fn score(&self, features: &[f32]) -> f32 {
        let mut sum = self.base;
        for group in &self.groups {
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
        // Trees of about the same depth go together. A leaf of nothing fills the last group.
        trees.sort_by_key(|&(_, depth)| depth);
        let nothing = model.add(Node { threshold: f32::INFINITY, feature: 0, child: 0 }, 0.0)?;
        model.nodes[usize::from(nothing)].child = nothing;
        for some in trees.chunks(ABREAST) {
            let mut roots = [nothing; ABREAST];
            roots.iter_mut().zip(some).for_each(|(root, tree)| *root = tree.0);
            model.groups.push(Group { roots, depth: some.iter().map(|tree| tree.1).max()? });
        }
        Some(model)
    }

    /// Root and depth of the tree that a line describes.
    fn read_tree(&mut self, line: &str) -> Option<(u16, usize)> {
        let leaf = Node { threshold: f32::INFINITY, feature: 0, child: 0 };
        let root = self.add(leaf, 0.0)?;
        let mut deepest = 0;
        // Places that are to be read, the next one last.
        let mut open = vec![(root, 0)];
        for word in line.split(' ') {
            let (at, depth) = open.pop()?;
            deepest = deepest.max(depth);
            if let Some((feature, threshold)) = word.split_once('<') {
                let child = self.add(leaf, 0.0)?;
                let other = self.add(leaf, 0.0)?;
                self.nodes[usize::from(at)] =
                    Node { threshold: threshold.parse().ok()?, feature: feature.parse().ok()?, child };
                open.extend([(other, depth + 1), (child, depth + 1)]);
            } else {
                self.nodes[usize::from(at)].child = at;
                self.values[usize::from(at)] = word.parse().ok()?;
            }
        }
        open.is_empty().then_some((root, deepest))
    }

    fn add(&mut self, node: Node, value: f32) -> Option<u16> {
        let at = u16::try_from(self.nodes.len()).ok()?;
        self.nodes.push(node);
        self.values.push(value);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_content::features;

    fn check(text: &str, features: &[f32], expect: f32) {
        let model = Model::read(text).unwrap();
        assert!((model.score(features) - expect).abs() < 1e-6, "{}", model.score(features));
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
        assert_eq!(names().collect::<Vec<_>>(), features::names(), "run `cargo xtask train`");
    }

    #[test]
    fn the_file_can_be_read_and_asks_only_for_features_that_there_are() {
        let model = Model::read(TEXT).unwrap();
        assert!(model.groups.len() > 1);
        assert!(model.nodes.iter().all(|node| usize::from(node.feature) < names().count()));
    }
}

//! The model file, in the format of crates/formats/src/main_content/model.rs.

use std::fmt::Write;

use crate::boost::{Ensemble, Node, Tree};
use crate::table::Table;

const NOTE: &str = "\
# Written by `cargo xtask train`, not by hand. Learnt from the annotations of public sets of pages:
# Web Content Extraction Benchmark by Murrough Foley (CC-BY-4.0), article-extraction-benchmark by Scrapinghub (MIT),
# and the evaluation data of trafilatura by Adrien Barbaresi (Apache-2.0). No text of theirs is in here.
";

/// Returns the contents of the model file.
pub(crate) fn text(ensemble: &Ensemble, names: &[&str], table: &Table) -> String {
    let mut text = format!("{NOTE}features {}\nbase {}\n", names.join(", "), ensemble.base);
    for tree in &ensemble.trees {
        write_tree(tree, table, &mut text);
    }
    text
}

/// Writes a tree in prefix notation: a node, then its left subtree, then its right one.
fn write_tree(tree: &Tree, table: &Table, text: &mut String) {
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        match tree.nodes[at] {
            Node::Leaf(value) => text.push_str(&value.to_string()),
            Node::Split { column, bin, left, right, .. } => {
                let _ = write!(text, "{column}<{}", table.cuts(column)[usize::from(bin)]);
                open.extend([right, left]);
            }
        }
        text.push(if open.is_empty() { '\n' } else { ' ' });
    }
}

/// Returns the gain of every feature, in thousandths, largest first, and the unused features.
pub(crate) fn usefulness(ensemble: &Ensemble, names: &[&str]) -> String {
    let mut gains = vec![0.0; names.len()];
    for node in ensemble.trees.iter().flat_map(|tree| &tree.nodes) {
        if let Node::Split { column, gain, .. } = node {
            gains[*column] += gain;
        }
    }
    let total = gains.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]));
    let (used, unused): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|&at| gains[at] > 0.0);
    let line = |at: &usize| format!("{} [{at}] {:.1}", names[*at], 1000.0 * gains[*at] / total);
    let used: Vec<String> = used.iter().map(line).collect();
    let unused: Vec<String> = unused.iter().map(|at| format!("{} [{at}]", names[*at])).collect();
    format!("features by use, in ‰: {}\nnot used: {}", used.join(", "), unused.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_written_from_the_root() {
        let leaf = Node::Leaf;
        let split = |column, left, right, gain| Node::Split { column, bin: 0, left, right, gain };
        let nodes = vec![split(1, 1, 2, 3.0), leaf(0.5), split(0, 3, 4, 1.0), leaf(-1.0), leaf(2.0)];
        let ensemble = Ensemble { base: -0.25, trees: vec![Tree { nodes }] };
        let table = Table::of(&[0.0, 0.0, 0.0, 1.0, 3.0, 9.0], 3);
        let text = text(&ensemble, &["a", "b", "c"], &table);
        assert_eq!(text.strip_prefix(NOTE), Some("features a, b, c\nbase -0.25\n1<2 0.5 0<0.5 -1 2\n"));
        assert!(usefulness(&ensemble, &["a", "b", "c"]).ends_with("b [1] 750.0, a [0] 250.0\nnot used: c [2]"));
    }
}
